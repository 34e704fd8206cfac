"""`run --tasks longbench_v2_cot` as a process, against a chat server: two passes, one table."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from asked import rows_of

SAMPLE = {"data_dir": "sample"}


def run(server, folder, tasks, options=None):
    command = [
        str(Path(sys.executable).parent / "lm-eval-longbench"),
        "run",
        *("--model", "local-chat-completions"),
        *(
            "--model_args",
            f"model=tiny,base_url={server.url('/v1/chat/completions')},max_retries=1",
        ),
        *("--tasks", tasks),
        *("--metadata", json.dumps({"longbench": {**SAMPLE, **(options or {})}})),
        "--apply_chat_template",
        *("--output_path", str(folder / "out")),
        "--log_samples",
    ]
    environment = {**os.environ, "HF_HUB_OFFLINE": "1", "HF_DATASETS_CACHE": str(folder / "hf")}
    return subprocess.run(command, capture_output=True, text=True, env=environment, timeout=200)


def answer(payload):
    question = payload["messages"][0]["content"]
    if question.endswith("Let’s think step by step:"):
        return f"Thought number {len(question)}."
    return "The correct answer is (C)"


def test_one_command_one_table(api_server, tmp_path):
    api_server.answer = answer
    done = run(api_server, tmp_path, "longbench_v2_cot")
    assert done.returncode == 0, done.stderr
    (results,) = (tmp_path / "out").rglob("results_*.json")
    found = json.loads(results.read_text())["results"]
    rows = rows_of("longbench_v2")
    share = sum(letter == "C" for letter in [row["answer"] for row in rows]) / len(rows)
    assert found["longbench_v2_cot_answer"]["acc,none"] == pytest.approx(share)
    assert found["longbench_v2_cot"]["unparsed,none"] == 1.0
    tables = [
        line for line in done.stdout.splitlines() if line.replace(" ", "").startswith("|Tasks|")
    ]
    assert len(tables) == 1
    assert done.stdout.index("longbench_v2_cot ") < done.stdout.index("longbench_v2_cot_answer")
    assert len(list((tmp_path / "out").rglob("samples_longbench_v2_cot*.jsonl"))) == 2
    assert len(api_server.payloads) == 2 * len(rows)


def test_going_on_after_pass_two_was_interrupted(api_server, tmp_path):
    def broken(payload):
        if not answer(payload).startswith("Thought"):
            raise ConnectionError("gone")
        return answer(payload)

    api_server.answer = broken
    done = run(api_server, tmp_path, "longbench_v2_cot")
    assert done.returncode != 0
    number = len(api_server.payloads)
    api_server.answer = answer
    # The answers of pass one are kept: the same command asks pass two alone.
    done = run(api_server, tmp_path, "longbench_v2_cot")
    assert done.returncode == 0, done.stderr
    assert not list((tmp_path / "out").glob("reasoning_*"))
    rows = rows_of("longbench_v2")
    asked = [payload["messages"][0]["content"] for _, payload in api_server.payloads[number:]]
    assert len(asked) == len(rows)
    assert all("The text is too long and omitted here." in prompt for prompt in asked)
    logs = sorted((tmp_path / "out").rglob("samples_longbench_v2_cot_2*.jsonl"))
    kept = logs[-1]
    # Asking for pass one again with its finished log is a mistake that would cost money.
    done = run(api_server, tmp_path, "longbench_v2_cot", {"cot_samples": str(kept)})
    assert done.returncode == 1
    assert "would do it again" in done.stderr
