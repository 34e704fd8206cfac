"""In what answers depart from the official protocol of their benchmark."""

from __future__ import annotations

import typing
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from lm_eval_longbench.catalog.model import Source, Task
from lm_eval_longbench.language import Sentence, listed, sentence
from lm_eval_longbench.metrics.reasoning import DROP
from lm_eval_longbench.signature.ingredients import (
    BEGIN,
    BESIDE,
    HARMLESS,
    STOP,
    THINK_END,
    UNKNOWN,
    data_of,
    values_of,
)

# Questions of an official task that may be equal to another one of it in all that is asked. In the
# official data of v1 and E at most two of a dataset are, in gold answers, classes and length.
MOST_COPIES = 5
# How the ingredient `retrieval` begins where parts of documents were given in a file.
GIVEN = "file sha256 "

# Generation arguments that an official run may set in its own way, besides those with rules below.
_FREE = frozenset({"seed"})
_ONCE = "{} answer to each question (officially {})"
_NOT_SAMPLED = "temperature {} without sampling, at which servers sample"
# How a model's own distribution is cut: greedy answers do not depend on it, and Pro leaves it to
# the model.
_OF_SAMPLING = frozenset({"top_p", "top_k", "min_p"})


@dataclass(frozen=True)
class Protocol:
    """How official runs of a task are set.

    Attributes:
        limits: longest prompts in tokens, one or another; (): any.
        chat: "on", or "raw": never in a chat template.
        budgets: longest answers in tokens, one or another.
        temperature: 0.0: greedy; None: the model's own, above 0.
        repeats: answers to each question.
    """

    limits: tuple[int, ...]
    chat: str
    budgets: tuple[int, ...]
    temperature: float | None
    repeats: int


class HasProtocol(typing.Protocol):
    """What is asked of a benchmark here; `benchmarks.base.Benchmark` explains each."""

    name: str
    metrics: str
    source: Source
    rule: Any

    def protocol(self, task: Task, *, thinking: bool = False) -> Protocol:
        """Return how official runs of a task are set."""


def is_greedy(generation: Mapping[str, Any]) -> bool:
    """Whether generation arguments ask for the single most likely answer."""
    if generation.get("do_sample") is not None:
        return not generation["do_sample"]
    return float(generation.get("temperature") or 0.0) == 0.0


def any_of(numbers: Sequence[int]) -> Sentence:
    """Return numbers in words: "4, 8 or 16"."""
    *others, last = map(str, numbers)
    return listed(filter(None, [listed(others), last]), " or ", " 或 ")


def _sampling(generation: Mapping[str, Any], official: Protocol) -> Iterator[Sentence]:
    temperature = generation.get("temperature")
    if temperature is not None and not isinstance(temperature, int | float):
        yield sentence("temperature {}", repr(temperature))
        return
    greedy = is_greedy(generation)
    wanted = sentence("temperature {}", official.temperature)
    if official.temperature is None:
        wanted = sentence("the model's own temperature, above 0")
    elif official.temperature == 0.0:
        wanted = sentence("greedy")
    found = sentence("greedy") if greedy else sentence("temperature {}", temperature)
    if "temperature" in generation and temperature is None and not generation.get("do_sample"):
        # A server that refused it, or was sent none, has its own.
        found, greedy = sentence("the server's own temperature"), False
        same = official.temperature is None
    elif greedy and temperature and official.temperature == 0.0:
        found, same = sentence(_NOT_SAMPLED, temperature), False
    elif greedy:
        same = official.temperature == 0.0
    else:
        same = official.temperature is None or official.temperature == temperature
    if not same:
        yield sentence("{} (officially {})", found, wanted)
    for name in sorted(_OF_SAMPLING & generation.keys()):
        neutral = name == "top_p" and generation[name] == 1
        if not (neutral or greedy or official.temperature is None):
            yield sentence("{} (officially left out)", f"{name} {generation[name]!r}")


def _generation(generation: Any, official: Protocol) -> Iterator[Sentence]:
    if not isinstance(generation, Mapping):
        yield sentence("generation arguments {}", repr(generation))
        return
    budget = generation.get("max_gen_toks")
    if budget not in official.budgets:
        wanted = any_of(official.budgets)
        yield sentence("an output budget of {} tokens (officially {})", budget, wanted)
    if generation.get("until"):
        yield sentence("stop strings (officially none)")
    yield from _sampling(generation, official)
    known = _FREE | _OF_SAMPLING | {"max_gen_toks", "until", "temperature", "do_sample"}
    for name in sorted(generation.keys() - known):
        yield sentence("the generation argument {} (officially left out)", name)


# Ingredients of a signature that official runs agree in.
_COMPARED = ["data_sha256", "truncation", "limit", "overlength", "chat", "generation", "filters"]


