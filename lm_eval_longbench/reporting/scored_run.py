"""Read a folder that `lm-eval-longbench score` wrote: its answers, and what it states."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from lm_eval_longbench.benchmarks.base import Table
from lm_eval_longbench.benchmarks.registry import (
    benchmark_of_table,
    learn_carried,
    protocol_of,
    tables,
)
from lm_eval_longbench.errors import DataError, PredictionError, few
from lm_eval_longbench.files import blocks, lines, read_whole, reading
from lm_eval_longbench.logs.scored_files import (
    FORMAT,
    REPORT,
    SAMPLES,
    ReportTable,
    table_parts,
)
from lm_eval_longbench.metrics.reasoning import OTHERWISE, POLICIES, otherwise
from lm_eval_longbench.shapes import Count, checked
from lm_eval_longbench.signature.ingredients import values_of
from lm_eval_longbench.signature.protocol import any_of
from lm_eval_longbench.signature.signature import UNKNOWN
from lm_eval_longbench.statistics.answers import Answers, BadRow, Columns

# ---------------------------------------------------------------------- capped answers

# Share of a table's answers beyond which it is worth a warning.
MOST = 0.02


def capped_warning(
    table: Table, counts: Mapping[str, int | None], signatures: Mapping[str, Any]
) -> str:
    """Return what to know of a table where many answers ended at the budget; "" of another one.

    Args:
        table: of answers.
        counts: of it, as in report.json; those of earlier versions have no "capped".
        signatures: of its tasks, as far as they are known.
    """
    capped, samples = counts.get("capped") or 0, counts.get("samples") or 0
    if capped <= MOST * samples:
        return ""
    found = (
        f"{capped} of {samples} answers ({100 * capped / samples:.1f}%) ended at the output budget "
        "(capped): what is scored may be missing in them"
    )
    official = f"Official runs have {_official(table)}"
    if any(_is_less(task, signatures.get(task)) for task in table.tasks):
        return f"{found}. This run had a smaller budget than official ones. {official}"
    return (
        f"{found}. A larger budget (--gen_kwargs max_gen_toks=TOKENS) gives them room, but it is "
        f"another protocol, and its scores are not comparable with these. {official}"
    )


def _budgets(task: str, *, thinking: bool) -> tuple[int, ...]:
    return protocol_of(task, thinking=thinking).budgets


def _official(table: Table) -> str:
    """Return the official budgets in words."""
    usual, thinking = (
        sorted({own for task in table.tasks for own in _budgets(task, thinking=mode)})
        for mode in (False, True)
    )
    text = f"{any_of(usual)} tokens"
    if any(len(_budgets(task, thinking=False)) < len(usual) for task in table.tasks):
        text += ", each dataset its own"
    return text if usual == thinking else f"{text}, and {any_of(thinking)} for thinking scores"


def _is_less(task: str, signature: Any) -> bool:
    """Whether a task was asked with less than any official budget."""
    least = min(_budgets(task, thinking=False))
    return any(budget < least for budget in _asked(signature))


def _asked(signature: Any) -> Iterator[int]:
    """Yield the budgets with which a task was asked, as far as its signature states them."""
    generation = signature.get("generation") if isinstance(signature, Mapping) else None
    for one in values_of(generation):
        budget = one.get("max_gen_toks") if isinstance(one, Mapping) else None
        if isinstance(budget, int):
            yield budget


# ---------------------------------------------------------------------- the folder

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
            hold any; empty where it is not stated.
        official_otherwise: the official figures under the other policy; empty where no answer holds
            reasoning.
    """

    repeats: int
    data: tuple[str, ...]
    embedding_model: str | None
    official: Mapping[str, Any]
    counts: Mapping[str, int | None]
    tasks: Mapping[str, Mapping[str, Any]]
    further: Mapping[str, Any] = field(default_factory=dict)
    signature: Mapping[str, Any] = field(default_factory=dict)
    runs: tuple[str, ...] = ()
    reasoning: Mapping[str, Any] = field(default_factory=dict)
    official_otherwise: Mapping[str, Any] = field(default_factory=dict)

    def stated(self, path: Sequence[str], *, otherwise: bool = False) -> tuple[bool, Any]:
        """Return whether the part of a figure is there, and what it says of it; None: nothing.

        Args:
            path: of the figure, part first.
            otherwise: whether it is one under the other policy for reasoning.
        """
        parts = {"official": self.official, **self.further}
        if otherwise:
            parts = {"official": self.official_otherwise}
        if not path or not parts.get(path[0]):
            return False, None
        found: Any = parts
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
        tasks = self.signature.get("tasks")
        own = tasks.get(task) if isinstance(tasks, Mapping) else None
        return own if isinstance(own, Mapping) else {}

    @property
    def data_text(self) -> str:
        """The labels in print; official prediction files state none."""
        return ", ".join(self.data) or "not stated"

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

    @property
    def capped_warning(self) -> str:
        """What to know where many answers ended at the budget; "" where few did."""
        return capped_warning(self.info, self.facts.counts, self.facts.signature.get("tasks") or {})

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


