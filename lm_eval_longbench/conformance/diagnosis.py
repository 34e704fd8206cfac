"""Which rules a program breaks, from what it answers.

A row of the kit holds, besides the official value, what a program would answer that breaks one
rule; of each rule that the row can show. Who breaks a rule gives that answer in all such rows.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

# Official values are floats of another order of additions at most.
_CLOSE = 1e-9


def flat(figures: Mapping[str, Any], before: str = "") -> dict[str, Any]:
    """Return nested figures with the names on the way to each joined by slashes."""
    found: dict[str, Any] = {}
    for name, value in figures.items():
        if isinstance(value, Mapping):
            found |= flat(value, f"{before}{name}/")
        else:
            found[f"{before}{name}"] = value
    return found


def told(expected: Mapping[str, Any], reply: Mapping[str, Any]) -> Any:
    """Return the value in a reply that is compared: of a text its sha256.

    Raises:
        KeyError: the reply has no such value.
        TypeError: it is of another kind.
    """
    (name,) = (name for name in ("sha256", "letter", "score", "figures") if name in expected)
    said = "prompt" if name == "sha256" else name
    value = reply[said]
    kinds: dict[str, Any] = {
        "sha256": str,
        "letter": str | None,
        "score": int | float | None,
        "figures": Mapping,
    }
    if not isinstance(value, kinds[name]):
        raise TypeError(f"{said!r} cannot be of the type {type(value).__name__}.")
    if name == "sha256":
        return hashlib.sha256(value.encode("utf-8", "surrogatepass")).hexdigest()
    return flat(value) if name == "figures" else value


def same(value: Any, wanted: Any) -> bool:
    """Whether a value is the wanted one; of figures those that are wanted, of a hash its start."""
    if isinstance(wanted, Mapping):
        return all(same(value.get(name), own) for name, own in wanted.items())
    if isinstance(wanted, float | int) and isinstance(value, float | int):
        return math.isclose(value, wanted, rel_tol=0, abs_tol=_CLOSE)
    if isinstance(wanted, str) and isinstance(value, str) and len(wanted) > 1:
        return value.startswith(wanted)
    return bool(value == wanted)


@dataclass(frozen=True)
class Row:
    """One row of the kit.

    Attributes:
        id: of the row.
        expected: the official value, under its name.
        wrong: by the id of each rule that it can show, the value of who breaks it; of figures
            those that differ.
    """

    id: str
    expected: Mapping[str, Any]
    wrong: Mapping[str, Any]

    @property
    def official(self) -> Any:
        """The official value."""
        return next(self.expected[n] for n in self.expected if n != "text")

    def equals(self, value: Any) -> bool:
        """Whether a value is the official one."""
        return same(value, self.official)

    def shows(self, value: Any, rule: str) -> bool:
        """Whether a value is that of who breaks the rule."""
        if rule not in self.wrong:
            return False
        wrong = self.wrong[rule]
        return same(value, {**self.official, **wrong} if isinstance(wrong, Mapping) else wrong)


@dataclass(frozen=True)
class Wrong:
    """A row with the value that is not the official one."""

    row: Row
    value: Any

    def difference(self) -> str:
        """Say what is expected and what came."""
        official, value = self.row.official, self.value
        if isinstance(official, Mapping):
            name = next(n for n, own in official.items() if not same(value.get(n), own))
            return f"{name} is {value.get(name)!r}, officially {official[name]!r}"
        if "sha256" in self.row.expected:
            return f"sha256 {value[:12]}..., officially {official[:12]}..."
        return f"{value!r}, officially {official!r}"


@dataclass(frozen=True)
class Accused:
    """A rule that is broken.

    Attributes:
        rule: its id.
        rows: ids of the rows that show it.
        spared: rows that could have shown it and are right.
    """

    rule: str
    rows: list[str]
    spared: int

    @property
    def always(self) -> bool:
        """Whether it is broken wherever it can be seen."""
        return self.spared == 0


def diagnose(right: Sequence[Row], wrong: Sequence[Wrong]) -> tuple[list[Accused], list[Wrong]]:
    """Return the fewest rules that explain wrong answers, and the answers that none explains.

    A rule that a right answer speaks against is accused only if no other explains the answer.
    """
    spared: dict[str, int] = {}
    for row in right:
        for rule in row.wrong:
            spared[rule] = spared.get(rule, 0) + 1
    left, accused = list(wrong), []
    while left:
        shown: dict[str, list[Wrong]] = {}
        for one in left:
            for rule in one.row.wrong:
                if one.row.shows(one.value, rule):
                    shown.setdefault(rule, []).append(one)
        if not shown:
            break
        best = max(shown, key=lambda rule: (rule not in spared, len(shown[rule])))
        rows = [one.row.id for one in shown[best]]
        accused.append(Accused(best, rows, spared.get(best, 0)))
        left = [one for one in left if one not in shown[best]]
    return accused, left
