"""Keep answers to questions of different data apart."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterable

from lm_eval_longbench.errors import PredictionError
from lm_eval_longbench.offline.score_tables import TABLES
from lm_eval_longbench.offline.source import LOG, Source

# Repository and revision.
_OFFICIAL = re.compile(r"[\w.-]+/[\w.-]+@[0-9a-f]{7,40}")
# Where each dataset is a file, each has a hash of its own.
_HASH = re.compile(r"^(sample|local)-[0-9a-f]+")
# What follows says which questions were asked, of the same data.
_SELECTION = " (only "
_TABLES = tuple(TABLES.values())
_TASKS = {table.name: tuple(table.tasks) for table in _TABLES}

# A file by each label that it gives its data; None: it does not say.
_Files = dict[str | None, str]


def _data(label: str | None) -> str | None:
    """Return a label without what it says about a selection of questions."""
    return None if label is None else label.partition(_SELECTION)[0]


def _kind(label: str | None) -> str | None:
    data = _data(label)
    return None if data is None else _HASH.sub(r"\1", data)


def is_official(label: str | None) -> bool:
    """Whether a label stands for the pinned official data, or for some of its questions."""
    data = _data(label)
    return data is not None and _OFFICIAL.fullmatch(data) is not None


class Labels:
    """The data that questions are of, with a file that says so."""

    def __init__(self) -> None:
        # By table, then by task; and the official files by table.
        self._logs: dict[str, dict[str, _Files]] = defaultdict(lambda: defaultdict(dict))
        self._files: dict[str, str] = {}

    def add(self, table: int, task: int, label: str | None, source: Source) -> None:
        """Note that a file has questions of a task.

        Args:
            table, task: their numbers.
            label: of the data; None: the file does not say.
            source: the file.
        """
        name = _TABLES[table].name
        if source.kind == LOG:
            self._logs[name][_TASKS[name][task]].setdefault(label, source.name)
        else:
            self._files.setdefault(name, source.name)

    def _all(self, table: str) -> set[str | None]:
        return {label for files in self._logs.get(table, {}).values() for label in files}

    def of(self, table: str) -> list[str]:
        """Return the labels of a table's data, sorted; official files have none."""
        return sorted(label for label in self._all(table) if label is not None)

    def official(self, table: str) -> bool:
        """Whether a table's questions are known to be official ones: prediction files' are."""
        return all(map(is_official, self._all(table)))

    def check(self) -> None:
        """Refuse what must not be merged.

        Raises:
            PredictionError: the inputs of a task are of different data, those of a table of
                different kinds of data, or they number their questions in different ways. Names
                both.
        """
        for table in TABLES:
            logs = sorted(self._logs.get(table, {}).items())
            for task, files in logs:
                _check(task, _first_by(_data, files.items()))
            kinds = _first_by(_kind, (own for _, files in logs for own in files.items()))
            _check(table, kinds, self._files.get(table))
            if table in ("longbench_v1", "longbench_v1_e") and kinds and table in self._files:
                raise PredictionError(
                    f"{table}: prediction files name a question by its line "
                    f"({self._files[table]}), sample logs by its id "
                    f"({min(kinds.values())}), so they cannot be merged. Score them apart."
                )


def _first_by(
    what: Callable[[str | None], str | None], files: Iterable[tuple[str | None, str]]
) -> _Files:
    """Return the first label, with its file, of each thing that labels stand for."""
    found: dict[str | None, tuple[str | None, str]] = {}
    for label, file in files:
        found.setdefault(what(label), (label, file))
    return dict(found.values())


def _check(name: str, files: _Files, official: str | None = None) -> None:
    """Refuse different labels, and other ones than official beside an official file."""
    named = [
        f"{label!r} ({file})" if label else f"data that {file} does not name"
        for label, file in sorted(files.items(), key=lambda own: (own[0] or "", own[1]))
    ]
    if official is not None and not all(map(is_official, files)):
        named.append(f"the official data, as of all prediction files ({official})")
    if len(named) > 1:
        raise PredictionError(
            f"{name}: the inputs are of different data and cannot be merged: "
            f"{'; '.join(named)}. Score them apart."
        )
