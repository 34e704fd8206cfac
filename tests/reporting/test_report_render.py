"""Every format parses back to the figures of the report."""

import csv
import io
import json
import random

import pytest
from scored_runs import pro_row, v1_rows, v2_row, write_run

from lm_eval_longbench.reporting.render import render
from lm_eval_longbench.reporting.report import make_report
from lm_eval_longbench.reporting.scored_run import read_run

T4 = "T4. Summarization & Synthesis"


def rows_of(seed):
    """Rows of all four benchmarks, with failures, an unscored summary and a missing dataset."""
    generator = random.Random(seed)
    rows = v1_rows({"qasper": [generator.random() for _ in range(24)], "lcc": [0.25, 0.5]})
    e = {"trec": [(generator.choice([1, 1, 5000]), generator.random()) for _ in range(45)]}
    rows += v1_rows(e, "longbench_v1_e")
    for number in range(24):
        score = float(generator.random() < 0.5)
        rows.append(v2_row(f"q{number}", score, domain="Code Repository Understanding"))
        rows.append(pro_row(f"q{number}", generator.random(), failed=number == 3))
        rows.append(pro_row(f"q{number}", generator.random(), table="longbench_pro_thinking"))
    rows.append(pro_row("s", None, primary_task=T4))
    return rows


@pytest.fixture(scope="module")
def reports(tmp_path_factory):
    """The report on one run and the one on two, with published figures."""
    folder = tmp_path_factory.mktemp("reports")
    a, b = (read_run(write_run(folder / name, rows_of(name))) for name in ("a|b", "[red]two"))
    return make_report([a], published=True), make_report([a, b], published=True)


def shown(value, digits, factor=1):
    return None if value is None else f"{factor * value:.{digits}f}"


def digits_of(figure, benchmark):
    """Decimals and factor from the value in JSON to the number in tables."""
    if figure["unit"] == "relative":
        return 2, 100
    return (1, 1) if benchmark == "longbench_v2" else (2, 100 if "pro" in benchmark else 1)


def as_json(report):
    return json.loads(render(report, "json"))


# ---------------------------------------------------------------------- JSON


def test_json_is_unrounded_and_complete(reports):
    for report in reports:
        text = render(report, "json")
        assert "NaN" not in text
        parsed = json.loads(text)
        for own, benchmark in zip(parsed["benchmarks"], report.benchmarks, strict=True):
            assert len(own["figures"]) == len(benchmark.rows)
            for found, row in zip(own["figures"], benchmark.rows, strict=True):
                assert (found["section"], found["name"]) == (row.section, row.name)
                factor = {"percent": 100, "share": 1, "relative": 1}[found["unit"]]
                for cell, figure in zip(found["figures"], row.figures, strict=True):
                    assert cell["n"] == figure.n
                    assert (cell["failed"], cell["unscored"]) == (figure.failed, figure.unscored)
                    assert cell["interval"] == figure.method
                    expected = None if figure.value is None else factor * figure.value
                    assert cell["value"] == expected
                for cell, difference in zip(found["differences"], row.differences, strict=True):
                    assert (cell is None) == (difference is None)
                    if cell is not None:
                        assert (cell["p_value"], cell["n"]) == (difference.p_value, difference.n)
    assert parsed["method"]["resamples"] == 2000
    assert parsed["method"]["seed"] == 1234


def test_json_has_every_published_figure(reports):
    parsed = as_json(reports[0])
    by_name = {benchmark["benchmark"]: benchmark for benchmark in parsed["benchmarks"]}
    assert list(by_name) == ["longbench_v1", "longbench_v1_e", "longbench_v2", "longbench_pro"]
    (board,) = by_name["longbench_v1"]["published"]
    glm = next(entry for entry in board["entries"] if entry["name"] == "ChatGLM3-6B-32k")
    assert ["dataset", "qasper", 43.3] in glm["figures"]
    # The run has two datasets, so that it is beside others in these alone.
    assert board["figures"] == [["dataset", "lcc"], ["dataset", "qasper"]]
    assert glm["values"] == [57.66, 43.3]
    boards = by_name["longbench_pro"]["published"]
    assert [board["mode"] for board in boards] == ["nonthinking", "thinking"]
    assert sum(entry["published"] for board in boards for entry in board["entries"]) == 80


