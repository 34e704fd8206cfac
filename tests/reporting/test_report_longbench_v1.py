"""The table of LongBench v1: datasets, category means, headlines."""

import json
import re
from pathlib import Path
from statistics import fmean, pvariance

import pytest
from longbench_v1_facts import CATEGORIES, DATASETS, datasets_of
from scored_runs import close, v1_rows, write_run

from lm_eval_longbench.errors import DataError
from lm_eval_longbench.reporting.render import render
from lm_eval_longbench.reporting.report import make_report
from lm_eval_longbench.reporting.scored_run import read_run

GOLDEN = Path(__file__).resolve().parents[3] / "shared" / "golden" / "longbench_v1"
GOLDEN /= "llama3-8b-instruct"

# One score a dataset and question, different for each dataset: 0.01, 0.02, ... and twice that.
SCORES = {name: [number / 100, number / 50] for number, name in enumerate(DATASETS, start=1)}


def figures(folder):
    (benchmark,) = make_report([read_run(folder)]).benchmarks
    return {(row.section, row.name): row.figures[0] for row in benchmark.rows}


def test_hand_worked(tmp_path):
    found = figures(write_run(tmp_path / "r", v1_rows(SCORES)))
    # A dataset's mean is 1.5 times its number over 100. narrativeqa 1, qasper 2, multifieldqa_en 3.
    assert found["dataset", "narrativeqa"].value == pytest.approx(0.015)
    assert found["English", "single_doc_qa"].value == pytest.approx(1.5 * 2 / 100)
    assert found["Chinese", "single_doc_qa"].value == pytest.approx(
        1.5 * 4 / 100
    )  # multifieldqa_zh
    # lcc 20, repobench-p 21 count in both.
    for language in ("English", "Chinese"):
        assert found[language, "code"].value == pytest.approx(1.5 * 20.5 / 100)
    # English: (2, hotpotqa 5 2wikimqa 6 musique 7, gov_report 9 qmsum 10 multi_news 11,
    # trec 13 triviaqa 14 samsum 15, passage_count 17 passage_retrieval_en 18, 20.5)
    english = (2 + 6 + 10 + 14 + 17.5 + 20.5) / 6
    # Chinese: multifieldqa_zh 4, dureader 8, vcsum 12, lsht 16, passage_retrieval_zh 19, 20.5
    chinese = (4 + 8 + 12 + 16 + 19 + 20.5) / 6
    assert found["headline", "English"].value == pytest.approx(1.5 * english / 100)
    assert found["headline", "Chinese"].value == pytest.approx(1.5 * chinese / 100)
    assert (found["headline", "English"].n, found["headline", "Chinese"].n) == (32, 14)


def test_places():
    assert len(datasets_of("en")) == 16
    assert len(datasets_of("zh")) == 7
    assert set(datasets_of("en")) & set(datasets_of("zh")) == {"lcc", "repobench-p"}
    for code in ("en", "zh"):
        assert all(datasets_of(code, category) for category in CATEGORIES)


def test_every_figure_is_there_once_in_the_official_order(tmp_path):
    found = list(figures(write_run(tmp_path / "r", v1_rows(SCORES))))
    assert found[:2] == [("headline", "English"), ("headline", "Chinese")]
    assert found[2:8] == [("English", name) for name in CATEGORIES]
    assert found[8:14] == [("Chinese", name) for name in CATEGORIES]
    assert found[14:] == [("dataset", name) for name in DATASETS]


@pytest.mark.parametrize(
    ("missing", "none"),
    [
        ("qasper", {("English", "single_doc_qa"), ("headline", "English")}),
        ("dureader", {("Chinese", "multi_doc_qa"), ("headline", "Chinese")}),
        (
            "lcc",
            {
                *((language, "code") for language in ("English", "Chinese")),
                *(("headline", language) for language in ("English", "Chinese")),
            },
        ),
    ],
)
def test_a_missing_dataset_leaves_no_category_and_no_headline(tmp_path, missing, none):
    rest = {name: scores for name, scores in SCORES.items() if name != missing}
    found = figures(write_run(tmp_path / "r", v1_rows(rest)))
    assert {place for place, figure in found.items() if figure.value is None} == {
        *none,
        ("dataset", missing),
    }
    assert found["dataset", missing].n == 0
    for place in none:
        assert (found[place].low, found[place].method) == (None, "none")


