"""The table of LongBench-E: buckets, and the curve relative to the dataset."""

import pytest
from scored_runs import v1_rows, write_run

from lm_eval_longbench.reporting.report import make_report
from lm_eval_longbench.reporting.scored_run import read_run

TABLE = "longbench_v1_e"


def figures(folder):
    (benchmark,) = make_report([read_run(folder)]).benchmarks
    return {(row.section, row.name): row.figures[0] for row in benchmark.rows}


def test_hand_worked(tmp_path):
    trec = [(0, 1.0), (3999, 0.5), (4000, 0.5), (7999, 0.2), (8000, 0.0), (10**6, 0.2)]
    rows = v1_rows({"trec": trec * 10, "lcc": [(1, 0.5)]}, TABLE)
    found = figures(write_run(tmp_path / "r", rows))
    assert found["all lengths", "trec"].value == pytest.approx(0.4)  # 2.4 / 6
    expected = {"0-4k": 0.75, "4-8k": 0.35, "8k+": 0.1}
    for name, value in expected.items():
        assert found[name, "trec"].value == pytest.approx(value)
        assert found[name, "trec"].n == 20
        relative = found[f"{name}, relative to all lengths", "trec"]
        assert relative.value == pytest.approx(value / 0.4 - 1)
        assert relative.low < relative.value < relative.high
    # An empty bucket has neither a score nor a place on the curve.
    assert found["0-4k, relative to all lengths", "lcc"].value == 0
    for section in ("8k+", "8k+, relative to all lengths"):
        assert (found[section, "lcc"].value, found[section, "lcc"].n) == (None, 0)


def test_a_dataset_of_zeros_has_no_curve(tmp_path):
    found = figures(write_run(tmp_path / "r", v1_rows({"trec": [(1, 0.0), (9000, 0.0)]}, TABLE)))
    assert found["8k+", "trec"].value == 0
    assert found["8k+, relative to all lengths", "trec"].value is None
