"""Which columns stand beside each other, which are compared, and where runs differ."""

import pytest
from scored_runs import pro_row, v1_rows, write_run

from lm_eval_longbench.reporting.report import columns_of, make_report, pairs_of
from lm_eval_longbench.reporting.report import remarks_on as remarks
from lm_eval_longbench.reporting.scored_run import read_run

THINKING = "longbench_pro_thinking"


@pytest.fixture
def run(tmp_path):
    def make(name, rows, **more):
        return read_run(write_run(tmp_path / name, rows, **more))

    return make


def pairs(benchmark, *runs):
    columns = columns_of(benchmark, runs)
    labels = [column.label for column in columns]
    return labels, [(pair.label, pair.shared, pair.reason) for pair in pairs_of(columns)]


def test_two_runs(run):
    a = run("a", v1_rows({"qasper": [0.0, 1.0, 0.5]}))
    b = run("b", v1_rows({"qasper": [1.0, 1.0], "lcc": [0.5]}))
    assert pairs("longbench_v1", a, b) == (["a", "b"], [("b less a", 2, "")])
    assert pairs("longbench_v1", a) == (["a"], [])
    assert pairs("longbench_v2", a, b) == ([], [])
    (benchmark,) = make_report([a, b]).benchmarks
    rows = {(row.section, row.name): row for row in benchmark.rows}
    (difference,) = rows["dataset", "qasper"].differences
    assert (difference.value, difference.n) == (0.5, 2)
    # Only one of them has lcc.
    (difference,) = rows["dataset", "lcc"].differences
    assert (difference.value, difference.n) == (None, 0)


def test_two_runs_of_two_modes_are_compared_mode_by_mode(run):
    rows = [pro_row("x", 0.5), pro_row("x", 0.7, table=THINKING)]
    a, b = run("a", rows), run("b", rows)
    labels, found = pairs("longbench_pro", a, b)
    assert labels == [
        f"{name} ({mode} prompt)" for name in "ab" for mode in ("non-thinking", "thinking")
    ]
    assert found == [
        ("b less a (non-thinking prompt)", 1, ""),
        ("b less a (thinking prompt)", 1, ""),
    ]


def test_lines_and_ids_cannot_be_paired(run):
    rows = v1_rows({"qasper": [1.0, 0.0]})
    a, b = run("a", rows), run("b", [row | {"id": str(row["index"])} for row in rows])
    ((_, shared, reason),) = pairs("longbench_v1", a, b)[1]
    assert shared == 0
    assert "one was scored from prediction files, which know a question by its line" in reason


def test_questions_that_are_not_the_same_are_not_compared(run):
    a = run("a", v1_rows({"trec": [(100, 1.0), (9000, 0.0)]}, "longbench_v1_e"))
    b = run("b", v1_rows({"trec": [(9000, 0.0), (9000, 1.0)]}, "longbench_v1_e"))
    ((_, shared, reason),) = pairs("longbench_v1_e", a, b)[1]
    assert shared == 2
    assert reason == "1 of their common questions differ in bucket: they are not the same questions"


def test_runs_with_other_numbers_of_repeats_stand_beside_each_other(run):
    a = run("a", [pro_row("x", 0.5), pro_row("y", 0.5)])
    b = run("b", [pro_row(name, 1.0, repeat=n) for name in "xy" for n in (1, 2)])
    (benchmark,) = make_report([a, b]).benchmarks
    rows = {(row.section, row.name): row for row in benchmark.rows}
    second = rows["best of N", "best of 2"]
    assert (second.figures[0], second.figures[1].value) == (None, 1.0)
    assert second.differences == (None,)
    assert rows["overall", "overall"].differences[0].value == 0.5


def test_remarks(run):
    a = run("a", [pro_row("x", 0.5)], data=("official",))
    b = run("b", [pro_row("x", 0.5)], data=("sample-1",), embedding_model="m")
    c = run("c", [pro_row("x", 0.5), pro_row("x", 0.5, repeat=2)], data=("official",))
    assert remarks([a]) == []
    assert remarks([a, a]) == []
    assert remarks([a, b]) == [
        "longbench_pro: the runs differ in data (a: official; b: sample-1).",
        "longbench_pro: the runs differ in embedding model (a: none; b: m).",
    ]
    assert remarks([a, c]) == ["longbench_pro: the runs differ in repeats (a: 1; c: 2)."]
    assert make_report([a, c]).remarks == tuple(remarks([a, c]))