def is_scored(folder: Path) -> bool:
    """Return whether a folder holds the files of a scored run."""
    return (folder / REPORT).is_file() and (folder / SAMPLES).is_file()


def _facts(file: Path, table: str, entry: Any) -> Facts:
    """Return what report.json says about a table; DataError if it does not say it."""
    if table not in tables():
        raise DataError(f"{file}: {table!r} is no table of this version: {', '.join(tables())}.")
    try:
        checked(entry, ReportTable, f"{file} is no sound report", f"tables.{table}")
    except PredictionError as error:
        raise DataError(f"{error} {_AGAIN}") from error
    reasoning = entry.get("reasoning") or {}
    return Facts(
        repeats=entry["repeats"],
        data=tuple(entry["data"]),
        embedding_model=entry["embedding_model"],
        official=entry["official"],
        counts=entry["counts"],
        tasks=entry["tasks"],
        further=table_parts(entry),
        signature=entry.get("signature") or {},
        runs=tuple(entry.get("runs") or ()),
        reasoning=reasoning,
        official_otherwise=(reasoning.get("other") or {"official": {}})["official"],
    )


def _read_report(file: Path) -> tuple[dict[str, Facts], dict[str, int], str]:
    """Return the tables' facts, the number of rows by kind of problem, and the model's name."""
    try:
        report = json.loads(read_whole(file))
    except (OSError, ValueError, RecursionError) as error:
        raise DataError(f"{file} cannot be read as JSON: {error}. {_AGAIN}") from error
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
            try:
                checked(totals[kind], Count, f"{file} is no sound report", f"{kind}_total")
            except PredictionError as error:
                raise DataError(f"{error} {_AGAIN}") from error
    given = report.get("inputs")
    models = (one.get("model") for one in given or () if isinstance(one, dict))
    model = next((own for own in models if isinstance(own, str)), "")
    return {name: _facts(file, name, entry) for name, entry in stated.items()}, totals, model


class _Samples:
    """The lines of one table, under both policies for reasoning where some hold any."""

    def __init__(self, name: str, facts: Facts) -> None:
        self._facts = facts
        self._policy = str(facts.reasoning.get("policy"))
        self.reasoned = 0

        def columns(*, swapped: bool) -> Columns:
            return Columns(
                benchmark_of_table(name),
                tables()[name],
                facts.repeats,
                facts.is_official,
                policy_swapped=swapped,
                expected=set(facts.tasks) & set(tables()[name].tasks),
            )

        self._own = columns(swapped=False)
        self._other = columns(swapped=True) if facts.reasoning.get("answers") else None

    def __len__(self) -> int:
        return len(self._own)

    def add(self, row: Mapping[str, Any], line: int) -> None:
        """Add a line. Raises BadRow, KeyError for a field that is not there."""
        if otherwise(row) is not None:
            if OTHERWISE.get(self._policy) not in row:
                stated = self._facts.reasoning.get("policy")
                raise BadRow(f"it has another policy for reasoning than report.json, {stated!r}")
            self.reasoned += 1
        self._own.add(row, line)
        if self._other is not None:
            self._other.add(row, line)

    def finish(self) -> ScoredTable:
        """Return the table. Raises BadRow as `Columns.finish`."""
        other = None if self._other is None else self._other.finish()
        return ScoredTable(self._facts, self._own.finish(), other)


def _read_samples(file: Path, columns: Mapping[str, _Samples]) -> None:
    """Add every line to the columns of its table; DataError names a line that does not fit."""
    with reading(file, DataError):
        for number, line in enumerate(lines(blocks(file)), start=1):
            try:
                row = json.loads(line)
                columns[row["table"]].add(row, number)
            except KeyError as error:
                raise DataError(
                    f"{file}, line {number}: {error} is no field of the line, or no table of "
                    f"{REPORT}. {_AGAIN}"
                ) from error
            except (BadRow, TypeError, ValueError, RecursionError) as error:
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
    columns = {table: _Samples(table, facts[table]) for table in tables() if table in facts}
    _read_samples(file, columns)
    found = {}
    for table, column in columns.items():
        stated = facts[table].counts.get("samples")
        if stated != len(column):
            raise DataError(
                f"{file} has {len(column)} lines of {table}, and {REPORT} counts {stated}: they "
                f"are not of one run. {_AGAIN}"
            )
        held = facts[table].reasoning.get("answers", 0)
        if held != column.reasoned:
            raise DataError(
                f"{file} has {column.reasoned} answers of {table} that hold reasoning, and "
                f"{REPORT} counts {held}: they are not of one run. {_AGAIN}"
            )
        try:
            found[table] = column.finish()
        except BadRow as error:
            raise DataError(f"{file}, line {error.line}: {error}. {_AGAIN}") from error
    return ScoredRun(name or unique_names([folder])[0], folder, found, problems, model)
