"""Runs that depend on different things do not stand side by side without a word."""

import json

from scored_runs import v2_row, write_run

from lm_eval_longbench.benchmarks.registry import signs
from lm_eval_longbench.reporting.render import render
from lm_eval_longbench.reporting.report import make_report
from lm_eval_longbench.reporting.report import remarks_on as remarks
from lm_eval_longbench.reporting.scored_run import read_run
from lm_eval_longbench.signature.signature import line, unknown

KNOWN = {
    "benchmark": "longbench_v2",
    "task": "longbench_v2",
    "data": "zai-org/LongBench-v2@2b48e49",
    "template_sha256": "a" * 64,
    "limit": 120000,
    "truncated": 7,
    "chat": "on",
    "asked": 503,
    "answered": 1,
}


def run_with(folder, **changed):
    """A scored folder whose report carries a signature, as `score` writes it."""
    write_run(folder, [v2_row("q", 1.0)])
    file = folder / "report.json"
    report = json.loads(file.read_text())
    ingredients = unknown(**{**KNOWN, **changed})
    signature = {"line": line(ingredients, signs()), "ingredients": ingredients}
    report["tables"]["longbench_v2"]["signature"] = signature
    file.write_text(json.dumps(report))
    return read_run(folder, folder.name)


def test_what_makes_runs_incomparable_is_said(tmp_path):
    runs = [run_with(tmp_path / "a"), run_with(tmp_path / "b", chat="off", limit=31500)]
    found = remarks(runs)
    assert [text.split(" differs")[0] for text in found] == [
        "longbench_v2, not comparable: limit",
        "longbench_v2, not comparable: chat",
    ]
    for kind in ("table", "markdown", "json"):
        assert "not comparable: chat differs (on" in render(make_report(runs), kind).replace(
            "\\|", "|"
        )


def test_what_nobody_knows_is_passed_over(tmp_path):
    runs = [run_with(tmp_path / "a"), run_with(tmp_path / "b", chat="?")]
    assert remarks(runs[:1] * 2) == []
    assert remarks(runs) == []
