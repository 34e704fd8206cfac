"""Compare signatures: in which ingredients they differ, and whether scores can be compared."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

from lm_eval_longbench.provenance.rules import CARE, COMPARABLE, NOT, PACKAGES, RULES, Rule
from lm_eval_longbench.provenance.signature import INGREDIENTS

_PACKAGES = "packages"
# What stands for an ingredient that a result does not state.
UNSTATED = "not stated"
# A package that nothing is known of.
_UNKNOWN = Rule(NOT, "nothing is known of what depends on this package")


@dataclass(frozen=True)
class Difference:
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


@dataclass(frozen=True)
class Comparison:
    """What tells two signatures apart, in the order of a signature.

    Attributes:
        differences: of the ingredients that both state.
        unstated: ingredients that one or both do not state.
    """

    differences: Sequence[Difference]
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
    differences: list[Difference] = []
    unstated = []
    for name in INGREDIENTS:
        if name not in left or name not in right:
            unstated.append(name)
        elif name == _PACKAGES:
            own, missing = _packages(left, right)
            differences += own
            unstated += missing
        elif left[name] != right[name]:
            weight, reason = RULES[name].weigh(left, right)
            differences.append(Difference(name, left[name], right[name], weight, reason))
    return Comparison(differences, unstated)


def _packages(
    left: Mapping[str, Any], right: Mapping[str, Any]
) -> tuple[list[Difference], list[str]]:
    """Compare the versions of packages one by one, as far as both sides state them."""
    ours, theirs = left[_PACKAGES], right[_PACKAGES]
    if not isinstance(ours, Mapping) or not isinstance(theirs, Mapping):
        if ours == theirs:
            return [], []
        weight, reason = RULES[_PACKAGES].weigh(left, right)
        return [Difference(_PACKAGES, ours, theirs, weight, reason)], []
    differences, unstated = [], []
    for package in dict.fromkeys([*PACKAGES, *ours, *theirs]):
        if package not in ours or package not in theirs:
            unstated.append(f"{_PACKAGES}.{package}")
        elif ours[package] != theirs[package]:
            weight, reason = PACKAGES.get(package, _UNKNOWN).weigh(left, right)
            differences.append(
                Difference(f"{_PACKAGES}.{package}", ours[package], theirs[package], weight, reason)
            )
    return differences, unstated


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


def shown_pair(left: Any, right: Any) -> tuple[str, str]:
    """Return two values in print: of two objects only what differs."""
    if isinstance(left, Mapping) and isinstance(right, Mapping):
        names = [
            name
            for name in dict.fromkeys([*left, *right])
            if left.get(name, UNSTATED) != right.get(name, UNSTATED)
        ]
        left = {name: left.get(name, "-") for name in names}
        right = {name: right.get(name, "-") for name in names}
    return shown(left), shown(right)


def incomparable(signatures: Sequence[Mapping[str, Any]]) -> list[str]:
    """Return why results must not stand in one column, a sentence an ingredient; [] if they may.

    Args:
        signatures: of several runs of one task or table; an ingredient that a run does not state
            is passed over.
    """
    values: dict[str, list[str]] = {}
    reasons: dict[str, str] = {}
    for left, right in combinations(signatures, 2):
        for difference in _heavy(left, right):
            reasons.setdefault(difference.ingredient, difference.reason)
            met = values.setdefault(difference.ingredient, [])
            for text in shown_pair(difference.left, difference.right):
                if text not in met:
                    met.append(text)
    order = {name: number for number, name in enumerate(INGREDIENTS)}
    names = sorted(reasons, key=lambda name: (order[name.partition(".")[0]], name))
    return [f"{name} differs ({' | '.join(values[name])}): {reasons[name]}." for name in names]


def _heavy(left: Mapping[str, Any], right: Mapping[str, Any]) -> Iterator[Difference]:
    for difference in compare(left, right).differences:
        if difference.weight == NOT:
            yield difference
