"""Which rules a program breaks, from what it answers.

A row of the kit holds, besides the official value, what a program would answer that breaks one
rule; of each rule that the row can show. Who breaks a rule gives that answer in all such rows.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from lm_eval_longbench.prompts.prepare import common, text_sha256

# Official values are floats of another order of additions at most.
_CLOSE = 1e-9
# Characters of a text that is wrong.
_SHOWN = 40
# What is asked for, and of which kind it is.
_KINDS: dict[str, Any] = {
    "sha256": str,
    "letter": str | None,
    "score": int | float | None,
    "figures": Mapping,
}


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
    """Return the value in a reply that is asked for: a text, a letter, a score or figures.

    Raises:
        KeyError: the reply has no such value.
        TypeError: it is of another kind.
    """
    (name,) = _KINDS.keys() & expected.keys()
    said = "prompt" if name == "sha256" else name
    value = reply[said]
    if not isinstance(value, _KINDS[name]):
        raise TypeError(f"{said!r} cannot be of the type {type(value).__name__}.")
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
    """One row of the kit, and what a program answered.

    Attributes:
        id: of the row.
        expected: the official value, under its name.
        wrong: by the id of each rule that it can show, the value of who breaks it; of figures
            those that differ.
        value: what was answered, as `told` returns it.
    """

    id: str
    expected: Mapping[str, Any]
    wrong: Mapping[str, Any]
    value: Any

    @property
    def official(self) -> Any:
        """The official value."""
        return next(self.expected[name] for name in self.expected if name != "text")

    @property
    def compared(self) -> Any:
        """The answer; of a text its sha256."""
        return text_sha256(self.value) if "sha256" in self.expected else self.value

    @property
    def right(self) -> bool:
        """Whether the answer is the official one."""
        return same(self.compared, self.official)

    def shows(self, rule: str) -> bool:
        """Whether the answer is that of who breaks a rule."""
        wrong = self.wrong[rule]
        whole = {**self.official, **wrong} if isinstance(wrong, Mapping) else wrong
        return same(self.compared, whole)

    def difference(self) -> str:
        """Say what came and what is expected."""
        official, value = self.official, self.value
        if isinstance(official, Mapping):
            name = next(n for n, own in official.items() if not same(value.get(n), own))
            return f"{name} is {value.get(name)!r}, officially {official[name]!r}"
        if "text" in self.expected:
            text = self.expected["text"]
            at = common(value, text)
            part = slice(at, at + _SHOWN)
            return f"character {at} on {value[part]!r}, officially {text[part]!r}"
        if "sha256" in self.expected:
            return f"{value[-_SHOWN:]!r} at its end, sha256 officially {official[:12]}..."
        return f"{value!r}, officially {official!r}"


@dataclass(frozen=True)
class Accused:
    """A rule that is broken.

    Attributes:
        rule: its id.
        rows: ids of the rows that show it.
        spared: how many rows could have shown it and are right.
    """

    rule: str
    rows: list[str]
    spared: int


def diagnose(rows: Sequence[Row]) -> tuple[list[Accused], list[Row]]:
    """Return the fewest rules that explain wrong answers, and the rows that none explains.

    A rule that a right answer speaks against is accused only if no other explains a row.
    """
    spared = Counter(rule for row in rows if row.right for rule in row.wrong)
    left = [row for row in rows if not row.right]
    accused: list[Accused] = []
    while True:
        shown: dict[str, list[Row]] = {}
        for row in left:
            for rule in filter(row.shows, row.wrong):
                shown.setdefault(rule, []).append(row)
        if not shown:
            return accused, left
        best = max(shown, key=lambda rule: (not spared[rule], len(shown[rule])))
        accused.append(Accused(best, [row.id for row in shown[best]], spared[best]))
        left = [row for row in left if row.id not in accused[-1].rows]
