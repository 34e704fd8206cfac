"""The table of LongBench v1: datasets, category means, headlines."""

import json
import re

import pytest
from longbench_v1_facts import DATASETS
from scored_runs import v1_rows, write_run

from lm_eval_longbench.errors import DataError
from lm_eval_longbench.reporting.render import render
from lm_eval_longbench.reporting.report import make_report
from lm_eval_longbench.reporting.scored_run import read_run

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


def test_the_official_file_must_be_of_the_same_run(tmp_path):
    folder = write_run(tmp_path / "r", v1_rows(SCORES))
    report = json.loads((folder / "report.json").read_text())
    report["tables"]["longbench_v1"]["official"]["qasper"] += 0.01
    (folder / "report.json").write_text(json.dumps(report))
    with pytest.raises(DataError, match=r"3\.01 as dataset qasper.*gives 3\.0"):
        figures(folder)


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
