"""What a reader must know beside the figures: of a run's table, of a pair, of runs together."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from lm_eval_longbench.benchmarks.registry import benchmarks, protocol_of, segmented, tables
from lm_eval_longbench.catalog.model import Table
from lm_eval_longbench.language import Sentence, listed, sentence, several
from lm_eval_longbench.metrics.reasoning import KEEP
from lm_eval_longbench.records.answer import failed_text
from lm_eval_longbench.reporting.scored_run import Facts, ScoredRun, ScoredTable
from lm_eval_longbench.signature.compare import incomparable
from lm_eval_longbench.signature.ingredients import values_of
from lm_eval_longbench.signature.protocol import any_of
from lm_eval_longbench.statistics.intervals import FEWEST, RESAMPLES, SEED
from lm_eval_longbench.statistics.tree import FEWEST_DIFFERING

# Merged runs that are named.
_NAMED = 5
# Share of a table's answers beyond which their end at the budget is worth a warning.
MOST = 0.02
_INTERVALS = (
    "Intervals are 95%: the bias-corrected and accelerated bootstrap ({} resamples, seed "
    "{}; for means of means each dataset by itself), its levels widened for small samples, or "
    "Wilson's for pass@N and, with one answer a question, the accuracies of LongBench v2. What is "
    "resampled are documents, each with all of its questions; where documents are not known, or no "
    "two questions share one, questions. n counts questions, failed (no answer) and unscored count "
    "samples. A figure that lacks a dataset or a score has no value. "
    "[n<{}]: fewer than {} questions (or documents), in one of its datasets if it is "
    "a mean of several, say too little about others for an interval or a p-value."
)
_DIFFERENCES = (
    "Differences are on the questions that both runs have: paired, by Student's t over documents; "
    "p is two-sided, and below 0.05 where the interval leaves out 0. "
    "[few differ]: less than {} questions differ, too few for either."
)
_NO_DOCUMENTS = (
    "not known which questions share a document, so that intervals and p-values treat all "
    "as independent and are too sure"
)
_HELD = "{} of {} answers hold reasoning (<think>...</think>), which the figures "
_BY_LINE = (
    "Difference {}: on the {} questions that both have, paired by their line in the prediction "
    "files: right only if both files have their lines in one order."
)
_LACKING = "{}: {} of {} tasks are not in it, so that these have no value: {}."
_AT_BUDGET = (
    "{} of {} answers ({}%) ended at the output budget (capped): what is scored may be missing in "
    "them."
)
_SMALLER = "This run had a smaller budget than official ones. Official runs have {}"
_LARGER = (
    "A larger budget (--gen_kwargs max_gen_toks=TOKENS) gives them room, but it is another "
    "protocol, and its scores are not comparable with these. Official runs have {}"
)
# What must be the same for two runs of a table to be comparable.
_CONDITIONS: tuple[tuple[str, Callable[[Facts], object]], ...] = (
    ("data", lambda facts: facts.data_text),
    ("repeats", lambda facts: facts.repeats),
    ("embedding model", lambda facts: facts.embedding_model or sentence("none")),
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


def method_of(*, differences: bool) -> tuple[Sentence, ...]:
    """Return how intervals, and differences where there are any, were made."""
    intervals = sentence(_INTERVALS, RESAMPLES, SEED, FEWEST, FEWEST)
    return (intervals, sentence(_DIFFERENCES, FEWEST_DIFFERING)) if differences else (intervals,)


# ---------------------------------------------------------------------- answers at the budget


def capped_warning(
    table: Table, counts: Mapping[str, int | None], signatures: Mapping[str, Any]
) -> str:
    """Return what to know of a table where many answers ended at the budget; "" of another one.

    Args:
        table: of answers.
        counts: of it, as in report.json.
        signatures: of its tasks, as far as they are known.
    """
    capped, samples = counts.get("capped") or 0, counts.get("samples") or 0
    if capped <= MOST * samples:
        return ""
    smaller = any(
        budget < min(protocol_of(task).budgets)
        for task in table.tasks
        for budget in _budgets_asked(signatures.get(task))
    )
    share = f"{100 * capped / samples:.1f}"
    official = sentence(_SMALLER if smaller else _LARGER, _official_budgets(table))
    return listed([sentence(_AT_BUDGET, capped, samples, share), official], " ", "")


def _budgets_asked(signature: Any) -> Iterator[int]:
    """Yield the budgets with which a task was asked, as far as its signature states them."""
    for one in values_of((signature or {}).get("generation")):
        budget = one.get("max_gen_toks") if isinstance(one, Mapping) else None
        if isinstance(budget, int):
            yield budget


def _official_budgets(table: Table) -> Sentence:
    """Return the official budgets in words."""
    usual, thinking = (
        sorted({own for task in table.tasks for own in protocol_of(task, thinking=mode).budgets})
        for mode in (False, True)
    )
    several_of_them = any(len(protocol_of(task).budgets) < len(usual) for task in table.tasks)
    text = "{} tokens, each dataset its own" if several_of_them else "{} tokens"
    found = sentence(text, any_of(usual))
    if usual == thinking:
        return found
    return sentence("{}, and {} for thinking scores", found, any_of(thinking))


def warning_of(table: ScoredTable) -> str:
    """Return what to know of a run's table where many answers ended at the budget; or ""."""
    facts = table.facts
    return capped_warning(table.info, facts.counts, facts.signature.get("tasks") or {})


