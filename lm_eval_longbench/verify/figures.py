"""Check figures: each sample's as logged, and each of the results file, against the answers."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from lm_eval_longbench.benchmarks.base import CAPPED, COUNTS, Benchmark, Task
from lm_eval_longbench.benchmarks.registry import benchmark_of, find_task
from lm_eval_longbench.benchmarks.sample import Scored
from lm_eval_longbench.catalog.users import changed
from lm_eval_longbench.errors import LongBenchError, PredictionError
from lm_eval_longbench.figures.means import AGGREGATIONS
from lm_eval_longbench.figures.questions import question_values
from lm_eval_longbench.logs.formulas import standard_error
from lm_eval_longbench.logs.sample_log import BYPASS, LogRow, at
from lm_eval_longbench.metrics.reasoning import DROP
from lm_eval_longbench.signature.signature import package_versions
from lm_eval_longbench.verify.check import (
    CONFIRMED,
    DIFFERENT,
    EDITED,
    NOT_CHECKABLE,
    OFFICIAL,
    Check,
    all_of,
    compared,
    same_number,
    some,
)
from lm_eval_longbench.verify.subject import Subject

_STDERR = "_stderr"
_NO_ERROR = "N/A"
# What the harness states where nothing is scored.
_BYPASSED = 999
# What the harness states of a task besides its figures.
_NO_FIGURES = ("name", "alias", "sample_len")
# The task looks at their values on the way, so that the harness knows no error of theirs.
_COUNTED = tuple(metric.name for metric in COUNTS)
# What leaves open over which questions the official figure is, where it cannot be checked.
_OPEN = (("counts", "asked"), ("shared ids", "shared ids"))
# The harness dumps a function by its source.
_FUNCTION = re.compile(r"\s*def\s+(\w+)\s*\(")
_SIMILARITY = "semantic_similarity"
# Figures that rest on it.
_SCORES = ("score", "best_of_n", "pass_at_n")
_EMBEDDED = "the embedding model is needed to compute it again"
_EACH = "the log states the mean similarity of the repeats, and this needs each of them"
# Shares of repeats are told apart by less than this.
_NEAR = 1e-9

Values = Mapping[str, float | None]


@dataclass(frozen=True)
class Recomputed:
    """The figures of one question.

    Attributes:
        figures: by metric name. Those that cannot be recomputed are as the log states them.
        taken: of those the reason, by metric name.
        resting: why others, though computed here, rest on what only the log states.
    """

    figures: Values
    taken: Mapping[str, str] = field(default_factory=dict)
    resting: Mapping[str, str] = field(default_factory=dict)


def recompute(
    signature: Mapping[str, Any], doc: Mapping[str, Any], responses: Sequence[str], logged: Values
) -> Recomputed:
    """Return every figure of one question from its answers.

    Args:
        signature: `task`, `reasoning` and `embedding_model` are used.
        doc: the question as it stands in the log.
        responses: its answers as they were scored, one a repeat.
        logged: its figures as the log states them, for what needs more than the answers.

    Raises:
        UnknownNameError: there is no such task.
        PredictionError: the document cannot be scored; the message says why.
    """
    task = find_task(str(signature.get("task")))
    task = changed(task, {"metric": signature.get("metric") or task.metric})
    benchmark = benchmark_of(task)
    problem = benchmark.question_problem(doc, task)
    if problem:
        raise PredictionError(f"the document cannot be scored: {problem}.")
    lost = benchmark.failed_before(task, doc)
    if lost is None:
        reason = "whether pass one gave a reasoning cannot be told from a prompt that was cut"
        return Recomputed(dict(logged), dict.fromkeys(logged, reason))
    if lost:
        responses = [""] * len(responses)
    policy = str(signature.get("reasoning", DROP))
    if task.summary:
        model = signature.get("embedding_model")
        return _recompute_summary(benchmark, task, doc, responses, policy, logged, model)
    return Recomputed(question_values(benchmark, task, doc, responses, policy))


def _recompute_summary(
    benchmark: Benchmark,
    task: Task,
    doc: Mapping[str, Any],
    responses: Sequence[str],
    policy: str,
    logged: Values,
    embedding_model: object,
) -> Recomputed:
    """Return the figures of one question whose answers are summaries.

    Their similarity needs the embedding model. The log states its mean over the repeats, from which
    the score follows.
    """
    from lm_eval_longbench.semantic.embedder import OFFICIAL_MODEL

    official = embedding_model == OFFICIAL_MODEL
    parts: list[Scored] = []

    def keep(doc: Mapping[str, Any], scored: Sequence[Scored]) -> None:
        parts.extend(scored)

    own = question_values(benchmark, task, doc, responses, policy, complete=keep)
    stated = logged.get(_SIMILARITY)
    if not isinstance(stated, float | int) or math.isnan(stated):
        return Recomputed(own)
    similarity = float(stated)
    full = [part for part in parts if part.score is None]  # the others are empty
    taken = {_SIMILARITY: _EMBEDDED} if full else {}
    resting = dict.fromkeys(_SCORES, _EMBEDDED) if full and official else {}
    if len(responses) == 1 or not full:

        def complete(doc: Mapping[str, Any], scored: Sequence[Scored]) -> None:
            for one in scored:
                known = similarity if one.score is None else None
                one.score, one.failed, one.shown = benchmark.with_similarity(
                    one.shown, known, official=official
                )

        own = question_values(benchmark, task, doc, responses, policy, complete=complete)
        return Recomputed(own, taken, resting)
    own |= {_SIMILARITY: similarity}
    if not official:
        return Recomputed(own, taken)
    # A sum outside [0, 1] counts as failed, and its share in the mean is not known.
    failed = logged.get("failed")
    beyond = isinstance(failed, float | int) and failed > (own["failed"] or 0.0) + _NEAR
    unknown = ["best_of_n", "pass_at_n", *(["score", "failed"] if beyond else [])]
    if not beyond:
        rouge = math.fsum(part.shown["rouge_l"] for part in full) / len(responses)
        own["score"] = 0.5 * similarity + 0.5 * rouge
    own |= {name: logged.get(name) for name in unknown}
    return Recomputed(own, taken | dict.fromkeys(unknown, _EACH), resting)


@dataclass
class LoggedColumn:
    """One figure of all questions, under one filter.

    Attributes:
        values: recomputed, or as logged where that cannot be.
        taken: why some of them are as logged, or rest on what is; "": all are recomputed.
    """

    values: list[float | None] = field(default_factory=list)
    taken: str = ""


@dataclass
class Figures:
    """What the answers of one task are worth.

    Attributes:
        names: of each metric's aggregation, see `aggregation_names`.
        columns: by metric and filter, as the results file names figures: "score,none".
        complete: whether every row could be scored.
        values: of the columns whose aggregation is known.
    """

    names: Mapping[str, str]
    columns: dict[str, LoggedColumn] = field(default_factory=dict)
    complete: bool = True
    values: dict[str, float] = field(default_factory=dict)

    def aggregation(self, key: str) -> str:
        """Return the name of the aggregation of a figure."""
        return self.names.get(key.rpartition(",")[0], "mean")

    @property
    def recomputed(self) -> dict[str, float]:
        """The figures that rest on the answers alone, for those of groups."""
        own = self.values if self.complete else {}
        return {key: value for key, value in own.items() if not self.columns[key].taken}

    def sum_of(self, key: str, *, partly: bool = False) -> float | None:
        """Return the sum of a figure over all questions; None where it is not known.

        `partly`: it is enough to know it of some questions.
        """
        column = self.columns.get(key)
        if column is None or column.taken or not self.complete:
            return None
        known = [value for value in column.values if value is not None]
        return math.fsum(known) if len(known) >= (1 if partly else len(column.values)) else None


def aggregation_names(config: Mapping[str, Any]) -> dict[str, str]:
    """Return the name of each metric's aggregation in a task's dumped configuration."""
    names = {}
    for entry in config.get("metric_list") or ():
        text = entry.get("aggregation", "mean")
        source = _FUNCTION.match(text)
        names[entry["metric"]] = source[1] if source else text
    return names


def _scored_by_others(task: Subject) -> str:
    """Return why other figures need not be wrong; "": the same rules made them."""
    metrics, ours = task.run.get("metrics"), task.benchmark.metrics
    if metrics != ours:
        return f"Scored with metrics {metrics}; this package has {ours}."
    return _other_jieba(task)


def _other_jieba(task: Subject) -> str:
    """Return that another jieba segments the answers here than in the run; "": none does."""
    recorded, jieba = task.packages.get("jieba"), package_versions()["jieba"]
    if task.own.segmented and recorded != jieba:
        return f"Recomputed with jieba {jieba} instead of {recorded}, which segments the answers."
    return ""


def _other_packages(task: Subject) -> str:
    """Return the packages that are of other versions here, in a sentence; "": none are."""
    ours = package_versions()
    other = [
        f"{name} {version}, here {ours.get(name)}"
        for name, version in task.packages.items()
        if ours.get(name) != version
    ]
    return f" Recomputed with other versions: {'; '.join(other)}." if other else ""


def recompute_rows(task: Subject) -> tuple[Figures, list[Check]]:
    """Return the figures of all questions, and the checks of each sample's logged ones."""
    found = Figures(aggregation_names(task.config))
    edited: list[str] = []
    broken: list[str] = []
    scored = [row for row in task.rows if row.logged]
    for row in scored:
        try:
            own = recompute(task.run, row.doc, row.responses, row.logged)
        except LongBenchError as error:
            broken.append(at(row, f"has no score: {error}"))
            continue
        # Earlier versions do not have it, nor have metric lists of a user's own.
        if CAPPED.name not in found.names:
            own = replace(own, figures={k: v for k, v in own.figures.items() if k != CAPPED.name})
        edited += _edited(row, own)
        for name, value in own.figures.items():
            column = found.columns.setdefault(f"{name},{row.filter}", LoggedColumn())
            column.values.append(value)
            column.taken = column.taken or own.taken.get(name) or own.resting.get(name, "")
    found.complete = not broken
    for key, column in found.columns.items():
        function = AGGREGATIONS.get(found.aggregation(key))
        if function is not None:
            found.values[key] = function(column.values)
    return found, list(_sample_checks(task, scored, edited, broken))


