"""The first prompt of a task: the text, its chat template, and how its answer is drawn and ends."""

from __future__ import annotations

import json
from collections.abc import Iterator

from lm_eval_longbench.doctor.line import ERROR, OK, WARNING, Line
from lm_eval_longbench.doctor.model import Lengths, is_cut
from lm_eval_longbench.harness.preflight_facts import (
    LOCAL,
    MESSAGES,
    OTHER,
    TEXT,
    Backend,
    PlannedRun,
    TaskFacts,
)
from lm_eval_longbench.protocol import is_greedy, protocol_of

# ---------------------------------------------------------------------- the text

# Characters of a prompt's head and tail that are shown.
EXCERPT = 120


def problem_lines(facts: TaskFacts) -> Iterator[Line]:
    """Yield a line on what stops a task, and one if not all of its questions are asked."""
    if facts.problem:
        what = f"The run would stop: {facts.problem}"
        todo = "Change what the message names; nothing was generated."
        yield Line(ERROR, "task", what, todo)
    if facts.questions and facts.asked < facts.questions:
        what = f"{facts.asked} of {facts.questions} questions are asked"
        todo = "Only for trying things out: leave out --limit and --samples for a score."
        yield Line(WARNING, "questions", what, todo)


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
    yield Line(OK, "first prompt", f"{', '.join(parts)}: {excerpt(text)}")


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


# ---------------------------------------------------------------------- the chat template

CHAT = "chat template"
_APPLY = "Add --apply_chat_template"


def template_lines(run: PlannedRun, backend: Backend) -> Iterator[Line]:
    """Yield the lines on what the backend makes of --apply_chat_template."""
    if run.chat and backend.template_problem:
        yield Line(
            ERROR,
            CHAT,
            f"--apply_chat_template is given, and the template of {backend.tokenizer.name} cannot "
            f"be applied: {backend.template_problem}",
            "Leave out --apply_chat_template for a base model, or name a tokenizer that has a "
            "chat template with tokenizer=... in --model_args.",
        )
    if run.chat and backend.kind == OTHER and backend.chat_template is None:
        what = f"how {backend.name} applies a chat template cannot be seen without its model"
        yield Line(OK, CHAT, what)
    if not run.chat and backend.kind == MESSAGES:
        yield Line(
            ERROR,
            CHAT,
            f"{backend.name} takes chat messages only, and the run would stop at the first request",
            f"{_APPLY}, or use a completions model.",
        )
    if run.chat and run.system_instruction:
        yield Line(
            WARNING,
            CHAT,
            "--system_instruction is set; official prompts have no system message",
            "Leave it out to follow the official protocol.",
        )


def chat_lines(run: PlannedRun, backend: Backend, facts: TaskFacts) -> Iterator[Line]:
    """Yield a line on how a task's prompts are wrapped."""
    if facts.chat is None:
        return
    if facts.chat == "raw":
        what = "raw: officially these prompts are not wrapped, in chat runs either"
        yield Line(OK, CHAT, what)
    elif facts.chat == "off":
        yield _off(backend, facts)
    elif facts.as_messages and backend.kind == TEXT:
        what = f"{backend.name} would send chat messages to a completions endpoint"
        todo = "Set tokenized_requests=True, or use the chat-completions model of the harness."
        yield Line(ERROR, CHAT, what, todo)
    elif not facts.as_messages and backend.kind == MESSAGES:
        what = f"{backend.name} would send text to a chat endpoint"
        todo = "Leave tokenizer_backend and tokenized_requests out of --model_args."
        yield Line(ERROR, CHAT, what, todo)
    elif facts.sends_raw:
        what = "on, because the backend takes only messages; officially these prompts go out raw"
        todo = "Scores of these tasks are not comparable; use a completions model for them."
        yield Line(WARNING, CHAT, what, todo)
    else:
        whose = f"of {backend.tokenizer.name}" if backend.tokenizer.name else f"of {backend.name}"
        whose = "of the server" if facts.as_messages else whose
        yield Line(OK, CHAT, f"on, one user message in the template {whose}")


def _off(backend: Backend, facts: TaskFacts) -> Line:
    if facts.one_message:
        what = f"off; {facts.title} officially sends each prompt as one user message"
        return Line(WARNING, CHAT, what, f"{_APPLY} unless this is a base model.")
    if facts.sends_raw:
        return Line(OK, CHAT, "off, as officially for these prompts")
    if backend.kind in (LOCAL, TEXT) and backend.chat_template is not None:
        what = f"off, and {backend.tokenizer.name} has a chat template"
        return Line(WARNING, CHAT, what, f"{_APPLY} unless this is a base model.")
    return Line(OK, CHAT, "off, as for a base model")


