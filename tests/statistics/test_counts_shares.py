"""Shares of failed, capped and cut answers, and what truncation costs."""

import pytest
from scored_runs import v1_rows, v2_row, write_run

from lm_eval_longbench.reporting.scored_run import read_run
from lm_eval_longbench.statistics.figure import CAPPED, FAILED, LOSS, TRUNCATED, shares
from lm_eval_longbench.statistics.tree import estimate


def of(rows, folder):
    ((_, table),) = read_run(write_run(folder, rows)).tables.items()
    return {figure.name: estimate(figure.tree) for figure in shares(table.answers)}


def test_shares_of_what_is_known(tmp_path):
    rows = v1_rows({"trec": [1.0, 0.5, 0.0, 0.0] * 20})
    for number, row in enumerate(rows):
        row["failed"] = number % 4 == 2
        row["truncated"] = number % 2 == 1
        row["capped"] = None if number % 8 == 0 else number % 4 == 3
    found = of(rows, tmp_path / "r")
    assert found[FAILED].value == 0.25
    assert found[TRUNCATED].value == 0.5
    assert found[CAPPED].value == pytest.approx(20 / 70)
    assert found[LOSS].value == pytest.approx(0.25 - 0.5)
    assert all(one.low <= one.value <= one.high for one in found.values())


def test_shares_are_printed_in_percent(tmp_path):
    rows = v1_rows({"trec": [1.0] * 8})
    for number, row in enumerate(rows):
        row["failed"] = number == 0
    ((_, table),) = read_run(write_run(tmp_path / "r", rows)).tables.items()
    (failed,) = (one for one in shares(table.answers) if one.name == FAILED)
    assert failed.unit.shown(failed.tree.value) == "12.50"


def test_what_is_not_known_has_no_value(tmp_path):
    found = of([v2_row(f"q{n}", 1.0) for n in range(30)], tmp_path / "r")
    assert found[CAPPED].value is found[TRUNCATED].value is found[LOSS].value is None
    assert found[FAILED].value == 0