def _sample_checks(
    task: Subject, scored: Sequence[LogRow], edited: Sequence[str], broken: Sequence[str]
) -> Iterator[Check]:
    """Yield the checks of the figures that the scored rows state.

    `edited` and `broken` have a sentence for each row with other figures, and that has no score.
    """
    kind, number = "sample scores", len(scored)
    if not scored:
        said = "The run was made with --predict_only: nothing was scored."
        yield Check(kind, kind, NOT_CHECKABLE, meaning=said)
        return
    if number < len(task.rows):
        without = [at(row, "has no figures") for row in task.rows if not row.logged]
        said = f"Its figures were taken out. {EDITED}"
        yield from all_of("scored rows", len(task.rows), without, "figures in each", said)
    excuse = _scored_by_others(task)
    if edited and excuse:
        what = f"{len(edited)} of {number}: {some(edited)}"
        yield Check(kind, kind, NOT_CHECKABLE, what, None, excuse)
    else:
        said = "A score in the log does not follow from its answer: one of them was edited."
        said += _other_packages(task)
        yield from all_of(kind, number, edited, "follows from the answers", said)
    if broken:
        said = "Documents in the log were damaged."
        yield from all_of("documents", number, broken, "can be scored", said)


def _edited(row: LogRow, own: Recomputed) -> Iterator[str]:
    """Yield where the logged figures of a row do not follow from its answers."""
    for name in row.logged.keys() | own.figures.keys():
        logged, value = row.logged.get(name), own.figures.get(name)
        if name not in own.taken and not same_number(logged, value):
            yield at(row, f"has {name} {logged}, recomputed {value}")


