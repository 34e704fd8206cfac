"""Recompute figures: of each question from its answers, of tasks and groups from these."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from lm_eval_longbench.benchmarks.questions import question_values
from lm_eval_longbench.benchmarks.registry import benchmark_of, find_task, kind_of, our_group
from lm_eval_longbench.catalog.users import changed
from lm_eval_longbench.check.task import LoggedTask
from lm_eval_longbench.check.verification import (
    CONFIRMED,
    DIFFERENT,
    NOT_CHECKABLE,
    OFFICIAL,
    Check,
    all_of,
    same_number,
    some,
)
from lm_eval_longbench.errors import LongBenchError, PredictionError
from lm_eval_longbench.logs.results_file import ResultsFile
from lm_eval_longbench.logs.sample_log import BYPASS, LogRow, at
from lm_eval_longbench.metrics.reasoning import DROP
from lm_eval_longbench.retrieval.vectors import OFFICIAL_MODEL
from lm_eval_longbench.signature.signature import package_versions
from lm_eval_longbench.statistics.means import AGGREGATIONS, running_mean

# Beyond any figure: sums of larger numbers need not be exact.
_BEYOND = 1e150


def safe_sum(values: Sequence[float]) -> float:
    """Return the exact sum; of numbers that no figure can have, infinity or NaN and no error."""
    return math.fsum(values) if all(abs(value) < _BEYOND for value in values) else sum(values)


def standard_error(values: Sequence[float]) -> float:
    """Return the standard error of the mean of two values or more."""
    mean = running_mean(values)
    squares = safe_sum([(value - mean) * (value - mean) for value in values])
    return math.sqrt(squares / (len(values) - 1)) / math.sqrt(len(values))


def weighted_mean(values: Sequence[float], sizes: Sequence[int]) -> float:
    """Return a group's mean of its tasks' figures, weighted by their numbers of questions."""
    pairs = zip(values, sizes, strict=True)
    return safe_sum([value * size for value, size in pairs]) / sum(sizes)


_STDERR = "_stderr"
# The harness dumps a function by its source.
_FUNCTION = re.compile(r"\s*def\s+(\w+)\s*\(")
_SIMILARITY = "semantic_similarity"
# Figures that rest on it.
_SCORES = ("score", "best_of_n", "pass_at_n")
_EMBEDDED = "the embedding model is needed to compute it again"

Values = Mapping[str, float | None]


@dataclass(frozen=True)
class Recomputed:
    """The figures of one question.

    Attributes:
        figures: by metric name.
        taken: why some are as the log states them, or rest on what only the log states.
    """

    figures: Values
    taken: Mapping[str, str] = field(default_factory=dict)


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
    own = question_values(benchmark, task, doc, responses, policy)
    if task.summary and own["score"] is None:
        return _with_similarity(own, logged, signature.get("embedding_model"))
    return Recomputed(own)


def _with_similarity(
    own: dict[str, float | None], logged: Values, embedding_model: object
) -> Recomputed:
    """Return the figures of a question whose answers are summaries, some of them not empty.

    Their similarity needs the embedding model. The log states its mean over the repeats, from which
    the mean score follows, where no sum of it and ROUGE-L was outside of [0, 1] and so failed.
    """
    similarity, rouge = logged.get(_SIMILARITY), own["rouge_l"]
    if similarity is None or math.isnan(similarity) or rouge is None:
        return Recomputed(own)
    own |= {_SIMILARITY: similarity}
    if embedding_model != OFFICIAL_MODEL:
        return Recomputed(own, {_SIMILARITY: _EMBEDDED})
    own |= {name: logged.get(name) for name in _SCORES}
    if same_number(logged.get("failed", own["failed"]), own["failed"]):
        own["score"] = 0.5 * similarity + 0.5 * rouge
    else:
        own["failed"] = logged.get("failed")
    return Recomputed(own, dict.fromkeys((_SIMILARITY, *_SCORES), _EMBEDDED))


@dataclass
class Figures:
    """What the answers of one task are worth.

    Attributes:
        names: of each metric's aggregation, see `aggregation_names`.
        columns: of each figure the values of all questions, by metric and filter, as the results
            file names figures: "score,none".
        taken: why some figures are as the log states them, or rest on what is.
    """

    names: Mapping[str, str]
    columns: dict[str, list[float | None]] = field(default_factory=dict)
    taken: dict[str, str] = field(default_factory=dict)

    def aggregation(self, key: str) -> str:
        """Return the name of the aggregation of a figure."""
        return self.names.get(key.rpartition(",")[0], "mean")

    def value(self, key: str) -> float | None:
        """Return a figure; None: there is none, or its aggregation is not known."""
        function = AGGREGATIONS.get(self.aggregation(key))
        return function(self.columns[key]) if function and key in self.columns else None

    def error(self, key: str) -> float | None:
        """Return the standard error of a figure; None: the harness gives none, or another."""
        known = [value for value in self.columns[key] if value is not None]
        is_mean = self.aggregation(key) == "mean" and len(known) > 1
        return standard_error(known) if is_mean else None

    def sum_of(self, key: str, *, partly: bool = False) -> float | None:
        """Return the sum of a figure over all questions; None where it is not known.

        `partly`: it is enough to know it of some questions.
        """
        values = self.columns.get(key, [])
        known = [value for value in values if value is not None]
        enough = len(known) >= (1 if partly else len(values))
        return math.fsum(known) if known and enough and key not in self.taken else None


def aggregation_names(config: Mapping[str, Any]) -> dict[str, str]:
    """Return the name of each metric's aggregation in a task's dumped configuration."""
    names = {}
    for entry in config.get("metric_list") or ():
        text = entry.get("aggregation", "mean")
        source = _FUNCTION.match(text)
        names[entry["metric"]] = source[1] if source else text
    return names


def _scored_by_others(task: LoggedTask) -> str:
    """Return why other figures need not be wrong; "": the same rules made them."""
    metrics, ours = task.run.get("metrics"), task.benchmark.metrics
    if metrics != ours:
        return f"Scored with metrics {metrics}; this package has {ours}."
    return _other_jieba(task)


def _other_jieba(task: LoggedTask) -> str:
    """Return that another jieba segments the answers here than in the run; "": none does."""
    recorded, jieba = task.packages.get("jieba"), package_versions()["jieba"]
    if task.own.segmented and recorded != jieba:
        return f"Recomputed with jieba {jieba} instead of {recorded}, which segments the answers."
    return ""


def recompute_rows(task: LoggedTask) -> tuple[Figures, list[Check]]:
    """Return the figures of all questions, and the checks of each sample's logged ones."""
    found = Figures(aggregation_names(task.config))
    kind, number = "sample scores", len(task.rows)
    stated = {name for row in task.rows for name in row.logged}
    if not stated:
        said = "The run was made with predict_only: nothing was scored."
        return found, [Check(kind, kind, NOT_CHECKABLE, meaning=said)]
    other: list[str] = []
    broken: list[str] = []
    for row in task.rows:
        try:
            own = recompute(task.run, row.doc, row.responses, row.logged)
        except LongBenchError as error:
            broken.append(at(row, f"has no score: {error}"))
            continue
        other += _other_figures(row, own, stated)
        for name in (name for name in own.figures if name in stated):
            key = f"{name},{row.filter}"
            found.columns.setdefault(key, []).append(own.figures[name])
            if name in own.taken:
                found.taken.setdefault(key, own.taken[name])
    if broken:
        said = "Documents in the log are damaged."
        return Figures(found.names), list(
            all_of("documents", number, broken, "can be scored", said)
        )
    excuse = _scored_by_others(task)
    if other and excuse:
        return found, [Check(kind, kind, NOT_CHECKABLE, some(other), None, excuse)]
    said = "A score in the log does not follow from its answer."
    return found, list(all_of(kind, number, other, "follows from the answers", said))


