"""The model's files and tokenizer, its limits, and the embedding model that scores summaries."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from lm_eval_longbench.benchmarks.registry import benchmark_of, tasks
from lm_eval_longbench.doctor.line import ERROR, OK, WARNING, Line
from lm_eval_longbench.errors import LongBenchError
from lm_eval_longbench.harness.preflight_facts import (
    LOCAL,
    Backend,
    FoundTokenizer,
    PlannedRun,
    PlannedTask,
    TaskFacts,
    any_cached,
    is_offline,
)
from lm_eval_longbench.harness.prompts import Limit
from lm_eval_longbench.options import Options
from lm_eval_longbench.prompts.truncation import count_tokens
from lm_eval_longbench.protocol import budgets, protocol_of
from lm_eval_longbench.semantic.embedder import OFFICIAL_MODEL
from lm_eval_longbench.semantic.remote import RemoteEmbedder

if TYPE_CHECKING:
    from transformers import PreTrainedTokenizerBase

# ---------------------------------------------------------------------- files on this machine

MODEL = "model"
# Any of these tells that weights are there, whole or as the list of their parts.
WEIGHTS = (
    "model.safetensors",
    "model.safetensors.index.json",
    "pytorch_model.bin",
    "pytorch_model.bin.index.json",
)


def model_lines(run: PlannedRun, backend: Backend) -> Iterator[Line]:
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
        yield _missing_tokenizer(found)


def _weights_line(run: PlannedRun) -> Line:
    name = run.model_args.get("pretrained")
    if not name:
        todo = "Add pretrained=NAME_OR_FOLDER to --model_args."
        return Line(ERROR, MODEL, f"--model_args names no model for {run.model}", todo)
    name, revision = str(name), str(run.model_args.get("revision") or "main")
    folder = Path(name)
    if folder.is_dir():
        if any((folder / file).is_file() for file in WEIGHTS):
            return Line(OK, MODEL, f"{name} is a folder with weights, which are not loaded here")
        todo = f"One of these is needed: {', '.join(WEIGHTS)}."
        return Line(WARNING, MODEL, f"the folder {name} has no weights of the usual names", todo)
    if any_cached(name, WEIGHTS, revision):
        return Line(OK, MODEL, f"{name} is in the hub's cache, and is not loaded here")
    return _not_here(f"{name} is not on this machine", name, MODEL)


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


# ---------------------------------------------------------------------- lengths in tokens


@dataclass(frozen=True)
class Lengths:
    """Tokens of the first prompt; each is None where it cannot be counted here.

    Attributes:
        whole: before it is cut, without a template.
        sent: as the backend gets it; None for chat messages, whose template the server applies.
        template: what the template adds.
    """

    whole: int | None = None
    sent: int | None = None
    template: int | None = None


def lengths(facts: TaskFacts) -> Lengths:
    """Count the first prompt of a task with the tokenizer that would cut it."""
    tokenizer = facts.tokenizer.tokenizer
    if tokenizer is None or facts.whole is None:
        return Lengths()
    whole = count_tokens(tokenizer, facts.whole)
    if facts.sent is None or facts.probe is None or facts.as_messages:
        return Lengths(whole)
    template = _as_sent(tokenizer, facts.probe) - _as_sent(tokenizer, "?")
    return Lengths(whole, _as_sent(tokenizer, facts.sent), max(0, template))


def _as_sent(tokenizer: PreTrainedTokenizerBase, text: str) -> int:
    """Count as backends do: without a beginning-of-text token where the template wrote one."""
    begin = tokenizer.bos_token
    return count_tokens(tokenizer, text, special=not (begin and text.startswith(begin)))


def is_cut(facts: TaskFacts, counted: Lengths) -> bool:
    """Whether the first prompt is longer than its limit."""
    limit = facts.limit.tokens if facts.limit is not None else None
    return limit is not None and counted.whole is not None and counted.whole > limit


# ---------------------------------------------------------------------- the limit of prompts


def limit_lines(backend: Backend, facts: TaskFacts, counted: Lengths) -> Iterator[Line]:
    """Yield the lines on a task's limit and its option `overlength`."""
    if facts.limit is not None:
        yield _limit_line(backend, facts, facts.limit)
        yield from _overlength_lines(facts, counted)


