"""The official protocol of each benchmark, and in what a run departs from it.

Source: for v1, E and v2 the settings of the official code (LongBench at 2e00731): limits of 3500,
7500, 15500 and 31500 tokens for models of 4k, 8k, 16k and 32k; 120000, and 200000 for Claude; for
Pro the inference settings published with it, which are in `presets`.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from lm_eval_longbench.catalog import split_of_task
from lm_eval_longbench.data import sources
from lm_eval_longbench.errors import OptionError
from lm_eval_longbench.presets.longbench_pro import Preset, find_preset, names
from lm_eval_longbench.provenance.signature import METRIC_VERSIONS, UNKNOWN

# Questions of an official task that may be equal to another one of it in all that is asked. In the
# official data of v1 and E at most two of a dataset are, in gold answers, classes and length.
MOST_COPIES = 5

_LIMITS = {"v1": (3500, 7500, 15500, 31500), "v2": (120_000, 200_000)}
# Generation arguments that an official run may set in its own way, besides those with rules below.
_FREE = frozenset({"seed"})
# How a model's own distribution is cut: greedy answers do not depend on it, and Pro leaves it to
# the model.
_OF_SAMPLING = frozenset({"top_p", "top_k", "min_p"})


@dataclass(frozen=True)
class Protocol:
    """How official runs of a task are set.

    Attributes:
        source: the pinned data.
        truncation: name of the rule that cuts long prompts.
        limits: longest prompts in tokens, one or another.
        chat: "on", or "raw": never in a chat template.
        budgets: longest answers in tokens, one or another.
        temperature: 0.0: greedy; None: the model's own, above 0.
        repeats: answers to each question.
    """

    source: sources.Source
    truncation: str
    limits: tuple[int, ...]
    chat: str
    budgets: tuple[int, ...]
    temperature: float | None
    repeats: int


@functools.cache
def _presets() -> tuple[Preset, ...]:
    def each() -> Iterator[Preset]:
        for name in names():
            for thinking in (False, True):
                try:
                    yield find_preset(name, thinking=thinking)
                except OptionError:  # this model was run in the other mode alone
                    continue

    return tuple(each())


def limits(benchmark: str) -> tuple[int, ...]:
    """Return the limits of prompts in tokens that official runs of a benchmark have.

    Args:
        benchmark: "v1" (with LongBench-E), "v2" or "pro".
    """
    if benchmark == "pro":
        return tuple(sorted({preset.truncate_to for preset in _presets()}))
    return _LIMITS[benchmark]


def budgets(benchmark: str, own: int) -> tuple[int, ...]:
    """Return the output budgets in tokens that official runs of a task have.

    Args:
        benchmark: "v1", "v2" or "pro".
        own: the budget that the task itself is set to.
    """
    if benchmark == "pro":
        return tuple(sorted({own} | {preset.max_gen_toks for preset in _presets()}))
    return (own,)


def protocol_of(task: str, *, thinking: bool = False) -> Protocol:
    """Return the protocol of a task.

    Args:
        task: our own name of it.
        thinking: LongBench Pro: for a thinking score, which a thinking model may get from either
            form of the prompt.

    Raises:
        UnknownNameError: there is no such task.
    """
    if task.startswith("longbench_pro"):
        own = {preset.max_gen_toks for preset in _presets() if preset.thinking == thinking}
        return Protocol(
            sources.LONGBENCH_PRO,
            "ends_decoded_together",
            limits("pro"),
            "on",
            tuple(sorted(own)),
            None,
            3,
        )
    if task.startswith("longbench_v2"):
        budget = 1024 if task == "longbench_v2_cot" else 128
        return Protocol(
            sources.LONGBENCH_V2,
            "ends_decoded_together",
            limits("v2"),
            "on",
            (budget,),
            0.1,
            1,
        )
    info = split_of_task(task).info
    return Protocol(
        sources.LONGBENCH_V1,
        "halves_decoded_apart",
        limits("v1"),
        # Official code has no template for a model that it does not know, but all of the published
        # models were asked in theirs.
        "on" if info.chat else "raw",
        (info.max_gen_toks,),
        0.0,
        1,
    )


def is_greedy(generation: Mapping[str, Any]) -> bool:
    """Whether generation arguments ask for the single most likely answer."""
    if generation.get("do_sample") is not None:
        return not generation["do_sample"]
    return float(generation.get("temperature") or 0.0) == 0.0


def _any_of(numbers: Sequence[int]) -> str:
    *others, last = map(str, numbers)
    return f"{', '.join(others)} or {last}" if others else last


def _sampling(generation: Mapping[str, Any], official: Protocol) -> Iterator[str]:
    temperature = generation.get("temperature")
    if temperature is not None and not isinstance(temperature, int | float):
        yield f"temperature {temperature!r}"
        return
    greedy = is_greedy(generation)
    wanted = {None: "the model's own temperature, above 0", 0.0: "greedy"}.get(
        official.temperature, f"temperature {official.temperature}"
    )
    found = "greedy" if greedy else f"temperature {temperature}"
    if greedy:
        same = official.temperature == 0.0
    else:
        same = official.temperature is None or official.temperature == temperature
    if not same:
        yield f"{found} (officially {wanted})"
    for name in sorted(_OF_SAMPLING & generation.keys()):
        neutral = name == "top_p" and generation[name] == 1
        if not (neutral or greedy or official.temperature is None):
            yield f"{name} {generation[name]!r} (officially left out)"


def _generation(generation: Any, official: Protocol) -> Iterator[str]:
    if not isinstance(generation, Mapping):
        yield f"generation arguments {generation!r}"
        return
    budget = generation.get("max_gen_toks")
    if budget not in official.budgets:
        yield f"an output budget of {budget} tokens (officially {_any_of(official.budgets)})"
    if generation.get("until"):
        yield "stop strings (officially none)"
    yield from _sampling(generation, official)
    known = _FREE | _OF_SAMPLING | {"max_gen_toks", "until", "temperature", "do_sample"}
    for name in sorted(generation.keys() - known):
        yield f"the generation argument {name} (officially left out)"


def _limit(limit: Any, official: Protocol) -> Iterator[str]:
    if limit not in official.limits:
        found = "no limit of prompts" if limit is None else f"prompts cut at {limit} tokens"
        yield f"{found} (officially cut at {_any_of(official.limits)})"


def _chat(chat: Any, official: Protocol) -> Iterator[str]:
    # Without a chat template nothing is withheld from it.
    if chat != official.chat and not (official.chat == "raw" and chat == "off"):
        yield f"chat template {chat} (officially {official.chat})"


def _data(sha256: Any, official: Protocol) -> Iterator[str]:
    if sha256 != official.source.sha256:
        yield f"other data than {official.source.label}"


def _truncation(rule: Any, official: Protocol) -> Iterator[str]:
    if rule != official.truncation:
        yield f"prompts cut by {rule} (officially by {official.truncation})"


def _overlength(how: Any, official: Protocol) -> Iterator[str]:
    # A run that ended with "fail" had no longer prompt.
    if how not in ("truncate", "fail"):
        yield f"overlength {how} (officially truncate)"


def _filters(filters: Any, official: Protocol) -> Iterator[str]:
    if filters is not None:
        yield "filters of answers (officially none)"


# Ingredients of a signature, and how one value departs.
_RULES: Mapping[str, Callable[[Any, Protocol], Iterator[str]]] = {
    "data_sha256": _data,
    "truncation": _truncation,
    "limit": _limit,
    "overlength": _overlength,
    "chat": _chat,
    "generation": _generation,
    "filters": _filters,
}


@dataclass(frozen=True)
class Departures:
    """In what answers to a task depart from the official protocol.

    Attributes:
        found: phrases, such as "an output budget of 8 tokens (officially 128)".
        unknown: ingredients of which it is not known.
    """

    found: tuple[str, ...]
    unknown: tuple[str, ...]

    @property
    def nothing_known(self) -> bool:
        """Whether nothing is known of how the answers were made."""
        return set(self.unknown) == set(_RULES)


def departures(
    task: str, signature: Mapping[str, Any], repeats: int, *, thinking: bool = False
) -> Departures:
    """Compare answers with the protocol of their task.

    Nothing tells the model's own settings from others: its temperature (Pro), its chat template, a
    system instruction within it.

    Args:
        task: our own name of it.
        signature: of the answers, see `provenance.signature`; several values of an ingredient are
            a list; what is not there or UNKNOWN is not known.
        repeats: answers to each question.
        thinking: see `protocol_of`.
    """
    official = protocol_of(task, thinking=thinking)
    found: list[str] = []
    unknown = []
    for name, rule in _RULES.items():
        value = signature.get(name, UNKNOWN)
        # Own filters are a list themselves, and several of those a departure too.
        values = value if isinstance(value, list) and name != "filters" else [value]
        if UNKNOWN in values:
            unknown.append(name)
        found += [text for one in values if one != UNKNOWN for text in rule(one, official)]
    if repeats != official.repeats:
        wanted = f"(officially {official.repeats})"
        found.append(f"{repeats} answer{'s' if repeats > 1 else ''} to each question {wanted}")
    here = METRIC_VERSIONS.get(str(signature.get("benchmark")))
    scored = signature.get("metrics", UNKNOWN)
    if here is not None and scored not in (UNKNOWN, here):
        found.append(f"scored with version {scored} of the metrics (here {here})")
    return Departures(tuple(dict.fromkeys(found)), tuple(unknown))
