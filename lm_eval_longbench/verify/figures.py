"""Check figures: each sample's as logged, and each of the results file, against the answers."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from lm_eval_longbench.benchmarks.base import CAPPED, COUNTS, Benchmark, Task
from lm_eval_longbench.benchmarks.registry import benchmark_of, benchmarks, find_task
from lm_eval_longbench.benchmarks.sample import Scored
from lm_eval_longbench.errors import LongBenchError, PredictionError
from lm_eval_longbench.figures.means import AGGREGATIONS
from lm_eval_longbench.figures.questions import question_values
from lm_eval_longbench.logs.formulas import standard_error
from lm_eval_longbench.logs.results_file import TaskResult
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
class Column:
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
        columns: by metric and filter, as the results file names figures: "score,none".
        checks: on the rows.
        complete: whether every row could be scored.
    """

    columns: dict[str, Column] = field(default_factory=dict)
    checks: list[Check] = field(default_factory=list)
    complete: bool = True


def aggregation_names(config: Mapping[str, Any]) -> dict[str, str]:
    """Return the name of each metric's aggregation in a task's dumped configuration."""
    names = {}
    entries = config.get("metric_list")
    for entry in entries if isinstance(entries, Sequence) else ():
        if isinstance(entry, Mapping):
            text = str(entry.get("aggregation", "mean"))
            source = _FUNCTION.match(text)
            names[str(entry.get("metric"))] = source[1] if source else text
    return names


def scored_by_others(task: TaskResult) -> str:
    """Return why other figures need not be wrong; "": the same rules made them."""
    metrics, benchmark = task.run.get("metrics"), benchmarks().get(str(task.run.get("benchmark")))
    ours = None if benchmark is None else benchmark.metrics
    if metrics != ours:
        return f"Scored with metrics {metrics}; this package has {ours}."
    return _other_jieba(task)


def _other_jieba(task: TaskResult) -> str:
    """Return that another jieba segments the answers here than in the run; "": none does."""
    recorded, jieba = _recorded(task).get("jieba"), package_versions()["jieba"]
    if find_task(str(task.run.get("task"))).segmented and recorded != jieba:
        return f"Recomputed with jieba {jieba} instead of {recorded}, which segments the answers."
    return ""


def _recorded(task: TaskResult) -> Mapping[str, Any]:
    packages = task.run.get("packages")
    return packages if isinstance(packages, Mapping) else {}


def _other_packages(task: TaskResult) -> str:
    """Return the packages that are of other versions here, in a sentence; "": none are."""
    ours = package_versions()
    other = [
        f"{name} {version}, here {ours.get(name)}"
        for name, version in _recorded(task).items()
        if ours.get(name) != version
    ]
    return f" Recomputed with other versions: {'; '.join(other)}." if other else ""


def recompute_rows(task: TaskResult, rows: Sequence[LogRow]) -> Figures:
    """Return the figures of all questions, and the check of each sample's logged ones."""
    found = Figures()
    names = aggregation_names(task.config)
    edited: list[str] = []
    broken: list[str] = []
    for row in rows:
        if not row.logged:
            continue
        try:
            own = recompute(task.run, row.doc, row.responses, row.logged)
        except LongBenchError as error:
            broken.append(at(row, f"has no score: {error}"))
            continue
        # Earlier versions do not have it, nor have metric lists of a user's own.
        if CAPPED.name not in names:
            own = replace(own, figures={k: v for k, v in own.figures.items() if k != CAPPED.name})
        edited += _edited(row, own)
        for name, value in own.figures.items():
            column = found.columns.setdefault(f"{name},{row.filter}", Column())
            column.values.append(value)
            reason = own.taken.get(name) or own.resting.get(name, "")
            column.taken = column.taken or reason
    found.complete = not broken
    scored = sum(bool(row.logged) for row in rows)
    kind = "sample scores"
    if not scored:
        said = "The run was made with --predict_only: nothing was scored."
        found.checks = [Check(kind, kind, NOT_CHECKABLE, meaning=said)]
        return found
    if scored < len(rows):
        without = [at(row, "has no figures") for row in rows if not row.logged]
        said = f"Its figures were taken out. {EDITED}"
        found.checks.append(all_of("scored rows", len(rows), without, "figures in each", said))
    excuse = scored_by_others(task)
    if edited and excuse:
        what = f"{len(edited)} of {scored}: {some(edited)}"
        found.checks.append(Check(kind, kind, NOT_CHECKABLE, what, None, excuse))
    else:
        meaning = "A score in the log does not follow from its answer: one of them was edited."
        meaning += _other_packages(task)
        found.checks.append(all_of(kind, scored, edited, "follows from the answers", meaning))
    if broken:
        meaning = "Documents in the log were damaged."
        found.checks.append(all_of("documents", scored, broken, "can be scored", meaning))
    return found