# ---------------------------------------------------------------------- one run, two runs


def _on_documents(column: Column) -> str:
    """Return what is known of the documents that questions share; "" for nothing worth a word."""
    documents = column.table.answers.documents
    known = documents[documents != 0]
    number, lacking = len(np.unique(known)), len(documents) - len(known)
    if not len(known):
        shares = benchmarks()[column.table.info.benchmark].shares_documents
        return sentence(_NO_DOCUMENTS) if shares and lacking else ""
    if lacking:
        text = "{} documents, and {} questions whose document is not known"
        return sentence(text, number, lacking)
    return sentence("{} documents", number) if number < len(known) else ""


def _on_questions(facts: Facts) -> Iterator[str]:
    """Yield which questions were asked, how often, and in how many runs."""
    counts, missing = facts.counts, facts.counts.get("missing")
    yield sentence("data {}", facts.data_in_short)
    questions = counts.get("questions", 0)
    if facts.repeats > 1:
        yield sentence("{} questions x {} repeats", questions, facts.repeats)
    else:
        yield sentence("{} questions", questions)
    if missing is None:
        yield sentence("not known how many are missing")
    else:
        yield sentence("{} of {} official ones missing", missing, counts.get("official_questions"))


def _on_answers(column: Column) -> Iterator[str]:
    """Yield who gave the answers, and what became of them."""
    facts, counts = column.table.facts, column.table.facts.counts
    if len(facts.runs) > 1:
        named = ", ".join(facts.runs[:_NAMED]) + (", ..." if len(facts.runs) > _NAMED else "")
        yield sentence("merged from {} runs, counted as one model's: {}", len(facts.runs), named)
    if facts.embedding_model:
        yield sentence("embedding model {}", facts.embedding_model)
    if counts.get("failed"):
        yield failed_text(counts["failed"] or 0, column.table.answers.failures)
    for name in ("unscored", "truncated", "capped", "unparsed", "inconsistent"):
        if counts.get(name):
            yield sentence(f"{{}} {name}", counts[name])
    if column.table.otherwise is not None:
        kept = facts.reasoning["policy"] == KEEP
        number, every = facts.reasoning["answers"], counts.get("samples")
        yield sentence(f"{_HELD}{'keep' if kept else 'drop'}", number, every)
        other = "dropped" if kept else "kept"
        yield sentence(f"those with reasoning {other} have rows of their own")
    for kind, number in column.run.problems.items():
        if kind != "missing":  # told already
            yield sentence(f"{{}} {kind} rows", number)


def note_on_column(column: Column, *, signed: bool = True) -> Sentence:
    """Return what a reader must know of one run's table; `signed`: with its signature."""
    facts = column.table.facts
    text = several([*_on_questions(facts), _on_documents(column), *_on_answers(column)])
    line = facts.signature.get("line") if signed else ""
    if line:
        return sentence("{}: {}. Signature {}", column.label, text, line)
    return sentence("{}: {}.", column.label, text)


def note_on_pair(pair: Pair) -> Sentence:
    """Return on which questions two columns are compared, or why they are not."""
    if pair.reason:
        return sentence("No difference {}: {}.", pair.label, pair.reason)
    text = _BY_LINE if pair.by_line else "Difference {}: on the {} questions that both have."
    return sentence(text, pair.label, pair.shared)


def notes_on_lacking(columns: Sequence[Column]) -> Iterator[Sentence]:
    """Yield a note on each run that has only some of the tasks, for its means have no value."""
    for column in columns:
        tasks = column.table.info.tasks
        missing = len(tasks) - len(column.table.answers.expected & set(tasks))
        if missing:
            headline = benchmarks()[column.table.info.benchmark].headline
            names = ", ".join(name for _, name in headline) or sentence("means over tasks")
            yield sentence(_LACKING, column.label, missing, len(tasks), names)


# ---------------------------------------------------------------------- runs together


def remarks_by_table(runs: Sequence[ScoredRun]) -> Iterator[tuple[str, Sentence]]:
    """Yield each table with one sentence for each condition in which runs of it differ."""
    for name in tables():
        facts = {run.name: run.tables[name].facts for run in runs if name in run.tables}
        for condition, value_of in _CONDITIONS:
            values = {run: value_of(own) for run, own in facts.items()}
            if len(set(values.values())) > 1:
                each = listed((sentence("{}: {}", *own) for own in values.items()), "; ", "；")
                text = "{}: the runs differ in {} ({})."
                yield name, sentence(text, name, sentence(condition), each)
        # What the table shows beside the figures is said above or there.
        signatures = [
            {key: value for key, value in own.ingredients.items() if key not in _SHOWN}
            for own in facts.values()
        ]
        for reason in incomparable(signatures, segmented()):
            yield name, sentence("{}, not comparable: {}", name, reason)


def remarks_on(runs: Sequence[ScoredRun]) -> list[Sentence]:
    """Return one sentence for each condition in which runs of one table differ."""
    return [text for _, text in remarks_by_table(runs)]
