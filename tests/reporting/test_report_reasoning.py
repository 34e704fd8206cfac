"""Reasoning in answers and rougeL_google: both figures, in every format, where there are any."""

import json

import pytest
from prediction_rows import v1_row, write_lines

from lm_eval_longbench.reporting.render import render
from lm_eval_longbench.reporting.report import make_report
from lm_eval_longbench.reporting.scored_run import read_run
from lm_eval_longbench.scoring.score import score_paths


def thinks(text, why="Is it Bob?"):
    return f"<think>{why}</think>\n\n{text}"


def v1_folder(tmp_path, name="run", *, marks=True, **options):
    """Thirty answers of qasper, a third of them right only without their reasoning."""
    third = [thinks("Emma") if marks else "Emma", "Emma", "Bob"]
    rows = [v1_row(third[n % 3], "Emma") for n in range(30)]
    path = write_lines(tmp_path / name / "pred" / "qasper.jsonl", *rows)
    score_paths([path], tmp_path / name / "scored", workers=1, **options)
    return tmp_path / name / "scored"


def report_of(*folders):
    runs = [read_run(folder, f"run {number}") for number, folder in enumerate(folders)]
    return make_report(runs)


def rows_of(report, number=0):
    (benchmark,) = report.benchmarks
    return {(row.section, row.name): row.figures[number] for row in benchmark.rows}


def edited(folder, edit):
    path = folder / "report.json"
    report = json.loads(path.read_text())
    edit(report)
    path.write_text(json.dumps(report))


@pytest.mark.parametrize(
    ("policy", "own", "other", "section"),
    [("keep", 0.4, 1.0, "dropped"), ("drop", 1.0, 0.4, "kept")],
)
def test_v1_both_figures_have_intervals(tmp_path, policy, own, other, section):
    rows = rows_of(report_of(v1_folder(tmp_path, reasoning=policy)))
    figure = rows["dataset", "qasper"]
    beside = rows[f"dataset, reasoning {section}", "qasper"]
    assert figure.value == pytest.approx((own + 1) / 3)
    assert beside.value == pytest.approx((other + 1) / 3)
    assert beside.low < beside.value < beside.high
    assert beside.official == pytest.approx(100 * beside.value, abs=0.005)
    assert rows[f"headline, reasoning {section}", "English"].value is None  # datasets are missing
    sections = {name for name, _ in rows if "reasoning" in name}
    assert sections == {f"{name}, reasoning {section}" for name in ("headline", "dataset")}


def test_every_format_says_how_many_and_by_which_policy(tmp_path):
    report = report_of(v1_folder(tmp_path))
    said = "10 of 30 answers hold reasoning (<think>...</think>), which the figures keep; "
    for name in ("table", "markdown", "json"):
        text = render(report, name).replace("\\", "")
        assert said in text, name
        assert "dataset, reasoning dropped" in text, name
    (column,) = json.loads(render(report, "json"))["benchmarks"][0]["columns"]
    assert column["reasoning"] == {"policy": "keep", "answers": 10}


def test_two_runs_are_compared_under_one_policy(tmp_path):
    """One run drops what the other keeps: each row is of one policy, but for the first ones."""
    kept = v1_folder(tmp_path, "kept", reasoning="keep")
    dropped = v1_folder(tmp_path, "dropped", reasoning="drop")
    plain = v1_folder(tmp_path, "plain", marks=False)
    (benchmark,) = report_of(kept, dropped).benchmarks
    rows = {(row.section, row.name): row for row in benchmark.rows}
    for word in ("kept", "dropped"):
        row = rows[f"dataset, reasoning {word}", "qasper"]
        assert row.figures[0].value == row.figures[1].value
        assert row.differences[0].value == 0
    assert rows["dataset", "qasper"].differences[0].value == pytest.approx(0.2)
    rows = rows_of(report_of(kept, plain), 1)
    assert rows["dataset, reasoning dropped", "qasper"].value == rows["dataset", "qasper"].value
    assert ("dataset, reasoning kept", "qasper") not in rows
    edited(plain, lambda report: report["tables"]["longbench_v1"].pop("reasoning"))
    assert rows_of(report_of(kept, plain), 1)["dataset, reasoning dropped", "qasper"] is None
