"""Put scored runs side by side: columns, pairs, rows, and what a reader must know beside them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from lm_eval_longbench.answers.answer import failed_text
from lm_eval_longbench.benchmarks.base import Place
from lm_eval_longbench.benchmarks.registry import benchmarks, segmented, tables
from lm_eval_longbench.errors import DataError
from lm_eval_longbench.metrics.reasoning import DROP, KEEP, POLICIES
from lm_eval_longbench.reporting.published import Leaderboard, leaderboard
from lm_eval_longbench.reporting.rows import Cell, ReportRow, shown
from lm_eval_longbench.reporting.scored_run import Facts, ScoredRun, ScoredTable
from lm_eval_longbench.signature.compare import incomparable
from lm_eval_longbench.statistics.figure import Figure
from lm_eval_longbench.statistics.intervals import FEWEST, RESAMPLES, SEED
from lm_eval_longbench.statistics.tree import FEW_DIFFER, Pairing, estimate

_DONE = {KEEP: "kept", DROP: "dropped"}
# Merged runs that are named.
_NAMED = 5
_INTERVALS = (
    f"Intervals are 95%: the bias-corrected and accelerated bootstrap ({RESAMPLES} resamples, seed "
    f"{SEED}; for means of means each dataset by itself), its levels widened for small samples, or "
    "Wilson's for pass@N and, with one answer a question, the accuracies of LongBench v2. What is "
    "resampled are documents, each with all of its questions; where documents are not known, or no "
    "two questions share one, questions. n counts questions, failed (no answer) and unscored count "
    "samples. A figure that lacks a dataset or a score has no value. "
    f"[n<{FEWEST}]: fewer than {FEWEST} questions (or documents), in one of its datasets if it is "
    "a mean of several, say too little about others for an interval or a p-value."
)
_DIFFERENCES = (
    "Differences are on the questions that both runs have: paired, by Student's t over documents; "
    "p is two-sided, and below 0.05 where the interval leaves out 0. "
    f"[few differ]: {FEW_DIFFER}, too few for either."
)
# What must be the same for two runs of a table to be comparable.
_CONDITIONS: tuple[tuple[str, Callable[[Facts], object]], ...] = (
    ("data", lambda facts: facts.data_text),
    ("repeats", lambda facts: facts.repeats),
    ("embedding model", lambda facts: facts.embedding_model or "none"),
)
_SHOWN = ("data", "repeats", "embedding_model", "answered")


@dataclass(frozen=True, eq=False)
class Column:
    """One table of one run; its label names the run, and the mode where a benchmark has several."""

    run: ScoredRun
    table: ScoredTable

    @property
    def label(self) -> str:
        """What stands above the column."""
        mode = self.table.info.mode
        return f"{self.run.name} ({mode})" if mode else self.run.name


@dataclass(frozen=True, eq=False)
class Pair:
    """Two columns whose difference is shown: second less first.

    Attributes:
        first, second: numbers of the columns.
        label: of the difference.
        shared: questions that both have.
        by_line: the questions of one of them are known by their line only.
        reason: why there is no difference; "" otherwise.
    """

    first: int
    second: int
    label: str
    shared: int
    by_line: bool
    reason: str


def columns_of(benchmark: str, runs: Sequence[ScoredRun]) -> list[Column]:
    """Return the columns of a benchmark: by run, and within a run in the order of the registry."""
    return [
        Column(run, run.tables[name])
        for run in runs
        for name in benchmarks()[benchmark].tables
        if name in run.tables
    ]


def pair_of(columns: Sequence[Column], first: int, second: int) -> Pair:
    """Return what two columns have in common, by their numbers."""
    one, other = columns[first].table.answers, columns[second].table.answers
    keys, mine, theirs = np.intersect1d(one.keys, other.keys, True, return_indices=True)
    reason = ""
    if not len(keys):
        reason = "they have no question in common"
        if one.ids_are_lines != other.ids_are_lines:
            reason += (
                "; one was scored from prediction files, which know a question by its line, the "
                "other from logs, which know its id"
            )
    for name, values in one.dimensions.items():
        one_way, other_way = values[mine], other.dimensions[name][theirs]
        known = (one_way >= 0) & (other_way >= 0)
        differing = int(np.count_nonzero(known & (one_way != other_way)))
        if differing and not reason:
            reason = (
                f"{differing} of their common questions differ in {name}: "
                "they are not the same questions"
            )
    label = f"{columns[second].label} less {columns[first].label}"
    if one.table.name == other.table.name and one.table.mode:
        names = (columns[number].run.name for number in (second, first))
        label = f"{' less '.join(names)} ({one.table.mode})"
    by_line = one.ids_are_lines or other.ids_are_lines
    return Pair(first, second, label, len(keys), by_line, reason)


def pairs_of(columns: Sequence[Column]) -> list[Pair]:
    """Return the pairs to compare.

    With two columns these; with two runs of several tables, the columns of each table that both
    have.
    """
    if len(columns) == 2:
        return [pair_of(columns, 0, 1)]
    runs = list(dict.fromkeys(column.run for column in columns))
    if len(runs) != 2:
        return []
    places = {(column.run, column.table.info.name): i for i, column in enumerate(columns)}
    return [
        pair_of(columns, places[runs[0], name], places[runs[1], name])
        for name in tables()
        if (runs[0], name) in places and (runs[1], name) in places
    ]


# A figure, whether report.json has its part, and the value it has there.
_Stated = tuple[Figure, bool, Any]


def _cell(folder: Path, figure: Figure, is_stated: bool, official: Any) -> Cell:
    """Return a figure with its interval; DataError if a folder's files give two values of it."""
    if is_stated and figure.differs_from(official):
        raise DataError(
            f"{folder}: report.json has {official} as {figure.section} {figure.name}, and "
            f"samples.jsonl gives {figure.unit.scaled(figure.tree.value)}: they are not of one "
            "run. Score the predictions again with `lm-eval-longbench score`."
        )
    return Cell(**vars(estimate(figure.tree)), official=official, tree=figure.tree)


