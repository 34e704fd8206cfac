"""What replies mean."""

import pytest

from lm_eval_longbench.records.answer import ANSWERED, EMPTY, FILTERED
from lm_eval_longbench.server.faults import TROUBLE, Fault
from lm_eval_longbench.server.reply import Reply, as_answer, tokens_of


def answer(message, *, stops=(), streamed=False, chat=True, finish_reason="stop"):
    reply = Reply(chat)
    own = {"message": message} if chat else {"text": message}
    reply.add({"choices": [{"index": 0, "finish_reason": finish_reason, **own}]})
    return as_answer(reply.choices[0], stops, streamed)


def test_reasoning_is_not_the_answer():
    found = answer({"content": "42", "reasoning_content": "let me think", "reasoning": "hm"})
    assert (found.text, found.state) == ("42", ANSWERED)
    assert answer({"content": None, "reasoning_content": "let me think"}).state == EMPTY


def test_content_in_parts_is_joined():
    parts = [{"type": "text", "text": "4"}, {"type": "text", "text": "2"}]
    assert answer({"content": parts}).text == "42"


def test_a_filtered_answer_has_no_text():
    found = answer({"content": "half"}, finish_reason="content_filter")
    assert (found.text, found.state) == ("", FILTERED)


def test_the_first_stop_string_cuts_and_is_why_the_answer_ends():
    found = answer("one END two STOP", stops=["STOP", " END"], chat=False, finish_reason="length")
    assert (found.text, found.finish_reason) == ("one", "stop")
    found = answer("one two", stops=["STOP", ""], chat=False, finish_reason="length")
    assert (found.text, found.finish_reason) == ("one two", "length")


def test_parts_of_a_stream_are_put_together_by_their_index():
    reply = Reply(True)
    for index, text in ((1, "b"), (0, "a"), (1, "2"), (0, "1")):
        reply.add({"choices": [{"index": index, "delta": {"content": text}}], "model": "m"})
    assert not reply.is_complete(2)
    for index in (0, 1):
        reply.add({"choices": [{"index": index, "delta": {}, "finish_reason": "stop"}]})
    reply.add({"choices": [], "usage": {"prompt_tokens": 3}})
    assert reply.is_complete(2) and not reply.is_complete(3)
    assert [as_answer(reply.choices[index], (), True).text for index in (0, 1)] == ["a1", "b2"]
    assert (reply.model, reply.usage) == ("m", {"prompt_tokens": 3})


@pytest.mark.parametrize("data", [[], "text", {"choices": [1]}, {"error": {"message": "x"}}])
def test_what_is_no_reply(data):
    with pytest.raises(Fault) as error:
        Reply(True).add(data)
    assert error.value.kind == TROUBLE


def test_an_answer_without_an_end_is_none_in_a_stream():
    with pytest.raises(Fault):
        answer({"content": "half"}, streamed=True, finish_reason=None)
    assert answer({"content": "all"}, finish_reason=None).state == ANSWERED


@pytest.mark.parametrize(
    ("usage", "cached"),
    [
        ({"prompt_tokens_details": {"cached_tokens": 5}}, 5),
        ({"prompt_cache_hit_tokens": 6}, 6),
        ({"prompt_tokens_details": None}, None),
    ],
)
def test_counts(usage, cached):
    found = tokens_of({"prompt_tokens": 9, "completion_tokens": "many", **usage})
    assert found["cached_tokens"] == cached
    assert (found["prompt_tokens"], found["completion_tokens"]) == (9, None)
