"""LongBench Pro over real HTTP: repeats with seeds of their own, and resuming a killed run."""

import json
import os
import signal
import time

import asked
import pytest
from longbench_pro_facts import BY_CODE

SEEDS = [1234, 1235, 1236]


def prompts_of(code):
    return asked.prompts_of(f"longbench_pro_{code}")


def by_seed(payload):
    return f"[Answer]\nanswer of seed {payload['seed']}"


def chat(server, **more):
    return {"base_url": server.url("/v1/chat/completions"), "model": "tiny", **more}


@pytest.mark.parametrize("concurrent", [1, 4])
def test_each_repeat_is_its_own_request_with_its_own_seed(evaluate, api_server, concurrent):
    api_server.answer = by_seed
    task = "longbench_pro_t3_1"
    result = evaluate(
        "local-chat-completions",
        [task],
        model_args=chat(api_server, num_concurrent=concurrent),
        apply_chat_template=True,
        log_samples=True,
    )
    sent = sorted(
        (payload["messages"][0]["content"], payload["seed"]) for _, payload in api_server.payloads
    )
    assert sent == sorted((prompt, seed) for prompt in prompts_of("t3_1") for seed in SEEDS)
    for _, payload in api_server.payloads:
        assert payload["temperature"] == 1.0
        assert payload["max_tokens"] == 1024
        assert len(payload["messages"]) == 1
    for sample in result["samples"][task]:
        assert list(sample["resps"]) == [[f"[Answer]\nanswer of seed {seed}"] for seed in SEEDS]
        assert [arguments["seed"] for _, arguments in sample["arguments"]] == SEEDS


@pytest.mark.parametrize("tree", ["longbench_pro", "longbench_pro_thinking"])
def test_a_whole_tree(evaluate, api_server, tree):
    api_server.answer = by_seed
    result = evaluate(
        "local-chat-completions",
        [tree],
        model_args=chat(api_server, num_concurrent=4),
        apply_chat_template=True,
        log_samples=True,
    )
    questions = sum(len(asked.rows_of(f"longbench_pro_{task.code}")) for task in BY_CODE.values())
    assert len(api_server.payloads) == 3 * questions
    budget = 8192 if tree.endswith("thinking") else 1024
    assert {payload["max_tokens"] for _, payload in api_server.payloads} == {budget}
    for rows in result["samples"].values():
        for row in rows:
            assert len({texts[0] for texts in row["resps"]}) == 3
    assert result["groups"][tree]["failed,none"] == 0.0


def test_completions_get_seeds_too(evaluate, api_server, tokenizer_folder):
    api_server.answer = by_seed
    evaluate(
        "local-completions",
        ["longbench_pro_t3_2"],
        model_args={
            "base_url": api_server.url("/v1/completions"),
            "model": "tiny",
            "tokenizer": tokenizer_folder,
            "tokenizer_backend": "huggingface",
            "max_length": 32768,
        },
    )
    assert sorted(payload["seed"] for _, payload in api_server.payloads) == sorted(
        SEEDS * len(prompts_of("t3_2"))
    )


def test_a_cached_run_keeps_the_repeats_apart(evaluate, api_server, tmp_path):
    api_server.answer = by_seed
    task = "longbench_pro_t5_2"
    arguments = {
        "model_args": chat(api_server),
        "apply_chat_template": True,
        "use_cache": str(tmp_path / "cache"),
        "log_samples": True,
    }
    first = evaluate("local-chat-completions", [task], **arguments)
    number = len(api_server.payloads)
    second = evaluate("local-chat-completions", [task], **arguments)
    assert number == 3 * len(prompts_of("t5_2")) == len(api_server.payloads)
    for sample, again in zip(first["samples"][task], second["samples"][task], strict=True):
        assert sample["resps"] == again["resps"]
        assert len({texts[0] for texts in again["resps"]}) == 3


def test_a_killed_run_resumes_with_unanswered_requests_only(
    processes, api_server, no_answer, tmp_path
):
    """Kill -9 half-way through; the second run asks for the rest, and nothing twice."""
    tasks = ["longbench_pro_t3_1", "longbench_pro_t3_2"]
    wanted = sorted(
        (prompt, seed) for code in ("t3_1", "t3_2") for prompt in prompts_of(code) for seed in SEEDS
    )
    half = len(wanted) // 2

    def silent_after_half(payload):
        return by_seed(payload) if len(api_server.payloads) < half else no_answer

    command = [
        *("lm-eval-longbench", "run"),
        *("--model", "local-chat-completions"),
        *("--model_args", f"model=tiny,base_url={api_server.url('/v1/chat/completions')}"),
        *("--tasks", ",".join(tasks)),
        *("--metadata", json.dumps({"longbench": {"data_dir": "sample"}})),
        "--apply_chat_template",
        *("--output_path", str(tmp_path / "out")),
        "--log_samples",
    ]
    environment = {**os.environ, "HF_HUB_OFFLINE": "1", "HF_DATASETS_CACHE": str(tmp_path / "hf")}

    api_server.answer = silent_after_half
    run = processes.start(*command, env=environment)
    deadline = time.monotonic() + 120
    while len(api_server.payloads) < half and time.monotonic() < deadline:
        time.sleep(0.1)
    time.sleep(2)  # the answer to the last one is kept
    run.send_signal(signal.SIGKILL)
    assert run.wait().returncode == -signal.SIGKILL
    answered = [
        (payload["messages"][0]["content"], payload["seed"]) for _, payload in api_server.payloads
    ]
    assert len(answered) == half

    api_server.payloads.clear()
    api_server.answer = by_seed
    done = processes.run(*command, env=environment)
    assert done.returncode == 0, done.stderr
    rest = [
        (payload["messages"][0]["content"], payload["seed"]) for _, payload in api_server.payloads
    ]
    assert sorted(answered + rest) == wanted
    logs = list((tmp_path / "out").rglob("samples_*.jsonl"))
    assert len(logs) == 2
    for log in logs:
        for line in log.read_text(encoding="utf-8").splitlines():
            texts = [texts[0] for texts in json.loads(line)["resps"]]
            assert texts == [f"[Answer]\nanswer of seed {seed}" for seed in SEEDS]
