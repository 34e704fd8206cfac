"""LaTeX tables: the numbers of the report, and no text that is a command."""

import re

import pytest
from scored_runs import v1_rows, write_run

from lm_eval_longbench.reporting.formats import escaped_latex
from lm_eval_longbench.reporting.render import render
from lm_eval_longbench.reporting.report import make_report
from lm_eval_longbench.reporting.scored_run import read_run


@pytest.fixture
def report(tmp_path):
    runs = []
    for name, score in (("mine_50%", 0.5), ("other", 0.75)):
        rows = v1_rows({"trec": [score, 1.0] * 20, "lcc": [0.1]})
        runs.append(read_run(write_run(tmp_path / name, rows)))
    return make_report(runs, published=True)


def test_every_figure_stands_in_its_row(report):
    text = render(report, "latex")
    (benchmark,) = report.benchmarks
    rows = [line for line in text.splitlines() if line.endswith(r"\\") and " & " in line]
    rows = [[cell.strip() for cell in line.removesuffix(r"\\").split(" & ")] for line in rows]
    for row in benchmark.rows:
        if row.figures[0] is None or row.figures[0].value is None:
            continue
        (cells,) = [one for one in rows if one[0] == escaped_latex(row.name)]
        assert len(cells) == 1 + 2 + 1
        assert cells[1].startswith(row.figures[0].shown(row.unit))
        assert cells[3].startswith("+") or row.name == "lcc"
        assert cells[1].endswith(r" {\scriptsize [n\textless{}20]}") == (row.name == "lcc")
    assert any(cells[1].startswith(r"75.00 {\scriptsize [") for cells in rows)


def test_published_rows_and_runs_are_one_table(report):
    text = render(report, "latex")
    assert r"\textbf{mine\_50\%}" in text
    assert re.search(r"^ChatGLM3-6B-32k +& +57\.66 & +79\.0 \\\\$", text, re.MULTILINE)
    assert text.count(r"\begin{table}") == text.count(r"\end{table}") == 2
    assert text.count("{") == text.count("}")


def test_texts_are_no_commands():
    assert escaped_latex("a_b & 5% $x$ #1 {y} \\input~^") == (
        r"a\_b \& 5\% \$x\$ \#1 \{y\} \textbackslash{}input\textasciitilde{}\textasciicircum{}"
    )
    assert escaped_latex("\x1b[31m\n") == r"\textbackslash{}x1b[31m\textbackslash{}x0a"
