"""Tables of what was scored."""

import io

import pytest
from prediction_rows import pro_row, v1_row, v2_row, write_lines
from rich.console import Console

from lm_eval_longbench.cli.score import tables_of
from lm_eval_longbench.scoring.score import score_paths

COUNTS = ["scored", "failed", "unscored", "malformed", "duplicate", "missing"]


@pytest.fixture
def printed(tmp_path):
    """The lines of the table of a file, as lists of cells: printed(name, *rows)."""

    def run(name, *rows):
        path = write_lines(tmp_path / name, *rows)
        report = score_paths(path.parent, tmp_path / "out")
        (table,) = tables_of(report)
        text = io.StringIO()
        Console(file=text, width=300).print(table)
        lines = [line.split("  ") for line in text.getvalue().splitlines()]
        cells = [[cell.strip() for cell in line if cell.strip()] for line in lines]
        return table.title, {line[0]: line[1:] for line in cells if len(line) > 1}

    return run


def test_v1(printed):
    title, lines = printed("pred/qasper.jsonl", v1_row("x", "x"), v1_row("", "x"), "{")
    assert title == "longbench_v1"
    assert lines["dataset"] == ["score", *COUNTS]
    assert lines["qasper"] == ["50.00", "2", "1", "0", "1", "0", "198"]
    assert lines["all"] == ["-", "2", "1", "0", "1", "0", "4748"]


def test_e(printed):
    title, lines = printed("pred_e/qasper.jsonl", v1_row("x", "x", length=5000))
    assert title == "longbench_v1_e"
    assert lines["dataset"] == ["0-4k", "4-8k", "8k+", *COUNTS]
    assert lines["qasper"] == ["-", "100.00", "-", "1", "0", "0", "0", "0", "223"]
    assert lines["all"][:3] == ["-", "-", "-"]


def test_v2(printed):
    rows = [v2_row("q1"), v2_row("q2", "A", length="long"), {**v2_row("q3"), "response": None}]
    _, lines = printed("m.jsonl", *rows, v2_row("q1"), "{")
    ways = ["official", "compensated", "accuracy", "strict"]
    counts = ["scored", "failed", "unparsed", "unscored", "malformed", "duplicate", "missing"]
    assert lines["official"] == [*ways[1:], *counts]  # the first column has no name
    assert lines["overall"] == ["33.3", "41.7", "33.3", "0.2", "3", "1", "1", "0", "1", "1", "500"]
    assert lines["long"] == ["0.0", "0.0", "0.0", "0.0", "1", "0", "0", "0", "-", "-", "107"]
    assert lines["hard"] == ["-", "-", "-", "0.0", "0", "0", "0", "0", "-", "-", "311"]


def test_pro(printed):
    rows = [pro_row("q", bon_idx=run) for run in (1, 2)]
    rows += [pro_row("s", "a summary", code="t4_1")]
    title, lines = printed("m_inference_1.jsonl", *rows)
    assert title == "longbench_pro, 2 repeats"
    assert lines["T3.2 Single-Hop Fact QA"] == ["100.00", "2", "0", "0", "0", "0", "59"]
    assert lines["T4.1 Global-Coverage Constrained Summary"][:4] == ["-", "0", "0", "1"]
    assert lines["all"] == ["-", "2", "0", "1", "0", "0", "1498"]
