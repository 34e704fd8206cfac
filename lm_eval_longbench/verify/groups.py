"""Check the figures of groups against those of their tasks."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from lm_eval_longbench.logs.formulas import plain_error, pooled_error, weighted_mean
from lm_eval_longbench.logs.results_file import ResultsFile
from lm_eval_longbench.task_names import is_group, our_group
from lm_eval_longbench.verify.check import (
    CONFIRMED,
    DIFFERENT,
    NOT_CHECKABLE,
    OFFICIAL,
    Check,
    compared,
    same_number,
)

_STDERR = "_stderr,"
_NO_ERROR = "N/A"
# Tasks of a group, each as often as ways lead to it, that can be reckoned with.
_MOST = 10_000


def _times(group: str, members: Mapping[str, Sequence[str]]) -> Counter[str] | None:
    """Return how many ways lead from a group to each task under it: so often the harness counts it.

    None for a group that contains itself, which the harness cannot build.
    """
    order: list[str] = []
    state: dict[str, bool] = {}  # False: begun, True: done
    waiting = [(group, False)]
    while waiting:
        name, done = waiting.pop()
        if done:
            state[name] = True
            order.append(name)
        elif name not in state:
            state[name] = False
            waiting.append((name, True))
            waiting += [(own, False) for own in members.get(name, ())]
        elif not state[name]:
            return None
    ways = Counter({group: 1})
    for name in reversed(order):
        for own in members.get(name, ()):
            ways[own] = min(ways[own] + ways[name], _MOST)
    return Counter({name: number for name, number in ways.items() if name not in members})


def _expected(
    key: str, values: Sequence[float], sizes: Sequence[int], weighted: bool | None
) -> list[float]:
    """Return the figures that the harness can make: weighted by size, plain, or (None) either."""
    is_error = _STDERR in key
    made = []
    if weighted is not False:
        made.append(pooled_error(values, sizes) if is_error else weighted_mean(values, sizes))
    if not weighted:
        plain = weighted_mean(values, [1] * len(values))
        made.append(plain_error(values) if is_error else plain)
    return [value for value in made if value is not None]


def _is_number(value: Any) -> bool:
    return isinstance(value, float | int) and not isinstance(value, bool)


def check_groups(
    results: ResultsFile, verified: Mapping[str, Mapping[str, float]]
) -> Iterator[tuple[str, Check]]:
    """Yield the checks of each group's figures, with the group's name.

    A group of ours, with our members, weighs its tasks as our file says. Any other is a user's own,
    of which the results do not say whether it weighs them by size: either is confirmed. Figures of
    tasks that are not in `verified` are taken as stated.
    """
    ours = {task.name for task in results.tasks}
    for name, members in results.members.items():
        ways = _times(name, results.members)
        if ways is None:
            said = "The group contains itself, which the harness cannot build."
            yield name, Check("groups", "members", DIFFERENT, ", ".join(members), None, said)
            continue
        if not is_group(name) and not ours & ways.keys():
            continue  # a group of other tasks
        own = _Group(name, ways, results, verified)
        for check in own.checks():
            yield name, check
        if is_group(name) and our_group(name, members) is None:
            said = "A group of this package has this name, and other members."
            yield name, Check(OFFICIAL, "members", NOT_CHECKABLE, ", ".join(members), None, said)


class _Group:
    """One group of a results file."""

    def __init__(
        self,
        name: str,
        ways: Counter[str],
        results: ResultsFile,
        verified: Mapping[str, Mapping[str, float]],
    ) -> None:
        self._results, self._verified = results, verified
        ours = our_group(name, results.members[name])
        self._weights = None if ours is None else ours.weights
        self._stated = results.results.get(name, {})
        self._copy = results.groups.get(name)
        self._too_many = ways.total() > _MOST
        # Each task as often as the harness counts it.
        self.tasks = [] if self._too_many else [t for t in ways.elements() if t in results.results]

    def _sizes(self, tasks: Sequence[str]) -> list[int] | None:
        """Return the number of questions of some tasks; None if one is not known."""
        stated = [self._results.results[task].get("sample_len") for task in tasks]
        sizes = [size for size in stated if isinstance(size, int) and _is_number(size) and size > 0]
        return sizes if sizes and len(sizes) == len(stated) else None

    def checks(self) -> Iterator[Check]:
        """Yield a check of each thing that the results state of the group."""
        if self._too_many:
            said = f"Its tasks are counted more than {_MOST} times."
            yield Check("groups", "members", NOT_CHECKABLE, meaning=said)
            return
        for key, found in self._stated.items():
            if key not in ("name", "alias", "sample_len", "sample_count"):
                yield self._figure(key, found)
        if "sample_len" in self._stated:
            yield from self._counts()
        for metric in self._weights or ():
            if not any(key.partition(",")[0] == metric for key in self._stated):
                yield from self._missing(metric)
        if self._copy is not None or "sample_len" in self._stated:
            yield self._copied()

    def _counts(self) -> Iterator[Check]:
        said = "Its tasks have another number of questions."
        sizes = self._sizes(self.tasks)
        total = None if sizes is None else sum(sizes)
        yield compared("groups", "sample_len", self._stated["sample_len"], total, said)
        counts = self._stated.get("sample_count")
        expected = {}
        for key in self._stated:
            if "," in key and _STDERR not in key:
                own = self._sizes(
                    [task for task in self.tasks if key in self._results.results[task]]
                )
                expected[key] = None if own is None else sum(own)
        yield compared("groups", "sample_count", counts, expected or None, said)

    def _missing(self, metric: str) -> Iterator[Check]:
        """Yield a check of a figure that a group of ours has, and this one has not."""
        wanted = f"{metric},"
        own = [
            task
            for task in self.tasks
            if any(k.startswith(wanted) for k in self._results.results[task])
        ]
        if own:
            said = "The group's figure was taken out of the results."
            yield Check("groups", metric, DIFFERENT, None, None, said)

    def _copied(self) -> Check:
        """Check that the two places of the file that state the group's figures agree."""
        copy = self._copy or {}
        other = [
            key
            for key in self._stated.keys() | copy.keys()
            if not same_number(copy.get(key), self._stated.get(key))
        ]
        if not other:
            return Check("groups", "copy", CONFIRMED, "figures of the results")
        said = "'groups' states other figures than 'results': one of them was edited."
        found, expected = copy.get(min(other)), self._stated.get(min(other))
        return Check("groups", f"copy of {min(other)}", DIFFERENT, found, expected, said)

    def _figure(self, key: str, found: Any) -> Check:
        stated, verified = self._results.results, self._verified
        own = [task for task in self.tasks if key in stated[task]]
        values: list[Any] = [verified.get(task, {}).get(key, stated[task][key]) for task in own]
        sizes = self._sizes(own)
        if not own or "," not in key:
            said = "Its tasks have no such figure: it was added."
            return Check("groups", key, DIFFERENT, found, None, said)
        if not all(map(_is_number, values)):
            return _no_error(key, found, values)
        if sizes is None:
            said = "Its tasks have no number of questions."
            return Check("groups", key, NOT_CHECKABLE, found, None, said)
        weighted = None
        if self._weights is not None:
            weighted = self._weights.get(key.partition(",")[0].removesuffix(_STDERR[:-1]))
        expected = _expected(key, values, sizes, weighted)
        for value in expected:
            if same_number(found, value):
                of = key.replace(_STDERR, ",")
                recomputed = [task for task in own if of in verified.get(task, {})]
                if len(recomputed) == len(own):
                    return Check("groups", key, CONFIRMED, found, value)
                left = len(set(own) - set(recomputed))
                said = f"It follows from its tasks, of which {left} were not recomputed."
                return Check("groups", key, NOT_CHECKABLE, found, value, said)
        said = "The group's figure is no mean of its tasks' figures: one of them was edited."
        return Check("groups", key, DIFFERENT, found, expected[0] if expected else None, said)


def _no_error(key: str, found: Any, values: Sequence[Any]) -> Check:
    """Check a figure of which not all tasks have a number: "N/A", for errors only."""
    if _STDERR in key and found == _NO_ERROR:
        return Check("groups", key, CONFIRMED, found, _NO_ERROR)
    said = "Not all of its tasks have a number, so that the group has none."
    return Check("groups", key, DIFFERENT, found, None, said)
