"""Recompute figures: of each question from its answers, of tasks and groups from these."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from lm_eval_longbench.benchmarks.asking import question_values
from lm_eval_longbench.benchmarks.registry import our_group
from lm_eval_longbench.benchmarks.results import ResultsFile
from lm_eval_longbench.check.logged_task import LoggedTask
from lm_eval_longbench.check.verification import (
    CONFIRMED,
    DIFFERENT,
    NOT_CHECKABLE,
    OFFICIAL,
    Check,
    all_of,
    same_number,
)
from lm_eval_longbench.errors import LongBenchError, PredictionError
from lm_eval_longbench.metrics.reasoning import DROP
from lm_eval_longbench.records.log import BYPASS, LogRow, at
from lm_eval_longbench.retrieval.vectors import OFFICIAL_MODEL
from lm_eval_longbench.statistics.means import AGGREGATIONS

_STDERR = "_stderr"
_SIMILARITY = "semantic_similarity"
# Figures of summaries that rest on it.
_SCORES = ("score", "best_of_n", "pass_at_n")
_EMBEDDED = "the embedding model is needed to compute it again"
_PASS_ONE = "whether pass one gave a reasoning cannot be told from a prompt that was cut"
_OWN_AGGREGATION = "It is put together by {how!r}, officially by {ours!r}."

Values = dict[str, float | None]


@dataclass
class Figures:
    """What the answers of one task are worth.

    Attributes:
        aggregations: how each metric is put together officially.
        columns: of each figure the values of all questions, by metric and filter, as the results
            file names figures: "score,none".
        taken: why some figures are as the log states them, or rest on what only the log states.
    """

    aggregations: Mapping[str, str]
    columns: dict[str, list[float | None]] = field(default_factory=dict)
    taken: dict[str, str] = field(default_factory=dict)

    def _aggregation(self, key: str) -> str:
        return self.aggregations.get(key.rpartition(",")[0], "mean")

    def value(self, key: str) -> float:
        """Return a figure."""
        return AGGREGATIONS[self._aggregation(key)](self.columns[key])

    def error(self, key: str) -> float | None:
        """Return the standard error of a figure; None: the harness gives none."""
        known = [value for value in self.columns[key] if value is not None]
        is_mean = self._aggregation(key) == "mean" and len(known) > 1
        return float(np.std(known, ddof=1)) / math.sqrt(len(known)) if is_mean else None

    def sum_of(self, key: str, *, partly: bool = False) -> float | None:
        """Return the sum of a figure over all questions; None where it is not known.

        `partly`: it is enough to know it of some questions.
        """
        values = self.columns.get(key, [])
        known = [value for value in values if value is not None]
        enough = len(known) >= (1 if partly else len(values))
        return math.fsum(known) if known and enough and key not in self.taken else None


def recompute(task: LoggedTask, row: LogRow) -> tuple[Values, dict[str, str]]:
    """Return every figure of one question from its answers.

    Returns:
        The figures by metric; and why some are as the log states them, or rest on what only the
        log states.

    Raises:
        PredictionError: the document cannot be scored; the message says why.
    """
    own, benchmark, doc = task.own, task.benchmark, row.doc
    problem = benchmark.question_problem(doc, own)
    if problem:
        raise PredictionError(f"the document cannot be scored: {problem}.")
    lost = benchmark.failed_before(own, doc)
    if lost is None:
        return dict(row.logged), dict.fromkeys(row.logged, _PASS_ONE)
    responses = [""] * len(row.responses) if lost else row.responses
    policy = str(task.run.get("reasoning", DROP))
    values = question_values(benchmark, own, doc, responses, policy)
    if own.summary and values["score"] is None:
        return _with_similarity(values, row.logged, task.run.get("embedding_model"))
    return values, {}


def _with_similarity(
    values: Values, logged: Mapping[str, Any], embedding_model: object
) -> tuple[Values, dict[str, str]]:
    """Return the figures of a question whose answers are summaries, some of them not empty.

    Their similarity needs the embedding model. The log states its mean over the repeats, from which
    the mean score follows, where no sum of it and ROUGE-L was outside of [0, 1] and so failed.
    """
    similarity = logged.get(_SIMILARITY)
    if similarity is None or math.isnan(similarity):
        return values, {}
    values = {**values, _SIMILARITY: similarity}
    if embedding_model != OFFICIAL_MODEL:
        return values, {_SIMILARITY: _EMBEDDED}
    rouge, failed = values["rouge_l"], values["failed"]
    values |= {name: logged.get(name) for name in ("failed", *_SCORES)}
    if rouge is not None and same_number(values["failed"], failed):
        values["score"] = 0.5 * similarity + 0.5 * rouge
    return values, dict.fromkeys((_SIMILARITY, *_SCORES), _EMBEDDED)


def recompute_rows(task: LoggedTask) -> tuple[Figures, Check]:
    """Return the figures of all questions, and the check of each sample's logged ones."""
    ours = {one.name: one.aggregation for one in task.benchmark.harness_metrics(task.own)}
    found, kind, number = Figures(ours), "sample scores", len(task.rows)
    stated = sorted({name for row in task.rows for name in row.logged})
    if not stated:
        said = "The run was made with predict_only: nothing was scored."
        return found, Check(kind, kind, NOT_CHECKABLE, meaning=said)
    other: list[str] = []
    broken: list[str] = []
    for row in task.rows:
        try:
            values, taken = recompute(task, row)
        except LongBenchError as error:
            broken.append(at(row, f"has no score: {error}"))
            continue
        for name in stated:
            logged, value = row.logged.get(name), values.get(name)
            if not same_number(logged, value):
                other.append(at(row, f"has {name} {logged}, recomputed {value}"))
            if name in values:
                key = f"{name},{row.filter}"
                found.columns.setdefault(key, []).append(value)
                if name in taken:
                    found.taken.setdefault(key, taken[name])
    if broken:
        said = "Documents in the log are damaged."
        return Figures(ours), all_of("documents", number, broken, "can be scored", said)
    what, said = "follows from the answers", "A score in the log does not follow from its answer."
    if task.scored_by_others:
        return found, all_of(kind, number, other, what, task.scored_by_others, NOT_CHECKABLE)
    return found, all_of(kind, number, other, what, said)