def _limit_line(backend: Backend, facts: TaskFacts, limit: Limit) -> Line:
    known = protocol_of(facts.task).limits
    todo = _official_todo(known, limit.tokens)
    if limit.tokens is None and backend.kind == LOCAL:
        what = "not known before the model's config is on this machine"
        return Line(WARNING, "limit", what, f"Then ask again. {todo}")
    if limit.tokens is None:
        what = "no limit is known: prompts go out whole, and whatever serves the model may cut them"
        more = f"Give max_length=TOKENS in --model_args. {todo}"
        return Line(WARNING, "limit", what, more)
    what = f"{limit.tokens:,} tokens ({limit.source})"
    if limit.assumed:
        todo = _official_todo(known, None)
        more = f"Give the model's real length with max_length=TOKENS in --model_args. {todo}"
        return Line(WARNING, "limit", f"{what}: nobody gave the model's length", more)
    if limit.official and not known:
        return Line(OK, "limit", f"{what}; there is no official limit")
    if limit.official and limit.tokens in known:
        return Line(OK, "limit", f"{what}, an official limit")
    if limit.official:
        todo = _official_todo(known, None)
        return Line(WARNING, "limit", f"{what}, which no official run has", todo)
    return Line(WARNING, "limit", f"{what}; the official truncate_to is not set", todo)


def _official_todo(known: tuple[int, ...], tokens: int | None) -> str:
    """Say which of the official limits to set for a model that takes `tokens`, if it is known."""
    if not known:
        return "There is no official limit; whole prompts are officially asked."
    official = ", ".join(map(str, known))
    fitting = [limit for limit in known if tokens is not None and limit <= tokens]
    if tokens is not None and not fitting:
        return f"None of the official limits, {official} tokens, fits: say so with the score."
    chosen = fitting[-1] if fitting else "TOKENS"
    return f"Official limits are {official} tokens: --truncate-to {chosen}."


def _overlength_lines(facts: TaskFacts, counted: Lengths) -> Iterator[Line]:
    how = facts.overlength
    if how == "truncate":
        return
    what = f"overlength={how}"
    if facts.limit is None or facts.limit.tokens is None:
        todo = "Set truncate_to, or give max_length in --model_args."
        yield Line(WARNING, "overlength", f"{what} has no effect: no limit is known", todo)
    elif how == "skip":
        first = "; the first is one of them" if is_cut(facts, counted) else ""
        todo = 'Officially they are cut: leave the option out, or set it to "truncate".'
        yield Line(WARNING, "overlength", f"{what}: longer prompts are not asked{first}", todo)
    elif is_cut(facts, counted):
        if not facts.problem:
            what = f"{what}: the first prompt is longer than the limit, so the run would stop"
            todo = 'Raise the limit, or set overlength to "truncate".'
            yield Line(ERROR, "overlength", what, todo)
    else:
        yield Line(OK, "overlength", f"{what}: the first prompt is short enough")


# ---------------------------------------------------------------------- the output budget

BUDGET = "output budget"


def budget_lines(facts: TaskFacts, counted: Lengths) -> Iterator[Line]:
    """Yield the lines on a task's budget in tokens."""
    if facts.limit is None:  # then the budget itself was refused
        return
    budget = facts.generation["max_gen_toks"]
    own = facts.official_generation["max_gen_toks"]
    if budget == own:
        yield Line(OK, BUDGET, f"{budget:,} tokens, the official number{_rest(facts)}")
    elif budget in budgets(facts.task):
        what = f"{budget:,} tokens, as published for some models; by default {own:,}{_rest(facts)}"
        yield Line(OK, BUDGET, what)
    else:
        what = f"{budget:,} tokens instead of {own:,}: no longer the official protocol"
        what += _rest(facts)
        yield Line(WARNING, BUDGET, what, "Leave max_gen_toks out of --gen_kwargs.")
    yield from _fit_lines(facts, counted)


