"""The chat template: on or off, and why."""

from __future__ import annotations

from collections.abc import Iterator

from lm_eval_longbench.doctor.line import ERROR, OK, WARNING, Line
from lm_eval_longbench.harness.preflight_facts import (
    LOCAL,
    MESSAGES,
    OTHER,
    TEXT,
    Backend,
    Run,
    TaskFacts,
)

TOPIC = "chat template"
_APPLY = "Add --apply_chat_template"


def backend_lines(run: Run, backend: Backend) -> Iterator[Line]:
    """Yield the lines on what the backend makes of --apply_chat_template."""
    if run.chat and backend.template_problem:
        yield Line(
            ERROR,
            TOPIC,
            f"--apply_chat_template is given, and the template of {backend.tokenizer.name} cannot "
            f"be applied: {backend.template_problem}",
            "Leave out --apply_chat_template for a base model, or name a tokenizer that has a "
            "chat template with tokenizer=... in --model_args.",
        )
    if run.chat and backend.kind == OTHER and backend.chat_template is None:
        what = f"how {backend.name} applies a chat template cannot be seen without its model"
        yield Line(OK, TOPIC, what)
    if not run.chat and backend.kind == MESSAGES:
        yield Line(
            ERROR,
            TOPIC,
            f"{backend.name} takes chat messages only, and the run would stop at the first request",
            f"{_APPLY}, or use a completions model.",
        )
    if run.chat and run.system_instruction:
        yield Line(
            WARNING,
            TOPIC,
            "--system_instruction is set; official prompts have no system message",
            "Leave it out to follow the official protocol.",
        )


def chat_lines(run: Run, backend: Backend, facts: TaskFacts) -> Iterator[Line]:
    """Yield a line on how a task's prompts are wrapped."""
    if facts.chat is None:
        return
    tasks = (facts.name,)
    if facts.chat == "raw":
        what = "raw: officially these prompts are not wrapped, in chat runs either"
        yield Line(OK, TOPIC, what, "", tasks)
    elif facts.chat == "off":
        yield _off(backend, facts)
    elif facts.as_messages and backend.kind == TEXT:
        what = f"{backend.name} would send chat messages to a completions endpoint"
        todo = "Set tokenized_requests=True, or use the chat-completions model of the harness."
        yield Line(ERROR, TOPIC, what, todo, tasks)
    elif not facts.as_messages and backend.kind == MESSAGES:
        what = f"{backend.name} would send text to a chat endpoint"
        todo = "Leave tokenizer_backend and tokenized_requests out of --model_args."
        yield Line(ERROR, TOPIC, what, todo, tasks)
    elif facts.sends_raw:
        what = "on, because the backend takes only messages; officially these prompts go out raw"
        todo = "Scores of these tasks are not comparable; use a completions model for them."
        yield Line(WARNING, TOPIC, what, todo, tasks)
    else:
        whose = f"of {backend.tokenizer.name}" if backend.tokenizer.name else f"of {backend.name}"
        whose = "of the server" if facts.as_messages else whose
        yield Line(OK, TOPIC, f"on, one user message in the template {whose}", "", tasks)


def _off(backend: Backend, facts: TaskFacts) -> Line:
    tasks = (facts.name,)
    if facts.one_message:
        what = f"off; {facts.title} officially sends each prompt as one user message"
        return Line(WARNING, TOPIC, what, f"{_APPLY} unless this is a base model.", tasks)
    if facts.sends_raw:
        return Line(OK, TOPIC, "off, as officially for these prompts", "", tasks)
    if backend.kind in (LOCAL, TEXT) and backend.chat_template is not None:
        what = f"off, and {backend.tokenizer.name} has a chat template"
        return Line(WARNING, TOPIC, what, f"{_APPLY} unless this is a base model.", tasks)
    return Line(OK, TOPIC, "off, as for a base model", "", tasks)
