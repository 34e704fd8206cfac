"""The exact first prompt of a task, and what would stop it."""

from __future__ import annotations

import json
from collections.abc import Iterator

from lm_eval_longbench.doctor.line import ERROR, OK, WARNING, Line
from lm_eval_longbench.doctor.tokens import Lengths, is_cut
from lm_eval_longbench.harness.preflight_facts import TaskFacts

# Characters of a prompt's head and tail that are shown.
EXCERPT = 120


def problem_lines(facts: TaskFacts) -> Iterator[Line]:
    """Yield a line on what stops a task, and one if not all of its questions are asked."""
    if facts.problem:
        what = f"The run would stop: {facts.problem}"
        todo = "Change what the message names; nothing was generated."
        yield Line(ERROR, "task", what, todo, (facts.name,))
    if facts.questions and facts.asked < facts.questions:
        what = f"{facts.asked} of {facts.questions} questions are asked"
        todo = "Only for trying things out: leave out --limit and --samples for a score."
        yield Line(WARNING, "questions", what, todo, (facts.name,))


def prompt_lines(facts: TaskFacts, counted: Lengths) -> Iterator[Line]:
    """Yield a line with both ends of a task's first prompt and its length."""
    if facts.whole is None:
        return
    text = _shown(facts)
    kind = "as sent" if facts.sent is not None else "whole, not as sent"
    parts = [f"{kind}{', as chat messages' if facts.as_messages else ''}: {len(text):,} characters"]
    if counted.sent is not None:
        parts.append(f"{counted.sent:,} tokens")
    if counted.whole is None:
        parts.append("tokens not counted for want of a tokenizer")
    elif is_cut(facts, counted) and facts.limit is not None:
        parts.append(f"cut in the middle from {counted.whole:,} to {facts.limit.tokens:,} tokens")
    else:
        parts.append(f"{counted.whole:,} tokens before any template, nothing cut")
    yield Line(OK, "first prompt", f"{', '.join(parts)}: {excerpt(text)}", "", (facts.name,))


def excerpt(text: str) -> str:
    """Return both ends of a text, with its line breaks spelled out; all of it if it is short."""
    if len(text) <= 2 * EXCERPT:
        return json.dumps(text, ensure_ascii=False)
    head, tail = text[:EXCERPT], text[-EXCERPT:]
    return f"{json.dumps(head, ensure_ascii=False)} ... {json.dumps(tail, ensure_ascii=False)}"


def _shown(facts: TaskFacts) -> str:
    """Return the text to show: the prompt as sent, of messages the user's."""
    if facts.sent is None:
        return facts.whole or ""
    return json.loads(facts.sent)[-1]["content"] if facts.as_messages else facts.sent