def _rest(facts: TaskFacts) -> str:
    left = facts.limit.room if facts.limit is not None else None
    return "" if left is None else f"; {left:,} of the model's length are left for the request"


def _fit_lines(facts: TaskFacts, counted: Lengths) -> Iterator[Line]:
    limit = facts.limit
    if limit is None or limit.room is None or limit.tokens is None or not limit.official:
        return
    longest = limit.tokens + (counted.template or 0)
    if longest > limit.room:
        yield Line(
            ERROR,
            BUDGET,
            f"with {limit.source} a request may have {longest:,} tokens, and the model takes "
            f"{limit.room:,} before the answer: the run would stop at the first such prompt",
            "Lower truncate_to, or give the model's real length with max_length=TOKENS in "
            "--model_args.",
        )


# ---------------------------------------------------------------------- the embedding model

TOPIC = "embeddings"
# Seconds to wait for a server, once: a preflight does not wait for one that is busy.
TIMEOUT = 20.0
_LATER = (
    "Add the option embedding_model (with embedding_url to ask a server), or score the sample log "
    f"later: lm-eval-longbench score LOG --output FOLDER --embedding-model {OFFICIAL_MODEL}"
)


def summaries(leaves: Sequence[PlannedTask]) -> dict[str, str]:
    """Return what `score` calls the benchmark of each task whose score needs embeddings."""
    known = ((leaf.name, tasks().get(str(leaf.task))) for leaf in leaves)
    return {name: benchmark_of(task).short for name, task in known if task and task.summary}


def embedding_lines(options: Options, leaves: Sequence[PlannedTask]) -> Iterator[Line]:
    """Yield the lines on the embedding model; a server is asked to embed one word."""
    found = summaries(leaves)
    names = tuple(found)
    if not names:
        return
    if options.embedding_model is None:
        what = "no embedding model: summaries and every figure that contains them have no score"
        yield Line(WARNING, TOPIC, what, f"{_LATER} --benchmark {found[names[0]]}", names)
        return
    if options.embedding_model == OFFICIAL_MODEL:
        yield Line(OK, TOPIC, f"{OFFICIAL_MODEL}, the official model", "", names)
    else:
        what = f"{options.embedding_model} is not the official {OFFICIAL_MODEL}: no official score"
        yield Line(WARNING, TOPIC, what, f"Use {OFFICIAL_MODEL} for a score.", names)
    if options.embedding_url is None:
        yield _local(options.embedding_model, names)
    else:
        yield _remote(options, names)


def _remote(options: Options, tasks: tuple[str, ...]) -> Line:
    try:
        embedder = RemoteEmbedder(
            str(options.embedding_url), str(options.embedding_model), timeout=TIMEOUT, attempts=1
        )
        embedder.check()
    except LongBenchError as error:
        return Line(ERROR, TOPIC, str(error), "The run would stop before it generates.", tasks)
    return Line(OK, TOPIC, f"{embedder.shown_url} embeds", "", tasks)


def _local(name: str, tasks: tuple[str, ...]) -> Line:
    files = (*WEIGHTS, "modules.json")
    folder = Path(name)
    if folder.is_dir():
        if any((folder / file).is_file() for file in files):
            return Line(OK, TOPIC, f"{name} is a folder with a model", "", tasks)
        todo = "Name a folder that sentence-transformers can load."
        return Line(ERROR, TOPIC, f"the folder {name} holds no model", todo, tasks)
    # The library looks names without an owner up under its own.
    repo = name if "/" in name else f"sentence-transformers/{name}"
    if any_cached(repo, WEIGHTS):
        return Line(OK, TOPIC, f"{name} is in the hub's cache, and is not loaded here", "", tasks)
    fetch = f"hf download {repo}"
    if is_offline():
        what = f"{name} is not on this machine, and HF_HUB_OFFLINE is set"
        return Line(ERROR, TOPIC, what, fetch, tasks)
    todo = f"The run downloads it when all is generated; better ahead: {fetch}"
    return Line(WARNING, TOPIC, f"{name} is not on this machine", todo, tasks)
