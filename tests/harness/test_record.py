"""The short form of a prompt in sample logs."""

import hashlib
import json
import pickle

from lm_eval.utils import hash_string

from lm_eval_longbench.harness.record import LoggedPrompt, Signature

TEXT = "начало " + "x" * 5000 + " конец"


def test_holds_hash_length_and_both_ends():
    assert json.loads(json.dumps(LoggedPrompt(TEXT))) == {
        "sha256": hashlib.sha256(TEXT.encode()).hexdigest(),
        "characters": len(TEXT),
        "head": TEXT[:256],
        "tail": TEXT[-256:],
    }


def test_the_harness_hashes_the_whole_prompt_through_it():
    assert hash_string(LoggedPrompt(TEXT)) == hash_string(TEXT)


def test_travels_between_ranks_without_the_text():
    raw = pickle.dumps(LoggedPrompt(TEXT))
    assert len(raw) < 2000
    assert pickle.loads(raw) == dict(LoggedPrompt(TEXT))
    assert type(pickle.loads(raw)) is dict


def test_lone_surrogates_have_a_hash():
    assert len(LoggedPrompt("\ud800")["sha256"]) == 64


def test_what_servers_refused_is_marked_in_the_signature():
    signature = Signature()
    signature.update(generation={"temperature": 1.0, "until": []}, seeds=[1234, 1235])
    before = dict(signature.run)
    signature.leave_out([[{}, {"state": "answered"}], []])
    assert signature.run == before
    signature.leave_out([[{}, {"left_out": ["temperature", "stop"]}]])
    assert signature.run["generation"] == {"temperature": None, "until": []}
    assert signature.run["seeds"] == [1234, 1235]
    assert signature.run["signature"] != before["signature"]
    # Of another rank.
    signature.leave_out([[{"left_out": ["seed"]}]])
    assert signature.run["left_out"] == ["seed", "stop", "temperature"]
    assert signature.run["seeds"] == [None, None]