def _edited(row: LogRow, own: Recomputed) -> Iterator[str]:
    """Yield where the logged figures of a row do not follow from its answers."""
    for name in row.logged.keys() | own.figures.keys():
        logged, value = row.logged.get(name), own.figures.get(name)
        if name not in own.taken and not same_number(logged, value):
            yield at(row, f"has {name} {logged}, recomputed {value}")


def aggregated(task: TaskResult, figures: Figures) -> dict[str, float]:
    """Return each figure of a task whose aggregation is known, by its name in the results."""
    names = aggregation_names(task.config)
    values = {}
    for key, column in figures.columns.items():
        function = AGGREGATIONS.get(names.get(key.rpartition(",")[0], "mean"))
        if function is not None:
            values[key] = function(column.values)
    return values


def recomputed(task: TaskResult, figures: Figures) -> dict[str, float]:
    """Return the figures of a task that rest on its answers alone, for those of its groups."""
    own = aggregated(task, figures) if figures.complete else {}
    return {key: value for key, value in own.items() if not figures.columns[key].taken}


def check_figures(task: TaskResult, figures: Figures) -> Iterator[Check]:
    """Yield a check of each figure that the results state of a task, or should."""
    expected = aggregated(task, figures)
    stated = {key: value for key, value in task.figures.items() if key not in _NO_FIGURES}
    errors = [_error_key(key) for key in figures.columns]
    for key in dict.fromkeys([*stated, *figures.columns, *errors]):
        metric, _, name = key.rpartition(",")
        if metric.endswith(_STDERR):
            yield _error(task, f"{metric.removesuffix(_STDERR)},{name}", key, figures)
        elif not figures.complete:
            said = "Some rows of the log cannot be scored."
            yield Check("figures", key, NOT_CHECKABLE, stated.get(key), None, said)
        elif key not in figures.columns:
            said = "No such figure follows from the log: it was added."
            if metric == BYPASS and not figures.columns:
                yield compared("figures", key, stated[key], _BYPASSED, said)
            else:
                yield Check("figures", key, DIFFERENT, stated[key], None, said)
        elif key not in stated:
            said = "The figure was taken out of the results."
            yield Check("figures", key, DIFFERENT, None, expected.get(key), said)
        elif key not in expected:
            how = aggregation_names(task.config)[metric]
            said = f"It is put together by {how!r}, which this package does not know."
            yield Check("figures", key, NOT_CHECKABLE, stated.get(key), None, said)
        else:
            yield _figure(task, key, stated[key], expected[key], figures.columns[key].taken)


def _figure(task: TaskResult, key: str, found: Any, expected: float, taken: str) -> Check:
    if same_number(found, expected):
        if not taken:
            return Check("figures", key, CONFIRMED, found, expected)
        said = f"It follows from the logged values, but these cannot be recomputed: {taken}."
        return Check("figures", key, NOT_CHECKABLE, found, expected, said)
    excuse = scored_by_others(task)
    if excuse and not taken:
        return Check("figures", key, NOT_CHECKABLE, found, expected, excuse)
    said = "The results do not follow from the answers: one of them was edited."
    return Check("figures", key, DIFFERENT, found, expected, said + _other_packages(task))


