"""Answers, and what a log tells of them: whether they ended at their budget, why they failed."""

import pickle
import random
import time
from collections import Counter

import pytest

from lm_eval_longbench.records.answer import (
    FAILED,
    MOST,
    NOT_KNOWN,
    OTHERS,
    Answer,
    AnswerText,
    answer_of,
    capped_share,
    counted,
    failed_text,
    failure,
    is_capped,
    replies_of,
)

STOPPED, CAPPED = Answer("a", finish_reason="stop"), Answer("a", finish_reason="length")


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        (STOPPED, False),
        (CAPPED, True),
        (Answer("", "empty", finish_reason="length"), True),
        (Answer("", "filtered", finish_reason="content_filter"), False),
        (Answer("", "failed", "HTTP 500"), False),
        (Answer("a", completion_tokens=32), None),
        (Answer("", "empty"), None),
    ],
)
def test_whether_an_answer_ended_at_its_budget(answer, expected):
    assert is_capped(answer.reply()) is expected


@pytest.mark.parametrize("reason", [None, 3, True, ["length"], {"length": 1}])
def test_a_misshapen_reason_tells_nothing(reason):
    assert is_capped({"finish_reason": reason}) is None
    assert failure({"state": reason}) == NOT_KNOWN
    assert failure({"state": "failed", "reason": reason}) == NOT_KNOWN


@pytest.mark.parametrize("replies", [None, "x", {}, [], [{}], [{"state": "answered"}] * 3])
def test_other_replies_than_answers_tell_nothing(replies):
    assert replies_of({"replies": replies}, 2) == [None, None]
    assert replies_of({}, 2) == [None, None]


def test_replies_are_in_the_order_of_answers():
    replies = [CAPPED.reply(), {}, "no object"]
    assert replies_of({"replies": replies}, 3) == [CAPPED.reply(), None, None]


def test_the_share_is_known_if_every_answer_is():
    stopped, capped = STOPPED.reply(), CAPPED.reply()
    assert capped_share([capped, stopped, stopped]) == 1 / 3
    assert capped_share([stopped]) == 0.0
    assert capped_share([capped, None]) is capped_share([capped, {"at": 1.0}]) is None
    assert capped_share([]) is None


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        (
            Answer("", "failed", "HTTP 400: This model's maximum context length is 8192 tokens."),
            "HTTP 400 (context length)",
        ),
        (Answer("", "failed", "HTTP 400: prompt is too long: 9 > 8"), "HTTP 400 (context length)"),
        (Answer("", "failed", "string_above_max_length"), "context length"),
        (
            Answer("", "failed", "HTTP 504: the request took too long"),
            "HTTP 504 (the request took too long)",
        ),
        (Answer("", "failed", "HTTP 400: flagged by Responsible AI"), "HTTP 400 (content filter)"),
        (Answer("", "failed", "HTTP 429: Rate limit reached for x"), "HTTP 429 (rate limit)"),
        (Answer("", "failed", "HTTP 403"), "HTTP 403"),
        (Answer("", "failed", "HTTP 400: 'max_tokens' is 0"), "HTTP 400 ('max_tokens' is #)"),
        (Answer("", "failed", "Connection reset by peer"), "connection"),
        (Answer("", "failed", "Connection timed out."), "timeout"),
        (Answer("", "failed", "error of req_8f3a77bc21"), "error of #"),
        (Answer("", "failed", "two\nlines\u2028and\ttabs"), "two lines and tabs"),
        (Answer("", "failed", "=cmd|calc"), "cmd|calc"),
        (Answer("", "failed", ""), NOT_KNOWN),
        (Answer("", "failed", " \n "), NOT_KNOWN),
        (Answer("", "filtered"), "content filter"),
        (Answer("", "empty", finish_reason="content_filter"), "content filter"),
        (Answer("", "empty", finish_reason="length"), "ended at the budget"),
        (Answer("", "empty", finish_reason="stop"), "empty answer"),
        (Answer("<think>so", finish_reason="length"), "ended at the budget"),
        (Answer("<think>so</think>", finish_reason="stop"), "nothing to score"),
    ],
)
def test_reasons_in_a_few_words(answer, expected):
    assert failure(answer.reply()) == expected


def test_nothing_known_is_no_reason():
    assert failure(None) == failure({}) == failure({"state": "odd"}) == NOT_KNOWN


def test_hostile_reasons_are_short_lines_and_take_no_time():
    for text in ("x" * 10**6, "a-" * 10**6, "1a" * 10**6, "\ud800" * 100, "context" * 10**5):
        begin = time.perf_counter()
        found = failure({"state": "failed", "reason": f"HTTP 400: {text}"})
        assert time.perf_counter() - begin < 0.5
        assert len(found) <= 80 and len(found.splitlines()) == 1
        found.encode("utf-8")  # can be stored


def test_failures_in_print():
    reasons = {"content filter": 1, "HTTP 400 (context length)": 2}
    text = "failed 3: 2 x HTTP 400 (context length), 1 x content filter"
    assert failed_text(3, reasons) == text
    assert failed_text(12, {NOT_KNOWN: 9, **reasons}) == f"failed 12{text[8:]}, 9 x not known"
    assert failed_text(3, {NOT_KNOWN: 3}) == failed_text(3, {}) == "3 failed"
    many = {f"reason {letter}": 1 for letter in "abcdefgh"}
    assert failed_text(8, many).endswith("1 x reason e, 3 x other reasons")


def test_counts_lose_no_failure():
    draw = random.Random(1)
    for _ in range(200):
        names = [*(f"reason {number}" for number in range(40)), NOT_KNOWN, OTHERS]
        given = Counter(draw.choices(names, k=draw.randrange(300)))
        found = counted(given)
        assert sum(found.values()) == sum(given.values())
        assert len(found) <= MOST + 1
        assert list(found) == list(counted(found))
        own = [number for name, number in found.items() if name not in (NOT_KNOWN, OTHERS)]
        assert own == sorted(own, reverse=True)


def test_a_text_brings_its_answer_along():
    answer = Answer("Paris", finish_reason="stop", completion_tokens=2)
    text = AnswerText(answer)
    assert text == "Paris" and answer_of(text) is answer
    assert answer_of("Paris") is None


def test_a_pickled_text_is_a_plain_one():
    copy = pickle.loads(pickle.dumps(AnswerText(Answer("Paris"))))
    assert type(copy) is str and copy == "Paris"


def test_a_reply_holds_what_is_known_without_the_text():
    answer = Answer("", FAILED, "HTTP 400: too long", left_out=("seed",), prompt_tokens=0)
    assert answer.reply() == {
        "state": "failed",
        "reason": "HTTP 400: too long",
        "prompt_tokens": 0,
        "left_out": ["seed"],
    }
