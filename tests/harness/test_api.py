"""Real HTTP to a loopback server behind the harness's OpenAI-compatible models."""

import logging

import pytest
from asked import prompts_of

from lm_eval_longbench.benchmarks.longbench_v1 import V1
from lm_eval_longbench.errors import OverlengthError


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


def test_tokenized_completions_carry_exactly_the_prompts_tokens(
    evaluate, api_server, tokenizer_folder
):
    from transformers import AutoTokenizer

    task = "longbench_v1_qasper"
    model_args = completions(api_server, tokenizer_folder, max_length=4096)
    evaluate("local-completions", [task], model_args=model_args)
    tokenizer = AutoTokenizer.from_pretrained(tokenizer_folder)
    sent = [tokenizer.decode(payload["prompt"][0]) for _, payload in api_server.payloads]
    assert sorted(sent) == sorted(prompts_of(task))


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


def test_max_model_len_does_not_hide_the_harness_default(evaluate, api_server, tokenizer_folder):
    evaluate(
        "local-completions",
        ["longbench_v1_e_qasper"],
        model_args=completions(api_server, tokenizer_folder, max_model_len=32768),
    )
    from transformers import AutoTokenizer

    tokenizer = AutoTokenizer.from_pretrained(tokenizer_folder)
    for _, payload in api_server.payloads:
        assert tokenizer.decode(payload["prompt"][0]).startswith("You are given a scientific")


def test_a_chat_server_at_any_path_gets_whole_prompts(evaluate, api_server, caplog):
    with caplog.at_level(logging.WARNING):
        evaluate(
            "local-chat-completions",
            ["longbench_v1_e_qasper"],
            model_args={"base_url": api_server.url("/api/chat/completions?v=1"), "model": "tiny"},
            apply_chat_template=True,
        )
    sent = [payload["messages"][0]["content"] for _, payload in api_server.payloads]
    assert sorted(sent) == sorted(prompts_of("longbench_v1_e_qasper"))
    assert "max_length in --model_args: the harness assumes" not in caplog.text


def test_truncate_to_beyond_the_api_models_length_is_refused(
    evaluate, api_server, tokenizer_folder
):
    with pytest.raises(OverlengthError, match="cut it on the left"):
        evaluate(
            "local-completions",
            ["longbench_v1_e_qasper"],
            {"truncate_to": 3500},
            completions(api_server, tokenizer_folder),
        )
    assert api_server.payloads == []


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


def test_chat_truncates_with_the_named_tokenizer(evaluate, api_server, tokenizer_folder):
    task = "longbench_v1_e_qasper"
    options = {"truncate_to": 500, "tokenizer": tokenizer_folder}
    evaluate(
        "local-chat-completions",
        [task],
        options,
        chat(api_server, num_concurrent=2),
        apply_chat_template=True,
    )
    contents = [payload["messages"][0]["content"] for _, payload in api_server.payloads]
    assert len(contents) == len(prompts_of(task))
    for content in contents:
        assert content.startswith("You are given a scientific article")
        assert content.endswith("\n\nAnswer:")
        assert content not in prompts_of(task)


def test_null_content_is_counted_as_failed(evaluate, api_server):
    api_server.answer = None
    task = "longbench_v1_qasper"
    result = evaluate(
        "local-chat-completions", [task], model_args=chat(api_server), apply_chat_template=True
    )["results"][task]
    assert (result["failed,none"], result["score,none"]) == (1.0, 0.0)


def test_sample_log_of_a_chat_request_is_short(evaluate, api_server):
    task = "longbench_v1_e_gov_report"
    result = evaluate(
        "local-chat-completions",
        [task],
        model_args=chat(api_server),
        apply_chat_template=True,
        log_samples=True,
    )
    for sample in result["samples"][task]:
        logged, _ = sample["arguments"][0]
        assert logged["head"].startswith('[{"role": "user", "content": "You are given a report')
        assert len(logged["head"]) == len(logged["tail"]) == 256
        assert sample["prompt_hash"] == logged["sha256"]


def test_a_cached_run_sends_nothing_again(evaluate, api_server, tmp_path):
    task = "longbench_v1_qasper"
    arguments = {
        "model_args": chat(api_server),
        "apply_chat_template": True,
        "use_cache": str(tmp_path / "cache"),
    }
    first = evaluate("local-chat-completions", [task], **arguments)
    number = len(api_server.payloads)
    second = evaluate("local-chat-completions", [task], **arguments)
    assert number == len(prompts_of(task)) == len(api_server.payloads)
    assert first["results"] == second["results"]