def check_figures(task: Subject, figures: Figures) -> Iterator[Check]:
    """Yield a check of each figure that the results state of a task, or should."""
    stated = {key: value for key, value in task.figures.items() if key not in _NO_FIGURES}
    errors = (f"{_STDERR},".join(key.rsplit(",", 1)) for key in figures.columns)
    for key in dict.fromkeys([*stated, *figures.columns, *errors]):
        yield _figure(task, figures, stated, key)


def _figure(task: Subject, figures: Figures, stated: Mapping[str, Any], key: str) -> Check:
    """Check a figure, or the standard error of one: the harness has errors of its own mean only."""
    name, _, own_filter = key.rpartition(",")
    is_error = name.endswith(_STDERR)
    metric = name.removesuffix(_STDERR)
    of, found = f"{metric},{own_filter}" if is_error else key, stated.get(key)
    column, how = figures.columns.get(of), figures.aggregation(of)
    if not figures.complete:
        said = "Some rows of the log cannot be scored."
        return Check("figures", key, NOT_CHECKABLE, found, None, said)
    if column is None:
        said = "No such figure follows from the log: it was added."
        if figures.columns or metric != BYPASS:
            return Check("figures", key, DIFFERENT, found, None, said)
        if is_error:
            return Check("figures", key, CONFIRMED, found, _NO_ERROR)
        return compared("figures", key, found, _BYPASSED, said)
    if not is_error and key not in stated:
        said = "The figure was taken out of the results."
        return Check("figures", key, DIFFERENT, None, figures.values.get(of), said)
    if of not in figures.values:
        said = f"It is {'the error of' if is_error else 'put together by'} {how!r}, which this "
        said += "package does not know."
        return Check("figures", key, NOT_CHECKABLE, found, None, said)
    expected = figures.values[of]
    if is_error:
        known = [value for value in column.values if value is not None]
        counted = metric in _COUNTED and metric in figures.names
        draws = task.settings.get("config", {}).get("bootstrap_iters")
        if how != "mean" or counted or len(known) < 2 or draws == 0:
            said = "The harness gives no standard error of this figure: it was added."
            return compared("figures", key, found, _NO_ERROR, said)
        expected = standard_error(known)
    if same_number(found, expected):
        if not column.taken:
            return Check("figures", key, CONFIRMED, found, expected)
        said = f"It follows from the logged values, but these cannot be recomputed: {column.taken}."
        return Check("figures", key, NOT_CHECKABLE, found, expected, said)
    excuse = "" if column.taken else _scored_by_others(task)
    if excuse:
        return Check("figures", key, NOT_CHECKABLE, found, expected, excuse)
    said = "The results do not follow from the answers: one of them was edited."
    return Check("figures", key, DIFFERENT, found, expected, said + _other_packages(task))