# ---------------------------------------------------------------------- CSV


def test_csv_has_a_line_a_figure(reports):
    for report in reports:
        lines = list(csv.DictReader(io.StringIO(render(report, "csv"))))
        parsed = as_json(report)
        figures = [
            (benchmark, figure)
            for benchmark in parsed["benchmarks"]
            for figure in benchmark["figures"]
        ]
        own = [line for line in lines if line["unit"] != "rank"]
        assert len(own) == len(figures)
        for line, (benchmark, figure) in zip(own, figures, strict=True):
            assert line["benchmark"] == benchmark["benchmark"]
            assert (line["section"], line["figure"]) == (figure["section"], figure["name"])
            digits, factor = digits_of(figure, line["benchmark"])
            for column, cell in zip(benchmark["columns"], figure["figures"], strict=True):
                label = column["label"]
                for name, key in (("", "value"), (": low", "low"), (": high", "high")):
                    expected = shown(cell[key], digits, factor)
                    # A rounded zero has no sign.
                    assert line[label + name].lstrip("-") == (expected or "").lstrip("-")
                assert int(line[f"{label}: n"]) == cell["n"]
                assert int(line[f"{label}: failed"]) == cell["failed"]
                assert int(line[f"{label}: unscored"]) == cell["unscored"]
                method = cell["interval"] + (f": {cell['reason']}" if cell["reason"] else "")
                assert line[f"{label}: interval"] == method
            for pair, cell in zip(benchmark["pairs"], figure["differences"], strict=True):
                text = line[pair["label"]]
                assert (text == "") == (cell is None or cell["value"] is None)
                if text:
                    rounding = 0.51 / 10**digits
                    assert float(text) == pytest.approx(factor * cell["value"], abs=rounding)


# ---------------------------------------------------------------------- Markdown and table


def cell_text(cell, figure, benchmark):
    if cell is None:
        return ""
    digits, factor = digits_of(figure, benchmark)

    def text(value):
        if value is None:
            return "-"
        number = f"{factor * value:.{digits}f}"
        if float(number) == 0:
            return number.removeprefix("-")
        return f"+{number}" if figure["unit"] == "relative" and value > 0 else number

    ends = "" if cell["low"] is None else f" [{text(cell['low'])}, {text(cell['high'])}]"
    if cell["reason"]:
        assert cell["reason"] == "fewer than 20 questions"
        ends = " [n<20]"
    return f"{text(cell['value'])}{ends} {cell['n']}/{cell['failed']}/{cell['unscored']}"


def shown_figures(report):
    """Name and first cell of every figure that tables show, as worked out from the JSON."""
    details = {
        (benchmark.benchmark, row.section, row.name)
        for benchmark in report.benchmarks
        for row in benchmark.rows
        if row.detail
    }
    for benchmark in as_json(report)["benchmarks"]:
        for figure in benchmark["figures"]:
            if (benchmark["benchmark"], figure["section"], figure["name"]) not in details:
                cell = cell_text(figure["figures"][0], figure, benchmark["benchmark"])
                yield figure["name"], cell


def test_tables_hold_every_shown_figure(reports):
    for report in reports:
        found = [
            (cells[0].strip(), cells[1].strip())
            for line in render(report, "table").splitlines()
            if line.startswith("│ ") and "]" in (cells := line.strip("│").split("│"))[1]
        ]
        expected = [(name, cell) for name, cell in shown_figures(report) if "]" in cell]
        assert found == expected


@pytest.mark.parametrize("width", [40, 80, 100, 140, 200])
def test_tables_fit_the_width_in_blocks_of_columns(reports, width):
    """No line is longer, and every figure is there whole if one column fits at all."""
    _, report = reports
    text = render(report, "table", width)
    assert max(map(len, text.splitlines())) <= width
    if width >= 100:
        for benchmark in as_json(report)["benchmarks"]:
            for figure in benchmark["figures"][:3]:
                for cell in figure["figures"]:
                    if all(own["value"] is None for own in figure["figures"]):
                        continue
                    assert cell_text(cell, figure, benchmark["benchmark"]) in text
    assert "…" not in text