def _other_figures(row: LogRow, own: Recomputed, stated: set[str]) -> Iterator[str]:
    """Yield where the logged figures of a row do not follow from its answers."""
    for name in sorted(stated):
        logged, value = row.logged.get(name), own.figures.get(name)
        if not same_number(logged, value):
            yield at(row, f"has {name} {logged}, recomputed {value}")


def check_figures(task: LoggedTask, figures: Figures) -> Iterator[Check]:
    """Yield a check of each figure that the results state of a task, or should."""
    stated = {key: value for key, value in task.figures.items() if "," in key}
    for key in dict.fromkeys([*stated, *figures.columns]):
        name, _, own_filter = key.rpartition(",")
        is_error = name.endswith(_STDERR)
        of = f"{name.removesuffix(_STDERR)},{own_filter}"
        if of in figures.columns and not is_error:
            yield _figure(task, figures, key, stated.get(key), figures.value(of))
        elif of in figures.columns:
            error = figures.error(of)
            if error is not None and isinstance(stated[key], float | int):
                yield _figure(task, figures, key, stated[key], error)
        elif of not in figures.columns and of.partition(",")[0] != BYPASS:
            said = "The answers in the log do not give it."
            yield Check("figures", key, NOT_CHECKABLE, stated[key], None, said)


