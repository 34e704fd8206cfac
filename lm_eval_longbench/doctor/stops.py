"""What ends an answer: stop strings and the end-of-text token."""

from __future__ import annotations

from collections.abc import Iterator

from lm_eval_longbench.doctor.line import OK, WARNING, Line
from lm_eval_longbench.harness.preflight_facts import MESSAGES, OTHER, Backend, Run, TaskFacts

TOPIC = "stops"
# Names of stop strings: the harness's, and those that backends take as they are.
_NAMES = ("until", "stop", "stop_strings", "stop_token_ids")


def end_lines(backend: Backend) -> Iterator[Line]:
    """Yield a line on the token that ends an answer."""
    tokenizer = backend.tokenizer.tokenizer
    if tokenizer is None:
        if backend.kind in (MESSAGES, OTHER):
            yield Line(OK, TOPIC, f"{backend.name} itself ends answers: no tokenizer is used here")
        return
    if not tokenizer.eos_token:
        yield Line(
            WARNING,
            TOPIC,
            f"the tokenizer {backend.tokenizer.name} has no end-of-text token",
            "Answers will fill their whole output budget: use the model's own tokenizer.",
        )
        return
    what = f"end of text is {tokenizer.eos_token!r} (id {tokenizer.eos_token_id})"
    yield Line(OK, TOPIC, f"{what}, by the tokenizer {backend.tokenizer.name}")


def stop_lines(run: Run, facts: TaskFacts) -> Iterator[Line]:
    """Yield a line on a task's stop strings; officially there are none."""
    tasks = (facts.name,)
    found = {name: facts.generation[name] for name in _NAMES if facts.generation.get(name)}
    if not facts.generation:
        return
    if not found:
        yield Line(OK, TOPIC, "no stop strings, as officially", "", tasks)
        return
    given = ", ".join(f"{name}={value!r}" for name, value in found.items())
    where = "--gen_kwargs" if any(name in run.gen_kwargs for name in found) else "the task's YAML"
    yield Line(
        WARNING,
        TOPIC,
        f"{given}, from {where}; officially there are no stop strings",
        "Leave it out: answers that would go on are cut, and scores move.",
        tasks,
    )
