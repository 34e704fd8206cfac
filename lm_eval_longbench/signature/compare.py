"""Compare signatures: in which ingredients they differ, and whether scores can be compared."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

from lm_eval_longbench.language import Sentence, sentence
from lm_eval_longbench.signature.ingredients import (
    CARE,
    COMPARABLE,
    INGREDIENTS,
    LATER,
    NOT,
    PACKAGES,
    SEGMENTED,
    Ingredient,
    Signature,
    nothing_cut,
    same_tokenizer,
    values_of,
)
from lm_eval_longbench.signature.signature import data_of

_PACKAGES = "packages"
# What stands for an ingredient that a result does not state.
UNSTATED = "not stated"
# A package that nothing is known of.
_UNKNOWN = Ingredient(NOT, "nothing is known of what depends on this package")


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


def compare(
    left: Mapping[str, Any], right: Mapping[str, Any], segmented: Collection[str]
) -> Comparison:
    """Compare two signatures of one task, or two of one table (`signature.combined`).

    The model is no ingredient: two models may have equal signatures.

    Args:
        left, right: ingredients by name; one that is not there is not stated, null is a value.
        segmented: names of the tasks that are scored with a Chinese segmenter.
    """
    differences: list[SignatureDifference] = []
    unstated = []
    left, right = (
        {
            **dict.fromkeys(LATER),
            **own,
            SEGMENTED: any(name in segmented for name in values_of(own.get("task"))),
        }
        for own in (left, right)
    )
    for name in INGREDIENTS:
        if name not in left or name not in right:
            unstated.append(name)
        elif name == _PACKAGES:
            own, missing = _packages(left, right)
            differences += own
            unstated += missing
        elif left[name] != right[name]:
            weight, reason = INGREDIENTS[name].weigh(left, right)
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
        weight, reason = INGREDIENTS[_PACKAGES].weigh(left, right)
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
        return data_of(value)
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
        same = values[0] == values[1] or (name in _OF_CUTS and nothing_cut(left, right))
        if name.startswith("tokenizer"):  # null: nothing was cut there
            same = same or None in values or same_tokenizer(left, right)
        if not same:
            found.append(SignatureDifference(name, *values, NOT, INGREDIENTS[name].reason))
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
    light = {name for name, rule in INGREDIENTS.items() if rule.weight == CARE}
    kept = [(name, own[name]) for name in sorted(own.keys() - light)]
    # What the conditions of rules ask of light ingredients.
    asked = (own.get("tokenizer_sha256"), own.get("truncated") == 0, own.get("reasoned") == 0)
    return repr((kept, asked))


def incomparable(
    signatures: Sequence[Mapping[str, Any]], segmented: Collection[str]
) -> list[Sentence]:
    """Return why results must not stand in one column, a sentence an ingredient; [] if they may.

    Args:
        signatures: of several runs of one task or table; an ingredient that a run does not state
            is passed over.
        segmented: see `compare`.
    """
    values: dict[str, dict[str, None]] = {}
    reasons: dict[str, str] = {}
    # Pairs grow as squares, and of many runs most are alike in all that weighs.
    distinct: dict[str, Signature] = {}
    for own in signatures:
        distinct.setdefault(_heavy_part(own), own)
    for left, right in combinations(distinct.values(), 2):
        for difference in compare(left, right, segmented).differences:
            if difference.weight == NOT:
                name = difference.ingredient
                reasons.setdefault(name, difference.reason)
                values.setdefault(name, {}).update(dict.fromkeys(difference.shown()))
    order = {name: number for number, name in enumerate(INGREDIENTS)}
    names = sorted(reasons, key=lambda name: (order[name.partition(".")[0]], name))
    return [
        sentence("{} differs ({}): {}.", name, " | ".join(values[name]), sentence(reasons[name]))
        for name in names
    ]
