"""LaTeX tables: the numbers of the report, and no text that is a command."""

import re

import pytest
from scored_runs import v1_rows, write_run

from lm_eval_longbench.reports.render_latex import escaped_latex, latex_text
from lm_eval_longbench.reports.report import make_report
from lm_eval_longbench.reports.scored_run import read_run


@pytest.fixture
def report(tmp_path):
    runs = []
    for name, score in (("mine_50%", 0.5), ("other", 0.75)):
        rows = v1_rows({"trec": [score, 1.0] * 20, "lcc": [0.1]})
        runs.append(read_run(write_run(tmp_path / name, rows)))
    return make_report(runs, published=True)


def test_every_figure_stands_in_its_row(report):
    text = latex_text(report)
    (benchmark,) = report.benchmarks
    rows = [line for line in text.splitlines() if line.endswith(r"\\")]
    for row in benchmark.rows:
        if row.figures[0] is None or row.figures[0].value is None:
            continue
        (line,) = [one for one in rows if one.startswith(f"{escaped_latex(row.name)} & ")]
        cells = line.removesuffix(r" \\").split(" & ")
        assert len(cells) == 1 + 2 + 1
        assert cells[1].startswith(row.figures[0].shown(row.unit))
        assert cells[3].startswith("+") or row.name == "lcc"
    assert r"trec & 75.00 {\scriptsize [" in text


def test_published_rows_and_runs_are_one_table(report):
    text = latex_text(report)
    assert r"\textbf{mine\_50\%}" in text
    assert re.search(r"^ChatGLM3-6B-32k & 57\.660? & 79\.00? \\\\$", text, re.MULTILINE)
    assert text.count(r"\begin{table}") == text.count(r"\end{table}") == 2
    assert text.count("{") == text.count("}")


def test_texts_are_no_commands():
    assert escaped_latex("a_b & 5% $x$ #1 {y} \\input~^") == (
        r"a\_b \& 5\% \$x\$ \#1 \{y\} \textbackslash{}input\textasciitilde{}\textasciicircum{}"
    )
    assert escaped_latex("\x1b[31m\n") == r"\textbackslash{}x1b[31m\textbackslash{}x0a"
