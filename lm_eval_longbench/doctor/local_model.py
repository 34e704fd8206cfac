"""The files of a model and its tokenizer on this machine."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from lm_eval_longbench.doctor.line import ERROR, OK, WARNING, Line
from lm_eval_longbench.harness.preflight_cache import any_cached, is_offline
from lm_eval_longbench.harness.preflight_facts import (
    LOCAL,
    Backend,
    FoundTokenizer,
    Run,
    TaskFacts,
)

TOPIC = "model"
# Any of these tells that weights are there, whole or as the list of their parts.
WEIGHTS = (
    "model.safetensors",
    "model.safetensors.index.json",
    "pytorch_model.bin",
    "pytorch_model.bin.index.json",
)


def model_lines(run: Run, backend: Backend) -> Iterator[Line]:
    """Yield the lines on a model's files; nothing is loaded but its tokenizer."""
    if backend.kind == LOCAL:
        yield _weights_line(run)
    found = backend.tokenizer
    if found.tokenizer is not None:
        template = "with" if getattr(found.tokenizer, "chat_template", None) else "without"
        asked = "; the harness would ask the server for one first" if backend.guessed else ""
        yield Line(OK, "tokenizer", f"{found.name}, {template} a chat template{asked}")
    elif found.problem:
        yield _missing_tokenizer(found)


def tokenizer_lines(backend: Backend, facts: TaskFacts) -> Iterator[Line]:
    """Yield a line if a task's prompts cannot be cut; what was said of the backend is not."""
    found = facts.tokenizer
    needed = facts.limit is not None and facts.limit.tokens is not None
    if needed and found.problem and found != backend.tokenizer:
        yield replace(_missing_tokenizer(found), tasks=(facts.name,))


def _weights_line(run: Run) -> Line:
    name = run.model_args.get("pretrained")
    if not name:
        todo = "Add pretrained=NAME_OR_FOLDER to --model_args."
        return Line(ERROR, TOPIC, f"--model_args names no model for {run.model}", todo)
    name, revision = str(name), str(run.model_args.get("revision") or "main")
    folder = Path(name)
    if folder.is_dir():
        if any((folder / file).is_file() for file in WEIGHTS):
            return Line(OK, TOPIC, f"{name} is a folder with weights, which are not loaded here")
        todo = f"One of these is needed: {', '.join(WEIGHTS)}."
        return Line(WARNING, TOPIC, f"the folder {name} has no weights of the usual names", todo)
    if any_cached(name, WEIGHTS, revision):
        return Line(OK, TOPIC, f"{name} is in the hub's cache, and is not loaded here")
    return _not_here(f"{name} is not on this machine", name, TOPIC)


def _missing_tokenizer(found: FoundTokenizer) -> Line:
    if found.absent and found.name is not None:
        what = f"{found.problem}: no prompt can be shown as it is sent"
        return _not_here(what, found.name, "tokenizer")
    todo = "Add tokenizer=NAME_OR_FOLDER to --model_args, or the option tokenizer."
    return Line(ERROR, "tokenizer", found.problem, todo)


def _not_here(what: str, name: str, topic: str) -> Line:
    """Say that files of the hub are missing: the run fetches them if it may."""
    if is_offline():
        return Line(ERROR, topic, f"{what}, and HF_HUB_OFFLINE is set", _fetch(name, topic))
    todo = f"The run downloads it; to do it ahead: {_fetch(name, topic)}"
    return Line(WARNING, topic, what, todo)


def _fetch(name: str, topic: str) -> str:
    only = ' --include "*.json" "*.jinja" "*.txt" "*.model"' if topic == "tokenizer" else ""
    return f"hf download {name}{only}"
