"""The limit that a task's prompts are cut to, and what becomes of longer ones."""

from __future__ import annotations

from collections.abc import Iterator

from lm_eval_longbench.doctor.line import ERROR, OK, WARNING, Line
from lm_eval_longbench.doctor.tokens import Lengths, is_cut
from lm_eval_longbench.harness.limit import Limit
from lm_eval_longbench.harness.preflight_facts import LOCAL, Backend, TaskFacts
from lm_eval_longbench.protocol import limits


def limit_lines(backend: Backend, facts: TaskFacts, counted: Lengths) -> Iterator[Line]:
    """Yield the lines on a task's limit and its option `overlength`."""
    if facts.limit is not None:
        yield _limit_line(backend, facts, facts.limit)
        yield from _overlength_lines(facts, counted)


def _limit_line(backend: Backend, facts: TaskFacts, limit: Limit) -> Line:
    tasks = (facts.name,)
    known = limits(facts.benchmark)
    todo = _official_todo(known, limit.tokens)
    if limit.tokens is None and backend.kind == LOCAL:
        what = "not known before the model's config is on this machine"
        return Line(WARNING, "limit", what, f"Then ask again. {todo}", tasks)
    if limit.tokens is None:
        what = "no limit is known: prompts go out whole, and whatever serves the model may cut them"
        more = f"Give max_length=TOKENS in --model_args. {todo}"
        return Line(WARNING, "limit", what, more, tasks)
    what = f"{limit.tokens:,} tokens ({limit.source})"
    if limit.assumed:
        todo = _official_todo(known, None)
        more = f"Give the model's real length with max_length=TOKENS in --model_args. {todo}"
        return Line(WARNING, "limit", f"{what}: nobody gave the model's length", more, tasks)
    if limit.official and limit.tokens in known:
        return Line(OK, "limit", f"{what}, an official limit", "", tasks)
    if limit.official:
        todo = _official_todo(known, None)
        return Line(WARNING, "limit", f"{what}, which no official run has", todo, tasks)
    return Line(WARNING, "limit", f"{what}; the official truncate_to is not set", todo, tasks)


def _official_todo(known: tuple[int, ...], tokens: int | None) -> str:
    """Say which of the official limits to set for a model that takes `tokens`, if it is known."""
    official = ", ".join(map(str, known))
    fitting = [limit for limit in known if tokens is not None and limit <= tokens]
    if tokens is not None and not fitting:
        return f"None of the official limits, {official} tokens, fits: say so with the score."
    chosen = fitting[-1] if fitting else "TOKENS"
    return (
        f"Official limits are {official} tokens: --metadata "
        f'\'{{"longbench": {{"truncate_to": {chosen}}}}}\'.'
    )


def _overlength_lines(facts: TaskFacts, counted: Lengths) -> Iterator[Line]:
    tasks, how = (facts.name,), facts.overlength
    if how == "truncate":
        return
    what = f"overlength={how}"
    if facts.limit is None or facts.limit.tokens is None:
        todo = "Set truncate_to, or give max_length in --model_args."
        yield Line(WARNING, "overlength", f"{what} has no effect: no limit is known", todo, tasks)
    elif how == "skip":
        first = "; the first is one of them" if is_cut(facts, counted) else ""
        todo = 'Officially they are cut: leave the option out, or set it to "truncate".'
        yield Line(
            WARNING, "overlength", f"{what}: longer prompts are not asked{first}", todo, tasks
        )
    elif is_cut(facts, counted):
        if not facts.problem:
            what = f"{what}: the first prompt is longer than the limit, so the run would stop"
            todo = 'Raise the limit, or set overlength to "truncate".'
            yield Line(ERROR, "overlength", what, todo, tasks)
    else:
        yield Line(OK, "overlength", f"{what}: the first prompt is short enough", "", tasks)
