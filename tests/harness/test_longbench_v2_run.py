"""`run --tasks longbench_v2_cot` as a process, against a chat server: two passes, one table."""

import json
import os

import pytest
from asked import rows_of

SAMPLE = {"data_dir": "sample"}


@pytest.fixture
def run(processes, api_server, tmp_path):
    """Run tasks: run(tasks, {option: value})."""

    def run(tasks, options=None):
        address = api_server.url("/v1/chat/completions")
        return processes.run(
            *("lm-eval-longbench", "run", "--model", "local-chat-completions"),
            *("--model_args", f"model=tiny,base_url={address},max_retries=1"),
            *("--tasks", tasks),
            *("--metadata", json.dumps({"longbench": {**SAMPLE, **(options or {})}})),
            "--apply_chat_template",
            *("--output_path", str(tmp_path / "out")),
            "--log_samples",
            env={**os.environ, "HF_HUB_OFFLINE": "1", "HF_DATASETS_CACHE": str(tmp_path / "hf")},
        )

    return run


def answer(payload):
    question = payload["messages"][0]["content"]
    if question.endswith("Let’s think step by step:"):
        return f"Thought number {len(question)}."
    return "The correct answer is (C)"


def test_one_command_one_table(run, api_server, tmp_path):
    api_server.answer = answer
    done = run("longbench_v2_cot")
    assert done.returncode == 0, done.stderr
    (results,) = (tmp_path / "out").rglob("results_*.json")
    found = json.loads(results.read_text())["results"]
    rows = rows_of("longbench_v2")
    share = sum(letter == "C" for letter in [row["answer"] for row in rows]) / len(rows)
    assert found["longbench_v2_cot_answer"]["acc,none"] == pytest.approx(share)
    assert found["longbench_v2_cot"]["unparsed,none"] == 1.0
    lines = done.stdout.splitlines()
    headlines = [line.split() for line in lines if line.startswith("LongBench v2 ")]
    told = [words[-2:] for words in headlines if "overall" in words]
    assert told == [["overall", "0.0"], ["overall", f"{100 * share:.1f}"]]
    assert len(list((tmp_path / "out").rglob("samples_longbench_v2_cot*.jsonl"))) == 2
    assert len(api_server.payloads) == 2 * len(rows)


def test_going_on_after_pass_two_was_interrupted(run, api_server, tmp_path):
    def broken(payload):
        if not answer(payload).startswith("Thought"):
            raise ConnectionError("gone")
        return answer(payload)

    api_server.answer = broken
    done = run("longbench_v2_cot")
    assert done.returncode != 0
    number = len(api_server.payloads)
    api_server.answer = answer
    # The answers of pass one are kept: the same command asks pass two alone.
    done = run("longbench_v2_cot")
    assert done.returncode == 0, done.stderr
    assert not list((tmp_path / "out").glob("reasoning_*"))
    rows = rows_of("longbench_v2")
    asked = [payload["messages"][0]["content"] for _, payload in api_server.payloads[number:]]
    assert len(asked) == len(rows)
    assert all("The text is too long and omitted here." in prompt for prompt in asked)
    logs = sorted((tmp_path / "out").rglob("samples_longbench_v2_cot_2*.jsonl"))
    kept = logs[-1]
    # Asking for pass one again with its finished log is a mistake that would cost money.
    done = run("longbench_v2_cot", {"cot_samples": str(kept)})
    assert done.returncode == 2
    assert "would do it again" in done.stderr
