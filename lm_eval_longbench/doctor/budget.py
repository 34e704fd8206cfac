"""The output budget: against the official one, and against the model's length."""

from __future__ import annotations

from collections.abc import Iterator

from lm_eval_longbench.doctor.line import ERROR, OK, WARNING, Line
from lm_eval_longbench.doctor.tokens import Lengths
from lm_eval_longbench.harness.preflight_facts import TaskFacts
from lm_eval_longbench.protocol import budgets

TOPIC = "output budget"


def budget_lines(facts: TaskFacts, counted: Lengths) -> Iterator[Line]:
    """Yield the lines on a task's budget in tokens."""
    if facts.limit is None:  # then the budget itself was refused
        return
    tasks = (facts.name,)
    budget = facts.generation["max_gen_toks"]
    own = facts.official_generation["max_gen_toks"]
    if budget == own:
        yield Line(OK, TOPIC, f"{budget:,} tokens, the official number{_rest(facts)}", "", tasks)
    elif budget in budgets(facts.benchmark, own):
        what = f"{budget:,} tokens, as published for some models; by default {own:,}{_rest(facts)}"
        yield Line(OK, TOPIC, what, "", tasks)
    else:
        what = f"{budget:,} tokens instead of {own:,}: no longer the official protocol"
        what += _rest(facts)
        yield Line(WARNING, TOPIC, what, "Leave max_gen_toks out of --gen_kwargs.", tasks)
    yield from _room_lines(facts, counted)


def _rest(facts: TaskFacts) -> str:
    room = facts.limit.room if facts.limit is not None else None
    return "" if room is None else f"; {room:,} of the model's length are left for the request"


def _room_lines(facts: TaskFacts, counted: Lengths) -> Iterator[Line]:
    limit = facts.limit
    if limit is None or limit.room is None or limit.tokens is None or not limit.official:
        return
    longest = limit.tokens + (counted.template or 0)
    if longest > limit.room:
        yield Line(
            ERROR,
            TOPIC,
            f"with {limit.source} a request may have {longest:,} tokens, and the model takes "
            f"{limit.room:,} before the answer: the run would stop at the first such prompt",
            "Lower truncate_to, or give the model's real length with max_length=TOKENS in "
            "--model_args.",
            (facts.name,),
        )
