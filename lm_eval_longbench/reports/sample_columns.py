"""Collect the lines of samples.jsonl of one table as numbers, and put them in order."""

from __future__ import annotations

import re
from array import array
from collections.abc import Mapping
from dataclasses import replace
from hashlib import blake2b
from typing import Any

import numpy as np

from lm_eval_longbench.aggregation.length_buckets import bucket
from lm_eval_longbench.metrics.reasoning import OTHERWISE, otherwise
from lm_eval_longbench.reports.scored import Facts, ScoredTable
from lm_eval_longbench.reports.tables import TABLES

_KEY_BYTES = 16
_DOCUMENT = re.compile(r"[0-9a-f]{16}")


class BadRow(Exception):
    """A line that does not fit; `line` is its number if another line than the last read one."""

    def __init__(self, reason: str, line: int | None = None) -> None:
        super().__init__(reason)
        self.line = line


def _document(row: Mapping[str, Any]) -> int:
    """Return the hash of a row's document as a number; 0: not known."""
    value = row.get("document")
    if value is None:
        return 0
    if not isinstance(value, str) or not _DOCUMENT.fullmatch(value):
        raise BadRow(f"'document' must be 16 hexadecimal digits or null, not {value!r}")
    return int(value, 16)


def _share(row: Mapping[str, Any], field: str) -> float:
    """Return a number from 0 to 1; NaN for null."""
    value = row[field]
    if value is None:
        return np.nan
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= 1:
        raise BadRow(f"{field!r} must be a number from 0 to 1 or null, not {value!r}")
    return float(value)


class _Worths:
    """What answers are worth, by name in `ScoredTable`; `rouge_google` is NaN where not given.

    Args:
        is_v2: whether the answers are of LongBench v2, which have two more fields.
    """

    def __init__(self, *, is_v2: bool) -> None:
        self._is_v2 = is_v2
        self._shares = {name: array("d") for name in ("scores", "compensated", "rouge_google")}
        self._flags = {name: array("b") for name in ("failed", "dropped")}

    def __len__(self) -> int:
        return len(self._flags["failed"])

    def add(self, row: Mapping[str, Any]) -> None:
        """Add one answer. Raises BadRow, KeyError for a field that is not there."""
        flags = {"failed": row["failed"], "dropped": row["dropped"] if self._is_v2 else False}
        for name, value in flags.items():
            if not isinstance(value, bool):
                raise BadRow(f"{name!r} must be true or false, not {value!r}")
        shares = {
            "scores": _share(row, "score"),
            "compensated": _share(row, "compensated") if self._is_v2 else 0.0,
            "rouge_google": _share(row, "rougeL_google") if "rougeL_google" in row else np.nan,
        }
        for name, value in shares.items():
            self._shares[name].append(value)
        for name, flag in flags.items():
            self._flags[name].append(flag)

    def columns(self) -> dict[str, np.ndarray]:
        """Return one value an answer, float64 or bool."""
        columns = {name: np.array(values, np.float64) for name, values in self._shares.items()}
        return columns | {name: np.array(values, bool) for name, values in self._flags.items()}