def test_repeats_are_averaged_first(tmp_path):
    first = v1_rows({"qasper": [1.0, 0.0]})
    again = [row | {"repeat": 2, "score": 0.5} for row in first[:1]]  # the other one lacks it
    figure = figures(write_run(tmp_path / "r", [*first, *again]))["dataset", "qasper"]
    assert (figure.value, figure.n) == ((0.75 + 0.0) / 2, 2)


def test_failed_and_unscored_are_counted(tmp_path):
    rows = v1_rows(SCORES)
    rows[2] |= {"score": 0.0, "failed": True}  # qasper
    rows[-1] |= {"score": 0.0, "failed": True}  # repobench-p
    found = figures(write_run(tmp_path / "r", rows))
    assert found["dataset", "qasper"].failed == 1
    assert found["English", "single_doc_qa"].failed == 1
    assert (found["headline", "English"].failed, found["headline", "Chinese"].failed) == (2, 1)


def test_the_official_file_must_be_of_the_same_run(tmp_path):
    folder = write_run(tmp_path / "r", v1_rows(SCORES))
    report = json.loads((folder / "report.json").read_text())
    report["tables"]["longbench_v1"]["official"]["qasper"] += 0.01
    (folder / "report.json").write_text(json.dumps(report))
    with pytest.raises(DataError, match=r"3\.01 as dataset qasper.*gives 3\.0"):
        figures(folder)


def standard_error(scores, language):
    """Of a headline: the datasets are independent, and each has its weight."""
    variance = 0.0
    for category in CATEGORIES:
        own = datasets_of(language, category)
        for name in own:
            weight = 1 / 6 / len(own)
            variance += weight**2 * pvariance(scores[name]) / len(scores[name])
    return variance**0.5


@pytest.mark.parametrize("official", [12.12, 12.13])
def test_a_tie_is_shown_as_the_official_file_rounds_it(tmp_path, official):
    folder = write_run(tmp_path / "r", v1_rows({"qasper": [0.0, 0.2425] * 10}))  # 12.125
    report = json.loads((folder / "report.json").read_text())
    report["tables"]["longbench_v1"]["official"]["qasper"] = official
    (folder / "report.json").write_text(json.dumps(report))
    report = make_report([read_run(folder)])
    assert re.search(rf"│ {official} \[\d+\.\d\d, \d+\.\d\d\] 20/0/0", render(report, "table"))
    (line,) = [line for line in render(report, "csv").splitlines() if ",qasper," in line]
    assert re.search(rf",percent,{official},\d+\.\d\d,\d+\.\d\d,20,", line)
    assert figures(folder)["dataset", "qasper"].value == 0.12125


@pytest.mark.skipif(not GOLDEN.is_dir(), reason="no shared/golden folder beside this repository")
def test_golden_run(tmp_path):
    """The public run of 4,750 predictions: its own result.json, and means of it by another way."""
    scores = {name: json.loads((GOLDEN / f"{name}.scores.json").read_text()) for name in DATASETS}
    result = json.loads((GOLDEN / "result.json").read_text())
    folder = write_run(tmp_path / "r", v1_rows(scores), official_data=True)
    report = json.loads((folder / "report.json").read_text())
    report["tables"]["longbench_v1"]["official"] = result
    (folder / "report.json").write_text(json.dumps(report))
    found = figures(folder)
    assert {name: round(100 * found["dataset", name].value, 2) for name in DATASETS} == result
    assert {name: found["dataset", name].official for name in DATASETS} == result
    for title, language in (("English", "en"), ("Chinese", "zh")):
        categories = []
        for category in CATEGORIES:
            own = [
                fmean(scores[name])
                for name, info in DATASETS.items()
                if info.category == category and info.language in (language, "code")
            ]
            categories.append(fmean(own))
            assert close(found[title, category].value, fmean(own))
        headline = found["headline", title]
        assert close(headline.value, fmean(categories))
        error = standard_error(scores, language)
        assert headline.low == pytest.approx(headline.value - 1.96 * error, abs=0.2 * error)
        assert headline.high == pytest.approx(headline.value + 1.96 * error, abs=0.2 * error)
    assert found["headline", "English"].n == 4750 - 1000
