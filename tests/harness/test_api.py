"""Real HTTP to a loopback server behind the harness's OpenAI-compatible models."""

import logging

from asked import prompts_of

from lm_eval_longbench.benchmarks.v1 import V1


def completions(server, tokenizer_folder, **more):
    return {
        "base_url": server.url("/v1/completions"),
        "model": "tiny",
        "tokenizer": tokenizer_folder,
        "tokenizer_backend": "huggingface",
        **more,
    }


def chat(server, **more):
    return {"base_url": server.url("/v1/chat/completions"), "model": "tiny", **more}


def test_completions_payload_is_greedy_without_harmful_stops(
    evaluate, api_server, tokenizer_folder
):
    task = "longbench_v1_samsum"
    model_args = completions(api_server, tokenizer_folder, tokenized_requests=False)
    evaluate("local-completions", [task], model_args=model_args)
    payloads = [payload for _, payload in api_server.payloads]
    assert sorted(payload["prompt"] for payload in payloads) == sorted(prompts_of(task))
    for payload in payloads:
        assert payload["temperature"] == 0.0
        assert payload["max_tokens"] == 128
        assert set(payload["stop"]) <= {"</s>"}
        assert "do_sample" not in payload and "until" not in payload


def test_the_harness_default_length_cuts_in_the_middle_not_on_the_left(
    evaluate, api_server, tokenizer_folder, caplog
):
    """Without max_length the harness would keep the last 2,047 - 128 tokens."""
    from transformers import AutoTokenizer

    task = "longbench_v1_e_qasper"
    with caplog.at_level(logging.WARNING):
        result = evaluate(
            "local-completions", [task], model_args=completions(api_server, tokenizer_folder)
        )
    tokenizer = AutoTokenizer.from_pretrained(tokenizer_folder)
    for _, payload in api_server.payloads:
        (ids,) = payload["prompt"]
        text = tokenizer.decode(ids)
        assert len(ids) <= 2047 - 128
        assert text.startswith("You are given a scientific article and a question.")
        assert text.endswith("\n\nAnswer:")
    assert result["results"][task]["truncated,none"] > 0
    assert caplog.text.count("No max_length in model_args") == 1


def test_chat_payload_is_one_user_message(evaluate, api_server, caplog):
    tasks = ["longbench_v1_hotpotqa", "longbench_v1_trec", "longbench_v1_lcc"]
    with caplog.at_level(logging.WARNING):
        evaluate(
            "local-chat-completions", tasks, model_args=chat(api_server), apply_chat_template=True
        )
    assert all(path == "/v1/chat/completions" for path, _ in api_server.payloads)
    sent = []
    for _, payload in api_server.payloads:
        (message,) = payload["messages"]
        assert message["role"] == "user"
        sent.append(message["content"])
        assert payload["temperature"] == 0.0
        assert "stop" not in payload
        assert payload["max_tokens"] in (32, 64)
    assert sorted(sent) == sorted(prompt for task in tasks for prompt in prompts_of(task))
    said = [r.message for r in caplog.records if "only chat messages" in r.message]
    assert len(said) == 1
    assert all(task.label in said[0] for task in V1.tasks.values() if not task.chat)
    assert "not comparable" in said[0]
