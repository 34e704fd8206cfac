"""Real HTTP to a loopback server behind the harness's OpenAI-compatible models."""

import logging

from asked import prompts_of

from lm_eval_longbench.benchmarks.v1 import V1


def chat(server, **more):
    return {"base_url": server.url("/v1/chat/completions"), "model": "tiny", **more}


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