# ---------------------------------------------------------------------- what ends an answer

STOPS = "stops"
# Names of stop strings: the harness's, and those that backends take as they are.
_NAMES = ("until", "stop", "stop_strings", "stop_token_ids")


def end_lines(backend: Backend) -> Iterator[Line]:
    """Yield a line on the token that ends an answer."""
    tokenizer = backend.tokenizer.tokenizer
    if tokenizer is None:
        if backend.kind in (MESSAGES, OTHER):
            yield Line(OK, STOPS, f"{backend.name} itself ends answers: no tokenizer is used here")
        return
    if not tokenizer.eos_token:
        yield Line(
            WARNING,
            STOPS,
            f"the tokenizer {backend.tokenizer.name} has no end-of-text token",
            "Answers will fill their whole output budget: use the model's own tokenizer.",
        )
        return
    what = f"end of text is {tokenizer.eos_token!r} (id {tokenizer.eos_token_id})"
    yield Line(OK, STOPS, f"{what}, by the tokenizer {backend.tokenizer.name}")


def stop_lines(run: PlannedRun, facts: TaskFacts) -> Iterator[Line]:
    """Yield a line on a task's stop strings; officially there are none."""
    found = {name: facts.generation[name] for name in _NAMES if facts.generation.get(name)}
    if not facts.generation:
        return
    if not found:
        yield Line(OK, STOPS, "no stop strings, as officially")
        return
    given = ", ".join(f"{name}={value!r}" for name, value in found.items())
    where = "--gen_kwargs" if any(name in run.gen_kwargs for name in found) else "the task's YAML"
    yield Line(
        WARNING,
        STOPS,
        f"{given}, from {where}; officially there are no stop strings",
        "Leave it out: answers that would go on are cut, and scores move.",
    )


# ---------------------------------------------------------------------- sampling and repeats

SAMPLING = "sampling"


def sampling_lines(backend: Backend, facts: TaskFacts) -> Iterator[Line]:
    """Yield the lines on how a task's answers are drawn."""
    generation = facts.generation
    if not generation:
        return
    try:
        temperature = float(generation.get("temperature") or 0.0)
    except (TypeError, ValueError):
        what = f"temperature={generation['temperature']!r} is no number"
        yield Line(ERROR, SAMPLING, what, "Give a number from 0 in --gen_kwargs.")
        return
    sample = generation.get("do_sample")
    if sample and temperature == 0.0:
        if facts.repeats > 1 or backend.kind == LOCAL:
            yield Line(ERROR, SAMPLING, "do_sample=True with temperature 0 does not sample", _T)
        else:
            what = "do_sample=True with temperature 0: the server answers greedily"
            yield Line(WARNING, SAMPLING, what, _T)
        return
    if sample is not None and not sample and temperature > 0.0:
        what = f"do_sample=False with temperature {temperature:g}: greedy here, sampled by servers"
        yield Line(ERROR, SAMPLING, what, "Set temperature=0.0 or do_sample=True.")
        return
    if is_greedy(generation) and facts.repeats > 1:
        if not facts.problem:
            what = f"{facts.repeats} repeats with greedy decoding are one answer that often"
            yield Line(ERROR, SAMPLING, what, _T)
        return
    yield _against_official(facts, temperature)


_T = "Sample: --gen_kwargs temperature=1.0,do_sample=True; or set the option repeats to 1."


def _words(greedy: bool, temperature: float, repeats: int) -> str:
    how = "greedy" if greedy else f"temperature {temperature:g}"
    return f"{how}, {repeats} answer{'s' if repeats > 1 else ''} a question"


def _against_official(facts: TaskFacts, temperature: float) -> Line:
    official = facts.official_generation
    own = float(official.get("temperature") or 0.0)
    found = _words(is_greedy(facts.generation), temperature, facts.repeats)
    wanted = _words(is_greedy(official), own, facts.official_repeats)
    # Officially some are sampled at each model's own default temperature.
    free = protocol_of(facts.task).temperature is None and temperature > 0.0
    same = facts.repeats == facts.official_repeats and (free or temperature == own)
    if same:
        note = ", where it is the model's own default temperature" if free else ""
        return Line(OK, SAMPLING, f"{found}, as officially{note}")
    return Line(
        WARNING,
        SAMPLING,
        f"{found}; officially {wanted}",
        "Leave temperature and do_sample out of --gen_kwargs, and the option repeats.",
    )
