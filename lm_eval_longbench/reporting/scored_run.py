"""Read a folder that `lm-eval-longbench score` wrote: its answers, and what it states."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any

from lm_eval_longbench.benchmarks.registry import benchmark_of_table, learn_carried, tables
from lm_eval_longbench.catalog.model import Table
from lm_eval_longbench.errors import DataError, PredictionError, few
from lm_eval_longbench.files import read_json, read_json_lines
from lm_eval_longbench.language import sentence
from lm_eval_longbench.metrics.reasoning import POLICIES
from lm_eval_longbench.records.results import is_scored
from lm_eval_longbench.records.scored import FORMAT, REPORT, SAMPLES, ReportTable, table_parts
from lm_eval_longbench.shapes import Count, checked
from lm_eval_longbench.signature.signature import UNKNOWN
from lm_eval_longbench.statistics.answers import Answers, BadRow, Columns

_AGAIN = "Score the predictions again with `lm-eval-longbench score`."


@dataclass(frozen=True)
class Facts:
    """What report.json says about one table.

    Attributes:
        repeats: answers to each question.
        data: labels of the data.
        embedding_model: that made the similarities of Pro's summaries.
        official: the figures in the benchmark's own schema.
        counts, tasks: as in report.json.
        further: parts of report.json with further figures, by name.
        signature: what the figures depend on, as far as it is known, and under "line" in short.
        runs: names of the runs that the answers are from.
        reasoning: under "policy" what happened to reasoning in answers, under "answers" how many
            hold any, under "other" the figures under the other policy; empty if it is not stated.
    """

    repeats: int
    data: Sequence[str]
    embedding_model: str | None
    official: Mapping[str, Any]
    counts: Mapping[str, int | None]
    tasks: Mapping[str, Mapping[str, Any]]
    further: Mapping[str, Any] = field(default_factory=dict)
    signature: Mapping[str, Any] = field(default_factory=dict)
    runs: Sequence[str] = ()
    reasoning: Mapping[str, Any] = field(default_factory=dict)

    def stated(self, path: Sequence[str], *, otherwise: bool = False) -> tuple[bool, Any]:
        """Return whether the part of a figure is there, and what it says of it; None: nothing.

        Args:
            path: of the figure, part first.
            otherwise: whether it is one under the other policy for reasoning.
        """
        found: Any = {"official": self.official, **self.further}
        if otherwise:
            found = self.reasoning.get("other") or {}
        if not path or not found.get(path[0]):
            return False, None
        for name in path:
            found = found.get(name) if isinstance(found, Mapping) else None
        return True, found

    @property
    def ingredients(self) -> dict[str, Any]:
        """The ingredients of the signature that are known."""
        stated = self.signature.get("ingredients") or {}
        return {name: value for name, value in stated.items() if value != UNKNOWN}

    def signature_of(self, task: str) -> Mapping[str, Any]:
        """Return the ingredients of one task's signature; empty where nothing is stated."""
        return (self.signature.get("tasks") or {}).get(task) or {}

    @property
    def data_text(self) -> str:
        """The labels in print; official prediction files state none."""
        return ", ".join(self.data) or sentence("not stated")

    @property
    def data_in_short(self) -> str:
        """The labels in print where there is little place."""
        return few(self.data, 2) or self.data_text

    @property
    def is_official(self) -> bool:
        """Whether the questions are the official ones, so that it is known which are missing."""
        return self.counts.get("missing") is not None


@dataclass(frozen=True, eq=False)
class ScoredTable:
    """The answers of one table of a run.

    Attributes:
        facts: from report.json.
        answers: from samples.jsonl.
        otherwise: the same under the other policy for reasoning; None: no answer holds any.
    """

    facts: Facts
    answers: Answers
    otherwise: Answers | None = None

    @property
    def info(self) -> Table:
        """What is known of the table."""
        return self.answers.table

    def under(self, policy: str) -> tuple[Answers, bool] | None:
        """Return the answers under a policy for reasoning, and whether it is the other one.

        None if it is not known: of a folder that states no policy.
        """
        own = self.facts.reasoning.get("policy")
        if own not in POLICIES:
            return None
        if self.otherwise is None or own == policy:
            return self.answers, False
        return self.otherwise, True


@dataclass(frozen=True, eq=False)
class ScoredRun:
    """A folder that `score` wrote.

    Attributes:
        name: in print.
        folder: where it is.
        tables: by name, in the order of the registry.
        problems: number of rows by kind of problem (malformed, duplicate, ...), if any.
        model: that the results files named; "" for none.
    """

    name: str
    folder: Path
    tables: Mapping[str, ScoredTable]
    problems: Mapping[str, int]
    model: str = ""


