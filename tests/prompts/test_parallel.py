"""Order, look-ahead and errors of work in threads."""

import threading
import time

import pytest

from lm_eval_longbench.prompts.truncation import in_order, usable_cores


@pytest.mark.parametrize("threads", [1, 2, 5, None])
def test_results_come_in_order(threads):
    def work(number):
        time.sleep(0.002 * (number % 3))
        return number * 2

    assert list(in_order(work, iter(range(40)), threads)) == [2 * number for number in range(40)]
    assert list(in_order(work, [], threads)) == []


def test_threads_really_work_at_the_same_time():
    meeting = threading.Barrier(3, timeout=20)
    assert sorted(in_order(lambda _: meeting.wait(), range(3), 3)) == [0, 1, 2]


def test_an_error_reaches_the_caller_and_no_thread_stays():
    def work(number):
        if number == 3:
            raise ValueError("three")
        return number

    results = in_order(work, range(100), 2)
    assert [next(results) for _ in range(3)] == [0, 1, 2]
    with pytest.raises(ValueError, match="three"):
        next(results)
    names = [thread.name for thread in threading.enumerate()]
    assert not any(name.startswith("longbench-tokenize") for name in names)


def test_there_is_a_core():
    assert usable_cores() >= 1
