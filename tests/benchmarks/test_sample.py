"""Which decoded values scoring can use."""

import pytest

from lm_eval_longbench.records.sample import Sample, Scored, failure_of, is_texts, is_whole, text_id


@pytest.mark.parametrize("value", [["a"], ["", "b"], ["\ud800"]])
def test_lists_of_texts(value):
    assert is_texts(value)


@pytest.mark.parametrize(
    "value", [[], None, "ab", ["a", None], ["a", 1], [["a"]], {"a": 1}, ("a",)]
)
def test_what_is_no_list_of_texts(value):
    assert not is_texts(value)


def test_whole_numbers():
    assert [is_whole(value, 1, 3) for value in (0, 1, 3, 4)] == [False, True, True, False]
    assert not any(is_whole(value, 0, 9) for value in (True, 1.0, "1", None, [1]))


@pytest.mark.parametrize(
    ("value", "expected"),
    [("a", "a"), (7, "7"), ("", None), (None, None), (True, None), (1.5, None), (["a"], None)],
)
def test_ids(value, expected):
    assert text_id(value) == expected


@pytest.mark.parametrize(
    ("scored", "reply", "expected"),
    [
        (Scored(0.5, False, {}), {"state": "filtered"}, None),
        (Scored(0.0, True, {}), {"state": "filtered"}, "content filter"),
        (Scored(0.0, True, {}), None, None),
        (Scored(0.0, True, {}), {}, None),
        # A summary whose similarity is not known yet may have failed.
        (Scored(None, False, {}), {"state": "filtered"}, "content filter"),
    ],
)
def test_why_an_answer_failed_is_said_where_it_is_known(scored, reply, expected):
    sample = Sample("longbench_v1", "longbench_v1_trec", "q", 0, 1, "", ["a"], reply=reply)
    sample.worth = scored
    assert failure_of(sample) == expected
