"""scripts/bench measures both sides of what it compares."""

import importlib.machinery
import importlib.util
import json
from pathlib import Path

import pytest

PATH = Path(__file__).parents[1] / "scripts" / "bench"
ROWS = {
    "qasper": {"pred": "the red fox", "answers": ["a fox", "red"], "all_classes": None},
    "trec": {"pred": "City\nmore", "answers": ["City"], "all_classes": ["City", "State"]},
    "dureader": {"pred": "中国的首都是北京", "answers": ["北京是首都"], "all_classes": None},
}


def test_scores_of_both_sides_are_equal(tmp_path):
    loader = importlib.machinery.SourceFileLoader("bench", str(PATH))
    bench = importlib.util.module_from_spec(importlib.util.spec_from_loader("bench", loader))
    loader.exec_module(bench)
    for name, row in ROWS.items():
        (tmp_path / f"{name}.jsonl").write_text(json.dumps(row), encoding="utf-8")
    official, ours = (
        bench.measure_scoring(side, str(tmp_path))["scores"] for side in ("official", "ours")
    )
    assert official.keys() == {*ROWS, bench.CODE}
    for name, scores in official.items():
        assert scores == pytest.approx(ours[name], abs=1e-9)
        assert any(score > 0 for score in scores)
