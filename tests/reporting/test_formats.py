"""Tables in four formats from one list of rows."""

import re

import pytest
from rich.cells import cell_len

from lm_eval_longbench.reporting.formats import Printed, TextTable, csv_of, write

# Names of runs that a format could take for its own.
NAMES = ["\x01", "a|b", "<b>", "a_b & 5%", "**bold**", "\\input{x}", "通义千问", "[link](x)"]
HEADS = [("figure", ""), ("运行", "value [95%] n"), ("B less A", "difference"), ("note", "")]
CELLS = [("41.23", "[38.10, 44.30]", "200"), ("-",), ("说明 <i>",)]


@pytest.fixture
def printed():
    named = [(name, CELLS) for name in NAMES]
    groups = [("", named[:4]), ("数据_集", named[4:])]
    table = TextTable("T & t", HEADS, groups, ("a note",), ("", "运行", "B less A"), "C_1", ["a|b"])
    return Printed([table], ("the end",), [{"n": 1, "=x": "=1"}], ("first",), {"x": None})


def test_no_row_is_lost_or_split_by_its_name(printed):
    """Tabulate takes a cell of "\\x01" for a line between rows."""
    rows = [line for line in write(printed, "markdown").splitlines() if "41.23" in line]
    assert len(rows) == len(NAMES)
    assert all(len(re.findall(r"(?<!\\)\|", row)) == 5 for row in rows)
    rows = [line for line in write(printed, "latex").splitlines() if "41.23" in line]
    assert len(rows) == len(NAMES)
    assert all(len(re.findall(r"(?<!\\)&", row)) == 2 for row in rows)
    rows = [line for line in write(printed, "table").splitlines() if "41.23" in line]
    assert len(rows) == len(NAMES)


def test_no_name_is_a_command(printed):
    markdown, latex = write(printed, "markdown"), write(printed, "latex")
    assert "\\<b\\>" in markdown and "[link\\](x)" in markdown and "**a\\|b**" in markdown
    assert r"\textbackslash{}input\{x\}" in latex and r"\textbf{a\textbar{}b}" in latex
    assert latex.count("{") == latex.count("}")
    assert write(printed, "csv") == "first,n,'=x\n,1,'=1\n"


def test_latex_has_intervals_and_no_texts(printed):
    text = write(printed, "latex")
    assert r"41.23 {\scriptsize [38.10, 44.30]}" in text and "200" not in text
    assert "说明" not in text and "note" not in text
    assert r"\caption{C\_1}" in text and r"\begin{tabular}{lrr}" in text
    assert text.count(r"\midrule") == 2  # below the head, and between two sections


@pytest.mark.parametrize("width", [None, 50])
def test_wide_characters_align_and_columns_that_do_not_fit_come_later(printed, width):
    table = printed.tables[0]
    numbers = TextTable(table.title, table.heads[:3], table.groups, (), table.paper, "")
    text = write(Printed([numbers], (), [], (), {}), "table", width)
    lines = [line for line in text.splitlines() if line[:1] in "│┃"]
    first = lines[: next(n for n, line in enumerate(lines) if "[link]" in line) + 1]
    assert len({cell_len(line) for line in first}) == 1
    assert text.count("T & t") == (1 if width is None else 2)
    assert "B\nless" not in text and "less A" in text


def test_no_cell_of_csv_is_a_formula_and_negative_numbers_stay_numbers():
    lines = [{"-name": own, "n": -3} for own in ("-1.20", "=1", "+1+cmd", "-2+3", "@SUM(A1)")]
    cells = csv_of(lines).splitlines()
    assert cells == ["'-name,n", "-1.20,-3", "'=1,-3", "'+1+cmd,-3", "'-2+3,-3", "'@SUM(A1),-3"]
