"""The tables of each benchmark: what a report adds to the figures of its answers."""

import json
import re
from pathlib import Path

import pytest
from longbench_pro_facts import DIMENSIONS
from longbench_v1_facts import DATASETS
from longbench_v2_facts import COUNTS
from scored_runs import PRO_VALUES, close, pro_row, v1_rows, v2_row, write_run

from lm_eval_longbench.benchmarks.v2 import ACCURACY, COMPENSATED, OFFICIAL, STRICT
from lm_eval_longbench.reporting.render import render
from lm_eval_longbench.reporting.report import make_report
from lm_eval_longbench.reporting.scored_run import read_run
from lm_eval_longbench.statistics.intervals import wilson_interval


def figures(folder):
    (benchmark,) = make_report([read_run(folder)]).benchmarks
    return {(row.section, row.name): row.figures[0] for row in benchmark.rows}


# One score a dataset and question, different for each dataset: 0.01, 0.02, ... and twice that.
SCORES = {name: [number / 100, number / 50] for number, name in enumerate(DATASETS, start=1)}


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


def failed(name, **more):
    return v2_row(
        name, 0.0, failed=True, dropped=True, unparsed=True, compensated=0.25, choice=None, **more
    )


ROWS = [
    v2_row("a", 1.0),
    v2_row("b", 0.0, difficulty="hard", length="medium"),
    failed("c", difficulty="hard"),
    v2_row("d", 0.0, unparsed=True, compensated=0.25, difficulty="hard", length="medium"),
    v2_row("e", 1.0, difficulty="hard", domain="Code Repository Understanding"),
]


def test_strict_is_over_the_official_questions_where_the_data_is_official(tmp_path):
    found = figures(write_run(tmp_path / "r", ROWS, official_data=True))
    right = {"overall": (2, 503), "easy": (1, 192), "hard": (1, 311)}
    right |= {"short": (2, 180), "medium": (0, 215), "long": (0, 108)}
    right |= {name: (0, number) for name, number in COUNTS["domain"].items()}
    right |= {"Single-Document QA": (1, 175), "Code Repository Understanding": (1, 50)}
    for name, (number, of) in right.items():
        figure = found[STRICT, name]
        assert (figure.value, figure.n) == (pytest.approx(number / of), of)
        assert (figure.low, figure.high) == wilson_interval(number, of)
    assert found[ACCURACY, "overall"].value == 2 / 5


def test_sections_that_repeat_the_official_one_are_shown_once(tmp_path):
    """Nothing failed, so that all four ways to count are one; with a failed answer they differ."""
    rows = [v2_row("a", 1.0), v2_row("b", 0.0), v2_row("c", 1.0)]
    (same,) = make_report([read_run(write_run(tmp_path / "same", rows))]).benchmarks
    assert {row.section for row in same.rows if not row.detail} == {OFFICIAL}
    assert f"Equal to {OFFICIAL}, and not repeated: {ACCURACY}; {STRICT}; {COMPENSATED}." in (
        same.notes
    )
    (other,) = make_report([read_run(write_run(tmp_path / "r", [*rows, failed("d")]))]).benchmarks
    assert {row.section for row in other.rows if not row.detail} == {OFFICIAL, ACCURACY}
    assert f"Equal to {ACCURACY}, and not repeated: {STRICT}." in other.notes


GOLDEN = Path(__file__).resolve().parents[3] / "shared" / "golden" / "longbench_pro"


def places(summary):
    """Every figure of an official summary under its place in the report."""
    runs = summary["inference_iterations"]
    out = {("overall", "overall"): summary["average_overall_metric"]}
    for run in range(1, runs + 1):
        out["iteration", f"iteration {run}"] = summary[f"inference_iteration_{run}_overall_metric"]
        out["pass@N", f"pass@{run}"] = summary[f"pass@{run}"]
        best = summary[f"BoN-{run}"]
        out["best of N", f"best of {run}"] = best["overall_metric"]
        for dimension in DIMENSIONS:
            for name, value in best[dimension].items():
                out[f"best of {run}, {dimension}", name] = value
    for dimension in DIMENSIONS:
        for name, value in summary[f"average_{dimension}_metric"].items():
            out[dimension, name] = value
    return out


def assert_equal(found, summary):
    expected = places(summary)
    assert {place for place in found if place[0] != "secondary_task"} == set(expected)
    for place, value in expected.items():
        assert close(found[place].value, value), place


@pytest.mark.skipif(not GOLDEN.is_dir(), reason="no shared/golden folder beside this repository")
def test_golden_summary(tmp_path):
    rows = []
    for line in (GOLDEN / "summary_rows.jsonl").read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        values = {name: row[name] for name in PRO_VALUES}
        rows.append(pro_row(row["id"], row["metric"], repeat=row["bon_idx"], **values))
    found = figures(write_run(tmp_path / "r", rows))
    summary = json.loads((GOLDEN / "summary.json").read_text())
    assert_equal(found, summary)
    overall = found["overall", "overall"]
    assert (overall.n, overall.method) == (400, "bootstrap")
    # The 95% interval by the normal approximation.
    means = {}
    for row in rows:
        means.setdefault(row["id"], []).append(row["score"])
    spread = [sum(scores) / 3 for scores in means.values()]
    error = (sum((x - overall.value) ** 2 for x in spread) / 400 / 400) ** 0.5
    assert overall.low == pytest.approx(overall.value - 1.96 * error, abs=0.2 * error)
    assert overall.high == pytest.approx(overall.value + 1.96 * error, abs=0.2 * error)
    third = found["pass@N", "pass@3"]
    assert (third.low, third.high) == wilson_interval(171, 400)  # 0.4275
    assert third.method == "wilson"
