"""Compare signatures: in which ingredients they differ, and whether scores can be compared.

A difference weighs NOT if it can move a score, and CARE if the same answers would still get the
same scores. Some weigh NOT only under a condition: where nothing was cut, what cuts does not
matter.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

from lm_eval_longbench.benchmarks.registry import tasks
from lm_eval_longbench.signature.signature import (
    INGREDIENTS,
    LATER,
    less_own,
    read_label,
    values_of,
)

COMPARABLE, CARE, NOT = "comparable", "comparable with care", "not comparable"
Signature = Mapping[str, Any]
Condition = Callable[[Signature, Signature], bool]


@dataclass(frozen=True)
class Rule:
    """What a difference in one ingredient means.

    Attributes:
        weight: CARE or NOT.
        reason: why.
        harmless: of two signatures, whether it weighs CARE here in spite of `weight`; None: never.
        then: why it does.
    """

    weight: str
    reason: str
    harmless: Condition | None = None
    then: str = ""

    def weigh(self, left: Signature, right: Signature) -> tuple[str, str]:
        """Return weight and reason for two signatures that differ in the ingredient."""
        if self.harmless is not None and self.harmless(left, right):
            return CARE, self.then
        return self.weight, self.reason


def _nothing_cut(left: Signature, right: Signature) -> bool:
    """Whether no prompt was cut and no question skipped for its length, on either side."""
    return all(
        one.get("truncated") == 0 and one.get("kept", 0) == one.get("asked", 0)
        for one in (left, right)
    )


def _cuts_unknown(left: Signature, right: Signature) -> bool:
    """Whether one side does not say how many prompts were cut, as official files."""
    return None in (left.get("truncated"), right.get("truncated"))


def _same_tokenizer(left: Signature, right: Signature) -> bool:
    """Whether the two sides name the same tokenizer in two ways."""
    known = left.get("tokenizer_sha256")
    return known is not None and known == right.get("tokenizer_sha256")


def _own_templates(left: Signature, right: Signature) -> bool:
    """Whether chat prompts of two models are compared, each with the template it knows."""
    chat = [value for one in (left, right) for value in values_of(one.get("chat"))]
    known = (left.get("tokenizer_sha256"), right.get("tokenizer_sha256"))
    return "off" not in chat and "on" in chat and (None in known or known[0] != known[1])


def _own_switches(left: Signature, right: Signature) -> bool:
    """Whether settings of two models differ in nothing but how each of them thinks."""
    known = (left.get("tokenizer_sha256"), right.get("tokenizer_sha256"))
    ours, theirs = (
        [less_own(value) for value in values_of(one.get("model_settings"))] for one in (left, right)
    )
    return ours == theirs and (None in known or known[0] != known[1])


def _no_segmentation(left: Signature, right: Signature) -> bool:
    """Whether no task on either side is scored with jieba."""
    names = [str(value) for one in (left, right) for value in values_of(one.get("task"))]
    return not any(tasks()[name].segmented for name in names if name in tasks())


def _no_reasoning(left: Signature, right: Signature) -> bool:
    """Whether no answer on either side holds reasoning."""
    return left.get("reasoned") == 0 and right.get("reasoned") == 0


_CUTS = "prompts were cut, and this decides what the model read"
_UNCUT = "no prompt was cut on either side, so that it had nothing to decide"
_OWN = "officially each model's own tokenizer cuts its prompts; two of one model cut elsewhere"

# Every ingredient of a signature, in the order of a signature.
RULES: Mapping[str, Rule] = {
    "benchmark": Rule(NOT, "another benchmark asks other questions"),
    "task": Rule(NOT, "other tasks have other questions"),
    "version": Rule(NOT, "a task's version is raised with every change that can move a score"),
    "data": Rule(NOT, "other data, other questions"),
    "data_sha256": Rule(NOT, "the documents were read from another file"),
    "template_sha256": Rule(NOT, "the questions were put in other words"),
    "truncation": Rule(NOT, _CUTS, _nothing_cut, _UNCUT),
    "limit": Rule(NOT, _CUTS, _nothing_cut, _UNCUT),
    "overlength": Rule(
        NOT, "longer prompts were cut on one side and left out on the other", _nothing_cut, _UNCUT
    ),
    "tokenizer": Rule(CARE, _OWN, _same_tokenizer, "another name for the same tokenizer"),
    "tokenizer_sha256": Rule(CARE, _OWN),
    "chat": Rule(NOT, "prompts were wrapped in a chat template on one side only"),
    "chat_sha256": Rule(
        NOT,
        "something else stood around the prompts: another chat template of the same model, or a "
        "system instruction",
        _own_templates,
        "each model has a chat template of its own; a system instruction would show here too",
    ),
    "system_sha256": Rule(NOT, "a system instruction on one side only, or another one"),
    "generation": Rule(NOT, "other sampling or another output budget gives other answers"),
    "model_settings": Rule(
        NOT,
        "arguments of a model changed requests, or what is left of answers",
        _own_switches,
        "each model has switches of its own for how it thinks",
    ),
    "decoding": Rule(
        CARE,
        "the official release cleans up what this tokenizer decodes and servers do not, or the "
        "tokenizers differ: it moves lcc by up to 0.05 points, repobench-p by 0.01, others not",
    ),
    "repeats": Rule(NOT, "best-of-N and pass@N need the same N"),
    "seeds": Rule(CARE, "other seeds draw other answers from the same distribution"),
    "filters": Rule(NOT, "something else of the answers was scored"),
    "reasoning": Rule(
        NOT,
        "reasoning was scored with the answers on one side only",
        _no_reasoning,
        "no answer on either side holds reasoning",
    ),
    "reasoned": Rule(CARE, "another number of answers holds reasoning"),
    "metrics": Rule(NOT, "the same answers are scored by other rules"),
    "metric": Rule(NOT, "the same answers are scored by another metric"),
    "context": Rule(NOT, "prompts have no documents on one side only"),
    "embedding_model": Rule(NOT, "another embedding model gives other similarities"),
    "retrieval": Rule(NOT, "another retriever finds other chunks"),
    "rag_top_n": Rule(NOT, "prompts hold another number of chunks"),
    "reasoning_sha256": Rule(CARE, "each run answers from its own reasoning"),
    "questions_sha256": Rule(NOT, "other questions were asked, or in another order"),
    "asked": Rule(NOT, "other questions were asked"),
    "kept": Rule(NOT, "questions were left out for their length, and not the same"),
    "answered": Rule(NOT, "the means are over other questions"),
    "failed": Rule(CARE, "failed answers count as wrong on both sides"),
    "truncated": Rule(
        CARE,
        "another number of prompts was cut",
        _cuts_unknown,
        "how many prompts were cut is not known on one side",
    ),
    "capped": Rule(
        CARE, "another number of answers ended at the budget, or it is not known on one side"
    ),
    "packages": Rule(NOT, "other versions of packages that scores depend on"),
}
# Each package of the ingredient "packages".
PACKAGES: Mapping[str, Rule] = {
    "lm_eval_longbench": Rule(
        CARE, "what moves scores has versions of its own: task, template and metrics"
    ),
    "lm_eval": Rule(CARE, "another harness may send requests otherwise; it scores nothing here"),
    "jieba": Rule(
        NOT,
        "Chinese answers are segmented by another version before they are scored",
        _no_segmentation,
        "none of these tasks is scored with it",
    ),
    "tokenizers": Rule(NOT, _CUTS, _nothing_cut, _UNCUT),
    "transformers": Rule(
        CARE, "prompts are cut and answers cleaned up as the official release did under any release"
    ),
}
_PACKAGES = "packages"
# What stands for an ingredient that a result does not state.
UNSTATED = "not stated"
# A package that nothing is known of.
_UNKNOWN = Rule(NOT, "nothing is known of what depends on this package")


@dataclass(frozen=True)
class SignatureDifference:
    """One ingredient in which two signatures differ.

    Attributes:
        ingredient: its name; of a package "packages.<name>".
        left, right: the two values; UNSTATED where a side does not say.
        weight: CARE or NOT.
        reason: why it weighs that.
    """

    ingredient: str
    left: Any
    right: Any
    weight: str
    reason: str

    def shown(self) -> tuple[str, str]:
        """Return the two values in print: of two objects only what differs."""
        left, right = self.left, self.right
        if isinstance(left, Mapping) and isinstance(right, Mapping):
            names = [
                name
                for name in dict.fromkeys([*left, *right])
                if left.get(name, UNSTATED) != right.get(name, UNSTATED)
            ]
            left = {name: left.get(name, "-") for name in names}
            right = {name: right.get(name, "-") for name in names}
        none = "no limit" if self.ingredient == "limit" else "none"
        texts = (none if value is None else shown(value) for value in (left, right))
        return next(texts), next(texts)


@dataclass(frozen=True)
class Comparison:
    """What tells two signatures apart, in the order of a signature.

    Attributes:
        differences: of the ingredients that both state.
        unstated: ingredients that one or both do not state.
    """

    differences: Sequence[SignatureDifference]
    unstated: Sequence[str] = ()

    @property
    def verdict(self) -> str:
        """COMPARABLE, CARE or NOT: the heaviest difference; what is not stated needs care."""
        weights = {difference.weight for difference in self.differences}
        if NOT in weights:
            return NOT
        return CARE if weights or self.unstated else COMPARABLE


def compare(left: Mapping[str, Any], right: Mapping[str, Any]) -> Comparison:
    """Compare two signatures of one task, or two of one table (`signature.combined`).

    The model is no ingredient: two models may have equal signatures.

    Args:
        left, right: ingredients by name; one that is not there is not stated, null is a value.
    """
    differences: list[SignatureDifference] = []
    unstated = []
    left, right = ({**dict.fromkeys(LATER), **own} for own in (left, right))
    for name in INGREDIENTS:
        if name not in left or name not in right:
            unstated.append(name)
        elif name == _PACKAGES:
            own, missing = _packages(left, right)
            differences += own
            unstated += missing
        elif left[name] != right[name]:
            weight, reason = RULES[name].weigh(left, right)
            differences.append(SignatureDifference(name, left[name], right[name], weight, reason))
    return Comparison(differences, unstated)


def _packages(
    left: Mapping[str, Any], right: Mapping[str, Any]
) -> tuple[list[SignatureDifference], list[str]]:
    """Compare the versions of packages one by one, as far as both sides state them."""
    ours, theirs = left[_PACKAGES], right[_PACKAGES]
    if not isinstance(ours, Mapping) or not isinstance(theirs, Mapping):
        if ours == theirs:
            return [], []
        weight, reason = RULES[_PACKAGES].weigh(left, right)
        return [SignatureDifference(_PACKAGES, ours, theirs, weight, reason)], []
    differences, unstated = [], []
    for package in dict.fromkeys([*PACKAGES, *ours, *theirs]):
        if package not in ours or package not in theirs:
            unstated.append(f"{_PACKAGES}.{package}")
        elif ours[package] != theirs[package]:
            weight, reason = PACKAGES.get(package, _UNKNOWN).weigh(left, right)
            differences.append(
                SignatureDifference(
                    f"{_PACKAGES}.{package}", ours[package], theirs[package], weight, reason
                )
            )
    return differences, unstated


# ---------------------------------------------------------------------- repeats

# How one model was asked. Runs that differ in one of these are no repeats of each other. All else
# is what came of it (asked, answered, failed, packages), or is done anew with the scoring.
SETTINGS = (
    *("version", "data", "data_sha256", "template_sha256", "truncation", "limit", "overlength"),
    *("tokenizer", "tokenizer_sha256", "chat", "chat_sha256", "system_sha256", "generation"),
    *("model_settings", "filters", "context", "retrieval", "rag_top_n"),
)
_OF_CUTS = ("truncation", "limit", "overlength", "tokenizer", "tokenizer_sha256")


def _setting(own: Signature, name: str) -> Any:
    """Return a setting less what may differ: the seed, and which questions were chosen."""
    value = own.get(name)
    if name == "data":
        return read_label(value).base
    if name == "generation" and isinstance(value, Mapping):
        return {key: one for key, one in value.items() if key != "seed"}
    return value


def no_repeats(left: Signature, right: Signature) -> list[SignatureDifference]:
    """Return the settings that keep two runs of one task by one model from being repeats.

    [] if they are repeats, or parts, of one another. What another model may have of its own (a
    tokenizer, a template, switches) is a setting here.
    """
    found = []
    for name in SETTINGS:
        values = _setting(left, name), _setting(right, name)
        same = values[0] == values[1] or (name in _OF_CUTS and _nothing_cut(left, right))
        if name.startswith("tokenizer"):  # null: nothing was cut there
            same = same or None in values or _same_tokenizer(left, right)
        if not same:
            found.append(SignatureDifference(name, *values, NOT, RULES[name].reason))
    return found


# ---------------------------------------------------------------------- in print


def shown(value: Any) -> str:
    """Return a value of an ingredient in print, hashes cut to their first digits."""
    if isinstance(value, str):
        is_hash = len(value) == 64 and set(value) <= set("0123456789abcdef")
        return value[:12] if is_hash else value
    if isinstance(value, Mapping):
        return ", ".join(f"{name} {shown(own)}" for name, own in value.items())
    if isinstance(value, Sequence) and value and isinstance(value[0], str | Mapping):
        return f"[{'; '.join(map(shown, value))}]"
    return json.dumps(value, ensure_ascii=False, default=str)


def _heavy_part(own: Signature) -> str:
    """Return a text that is equal for signatures which weigh alike against any other."""
    light = {name for name, rule in RULES.items() if rule.weight == CARE}
    kept = {name: value for name, value in own.items() if name not in light}
    # What the conditions of rules ask of light ingredients.
    asked = (own.get("tokenizer_sha256"), own.get("truncated") == 0, own.get("reasoned") == 0)
    return repr((sorted(kept.items(), key=lambda item: item[0]), asked))


def incomparable(signatures: Sequence[Mapping[str, Any]]) -> list[str]:
    """Return why results must not stand in one column, a sentence an ingredient; [] if they may.

    Args:
        signatures: of several runs of one task or table; an ingredient that a run does not state
            is passed over.
    """
    values: dict[str, list[str]] = {}
    reasons: dict[str, str] = {}
    # Pairs grow as squares, and of many runs most are alike. Which pair tells a difference first
    # does not change with those that are left out.
    distinct: dict[str, Signature] = {}
    for own in signatures:
        distinct.setdefault(_heavy_part(own), own)
    for left, right in combinations(distinct.values(), 2):
        heavy = (own for own in compare(left, right).differences if own.weight == NOT)
        for difference in heavy:
            reasons.setdefault(difference.ingredient, difference.reason)
            met = values.setdefault(difference.ingredient, [])
            for text in difference.shown():
                if text not in met:
                    met.append(text)
    order = {name: number for number, name in enumerate(INGREDIENTS)}
    names = sorted(reasons, key=lambda name: (order[name.partition(".")[0]], name))
    return [f"{name} differs ({' | '.join(values[name])}): {reasons[name]}." for name in names]