def check_figures(task: LoggedTask, figures: Figures) -> Iterator[Check]:
    """Yield a check of each figure that the results state of a task, or should."""
    stated = {key: value for key, value in task.result.figures.items() if "," in key}
    for key in dict.fromkeys([*stated, *figures.columns]):
        metric, _, of_filter = key.rpartition(",")
        name, is_error = metric.removesuffix(_STDERR), metric.endswith(_STDERR)
        of = f"{name},{of_filter}"
        if of in figures.columns:
            expected = figures.error(of) if is_error else figures.value(of)
            if expected is not None and stated.get(key) != "N/A":  # the harness's for no error
                yield _figure(task, figures, key, of, stated.get(key), expected)
        elif name != BYPASS:
            said = "The answers in the log do not give it."
            yield Check("figures", key, NOT_CHECKABLE, stated[key], None, said)


def _figure(
    task: LoggedTask, figures: Figures, key: str, of: str, found: Any, expected: float
) -> Check:
    """Check a figure, or the standard error of the figure `of`, against the recomputed one."""
    taken, own = figures.taken.get(of), _own_aggregation(task, figures, of)
    if own:
        said = own
    elif same_number(found, expected):
        if not taken:
            return Check("figures", key, CONFIRMED, found, expected)
        said = f"It follows from the logged values, but these cannot be recomputed: {taken}."
    elif task.scored_by_others and not taken:
        said = task.scored_by_others
    else:
        said = "The results do not follow from the answers."
        return Check("figures", key, DIFFERENT, found, expected, said)
    return Check("figures", key, NOT_CHECKABLE, found, expected, said)


def _own_aggregation(task: LoggedTask, figures: Figures, key: str) -> str:
    """Return that a user's task file puts a figure together in another way; "": it does not."""
    metric = key.rpartition(",")[0]
    ours = figures.aggregations.get(metric, "mean")
    entries = task.result.config.get("metric_list") or ()
    how = next((own.get("aggregation", ours) for own in entries if own["metric"] == metric), ours)
    # The harness dumps a function by its source.
    if how == ours or re.match(rf"\s*def {ours}\(", how):
        return ""
    return _OWN_AGGREGATION.format(how=how.strip().partition("\n")[0], ours=ours)


def check_official(task: LoggedTask, checks: Sequence[Check]) -> Check:
    """Return the check whether an official figure is confirmed, from all other checks of it."""
    metrics = task.benchmark.official_metrics(task.own)
    figures = [check for check in checks if check.kind == "figures"]
    found = [check for check in figures if check.name.rpartition(",")[0] in metrics]
    known = [check for check in found if not same_number(check.found, math.nan)]
    # Over which questions the figure is may be open.
    asked = (check for check in checks if (check.kind, check.name) == ("counts", "asked"))
    problem = next((check.meaning for check in asked if check.status == NOT_CHECKABLE), "")
    if not found:
        problem = "No official figure was recomputed: there is no log, or nothing was scored."
    elif not known:
        problem = "The official figure is not known yet (NaN)."
    elif all(check.status != CONFIRMED for check in known):
        problem = known[0].meaning
    else:
        problem = task.other_jieba or problem
    shown = ", ".join(check.name for check in known) or ", ".join(metrics)
    status = NOT_CHECKABLE if problem else CONFIRMED
    return Check(OFFICIAL, OFFICIAL, status, shown, None, problem)


# ---------------------------------------------------------------------- groups


def _leaves(name: str, members: Mapping[str, Sequence[str]]) -> list[str]:
    """Return the tasks under a group, each as often as ways lead to it: so the harness counts."""
    if name not in members:
        return [name]
    return [leaf for member in members[name] for leaf in _leaves(member, members)]


def check_groups(
    results: ResultsFile, recomputed: Mapping[str, Figures]
) -> Iterator[tuple[str, Check]]:
    """Yield the checks of each group's figures, the headline among them, with the group's name.

    A group of ours, with our members, weighs its tasks as our file says. Any other is a user's own,
    of which the results do not say whether it weighs them by size: either is confirmed.
    """
    for name, members in results.members.items():
        ours, leaves = our_group(name, members), _leaves(name, results.members)
        for key, found in results.results.get(name, {}).items():
            metric = key.partition(",")[0]
            own = [task for task in leaves if key in results.results.get(task, {})]
            if "," not in key or metric.endswith(_STDERR) or not recomputed.keys() & set(own):
                continue
            weighted = (True, False) if ours is None else (ours.weights.get(metric, True),)
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
    known = {
        task: recomputed[task].value(key)
        for task in tasks
        if task in recomputed and key in recomputed[task].columns
    }
    if len(known) < len(set(tasks)) or any(key in recomputed[task].taken for task in known):
        said = "Not all of its tasks were recomputed."
        return Check("groups", key, NOT_CHECKABLE, found, None, said)
    values = [known[task] for task in tasks]
    sizes = [len(recomputed[task].columns[key]) for task in tasks]
    means = [np.average(values, weights=sizes if by_size else None) for by_size in weighted]
    if any(same_number(found, float(mean)) for mean in means):
        return Check("groups", key, CONFIRMED, found, found)
    said = "The group's figure is no mean of its tasks' figures."
    return Check("groups", key, DIFFERENT, found, float(means[0]), said)
