"""Check the figures of groups against those of their tasks."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from lm_eval_longbench.provenance.aggregate import same_number
from lm_eval_longbench.provenance.check import CONFIRMED, DIFFERENT, NOT_CHECKABLE, Check
from lm_eval_longbench.provenance.read_results import ResultsFile

_STDERR = "_stderr,"


def _leaves(name: str, members: Mapping[str, Sequence[str]], above: tuple[str, ...]) -> list[str]:
    """Return the tasks of a group at any depth, each once; groups in `above` are passed over."""
    found: dict[str, None] = {}
    # Each group is opened once, whatever holds it, itself included.
    opened = set(above)
    waiting = [name]
    while waiting:
        own = waiting.pop()
        if own not in members:
            found[own] = None
        elif own not in opened:
            opened.add(own)
            waiting += reversed(members[own])
    return list(found)


def _is_weighted(name: str) -> bool | None:
    """Whether a group of this package weighs its tasks by size; None: it is a user's own."""
    if name == "longbench_v2_domains" or name.startswith("longbench_pro"):
        return True
    return False if name.startswith("longbench_v1") else None


def _mean(values: Sequence[float], sizes: Sequence[int]) -> float:
    pairs = zip(values, sizes, strict=True)
    return math.fsum(value * size for value, size in pairs) / sum(sizes)


def _error(values: Sequence[float], sizes: Sequence[int]) -> float:
    """Return the standard error of a mean weighted by size, as the harness pools it."""
    pairs = zip(values, sizes, strict=True)
    pooled = math.fsum((size - 1) * value**2 * size for value, size in pairs)
    return math.sqrt(pooled / (sum(sizes) - len(sizes)) / sum(sizes))


def _expected(group: str, key: str, values: Sequence[float], sizes: Sequence[int]) -> list[float]:
    """Return the figures that the harness can make: weighted by size, plain, or either."""
    weighted = _is_weighted(group)
    made = []
    if weighted is not False:
        if _STDERR not in key:
            made.append(_mean(values, sizes))
        elif sum(sizes) > len(sizes):
            made.append(_error(values, sizes))
    if not weighted:
        squares = math.fsum(value**2 for value in values)
        plain = _mean(values, [1] * len(values))
        made.append(math.sqrt(squares) / len(values) if _STDERR in key else plain)
    return made


def check_groups(
    results: ResultsFile, verified: Mapping[str, Mapping[str, float]]
) -> Iterator[tuple[str, Check]]:
    """Yield the checks of each group's figures, with the group's name.

    A user's own group says nowhere in the results whether it weighs its tasks by size: either is
    confirmed.

    Args:
        results: the file.
        verified: recomputed figures by task; others are taken as stated.
    """
    for name in results.members:
        leaves = [leaf for leaf in _leaves(name, results.members, ()) if leaf in results.results]
        for part in (results.results, results.groups):
            for key, found in part.get(name, {}).items():
                if "," in key and isinstance(found, float | int):
                    yield name, _figure(name, key, found, leaves, results, verified)


def _figure(
    name: str,
    key: str,
    found: float,
    leaves: Sequence[str],
    results: ResultsFile,
    verified: Mapping[str, Mapping[str, float]],
) -> Check:
    own = [leaf for leaf in leaves if key in results.results[leaf]]
    values: list[Any] = [
        verified.get(leaf, {}).get(key, results.results[leaf][key]) for leaf in own
    ]
    sizes: list[Any] = [results.results[leaf].get("sample_len") for leaf in own]
    numbers = all(isinstance(value, float | int) for value in (*values, *sizes))
    if not own or not numbers or sum(sizes) == 0:
        said = "Its tasks have no such figure, or no number of questions."
        return Check("groups", key, NOT_CHECKABLE, found, None, said)
    expected = _expected(name, key, values, sizes)
    for value in expected:
        if same_number(found, value):
            stated = [leaf for leaf in own if key not in verified.get(leaf, {})]
            if not stated or _STDERR in key:
                return Check("groups", key, CONFIRMED, found, value)
            said = f"It follows from its tasks, of which {len(stated)} were not recomputed."
            return Check("groups", key, NOT_CHECKABLE, found, value, said)
    said = "The group's figure is no mean of its tasks' figures: one of them was edited."
    return Check("groups", key, DIFFERENT, found, expected[0] if expected else None, said)