def check_official(task: Subject, checks: Sequence[Check]) -> Check:
    """Return the check whether an official figure is confirmed, from all other checks of it."""
    metrics, names = task.benchmark.official_metrics(task.own), aggregation_names(task.config)
    ours = {one.name: one.aggregation for one in task.benchmark.harness_metrics(task.own)}
    figures = [
        (check.name.rpartition(",")[0], check) for check in checks if check.kind == "figures"
    ]
    found = [(metric, check) for metric, check in figures if metric in metrics]
    known = [(metric, check) for metric, check in found if not same_number(check.found, math.nan)]
    confirmed = {
        metric: names.get(metric, "mean") for metric, check in known if check.status == CONFIRMED
    }
    left = (check for check in checks if (check.kind, check.name) in _OPEN)
    problem = next((check.meaning for check in left if check.status == NOT_CHECKABLE), "")
    if not found:
        problem = "No official figure was recomputed: there is no log, or nothing was scored."
    elif not known:
        problem = "The official figure is not known yet (NaN)."
    elif not confirmed:
        problem = known[0][1].meaning
    elif not any(how == ours[metric] for metric, how in confirmed.items()):
        metric, how = next(iter(confirmed.items()))
        problem = f"It is put together by {how!r}, officially by {ours[metric]!r}."
    else:
        problem = _other_jieba(task) or problem
    shown = ", ".join(check.name for _, check in known) or ", ".join(metrics)
    status = NOT_CHECKABLE if problem else CONFIRMED
    return Check(OFFICIAL, OFFICIAL, status, shown, None, problem)
