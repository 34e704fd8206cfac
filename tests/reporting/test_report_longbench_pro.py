"""The table of LongBench Pro: every figure of the official summary."""

import json
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from longbench_pro_facts import (
    DIMENSIONS,
    PRIMARY_TASKS,
)
from oracles import pro_summary as oracle
from scored_runs import PRO_VALUES, close, pro_row, write_run

from lm_eval_longbench.reporting.report import make_report
from lm_eval_longbench.reporting.scored_run import read_run
from lm_eval_longbench.statistics.intervals import wilson_interval

GOLDEN = Path(__file__).resolve().parents[3] / "shared" / "golden" / "longbench_pro"
T3, T4 = PRIMARY_TASKS[2], PRIMARY_TASKS[3]


def figures(folder, column=0):
    (benchmark,) = make_report([read_run(folder)]).benchmarks
    return {(row.section, row.name): row.figures[column] for row in benchmark.rows}


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


SCORES = st.lists(
    st.sampled_from([0.0, 0.25, 0.65, 0.66, 1.0, None, "-"]), min_size=3, max_size=3
).filter(lambda scores: scores[2] != "-")


@settings(max_examples=40)
@given(
    st.lists(
        st.tuples(
            SCORES,
            st.sampled_from([T3, T4]),
            st.sampled_from(DIMENSIONS["token_length"][:2]),
            st.sampled_from(DIMENSIONS["language"]),
        ),
        min_size=1,
        max_size=6,
    )
)
def test_against_the_oracle_with_missing_and_unscored_runs(tmp_path_factory, questions):
    rows = [
        pro_row(
            f"q{number}", score, repeat=run, primary_task=task, token_length=length, language=own
        )
        for number, (scores, task, length, own) in enumerate(questions)
        for run, score in enumerate(scores, start=1)
        if score != "-"
    ]
    found = figures(write_run(tmp_path_factory.mktemp("oracle") / "r", rows))
    as_official = [
        {**{name: row[name] for name in ("id", *DIMENSIONS)}, "bon_idx": row["repeat"]}
        | {"metric": row["score"], "failed": row["failed"]}
        for row in rows
    ]
    assert_equal(found, oracle.summary(as_official, 3, DIMENSIONS))
    unscored = sum(row["score"] is None for row in rows)
    assert found["overall", "overall"].unscored == unscored
    assert found["overall", "overall"].n == len(questions)


def test_unscored_summaries_leave_no_figure_that_contains_them(tmp_path):
    rows = [pro_row("a", 0.5), pro_row("b", 1.0, language="Chinese")]
    rows += [pro_row("s", None, primary_task=T4), pro_row("t", 0.0, primary_task=T4, failed=True)]
    found = figures(write_run(tmp_path / "r", rows))
    for place in (
        ("overall", "overall"),
        ("iteration", "iteration 1"),
        ("best of N", "best of 1"),
        ("pass@N", "pass@1"),
        ("primary_task", T4),
        ("language", "English"),
        ("secondary_task", "T4.1 Global-Coverage Constrained Summary"),
    ):
        figure = found[place]
        assert (figure.value, figure.low, figure.method, figure.unscored) == (None, None, "none", 1)
    assert (found["overall", "overall"].n, found["overall", "overall"].failed) == (4, 1)
    assert (found["primary_task", T3].value, found["primary_task", T3].unscored) == (0.75, 0)
    assert found["language", "Chinese"].value == 1