def unique_names(folders: Sequence[Path]) -> list[str]:
    """Return the shortest ends of the paths that tell them apart: mostly the folders' names."""
    names = [Path(os.path.abspath(folder)).parts for folder in folders]  # links keep their names
    length = 1
    while len({name[-length:] for name in names}) < len(names) and length < max(map(len, names)):
        length += 1
    return ["/".join(name[-length:]) for name in names]


def _checked(file: Path, value: Any, kind: Any, place: str) -> None:
    try:
        checked(value, kind, f"{file} is no sound report", place)
    except PredictionError as error:
        raise DataError(f"{error} {_AGAIN}") from error


def _facts(file: Path, table: str, entry: Any) -> Facts:
    """Return what report.json says about a table; DataError if it does not say it."""
    if table not in tables():
        raise DataError(f"{file}: {table!r} is no table of this version: {', '.join(tables())}.")
    _checked(file, entry, ReportTable, f"tables.{table}")
    own = fields(Facts)
    known = {one.name: entry[one.name] for one in own if entry.get(one.name) is not None}
    return Facts(**{"embedding_model": None, "further": table_parts(entry), **known})


def _read_report(file: Path) -> tuple[dict[str, Facts], dict[str, int], str]:
    """Return the tables' facts, the number of rows by kind of problem, and the model's name."""
    report = read_json(file, DataError)
    if not isinstance(report, dict) or report.get("format") != FORMAT:
        raise DataError(f'{file} has no "format": {FORMAT}. {_AGAIN}')
    learn_carried(report, file)
    stated, problems = report.get("tables"), report.get("problems", {})
    if not isinstance(stated, dict) or not isinstance(problems, dict):
        raise DataError(f"{file} needs the objects 'tables' and 'problems'. {_AGAIN}")
    totals = {}
    for kind, rows in problems.items():
        if isinstance(rows, list) and rows:
            totals[kind] = problems.get(f"{kind}_total", len(rows))
            _checked(file, totals[kind], Count, f"{kind}_total")
    given = report.get("inputs")
    models = (one.get("model") for one in given or () if isinstance(one, dict))
    model = next((own for own in models if isinstance(own, str)), "")
    return {name: _facts(file, name, entry) for name, entry in stated.items()}, totals, model


def _columns(table: str, facts: Facts) -> list[Columns]:
    """Return columns for the answers of a table, and for the same under the other policy.

    The latter only where some answer holds reasoning.
    """
    expected = set(facts.tasks) & set(tables()[table].tasks)
    common = (benchmark_of_table(table), tables()[table], facts.repeats, facts.is_official)
    swapped = (False, True) if facts.reasoning.get("answers") else (False,)
    return [Columns(*common, policy_swapped=own, expected=expected) for own in swapped]


def _read_samples(file: Path, columns: Mapping[str, Sequence[Columns]]) -> None:
    """Add every line to the columns of its table; DataError names a line that does not fit."""
    for number, row in read_json_lines(file, DataError):
        try:
            for own in columns[row["table"]]:
                own.add(row, number)
        except KeyError as error:
            raise DataError(
                f"{file}, line {number}: {error} is no field of the line, or no table of "
                f"{REPORT}. {_AGAIN}"
            ) from error
        except (BadRow, TypeError, ValueError) as error:
            raise DataError(f"{file}, line {number}: {error}. {_AGAIN}") from error


def read_run(folder: Path, name: str | None = None) -> ScoredRun:
    """Read a scored run; of a million samples it keeps some hundred bytes each.

    Args:
        folder: with report.json and samples.jsonl.
        name: in print; the folder's name if not given.

    Raises:
        DataError: a file is missing, damaged, or not of the other's run; names file and line.
    """
    if not is_scored(folder):
        raise DataError(
            f"{folder} is not a folder with {REPORT} and {SAMPLES}, as `lm-eval-longbench score` "
            "writes them."
        )
    facts, problems, model = _read_report(folder / REPORT)
    file = folder / SAMPLES
    columns = {table: _columns(table, facts[table]) for table in tables() if table in facts}
    _read_samples(file, columns)
    found = {}
    for table, both in columns.items():
        stated, number = facts[table].counts.get("samples"), len(both[0])
        if stated != number:
            raise DataError(
                f"{file} has {number} lines of {table}, and {REPORT} counts {stated}: they are "
                f"not of one run. {_AGAIN}"
            )
        try:
            found[table] = ScoredTable(facts[table], *(own.finish() for own in both))
        except BadRow as error:
            raise DataError(f"{file}, line {error.line}: {error}. {_AGAIN}") from error
    return ScoredRun(name or unique_names([folder])[0], folder, found, problems, model)