@dataclass(frozen=True, eq=False)
class BenchmarkReport:
    """The table of one benchmark.

    Attributes:
        benchmark: its name.
        title: in print.
        columns, pairs: runs, and what is compared.
        rows: the figures.
        notes: what a reader must know.
        on_figures: those of them on figures that are not shown.
        leaderboards: published rows of each table, where they were asked for.
    """

    benchmark: str
    title: str
    columns: tuple[Column, ...]
    pairs: tuple[Pair, ...]
    rows: tuple[ReportRow, ...]
    notes: tuple[str, ...]
    on_figures: tuple[str, ...]
    leaderboards: tuple[Leaderboard, ...]


@dataclass(frozen=True, eq=False)
class Report:
    """Every table of some runs.

    Attributes:
        runs: in the order given.
        benchmarks: in the order of the registry.
        remarks: in what the runs differ that must not.
    """

    runs: tuple[ScoredRun, ...]
    benchmarks: tuple[BenchmarkReport, ...]
    remarks: tuple[str, ...]

    @property
    def method(self) -> tuple[str, ...]:
        """How intervals and differences were made."""
        return method_of(differences=any(one.pairs for one in self.benchmarks))


def method_of(*, differences: bool) -> tuple[str, ...]:
    """Return how intervals, and differences where there are any, were made."""
    return (_INTERVALS, _DIFFERENCES) if differences else (_INTERVALS,)


def _documents(column: Column) -> str:
    """Return what is known of the documents that questions share; "" for nothing worth a word."""
    documents = column.table.answers.documents
    known = documents[documents != 0]
    number = len(np.unique(known))
    lacking = len(documents) - len(known)
    if not len(known):
        if not benchmarks()[column.table.info.benchmark].shares_documents or not lacking:
            return ""
        return (
            "not known which questions share a document, so that intervals and p-values treat all "
            "as independent and are too sure"
        )
    text = f"{number} documents"
    if lacking:
        text += f", and {lacking} questions whose document is not known"
    return text if lacking or number < len(known) else ""


