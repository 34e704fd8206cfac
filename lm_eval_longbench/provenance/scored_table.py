"""Put the samples of one table together again: figures and counts of a scored folder's report."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from lm_eval_longbench.aggregation.means import running_mean
from lm_eval_longbench.catalog import E_SPLITS, V1_SPLITS
from lm_eval_longbench.catalog_pro import BY_CODE, DIMENSIONS, QUESTIONS_PER_TASK
from lm_eval_longbench.catalog_v2 import DIFFICULTIES, LENGTHS, QUESTIONS
from lm_eval_longbench.errors import UnknownNameError
from lm_eval_longbench.provenance.recompute import V2_TASKS
from lm_eval_longbench.provenance.scored_questions import Question, Sample, counts_of, total
from lm_eval_longbench.provenance.scored_v2 import v2_figures
from lm_eval_longbench.provenance.shapes import (
    COUNT,
    FLAG,
    SCORE,
    Fields,
    OrNull,
    Plain,
    Shape,
    checked,
)

# Fields of a sample that no figure needs, or that are kept once a question.
_NOT_KEPT = frozenset(
    {"table", "task", "id", "index", "dataset", "choice", "domain", "sub_domain", "secondary_task"}
)


def _official_questions() -> dict[str, dict[str, int]]:
    """Return the official questions of each task, by table."""
    tables = {
        "longbench_v1": {split.task: split.rows for split in V1_SPLITS},
        "longbench_v1_e": {split.task: split.rows for split in E_SPLITS},
    }
    tables |= {name: {name: QUESTIONS} for name in V2_TASKS}
    for name in ("longbench_pro", "longbench_pro_thinking"):
        tables[name] = {f"{name}_{code}": QUESTIONS_PER_TASK for code in BY_CODE}
    return tables


OFFICIAL_QUESTIONS: Mapping[str, Mapping[str, int]] = _official_questions()


# What the figures of a benchmark need of a sample.
_SAMPLES: Mapping[str, Shape] = {
    "longbench_v1": Fields({"score": SCORE}),
    "longbench_v1_e": Fields({"score": SCORE, "length": COUNT}),
    "longbench_v2": Fields(
        {
            "score": SCORE,
            "compensated": SCORE,
            "unparsed": FLAG,
            "dropped": FLAG,
            "difficulty": Plain("a difficulty", among=DIFFICULTIES),
            "length": Plain("a length", among=LENGTHS),
        }
    ),
    "longbench_pro": Fields(
        {
            "score": OrNull(SCORE),
            **{name: Plain(f"a {name}", among=values) for name, values in DIMENSIONS.items()},
        }
    ),
}


class ScoredTable:
    """The samples of one table; all of them are kept.

    Args:
        name: of the table.
        entry: what the report says of it.

    Raises:
        UnknownNameError: there is no such table.
    """

    def __init__(self, name: str, entry: Mapping[str, Any]) -> None:
        if name not in OFFICIAL_QUESTIONS:
            raise UnknownNameError("table", name, OFFICIAL_QUESTIONS)
        self._name = name
        self._questions: dict[tuple[str, Any, str], Question] = defaultdict(Question)
        self._tasks: dict[str, list[Question]] = defaultdict(list)
        # It is known which questions are missing only where the report knows.
        self._official = entry["counts"].get("missing") is not None
        self._reported = entry["tasks"]
        self._shape = _SAMPLES[max(start for start in _SAMPLES if name.startswith(start))]
        self.samples = 0

    def add(self, sample: Sample, where: str) -> None:
        """Add one sample.

        Args:
            sample: as it stands in the file.
            where: file and line, for the message.

        Raises:
            UnknownNameError: the table has no such task.
            PredictionError: the sample lacks what figures need.
        """
        tasks = OFFICIAL_QUESTIONS[self._name]
        if sample["task"] not in tasks:
            raise UnknownNameError("task", sample["task"], tasks)
        checked(sample, self._shape, f"{where} is no sample of {self._name}")
        key = (sample["task"], sample.get("index"), sample["id"])
        if key not in self._questions:
            self._tasks[sample["task"]].append(self._questions[key])
        self._questions[key].samples.append(
            {name: value for name, value in sample.items() if name not in _NOT_KEPT}
        )
        self.samples += 1

    @property
    def _repeats(self) -> int:
        numbers = (sample["repeat"] for own in self._questions.values() for sample in own.samples)
        return max(numbers, default=1)

    def result(self) -> dict[str, Any]:
        """Return the parts of the report that follow from the samples, in its shape."""
        questions = list(self._questions.values())
        figures: dict[str, Callable[[], dict[str, Any]]] = {
            "longbench_v1": self._v1,
            "longbench_v1_e": self._v1_e,
        }
        if self._name.startswith("longbench_v2"):
            own = v2_figures(questions, self._repeats, official=self._official)
        elif self._name.startswith("longbench_pro"):
            own = {"official": _pro(self._questions, self._repeats)}
        else:
            own = figures[self._name]()
        official = OFFICIAL_QUESTIONS[self._name]
        tasks = {
            task: self._task(self._tasks.get(task, []), official[task])
            for task in official
            if task in self._reported or task in self._tasks
        }
        missing = sum(
            max(0, number - len(self._tasks.get(task, []))) for task, number in official.items()
        )
        inconsistent = sum(len(question.samples) < self._repeats for question in questions)
        counts = counts_of(questions) | {
            "inconsistent": inconsistent,
            "official_questions": sum(official.values()),
            "missing": missing if self._official else None,
        }
        if self._name.startswith("longbench_v2"):
            counts["unparsed"] = total(questions, "unparsed")
        return own | {"repeats": self._repeats, "counts": counts, "tasks": tasks}

    def _task(self, questions: Sequence[Question], official: int) -> dict[str, Any]:
        scores = [question.mean() for question in questions]
        unknown = not scores or None in scores
        own = counts_of(questions) | {
            "score": None if unknown else running_mean(scores),  # type: ignore[arg-type]
            "official_questions": official,
            "missing": max(0, official - len(questions)) if self._official else None,
        }
        own.pop("scored")
        return own

    def _labelled(self) -> dict[str, list[Question]]:
        splits = V1_SPLITS + E_SPLITS
        labels = {split.task: split.info.name for split in splits}
        own = [task for task in OFFICIAL_QUESTIONS[self._name] if task in self._reported]
        return {labels[task]: self._tasks.get(task, []) for task in own}

    def _v1(self) -> dict[str, Any]:
        from lm_eval_longbench.aggregation.longbench_v1 import percent  # imports numpy

        return {
            "official": {
                label: percent([question.mean() for question in own])  # type: ignore[misc]
                for label, own in self._labelled().items()
            }
        }

    def _v1_e(self) -> dict[str, Any]:
        from lm_eval_longbench.aggregation.length_buckets import bucket
        from lm_eval_longbench.aggregation.longbench_v1 import bucket_percent

        official = {}
        for label, own in self._labelled().items():
            scored: dict[str, list[Any]] = defaultdict(list)
            for question in own:
                scored[bucket(question.samples[0]["length"])].append(question.mean())
            official[label] = bucket_percent(scored)
        return {"official": official}


def _pro(questions: Mapping[tuple[str, Any, str], Question], repeats: int) -> dict[str, Any]:
    from lm_eval_longbench.aggregation.longbench_pro import summarize

    rows = [
        {
            **sample,
            # One id may be in several tasks.
            "id": f"{task} {name}",
            "bon_idx": sample["repeat"],
            "metric": sample["score"],
        }
        for (task, _, name), own in questions.items()
        for sample in own.samples
    ]
    return summarize(rows, repeats)
