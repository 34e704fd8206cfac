"""Warnings that are said once."""

import logging

from lm_eval_longbench import once

logger = logging.getLogger("tests.once")


def test_each_key_is_new_once_until_forgotten():
    assert [once.first_time(key) for key in ("a", "a", "b", "a", "b")] == [
        True,
        False,
        True,
        False,
        False,
    ]
    once.forget()
    assert once.first_time("a")
    assert not once.first_time("a")


def test_a_warning_is_logged_once_a_key(caplog):
    for message in ("first", "second"):
        once.warn_once(logger, "key", message)
    once.warn_once(logger, "other", "third")
    assert [(r.name, r.levelname, r.message) for r in caplog.records] == [
        ("tests.once", "WARNING", "first"),
        ("tests.once", "WARNING", "third"),
    ]


def test_after_forgetting_the_warning_comes_again(caplog):
    once.warn_once(logger, "key", "first")
    once.forget()
    once.warn_once(logger, "key", "again")
    assert [record.message for record in caplog.records] == ["first", "again"]


def test_percent_signs_are_text(caplog):
    once.warn_once(logger, "key", "100% of %s and {this}")
    assert caplog.records[0].getMessage() == "100% of %s and {this}"


def test_both_ways_of_asking_share_the_keys(caplog):
    assert once.first_time("key")
    once.warn_once(logger, "key", "not said")
    assert caplog.records == []
