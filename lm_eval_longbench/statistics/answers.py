"""Scored answers of one table as columns: questions x repeats, from the lines of samples.jsonl.

The same lines, of a dozen fields each, come from the harness while a run ends, from `score`, and
from the file; whatever follows from answers follows from these columns.
"""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from hashlib import blake2b
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from lm_eval_longbench.metrics.reasoning import otherwise
from lm_eval_longbench.records.answer import NOT_KNOWN, counted
from lm_eval_longbench.statistics.means import question_means

if TYPE_CHECKING:
    from lm_eval_longbench.catalog.model import Table, Task

KEY_BYTES = 16


class BadRow(Exception):
    """A line that does not fit; `line` is its number if another line than the last read one."""

    def __init__(self, reason: str, line: int | None = None) -> None:
        super().__init__(reason)
        self.line = line


class Scheme(Protocol):
    """What figures must know of a benchmark, whose attributes these are; see `Benchmark`."""

    ids_may_be_lines: bool
    exact_means: bool
    may_be_unknown: frozenset[str]
    sample_fields: Mapping[str, str]
    counted_flags: tuple[str, ...]
    task_fields: tuple[str, ...]

    def dimension_of(self, line: Mapping[str, Any], dimension: str) -> Any:
        """Return the value of a dimension that a line of samples.jsonl has."""

    def pairing_label(self, task: Task) -> str:
        """Return a part of a question's key, so that tables of one benchmark can be paired."""


def question_key(benchmark: Scheme, table: Table, task: str, name: str, index: object) -> bytes:
    """Return the digest of a question, KEY_BYTES long, the same in every table that asks it.

    Args:
        benchmark, table: whose it is.
        task, name: of the question.
        index: its place in the data; only counts where ids need not be distinct.
    """
    # Local data may use an id twice: as when scoring, the place tells its questions apart.
    place = f"\0{index}" if benchmark.ids_may_be_lines else ""
    key = f"{benchmark.pairing_label(table.tasks[task])}\0{name}{place}"
    return blake2b(key.encode("utf-8", "surrogatepass"), digest_size=KEY_BYTES).digest()


@dataclass(frozen=True, eq=False)
class Answers:
    """The answers of one table; questions are in the order in which they first came.

    Attributes:
        benchmark: whose they are.
        table: theirs.
        repeats: answers that each question should have.
        official: whether the questions are official ones, so that it is known which are missing.
        expected: names of tasks that have figures even without a question.
        keys: digest of task and id, bytes [questions], distinct.
        tasks: number of each question's task in its table, int16 [questions].
        given, failed, reasoned: bool [questions, repeats].
        scores: float64 [questions, repeats]; NaN where unscored or not given.
        truncated, capped: float64 [questions, repeats]; NaN where it is not known.
        failures: failed answers by reason, the most frequent first.
        fields: what else the benchmark keeps of an answer, by name, float64 [questions, repeats];
            NaN where it is not given. Only fields that some answer has.
        dimensions: by name, the number of each question's value, int16 [questions]; -1: unknown.
        ids_are_lines: every id is the position of the row in its prediction file.
        documents: hash of each question's document, uint64 [questions]; 0: not known.
        known_errors: whether a question is publicly known to be wrong, bool [questions].
    """

    benchmark: Scheme
    table: Table
    repeats: int
    official: bool
    expected: frozenset[str]
    keys: np.ndarray
    tasks: np.ndarray
    given: np.ndarray
    failed: np.ndarray
    reasoned: np.ndarray
    scores: np.ndarray
    truncated: np.ndarray
    capped: np.ndarray
    failures: Mapping[str, int]
    fields: Mapping[str, np.ndarray]
    dimensions: Mapping[str, np.ndarray]
    ids_are_lines: bool
    documents: np.ndarray
    known_errors: np.ndarray

    def __len__(self) -> int:
        """Return the number of questions."""
        return len(self.keys)

    @cached_property
    def unscored(self) -> np.ndarray:
        """Whether an answer is there and has no score, bool [questions, repeats]."""
        found: np.ndarray = np.logical_and(self.given, np.isnan(self.scores))
        return found

    @cached_property
    def by_key(self) -> np.ndarray:
        """The questions in the order of their keys, int64 [questions]."""
        return np.argsort(self.keys, kind="stable")

    def has(self, dimension: str, value: str) -> np.ndarray:
        """Return which questions have a value of a dimension, bool [questions]."""
        number = self.table.dimensions[dimension].index(value)
        found: np.ndarray = np.equal(self.dimensions[dimension], number)
        return found

    def of_task(self, task: str) -> np.ndarray:
        """Return which questions are of a task, bool [questions]."""
        found: np.ndarray = np.equal(self.tasks, tuple(self.table.tasks).index(task))
        return found

    def chosen(self, which: np.ndarray) -> Answers:
        """Return the answers to some questions, bool [questions]; `failures` stay those of all."""
        given = {one.name: getattr(self, one.name) for one in fields(self)}
        own = {name: value[which] for name, value in given.items() if isinstance(value, np.ndarray)}
        for name in ("fields", "dimensions"):
            own[name] = {key: value[which] for key, value in given[name].items()}
        return replace(self, official=False, **own)

    def flags(self, name: str) -> np.ndarray:
        """Return where a field is true, bool [questions, repeats]."""
        return (
            self.given & (self.fields[name] == 1.0) if name in self.fields else self.given & False
        )

    def means(self, counted: np.ndarray, values: np.ndarray | None = None) -> np.ndarray:
        """Return each question's mean over the answers that count, float64 [questions].

        NaN without such an answer, and where one of them is unscored.

        Args:
            counted: bool [questions, repeats].
            values: [questions, repeats]; the scores if not given.
        """
        chosen = self.scores if values is None else values
        return question_means(chosen, counted, exact=self.benchmark.exact_means)