def _figure(
    task: LoggedTask, figures: Figures, key: str, found: Any, expected: float | None
) -> Check:
    """Check one figure; `expected`: recomputed, None where that cannot be."""
    of = key.replace(f"{_STDERR},", ",")
    taken, excuse = figures.taken.get(of), _scored_by_others(task)
    if expected is None:
        said = f"It is put together by {figures.aggregation(of)!r}, which this package does not "
        said += "know."
    elif same_number(found, expected):
        if not taken:
            return Check("figures", key, CONFIRMED, found, expected)
        said = f"It follows from the logged values, but these cannot be recomputed: {taken}."
    elif excuse and not taken:
        said = excuse
    else:
        said = "The results do not follow from the answers." + _other_packages(task)
        return Check("figures", key, DIFFERENT, found, expected, said)
    return Check("figures", key, NOT_CHECKABLE, found, expected, said)


def _other_packages(task: LoggedTask) -> str:
    """Return the packages that are of other versions here, in a sentence; "": none are."""
    ours = package_versions()
    other = [
        f"{name} {version}, here {ours.get(name)}"
        for name, version in task.packages.items()
        if ours.get(name) != version
    ]
    return f" Recomputed with other versions: {'; '.join(other)}." if other else ""


def check_official(task: LoggedTask, checks: Sequence[Check]) -> Check:
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
    # Over which questions the figure is may be open.
    asked = (check for check in checks if (check.kind, check.name) == ("counts", "asked"))
    problem = next((check.meaning for check in asked if check.status == NOT_CHECKABLE), "")
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


def _leaves(
    name: str, members: Mapping[str, Sequence[str]], above: tuple[str, ...] = ()
) -> list[str]:
    """Return the tasks under a group, each as often as ways lead to it: so the harness counts."""
    if name not in members:
        return [name]
    below = [member for member in members[name] if member not in (*above, name)]
    return [leaf for member in below for leaf in _leaves(member, members, (*above, name))]


def check_groups(
    results: ResultsFile, recomputed: Mapping[str, Figures]
) -> Iterator[tuple[str, Check]]:
    """Yield the checks of each group's figures, the headline among them, with the group's name.

    A group of ours, with our members, weighs its tasks as our file says. Any other is a user's own,
    of which the results do not say whether it weighs them by size: either is confirmed.
    """
    for name, members in results.members.items():
        ours, tasks = our_group(name, members), _leaves(name, results.members)
        weights = None if ours is None else ours.weights
        if kind_of(name) == "group" and ours is None:
            said = "A group of this package has this name, and other members."
            yield name, Check(OFFICIAL, "members", NOT_CHECKABLE, ", ".join(members), None, said)
        for key, found in results.results.get(name, {}).items():
            metric = key.partition(",")[0]
            own = [task for task in tasks if key in results.results.get(task, {})]
            if "," not in key or metric.endswith(_STDERR) or not recomputed.keys() & set(own):
                continue
            weighted = (True, False) if weights is None else (weights.get(metric, True),)
            yield name, _of_group(key, found, own, results, recomputed, weighted)


def _of_group(
    key: str,
    found: Any,
    tasks: Sequence[str],
    results: ResultsFile,
    recomputed: Mapping[str, Figures],
    weighted: Sequence[bool],
) -> Check:
    """Check a figure of a group against those of its tasks, each weighted in one of some ways."""
    stated = results.results
    own = {task: recomputed[task] for task in tasks if task in recomputed}
    known = {task: figures.value(key) for task, figures in own.items() if key not in figures.taken}
    left = {task for task in tasks if known.get(task) is None}
    values: list[Any] = [stated[task][key] if task in left else known[task] for task in tasks]
    sizes: list[Any] = [stated[task].get("sample_len") for task in tasks]
    if not all(isinstance(one, float | int) for one in (*values, *sizes)) or not sum(sizes):
        said = "Not all of its tasks have a number."
        return Check("groups", key, NOT_CHECKABLE, found, None, said)
    made = [weighted_mean(values, sizes if by_size else [1] * len(sizes)) for by_size in weighted]
    expected = next((value for value in made if same_number(found, value)), None)
    if expected is None:
        said = "The group's figure is no mean of its tasks' figures."
        return Check("groups", key, DIFFERENT, found, made[0], said)
    if left:
        said = f"It follows from its tasks, of which {len(left)} were not recomputed."
        return Check("groups", key, NOT_CHECKABLE, found, expected, said)
    return Check("groups", key, CONFIRMED, found, expected)