def _error_key(key: str) -> str:
    metric, _, name = key.rpartition(",")
    return f"{metric}{_STDERR},{name}"


def _error(task: TaskResult, of: str, key: str, figures: Figures) -> Check:
    """Check a standard error: the harness gives those of its own mean, and "N/A" for others."""
    found, column = task.figures.get(key), figures.columns.get(of)
    metric, names = of.rpartition(",")[0], aggregation_names(task.config)
    how = names.get(metric, "mean")
    if not figures.complete:
        said = "Some rows of the log cannot be scored."
        return Check("figures", key, NOT_CHECKABLE, found, None, said)
    if column is None:
        if not figures.columns and of.startswith(f"{BYPASS},"):
            return Check("figures", key, CONFIRMED, found, _NO_ERROR)
        said = "No such figure follows from the log: it was added."
        return Check("figures", key, DIFFERENT, found, None, said)
    if how not in AGGREGATIONS:
        said = f"It is the error of {how!r}, which this package does not know."
        return Check("figures", key, NOT_CHECKABLE, found, None, said)
    known = [value for value in column.values if value is not None]
    draws = task.settings.get("config", {}).get("bootstrap_iters")
    counted = metric in _COUNTED and metric in names
    if how != "mean" or counted or len(known) < 2 or draws == 0:
        if found == _NO_ERROR:
            return Check("figures", key, CONFIRMED, found, _NO_ERROR)
        said = "The harness gives no standard error of this figure: it was added."
        return Check("figures", key, DIFFERENT, found, _NO_ERROR, said)
    return _figure(task, key, found, standard_error(known), column.taken)


def check_official(task: TaskResult, checks: Sequence[Check]) -> Check:
    """Return the check whether an official figure of a task was recomputed and confirmed.

    Args:
        task: what the results file says.
        checks: all others of the task.
    """
    own = find_task(str(task.run["task"]))
    benchmark = benchmark_of(own)
    metrics, names = benchmark.official_metrics(own), aggregation_names(task.config)
    stated = {metric: names.get(metric, "mean") for metric in metrics}
    ours = {metric.name: metric.aggregation for metric in benchmark.harness_metrics(own)}
    found = [
        (check.name.rpartition(",")[0], check)
        for check in checks
        if check.kind == "figures" and check.name.rpartition(",")[0] in metrics
    ]
    known = [(metric, check) for metric, check in found if not same_number(check.found, math.nan)]
    confirmed = [(metric, check) for metric, check in known if check.status == CONFIRMED]
    left = (check for check in checks if (check.kind, check.name) in _OPEN)
    problems = [check.meaning for check in left if check.status == NOT_CHECKABLE]
    if not found:
        problems = ["No official figure was recomputed: there is no log, or nothing was scored."]
    elif not known:
        problems = ["The official figure is not known yet (NaN)."]
    elif not confirmed:
        problems = [known[0][1].meaning]
    elif not any(stated[metric] == ours[metric] for metric, _ in confirmed):
        metric = confirmed[0][0]
        problems = [f"It is put together by {stated[metric]!r}, officially by {ours[metric]!r}."]
    elif _other_jieba(task):
        problems = [_other_jieba(task)]
    figures = ", ".join(check.name for _, check in known) or ", ".join(metrics)
    status = NOT_CHECKABLE if problems else CONFIRMED
    return Check(OFFICIAL, OFFICIAL, status, figures, None, "".join(problems[:1]))


def number_of(column: Column | None, *, partly: bool = False) -> float | None:
    """Return the sum of a figure over all questions; None where it is not known.

    Args:
        column: of the figure; None: there is none.
        partly: whether it is enough to know it of some questions.
    """
    if column is None or column.taken:
        return None
    known = [value for value in column.values if value is not None]
    return math.fsum(known) if len(known) >= (1 if partly else len(column.values)) else None
