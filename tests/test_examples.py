"""The examples for other programs, each in a small real run; those programs are in no extra."""

import importlib
import json
from pathlib import Path

import pytest

import lm_eval_longbench as lb

FOLDER = Path(__file__).resolve().parents[1] / "examples"
ANSWERS = {
    "longbench_v2": "The correct answer is (B)",
    "longbench_pro": "[Answer]\nReport 1\nReport 2",
}


@pytest.fixture
def example(monkeypatch):
    """Import an example by its name."""
    monkeypatch.syspath_prepend(str(FOLDER))
    return importlib.import_module


def needs(package):
    pytest.importorskip(package, reason=f"{package} is not installed (pip install {package})")


def headline(lines):
    """Return our overall figure of some answers, as a share."""
    (value,) = {
        one.value
        for one in lb.figures(lines)
        if one.name == "overall" and one.section in ("official", "average")
    }
    return value


@pytest.mark.parametrize(("name", "repeats"), [("longbench_v2", 1), ("longbench_pro", 2)])
def test_inspect_gives_the_official_figures(example, tmp_path, name, repeats):
    """A model of inspect's own answers the sample: its mean is our figure of the same answers."""
    needs("inspect_ai")
    from inspect_ai import eval as evaluate
    from inspect_ai.model import ModelOutput, ModelUsage, get_model

    asked = []

    def answer(messages, *_):
        asked.append(messages[0].text)
        output = ModelOutput.from_content("mockllm/model", ANSWERS[name])
        output.usage = ModelUsage()  # else it looks for a tokenizer
        return output

    own = {"repeats": repeats} if repeats > 1 else {}
    (log,) = evaluate(
        getattr(example("inspect_task"), name)(data_dir="sample", **own),
        model=get_model("mockllm/model", custom_outputs=answer),
        log_dir=str(tmp_path),
        log_format="json",
        display="none",
    )
    assert log.status == "success", log.error
    expected = []
    for task in dict.fromkeys(one.metadata["task"] for one in log.samples):
        for doc in lb.load(task, data_dir="sample"):
            assert asked.count(str(doc.prompt)) == repeats
            expected += [lb.judge(task, doc, ANSWERS[name], repeat=n + 1) for n in range(repeats)]
    assert len(asked) == len(log.samples) == len(expected) > 15
    scores = {one["id"]: one["score"] for one in expected}
    assert all(one.scores["official"].value == scores[one.id] for one in log.samples)
    mean = log.results.scores[0].metrics["mean"].value
    assert mean == pytest.approx(sum(scores.values()) / len(scores)) and mean > 0
    if name == "longbench_v2":
        assert mean == pytest.approx(headline(expected))
    (file,) = tmp_path.glob("*.json")
    assert {one["id"] for one in json.loads(file.read_text())["samples"]} == set(scores)