def note_on_column(column: Column, *, signed: bool = True) -> str:
    """Return what a reader must know of one run's table; `signed`: with its signature."""
    facts = column.table.facts
    counts = facts.counts
    parts = [f"data {facts.data_in_short}"]
    repeats = f" x {facts.repeats} repeats" if facts.repeats > 1 else ""
    parts.append(f"{counts.get('questions', 0)} questions{repeats}")
    missing = counts.get("missing")
    parts.append(
        "not known how many are missing"
        if missing is None
        else f"{missing} of {counts.get('official_questions')} official ones missing"
    )
    documents = _documents(column)
    parts += [documents] if documents else []
    if len(facts.runs) > 1:
        named = ", ".join(facts.runs[:_NAMED]) + (", ..." if len(facts.runs) > _NAMED else "")
        parts.append(f"merged from {len(facts.runs)} runs, counted as one model's: {named}")
    if facts.embedding_model:
        parts.append(f"embedding model {facts.embedding_model}")
    if counts.get("failed"):
        parts.append(failed_text(counts["failed"] or 0, column.table.answers.failures))
    for name in ("unscored", "truncated", "capped", "unparsed", "inconsistent"):
        if counts.get(name):
            parts.append(f"{counts[name]} {name}")
    if column.table.otherwise is not None:
        policy, answers = facts.reasoning["policy"], facts.reasoning["answers"]
        how, other = ("keep", "dropped") if policy == KEEP else ("drop", "kept")
        parts.append(
            f"{answers} of {counts.get('samples')} answers hold reasoning (<think>...</think>), "
            f"which the figures {how}; those with reasoning {other} have rows of their own"
        )
    problems = column.run.problems.items()  # missing questions are told already
    parts += [f"{number} {kind} rows" for kind, number in problems if kind != "missing"]
    line = facts.signature.get("line") if signed else ""
    return f"{column.label}: {'; '.join(parts)}.{f' Signature {line}' if line else ''}"


def note_on_pair(pair: Pair) -> str:
    """Return on which questions two columns are compared, or why they are not."""
    if pair.reason:
        return f"No difference {pair.label}: {pair.reason}."
    text = f"Difference {pair.label}: on the {pair.shared} questions that both have"
    if pair.by_line:
        text += (
            ", paired by their line in the prediction files: right only if both files have their "
            "lines in one order"
        )
    return f"{text}."


def _notes(
    benchmark: str, columns: Sequence[Column], pairs: Sequence[Pair], details: int
) -> list[str]:
    """Return the notes under a benchmark's table.

    Args:
        benchmark: its name.
        columns, pairs: of the table.
        details: figures that only CSV and JSON show.
    """
    notes = [
        benchmarks()[benchmark].unit_note,
        *map(note_on_column, columns),
        *(
            f"Warning, {column.label}: {column.table.capped_warning}."
            for column in columns
            if column.table.capped_warning
        ),
        *map(note_on_pair, pairs),
    ]
    if details:
        notes.append(f"{details} more figures with --format csv or json.")
    return notes


def _lacking(columns: Sequence[Column]) -> Iterator[str]:
    """Yield a note on each run that has only some of the tasks, for its means have no value."""
    for column in columns:
        tasks = column.table.info.tasks
        missing = len(tasks) - len(column.table.answers.expected & set(tasks))
        if missing:
            headline = benchmarks()[column.table.info.benchmark].headline
            names = ", ".join(name for _, name in headline) or "means over tasks"
            yield (
                f"{column.label}: {missing} of {len(tasks)} tasks are not in it, so that these "
                f"have no value: {names}."
            )


def remarks_on(runs: Sequence[ScoredRun]) -> list[str]:
    """Return one sentence for each condition in which runs of one table differ."""
    found = []
    scored = segmented()
    for name in tables():
        facts = {run.name: run.tables[name].facts for run in runs if name in run.tables}
        for condition, value_of in _CONDITIONS:
            values = {run: value_of(own) for run, own in facts.items()}
            if len(set(values.values())) > 1:
                each = "; ".join(f"{run}: {value}" for run, value in values.items())
                found.append(f"{name}: the runs differ in {condition} ({each}).")
        # What the table shows beside the figures is said above or there.
        signatures = [
            {key: value for key, value in own.ingredients.items() if key not in _SHOWN}
            for own in facts.values()
        ]
        found += [
            f"{name}, not comparable: {reason}" for reason in incomparable(signatures, scored)
        ]
    return found


