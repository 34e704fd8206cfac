"""The queue of all requests: its order, what a prefix cache can use, and how it ends early."""

import asyncio
import itertools
import random
import threading
import time

import pytest
from api_asking import ask, request
from fault_server import FaultServer, answer_to, asked_text, good, hang, refuses

from lm_eval_longbench.errors import Interrupted
from lm_eval_longbench.records.answer import ANSWERED
from lm_eval_longbench.server import asking

SEEDS = (1234, 1235, 1236)


def repeated(number, words=30, seeds=SEEDS):
    """Requests as the harness orders them: a whole pass of questions for each seed."""
    texts = [f"{'word ' * words}question {index}." for index in range(number)]
    return [request(text, "completions", seed=seed) for seed in seeds for text in texts]


def test_with_n_three_repeats_cost_the_prompts_of_one():
    requests = repeated(40)
    with FaultServer() as server:
        asked = ask(server, requests, "completions")
    one_pass = sum(len(own.prompt.split()) for own in requests[:40])
    assert asked.error is None and len(asked.kept) == 120
    assert server.prompt_tokens <= 1.05 * one_pass


@pytest.mark.parametrize("concurrent", [1, 2, 8, 16])
def test_side_by_side_the_prompt_is_reused_at_once(concurrent):
    """However long answers take; tests/server/test_asking_order.py has more of them."""
    rnd = random.Random(concurrent)

    def plan(number, body):
        seconds = rnd.choice([0.001, 0.005, 0.03])
        return None if "n" in body else lambda *reply: (time.sleep(seconds), good(*reply))

    refused = refuses("n", "n > 1")
    with FaultServer(lambda *asked: refused(*asked) or plan(*asked)) as server:
        asked = ask(server, repeated(20), "completions", num_concurrent=concurrent)
    assert asked.error is None and len(asked.kept) == 60
    order = [asked_text(body) for body in server.bodies if "n" not in body]
    places = {}
    for place, text in enumerate(order):
        places.setdefault(text, []).append(place)
    distances = [b - a for own in places.values() for a, b in itertools.pairwise(own)]
    assert len(distances) == 40
    # All go out so, as test_asking_order.py proves; one may be overtaken on its way.
    assert sorted(distances)[-3] < 2 * concurrent


def test_side_by_side_the_others_wait_for_the_first():
    """Eight at a time would otherwise compute one prompt three times."""
    with FaultServer(refuses("n", "n > 1"), delay=0.05) as server:
        ask(server, repeated(1), "completions")
    own = [at for at, body in zip(server.at, server.bodies, strict=True) if "n" not in body]
    assert len(own) == 3
    assert own[1] - own[0] >= 0.05


@pytest.mark.parametrize("seeds", [(1235,), (1235, 1236), (1234, 1236), (1236,)])
def test_any_subset_of_repeats_can_be_asked(seeds):
    requests = repeated(3, seeds=seeds)
    with FaultServer() as server:
        asked = ask(server, requests, "completions")
    told = [asked.kept[index].text for index in range(len(requests))]
    assert told == [answer_to(own.prompt, own.seed) for own in requests]
    # Answers that one request asks for have seeds in a row.
    bodies = [body for body in server.bodies if asked_text(body) != "?"]
    assert len(bodies) == 3 * (2 if seeds == (1234, 1236) else 1)


def test_repeats_without_a_seed_go_out_together():
    requests = [request("a question", "completions", seed=None) for _ in range(3)]
    with FaultServer() as server:
        asked = ask(server, requests, "completions")
    tiny, body = server.bodies
    assert (tiny["n"], tiny["max_tokens"], asked_text(tiny)) == (2, 1, "?")
    assert (body["n"], "seed" in body) == (3, False)
    assert set(asked.states()) == {ANSWERED}
    # The counts are of the whole request.
    assert [asked.kept[place].prompt_tokens for place in range(3)] == [2, None, None]


# ---------------------------------------------------------------------- concurrency


def test_so_many_requests_are_in_flight_and_no_more():
    with FaultServer(delay=0.05) as server:
        ask(server, repeated(24, seeds=(1,)), "completions", num_concurrent=6)
    assert server.most_in_flight == 6


# ---------------------------------------------------------------------- an early end


def test_stopping_lets_requests_in_flight_finish_and_sends_nothing_more():
    with FaultServer(delay=0.3) as server:
        asked = ask(
            server,
            repeated(20, seeds=(1,)),
            "completions",
            num_concurrent=4,
            stopping=lambda: len(server.bodies) >= 4,
        )
        assert isinstance(asked.error, Interrupted)
        assert len(server.bodies) == len(server.answered) == len(asked.kept) == 4


def test_stopping_does_not_wait_for_ever(monkeypatch):
    monkeypatch.setattr(asking, "GRACE", 0.3)
    began = time.monotonic()
    with FaultServer(lambda number, body: hang) as server:
        asked = ask(
            server, repeated(3, seeds=(1,)), "completions", stopping=lambda: len(server.bodies) == 3
        )
    assert isinstance(asked.error, Interrupted) and asked.kept == {}
    assert time.monotonic() - began < 5


def test_what_keep_raises_ends_the_run():
    kept = []

    def keep(index, answer):
        kept.append(index)
        if len(kept) == 3:
            raise OSError("no space left")

    with FaultServer(delay=0.02) as server:
        asked = ask(server, repeated(40, seeds=(1,)), "completions", num_concurrent=2, keep=keep)
        time.sleep(0.1)
        assert isinstance(asked.error, OSError)
        assert len(kept) == 3 and len(server.bodies) <= 3 + 2 * 2


def test_answers_are_kept_in_the_thread_of_the_loop():
    threads = set()

    def keep(index, answer):
        asyncio.get_running_loop()
        threads.add(threading.get_ident())

    with FaultServer() as server:
        ask(server, repeated(4, seeds=(1,)), "completions", keep=keep)
    assert threads == {threading.get_ident()}
