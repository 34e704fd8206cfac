"""Prompts as backends get them, as one text."""

import pytest
from lm_eval.models.api_models import JsonChatStr

from lm_eval_longbench.errors import OptionError
from lm_eval_longbench.harness.backend import REPEAT, as_servers_take_it, as_text
from lm_eval_longbench.harness.generation import fold_seed, seeded


def test_every_kind_of_prompt_has_a_text():
    messages = [{"role": "user", "content": "Wer? 谁"}]
    assert as_text("Wer?") == "Wer?"
    assert as_text(JsonChatStr("[1]")) == "[1]"
    # What API models get that tokenize on the server.
    assert as_text(messages) == '[{"role": "user", "content": "Wer? 谁"}]'


# ---------------------------------------------------------------------- payloads


TASK = "longbench_pro_t3_1"


def chat(server, **more):
    return {"base_url": server.url("/v1/chat/completions"), "model": "tiny", **more}


def sent(server):
    return [payload for _, payload in server.payloads]


def test_fields_that_servers_stumble_over_are_left_out():
    payload = {"stop": [], "seed": None, REPEAT: 2, "model": "x", "temperature": 0}
    assert as_servers_take_it(payload) == {"model": "x", "temperature": 0}
    whole = {"stop": ["\n"], "seed": 0, "model": "x"}
    assert as_servers_take_it(whole) == whole


@pytest.mark.parametrize(
    ("given", "read"), [(7, 7), ("7", 7), (0, 0), (None, None), ("none", None), ("Null", None)]
)
def test_seeds_are_read(given, read):
    generation = {"seed": given}
    fold_seed("a task", generation)
    assert generation == {"seed": read}


@pytest.mark.parametrize("given", [True, -1, 1.5, "seven", []])
def test_other_seeds_are_refused(given):
    with pytest.raises(OptionError, match="seed must be a whole number"):
        fold_seed("a task", {"seed": given})


def test_repeats_count_on_from_a_users_seed():
    assert [own["seed"] for own in seeded({"seed": 7}, 3)] == [7, 8, 9]
    assert [own["seed"] for own in seeded({"seed": 0}, 2)] == [0, 1]
    # Without a seed they must still be three requests to the harness's cache.
    without = seeded({"seed": None}, 3)
    assert [own["seed"] for own in without] == [None] * 3
    assert len({own[REPEAT] for own in without}) == 3


@pytest.mark.parametrize(
    ("seed", "seeds"), [("7", [7, 8, 9]), ("none", [None] * 3), (None, [1234, 1235, 1236])]
)
def test_the_seed_of_gen_kwargs(evaluate, api_server, tmp_path, seed, seeds):
    """It is the first of the repeats; "none" sends no seed at all; and each can be resumed."""
    arguments = {"gen_kwargs": {"seed": seed}} if seed else {}
    for _ in range(2):  # the second time all are in the cache
        result = evaluate(
            "local-chat-completions",
            [TASK],
            model_args=chat(api_server),
            apply_chat_template=True,
            use_cache=str(tmp_path / "cache"),
            limit=2,
            **arguments,
        )
    payloads = sent(api_server)
    assert len(payloads) == 6
    assert sorted(str(payload.get("seed")) for payload in payloads) == sorted(map(str, seeds * 2))
    assert all(REPEAT not in payload for payload in payloads)
    if seed == "none":
        assert all("seed" not in payload for payload in payloads)
    run = result["configs"][TASK]["metadata"]["longbench_run"]
    assert run["seeds"] == seeds


def test_a_model_in_this_process_gets_no_null_seed(evaluate, recording_lm):
    evaluate(recording_lm, [TASK], gen_kwargs={"seed": "none"}, limit=1)
    assert all("seed" not in generation for _, generation in recording_lm.requests)
