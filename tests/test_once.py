"""Warnings that are said once."""

import logging

from lm_eval_longbench import console

logger = logging.getLogger("tests.once")


def test_each_key_is_new_once_until_forgotten():
    assert [console.first_time(key) for key in ("a", "a", "b", "a", "b")] == [
        True,
        False,
        True,
        False,
        False,
    ]
    console.forget()
    assert console.first_time("a")
    assert not console.first_time("a")


def test_a_warning_is_logged_once_a_key(caplog):
    for message in ("first", "second"):
        console.warn_once(logger, "key", message)
    console.warn_once(logger, "other", "third")
    assert [(r.name, r.levelname, r.message) for r in caplog.records] == [
        ("tests.once", "WARNING", "first"),
        ("tests.once", "WARNING", "third"),
    ]


def test_after_forgetting_the_warning_comes_again(caplog):
    console.warn_once(logger, "key", "first")
    console.forget()
    console.warn_once(logger, "key", "again")
    assert [record.message for record in caplog.records] == ["first", "again"]


def test_percent_signs_are_text(caplog):
    console.warn_once(logger, "key", "100% of %s and {this}")
    assert caplog.records[0].getMessage() == "100% of %s and {this}"


def test_both_ways_of_asking_share_the_keys(caplog):
    assert console.first_time("key")
    console.warn_once(logger, "key", "not said")
    assert caplog.records == []
