"""Collect the lines of samples.jsonl of one table as numbers, and put them in order."""

from __future__ import annotations

import re
from array import array
from collections.abc import Mapping
from hashlib import blake2b
from typing import Any

import numpy as np

from lm_eval_longbench.aggregation.length_buckets import bucket
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


class SampleColumns:
    """The samples of one table, some fifty bytes each."""

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
        self._scores, self._compensated = array("d"), array("d")
        self._rouge_google = array("d")
        self._failed, self._dropped = array("b"), array("b")
        self._documents = array("Q")
        self._dimensions = {name: array("h") for name in self._codes}
        self._ids_are_lines = "dataset" in self._codes

    def __len__(self) -> int:
        return len(self._lines)

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
        task, name, repeat, failed = row["task"], row["id"], row["repeat"], row["failed"]
        if not isinstance(task, str) or task not in self._info.tasks:
            raise BadRow(f"{task!r} is no task of {self._table}")
        if not isinstance(name, str):
            raise BadRow(f"'id' must be a text, not {name!r}")
        last = self._facts.repeats
        if not isinstance(repeat, int) or isinstance(repeat, bool) or not 1 <= repeat <= last:
            raise BadRow(f"'repeat' must be from 1 to {last}, not {repeat!r}")
        if not isinstance(failed, bool):
            raise BadRow(f"'failed' must be true or false, not {failed!r}")
        score = _share(row, "score")
        is_v2 = self._info.benchmark == "longbench_v2"
        compensated = _share(row, "compensated") if is_v2 else 0.0
        rouge_google = _share(row, "rougeL_google") if "rougeL_google" in row else np.nan
        dropped = row["dropped"] if is_v2 else False
        if not isinstance(dropped, bool):
            raise BadRow(f"'dropped' must be true or false, not {dropped!r}")
        document = _document(row)
        codes = {dimension: self._code(dimension, row) for dimension in self._codes}

        # Local data may use an id twice: as when scoring, the place tells its questions apart.
        place = f"\0{row.get('index')}" if "dataset" in self._codes else ""
        key = f"{self._info.tasks[task]}\0{name}{place}".encode("utf-8", "surrogatepass")
        self._keys += blake2b(key, digest_size=_KEY_BYTES).digest()
        self._lines.append(line)
        self._repeats.append(repeat - 1)
        self._scores.append(score)
        self._compensated.append(compensated)
        self._rouge_google.append(rouge_google)
        self._failed.append(failed)
        self._dropped.append(dropped)
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

        def spread(column: array, empty: Any, kind: Any) -> np.ndarray:
            matrix = np.full((len(keys), self._facts.repeats), empty, kind)
            matrix[question, repeat] = np.asarray(column, kind)
            return matrix

        is_v2 = self._info.benchmark == "longbench_v2"
        has_rouge = not np.isnan(self._rouge_google).all()
        return ScoredTable(
            self._table,
            self._facts,
            keys,
            spread(self._scores, np.nan, np.float64),
            spread(array("b", bytes([1]) * len(self)), False, bool),
            spread(self._failed, False, bool),
            spread(self._compensated, np.nan, np.float64) if is_v2 else None,
            spread(self._dropped, False, bool) if is_v2 else None,
            dimensions,
            self._ids_are_lines and len(self) > 0,
            self._document_of(question, len(keys)),
            spread(self._rouge_google, np.nan, np.float64) if has_rouge else None,
        )

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