class SampleColumns:
    """The samples of one table, some sixty bytes each."""

    def __init__(self, table: str, facts: Facts) -> None:
        self._table = table
        self._facts = facts
        self._info = TABLES[table]
        # Dimensions that follow from the task or the length; the others are fields of a sample.
        self._of_task = {"dataset", "secondary_task"} & set(self._info.dimensions)
        self._codes = {
            name: {value: code for code, value in enumerate(values)}
            for name, values in self._info.dimensions.items()
        }
        if self._info.benchmark == "longbench_v2":
            self._codes["domain"][None] = -1
        self._keys = bytearray()
        self._lines, self._repeats = array("q"), array("q")
        self._is_v2 = self._info.benchmark == "longbench_v2"
        self._worths = _Worths(is_v2=self._is_v2)
        # Of the samples whose answer holds reasoning: their numbers, and what else they are worth.
        self._reasoned, self._others = array("q"), _Worths(is_v2=self._is_v2)
        self._documents = array("Q")
        self._dimensions = {name: array("h") for name in self._codes}
        self._ids_are_lines = "dataset" in self._codes

    def __len__(self) -> int:
        return len(self._lines)

    @property
    def reasoned(self) -> int:
        """Samples whose answer holds reasoning."""
        return len(self._reasoned)

    def _otherwise(self, row: Mapping[str, Any]) -> Mapping[str, Any] | None:
        """Return a row under the other policy for reasoning; None: it is the same."""
        other = otherwise(row)
        if other is None:
            return None
        policy = self._facts.reasoning.get("policy")
        if OTHERWISE.get(str(policy)) not in row:
            raise BadRow(f"it has another policy for reasoning than report.json, {policy!r}")
        if not isinstance(other, dict):
            raise BadRow(f"{OTHERWISE[str(policy)]!r} must be an object, not {other!r}")
        return {**row, **other}

    def _code(self, dimension: str, row: Mapping[str, Any]) -> int:
        """Return the number of a row's value."""
        codes = self._codes[dimension]
        if dimension == "bucket":
            length = row["length"]
            if not isinstance(length, int) or isinstance(length, bool):
                raise BadRow(f"'length' must be a whole number, not {length!r}")
            return codes[bucket(length)]
        in_task = dimension in self._of_task
        value = self._info.tasks[row["task"]] if in_task else row[dimension]
        if isinstance(value, list | dict) or value not in codes:
            raise BadRow(
                f"{dimension!r} must be one of {', '.join(map(str, codes))}, not {value!r}"
            )
        return codes[value]

    def add(self, row: Mapping[str, Any], line: int) -> None:
        """Add one sample. Raises BadRow, KeyError for a field that is not there."""
        task, name, repeat = row["task"], row["id"], row["repeat"]
        if not isinstance(task, str) or task not in self._info.tasks:
            raise BadRow(f"{task!r} is no task of {self._table}")
        if not isinstance(name, str):
            raise BadRow(f"'id' must be a text, not {name!r}")
        last = self._facts.repeats
        if not isinstance(repeat, int) or isinstance(repeat, bool) or not 1 <= repeat <= last:
            raise BadRow(f"'repeat' must be from 1 to {last}, not {repeat!r}")
        document = _document(row)
        codes = {dimension: self._code(dimension, row) for dimension in self._codes}
        other = self._otherwise(row)
        self._worths.add(row)
        if other is not None:
            self._others.add(other)
            self._reasoned.append(len(self))

        # Local data may use an id twice: as when scoring, the place tells its questions apart.
        place = f"\0{row.get('index')}" if "dataset" in self._codes else ""
        key = f"{self._info.tasks[task]}\0{name}{place}".encode("utf-8", "surrogatepass")
        self._keys += blake2b(key, digest_size=_KEY_BYTES).digest()
        self._lines.append(line)
        self._repeats.append(repeat - 1)
        self._documents.append(document)
        for dimension, code in codes.items():
            self._dimensions[dimension].append(code)
        self._ids_are_lines = self._ids_are_lines and name == str(row.get("index"))

    def finish(self) -> ScoredTable:
        """Return the table.

        Raises BadRow for a sample that comes twice, or whose question has other values elsewhere.
        """
        keys, first, question = np.unique(
            np.frombuffer(bytes(self._keys), f"S{_KEY_BYTES}"),
            return_index=True,
            return_inverse=True,
        )
        repeat = np.asarray(self._repeats, np.int64)
        self._check_distinct(question * self._facts.repeats + repeat)
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

        def spread(column: np.ndarray) -> np.ndarray:
            empty = False if column.dtype == bool else np.nan
            matrix = np.full((len(keys), self._facts.repeats), empty, column.dtype)
            matrix[question, repeat] = column
            return matrix

        def spread_all(columns: Mapping[str, np.ndarray]) -> dict[str, np.ndarray | None]:
            empty = () if self._is_v2 else ("compensated", "dropped")
            if np.isnan(columns["rouge_google"]).all():
                empty += ("rouge_google",)
            return {
                name: None if name in empty else spread(column) for name, column in columns.items()
            }

        columns = self._worths.columns()
        table = ScoredTable(
            name=self._table,
            facts=self._facts,
            keys=keys,
            given=spread(np.ones(len(self), bool)),
            dimensions=dimensions,
            ids_are_lines=self._ids_are_lines and len(self) > 0,
            documents=self._document_of(question, len(keys)),
            **spread_all(columns),
        )
        if not self._reasoned:
            return table
        for name, others in self._others.columns().items():
            columns[name][np.asarray(self._reasoned)] = others
        facts = replace(self._facts, official=self._facts.official_otherwise)
        return replace(table, otherwise=replace(table, facts=facts, **spread_all(columns)))

    def _document_of(self, question: np.ndarray, number: int) -> np.ndarray:
        """Return the document of each question; 0 if no line knows it, or two know two."""
        given = np.asarray(self._documents, np.uint64)
        highest, lowest = np.zeros(number, np.uint64), np.full(number, 2**64 - 1, np.uint64)
        np.maximum.at(highest, question, given)
        np.minimum.at(lowest, question, np.where(given != 0, given, 2**64 - 1).astype(np.uint64))
        return np.where(highest == lowest, highest, 0)

    def _check_distinct(self, samples: np.ndarray) -> None:
        order = np.argsort(samples, kind="stable")
        (twice,) = np.nonzero(np.diff(samples[order]) == 0)
        if len(twice):
            one, again = (self._lines[order[twice[0] + step]] for step in (0, 1))
            raise BadRow(f"the same question and repeat as on line {one}", again)
