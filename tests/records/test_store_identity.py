"""What makes two answers those of the same model to the same request."""

import json

import pytest

from lm_eval_longbench.options import REPEAT
from lm_eval_longbench.records.identity import (
    answer_key,
    asks_server,
    cuts,
    file_stem,
    model_identity,
    model_name,
)

SERVER = {"model": "org/m", "base_url": "http://127.0.0.1:1/v1"}


def test_place_speed_and_keys_are_no_part_of_a_model():
    one = model_identity("local-chat-completions", SERVER)
    other = {"base_url": "http://10.0.0.7/v1", "num_concurrent": 9, "auth_token": "s", "timeout": 3}
    assert model_identity("local-chat-completions", {**SERVER, **other}) == one
    assert "127.0.0.1" not in one
    assert model_identity("local-chat-completions", {**SERVER, "revision": "x"}) != one


def test_a_tokenizer_counts_in_this_process_alone():
    own = {"pretrained": "org/m"}
    assert model_identity("hf", own) != model_identity("hf", {**own, "tokenizer": "org/t"})
    server = model_identity("local-chat-completions", {**SERVER, "tokenizer": "org/t"})
    assert server == model_identity("local-chat-completions", SERVER)


@pytest.mark.parametrize(
    ("model", "arguments", "expected"),
    [
        ("hf", {"pretrained": "m"}, False),
        ("vllm", {"pretrained": "m"}, False),
        ("openai-chat-completions", {"model": "m"}, True),
        ("longbench-api", {"model": "m"}, True),
        ("mine", {"base_url": "http://x"}, True),
    ],
)
def test_which_backends_ask_a_server(model, arguments, expected):
    assert asks_server(model, arguments) is expected


def test_a_key_holds_what_changes_an_answer():
    key = answer_key("p", {"temperature": 0.0, "until": []}, {})
    assert answer_key("p", {"until": [], "temperature": 0.0, REPEAT: 2}, {}) == key
    others = [
        answer_key("p ", {"temperature": 0.0, "until": []}, {}),
        answer_key("p", {"temperature": 0.1, "until": []}, {}),
        answer_key("p", {"temperature": 0.0, "until": [], "seed": 1}, {}),
        answer_key("p", {"temperature": 0.0, "until": []}, {"max_length": 9}),
    ]
    assert len({key, *others}) == 5


def test_names():
    assert model_name("hf", {"pretrained": "org/m", "peft": "org/p"}) == "org/p"
    assert model_name("dummy", {}) == "dummy"
    stem = file_stem("org__m", json.dumps({"model": "hf"}))
    assert stem.startswith("answers_org__m_")
    assert len(stem.removeprefix("answers_org__m_")) == 8
    assert cuts({"max_length": 5, "model": "m"}) == {"max_length": 5}