def _departing(
    name: str, value: Any, official: Protocol, benchmark: HasProtocol
) -> Iterator[Sentence]:
    """Yield how one value of an ingredient departs."""
    rule = getattr(benchmark.rule, "__name__", "")
    if name == "data_sha256" and not benchmark.source.sha256:
        yield sentence("data that no task file pins")
    elif name == "data_sha256" and value != benchmark.source.sha256:
        yield sentence("other data than {}", benchmark.source.label)
    elif name == "truncation" and value != rule:
        yield sentence("prompts cut by {} (officially by {})", value, rule)
    elif name == "limit" and official.limits and value not in official.limits:
        wanted = any_of(official.limits)
        if value is None:
            yield sentence("no limit of prompts (officially cut at {})", wanted)
        else:
            yield sentence("prompts cut at {} tokens (officially cut at {})", value, wanted)
    # A run that ended with "fail" had no longer prompt.
    elif name == "overlength" and value not in ("truncate", "fail"):
        yield sentence("overlength {} (officially truncate)", value)
    # Without a chat template nothing is withheld from it.
    elif name == "chat" and value != official.chat and (official.chat, value) != ("raw", "off"):
        yield sentence("chat template {} (officially {})", value, official.chat)
    elif name == "generation":
        yield from _generation(value, official)
    elif name == "filters" and value is not None:
        yield sentence("filters of answers (officially none)")


def _stated(signature: Mapping[str, Any], name: str) -> list[Any]:
    """Return the values of an ingredient that are known, and not null."""
    return [one for one in values_of(signature.get(name)) if one not in (None, UNKNOWN)]


def _own(task: Task, signature: Mapping[str, Any]) -> Iterator[Sentence]:
    """Yield what a user's task file has in place of the official prompt and metric."""
    for one in _stated(signature, "template_sha256"):
        if one != task.prompt_sha256:
            yield sentence("a prompt of the user's own")
    for one in _stated(signature, "metric"):
        if one != task.metric:
            yield sentence("scored by {} (officially by {})", one, task.metric)


def _of_settings(settings: Any) -> Iterator[Sentence]:
    """Yield in what an ingredient `model_settings` departs from every official protocol."""
    if not isinstance(settings, Mapping):
        yield sentence("model settings {}", repr(settings))
        return
    if settings.get(STOP):
        yield sentence("stop strings (officially none)")
    if settings.get(THINK_END) is not None:
        yield sentence("reasoning taken out of answers (officially scored with them)")
    if str(settings.get(BEGIN)).lower() == "false":
        yield sentence(
            "prompts without a beginning-of-text token (officially as the tokenizer has them)"
        )
    beside = settings.get(BESIDE) or {}
    names = sorted(beside) if isinstance(beside, Mapping) else [beside]
    for name in names:
        if name not in HARMLESS:
            yield sentence("the field {} beside prompts (officially left out)", name)


@dataclass(frozen=True)
class Departures:
    """In what answers to a task depart from the official protocol.

    Attributes:
        found: phrases, such as "an output budget of 8 tokens (officially 128)".
        unknown: ingredients of which it is not known.
    """

    found: tuple[Sentence, ...]
    unknown: tuple[str, ...]

    @property
    def nothing_known(self) -> bool:
        """Whether nothing is known of how the answers were made."""
        return set(self.unknown) == set(_COMPARED)


def departures(
    benchmark: HasProtocol,
    task: Task,
    signature: Mapping[str, Any],
    repeats: int,
    *,
    thinking: bool = False,
) -> Departures:
    """Compare answers with the protocol of their task.

    Nothing tells the model's own settings from others: its temperature (Pro), its chat template.

    Args:
        benchmark, task: that the answers are of.
        signature: of the answers, see `signature.signature`; several values of an ingredient are
            a list; what is not there or UNKNOWN is not known.
        repeats: answers to each question.
        thinking: LongBench Pro: for a thinking score, which a thinking model may get from either
            form of the prompt.
    """
    official = benchmark.protocol(task, thinking=thinking)
    found = list(_own(task, signature))
    unknown = []
    for name in _COMPARED:
        value = signature.get(name, UNKNOWN)
        # Own filters are a list themselves, and several of those a departure too.
        values = values_of(value) if name != "filters" else [value]
        if UNKNOWN in values:
            unknown.append(name)
        for one in values:
            if one != UNKNOWN:
                found += _departing(name, one, official, benchmark)
    if repeats != official.repeats:
        each = "{} answers to each question (officially {})"
        found.append(sentence(each if repeats > 1 else _ONCE, repeats, official.repeats))
    reasoned = any(one != 0 for one in _stated(signature, "reasoned"))
    if reasoned and DROP in values_of(signature.get("reasoning")):
        found.append(sentence("reasoning taken out of answers (officially scored with them)"))
    is_part = any(data_of(one) != one for one in _stated(signature, "data"))
    if is_part or _stated(signature, "shard"):
        found.append(sentence("a part of the questions (officially all)"))
    if _stated(signature, "context"):
        found.append(sentence("prompts without documents (officially with them)"))
    if _stated(signature, "system_sha256"):
        found.append(sentence("a system instruction (officially none)"))
    for one in _stated(signature, "model_settings"):
        found += _of_settings(one)
    if any(not str(one).startswith(GIVEN) for one in _stated(signature, "retrieval")):
        chosen = "parts of documents chosen by this package (officially by others)"
        found.append(sentence(chosen))
    here, scored = benchmark.metrics, signature.get("metrics", UNKNOWN)
    if signature.get("benchmark") == benchmark.name and scored not in (UNKNOWN, here):
        found.append(sentence("scored with version {} of the metrics (here {})", scored, here))
    return Departures(tuple(dict.fromkeys(found)), tuple(unknown))
