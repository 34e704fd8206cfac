"""The examples for other programs, each in a small real run; those programs are in no extra."""

import asyncio
import importlib
import json
import shutil
import subprocess
import sys
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
    pytest.importorskip(package, reason=f"not installed: pip install {package.partition('.')[0]}")


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
    from inspect_ai.log import read_eval_log
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
    kept = read_eval_log(str(file)).samples
    assert lb.figures(one.scores["official"].metadata for one in kept) == lb.figures(expected)
    assert {one["id"] for one in json.loads(file.read_text())["samples"]} == set(scores)


def test_the_reward_of_verifiers_is_the_official_score(example):
    """Scored as verifiers scores a finished trace: a right answer, a wrong one, and reasoning."""
    needs("verifiers.v1")
    import verifiers.v1 as vf
    from verifiers.v1.trace import AgentInfo, TraceTask

    own = example("verifiers_env")
    tasks = list(own.LongBenchTaskset(own.LongBenchConfig(data_dir="sample")))
    documents = lb.load("longbench_v2", data_dir="sample")
    assert [one.data.prompt for one in tasks] == [str(doc.prompt) for doc in documents]

    def reward(task, reply):
        trace = vf.Trace(
            task=TraceTask(type="longbench", data=task.data, key=task.key, hash=task.hash),
            agent=AgentInfo(config=vf.AgentConfig()),
            root_reply=reply,
        )
        asyncio.run(task.score(trace))
        return trace.reward

    for task in tasks:
        gold = task.data.question["answer"]
        right = f"The correct answer is ({gold})"
        wrong = f"The correct answer is ({'B' if gold == 'A' else 'A'})"
        assert reward(task, right) == 1.0
        assert reward(task, wrong) == reward(task, "") == 0.0
        assert reward(task, f"<think>{wrong}</think>{right}") == 1.0


def test_a_table_of_datasets_gives_the_official_figure(example, tmp_path, monkeypatch):
    monkeypatch.setenv("HF_HOME", str(tmp_path))
    own, name = example("datasets_iteration"), "longbench_v2"
    done = own.scored(own.table(name, "sample"), name, lambda prompt: ANSWERS[name])
    documents = lb.load(name, data_dir="sample")
    assert done["prompt"][:] == [str(doc.prompt) for doc in documents]
    expected = headline([lb.judge(name, doc, ANSWERS[name]) for doc in documents])
    assert sum(done["score"]) / len(done) == pytest.approx(expected)


def test_offline_vllm_prints_the_figures(model_folder, tmp_path):
    """With a vLLM that answers, wherever one is installed."""
    needs("vllm")
    from transformers import LlamaConfig, LlamaForCausalLM

    model = shutil.copytree(model_folder, tmp_path / "model")
    config = LlamaConfig.from_pretrained(model)
    # vLLM has no attention for smaller heads.
    config.update({"hidden_size": 128, "intermediate_size": 128, "head_dim": 64})
    LlamaForCausalLM(config).save_pretrained(model)
    command = [sys.executable, str(FOLDER / "offline_vllm.py")]
    done = subprocess.run(
        [*command, str(model), "longbench_v2", "1400", "sample"],
        capture_output=True,
        text=True,
        encoding="utf-8",
    )
    assert done.returncode == 0, done.stderr[-2000:]
    rows = [line.split("\t") for line in done.stdout.splitlines() if line.startswith("official\t")]
    assert rows[0][:2] == ["official", "overall"] and 0 <= float(rows[0][2]) <= 1