@dataclass
class Columns:
    """The answers of one table while they come, some eighty bytes each.

    Args:
        benchmark, table, repeats, official: as in `Answers`.
        policy_swapped: take of each answer what it is worth under the other policy for reasoning.
    """

    benchmark: Scheme
    table: Table
    repeats: int
    official: bool = True
    policy_swapped: bool = False
    expected: set[str] = field(default_factory=set)

    def __post_init__(self) -> None:
        self._codes = {
            name: {value: code for code, value in enumerate(values)}
            for name, values in self.table.dimensions.items()
        }
        self._numbers = {task: number for number, task in enumerate(self.table.tasks)}
        self._names = tuple(self.benchmark.sample_fields)
        self._keys = bytearray()
        self._lines, self._repeats, self._tasks = array("q"), array("q"), array("h")
        self._scores, self._truncated, self._capped = array("d"), array("d"), array("d")
        self._failed, self._reasoned, self._errors = array("b"), array("b"), array("b")
        self._failures: Counter[str] = Counter()
        self._fields = {name: array("d") for name in self._names}
        self._documents = array("Q")
        self._dimensions = {name: array("h") for name in self._codes}
        self._ids_are_lines = self.benchmark.ids_may_be_lines

    def __len__(self) -> int:
        """Return the number of answers."""
        return len(self._lines)

    def add(self, row: Mapping[str, Any], line: int = 0) -> None:
        """Add one answer.

        Args:
            row: as a line of samples.jsonl.
            line: its number there.

        Raises:
            BadRow: it does not fit; KeyError: a field is not there.
        """
        try:
            self._add(row, line)
        except (TypeError, ValueError, ArithmeticError) as error:
            raise BadRow(f"a field has a value of another type: {error}") from error

    def _add(self, row: Mapping[str, Any], line: int) -> None:
        other = otherwise(row)
        if self.policy_swapped and other is not None:
            row = {**row, **other}
        task, repeat, document = row["task"], row["repeat"], row.get("document")
        if task not in self.table.tasks:
            raise BadRow(f"{task!r} is no task of {self.table.name}")
        if not 1 <= repeat <= self.repeats:
            raise BadRow(f"'repeat' must be from 1 to {self.repeats}, not {repeat!r}")
        self._keys += question_key(self.benchmark, self.table, task, row["id"], row.get("index"))
        self._lines.append(line)
        self._repeats.append(repeat - 1)
        self._tasks.append(self._numbers[task])
        self._scores.append(_share(row, "score"))
        self._truncated.append(_number(row.get("truncated")))
        self._capped.append(_number(row.get("capped")))
        self._failed.append(row["failed"])
        self._errors.append(row["id"] in self.table.known_errors)
        self._failures[row.get("failure", NOT_KNOWN)] += row["failed"]
        self._reasoned.append(other is not None)
        self._documents.append(0 if document is None else int(document, 16))
        for name in self._names:
            self._fields[name].append(self._value(row, name))
        for dimension in self._codes:
            value = self.benchmark.dimension_of(row, dimension)
            self._dimensions[dimension].append(self._code(dimension, value))
        self._ids_are_lines = self._ids_are_lines and row["id"] == str(row.get("index"))

    def _value(self, row: Mapping[str, Any], name: str) -> float:
        """Return a field of an answer as a number; NaN where it has none."""
        needed = self.benchmark.sample_fields[name]
        if needed == "flag":
            return _number(row[name])
        if needed == "cosine":
            return _number(row.get(name))
        return _share(row, name) if needed or name in row else np.nan

    def _code(self, dimension: str, value: Any) -> int:
        codes = self._codes[dimension]
        if value is None and dimension in self.benchmark.may_be_unknown:
            return -1
        if value not in codes:
            raise BadRow(
                f"{dimension!r} must be one of {', '.join(map(str, codes))}, not {value!r}"
            )
        return codes[value]

    def finish(self) -> Answers:
        """Return the answers, once.

        Raises BadRow for an answer that comes twice, or whose question has other values elsewhere.
        """
        keys, first, question = self._questions()
        repeat = np.asarray(self._repeats, np.int64)
        given = np.zeros((len(keys), self.repeats), bool)
        given[question, repeat] = True
        if np.count_nonzero(given) < len(self):
            self._fail_for_copies(question * self.repeats + repeat)
        dimensions = {}
        for name, column in self._dimensions.items():
            codes = np.asarray(column, np.int16)
            dimensions[name] = codes[first]
            (other,) = np.nonzero(dimensions[name][question] != codes)
            if len(other):
                line = self._lines[first[question[other[0]]]]
                raise BadRow(
                    f"the question has another {name} than on line {line}", self._lines[other[0]]
                )

        def spread(column: array[Any], empty: Any, kind: Any) -> np.ndarray:
            matrix = np.full((len(keys), self.repeats), empty, kind)
            matrix[question, repeat] = np.asarray(column, kind)
            del column[:]  # of millions of answers both would not be small
            return matrix

        fields = {name: spread(own, np.nan, np.float64) for name, own in self._fields.items()}
        return Answers(
            self.benchmark,
            self.table,
            self.repeats,
            self.official,
            frozenset(self.expected) | {tuple(self._numbers)[own] for own in set(self._tasks)},
            keys,
            np.asarray(self._tasks, np.int16)[first],
            given,
            spread(self._failed, False, bool),
            spread(self._reasoned, False, bool),
            spread(self._scores, np.nan, np.float64),
            spread(self._truncated, np.nan, np.float64),
            spread(self._capped, np.nan, np.float64),
            counted(+self._failures),
            {name: own for name, own in fields.items() if not np.isnan(own).all()},
            dimensions,
            self._ids_are_lines and len(self) > 0,
            self._document_of(question, len(keys)),
            np.asarray(self._errors, bool)[first],
        )

    def _questions(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return the distinct keys as they first came, where they did, and the key of each answer.

        In this order, since official sums depend on it.
        """
        given = np.frombuffer(self._keys, f"S{KEY_BYTES}")
        if len(given) and (given == given[0]).all():  # as the harness asks, question by question
            return given[:1].copy(), np.zeros(1, np.int64), np.zeros(len(given), np.int64)
        keys, first, question = np.unique(given, return_index=True, return_inverse=True)
        order = np.argsort(first, kind="stable")
        places = np.empty(len(order), np.int64)
        places[order] = np.arange(len(order))
        return keys[order], first[order], places[question]

    def _document_of(self, question: np.ndarray, number: int) -> np.ndarray:
        """Return the document of each question; 0 if no line knows it, or two know two."""
        if number == 1:
            known = set(self._documents) - {0}
            return np.array([known.pop() if len(known) == 1 else 0], np.uint64)
        given = np.asarray(self._documents, np.uint64)
        highest, lowest = np.zeros(number, np.uint64), np.full(number, 2**64 - 1, np.uint64)
        np.maximum.at(highest, question, given)
        np.minimum.at(lowest, question, np.where(given != 0, given, 2**64 - 1).astype(np.uint64))
        return np.where(highest == lowest, highest, 0)

    def _fail_for_copies(self, samples: np.ndarray) -> None:
        """Raise BadRow for the first of the answers that come twice."""
        order = np.argsort(samples, kind="stable")
        (twice,) = np.nonzero(np.diff(samples[order]) == 0)
        one, again = (self._lines[order[twice[0] + step]] for step in (0, 1))
        raise BadRow(f"the same question and repeat as on line {one}", again)


def _number(value: Any) -> float:
    """Return a number, or true or false as one; NaN for null."""
    return np.nan if value is None else float(value)


def _share(row: Mapping[str, Any], name: str) -> float:
    """Return a number from 0 to 1; NaN for null."""
    value = row[name]
    if value is None:
        return np.nan
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= 1:
        raise BadRow(f"{name!r} must be a number from 0 to 1 or null, not {value!r}")
    return float(value)
