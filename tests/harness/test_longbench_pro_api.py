"""LongBench Pro over real HTTP: repeats with seeds of their own, and resuming a killed run."""

import asked
import pytest

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