def _figures(table: ScoredTable, policies: Sequence[str]) -> dict[Place, _Stated]:
    """Return the figures of a table by place, with what the run's report.json states of each.

    Args:
        table: of a run.
        policies: for reasoning, under each of which the headline and the official figures follow.
    """
    benchmark, facts = benchmarks()[table.info.benchmark], table.facts
    found = {}
    for figure in benchmark.figures(table.answers):
        if not figure.hidden:
            found[figure.place] = (figure, *facts.stated(figure.path))
    for policy in policies:
        under = table.under(policy)
        if under is None:
            continue
        answers, swapped = under
        for figure in benchmark.figures(answers):
            if figure.main or figure.path[:1] == ("official",):
                stated = facts.stated(figure.path, otherwise=swapped)
                section = f"{figure.section}, reasoning {_DONE[policy]}"
                found[section, figure.name] = (replace(figure, section=section), *stated)
    return found


def _places(tables: Sequence[Mapping[Place, _Stated]]) -> list[Place]:
    """Return the places of all tables: those of the longest, the others behind their neighbours."""
    longest = max(range(len(tables)), key=lambda number: len(tables[number]))
    places = list(tables[longest])
    known = set(places)
    for table in tables:
        before = None
        for place in table:
            if place not in known:
                places.insert(0 if before is None else places.index(before) + 1, place)
                known.add(place)
            before = place
    return places


def _rows(columns: Sequence[Column], pairs: Sequence[Pair]) -> list[ReportRow]:
    """Return the figures of all columns.

    Where answers hold reasoning, the figures under the other policy than theirs come last, for
    every column: a run without reasoning has the same figures under both.
    """
    others = {
        DROP if column.table.facts.reasoning["policy"] == KEEP else KEEP
        for column in columns
        if column.table.otherwise is not None
    }
    policies = [policy for policy in POLICIES if policy in others]
    found = [_figures(column.table, policies) for column in columns]
    pairings = [Pairing() for _ in pairs]
    rows = []
    for place in _places(found):
        figure, *_ = next(own[place] for own in found if place in own)
        cells = tuple(
            _cell(column.run.folder, *own[place]) if place in own else None
            for column, own in zip(columns, found, strict=True)
        )
        differences = tuple(
            pairing.difference(found[pair.first][place][0].tree, found[pair.second][place][0].tree)
            if not pair.reason and place in found[pair.first] and place in found[pair.second]
            else None
            for pair, pairing in zip(pairs, pairings, strict=True)
        )
        rows.append(ReportRow(*place, figure.unit, figure.detail, cells, differences))
    return rows


def _leaderboards(columns: Sequence[Column], rows: Sequence[ReportRow]) -> list[Leaderboard]:
    def values(number: int) -> dict[Place, float | None]:
        return {
            (row.section, row.name): row.unit.scaled(figure.value)
            for row in rows
            if (figure := row.figures[number]) is not None
        }

    return [
        leaderboard(
            name,
            [
                (column.label, column.run, values(number))
                for number, column in enumerate(columns)
                if column.table.info.name == name
            ],
        )
        for name in tables()
        if any(column.table.info.name == name for column in columns)
    ]


def _benchmark(name: str, runs: Sequence[ScoredRun], *, published: bool) -> BenchmarkReport | None:
    columns = columns_of(name, runs)
    if not columns:
        return None
    pairs = pairs_of(columns)
    rows, repeated = shown(_rows(columns, pairs))
    on_figures = (*repeated, *_lacking(columns))
    notes = _notes(name, columns, pairs, sum(row.detail and row.is_known for row in rows))
    return BenchmarkReport(
        name,
        columns[0].table.info.title,
        tuple(columns),
        tuple(pairs),
        tuple(rows),
        (*notes, *on_figures),
        on_figures,
        tuple(_leaderboards(columns, rows)) if published else (),
    )


def make_report(runs: Sequence[ScoredRun], *, published: bool = False) -> Report:
    """Return the report of some runs, one column each and benchmark.

    Args:
        runs: scored runs, with distinct names.
        published: add the published rows and the ranks that the runs would take.

    Raises:
        DataError: the files of a run contradict each other.
    """
    found = (_benchmark(name, runs, published=published) for name in benchmarks())
    return Report(
        tuple(runs),
        tuple(benchmark for benchmark in found if benchmark is not None),
        tuple(remarks_on(runs)),
    )
