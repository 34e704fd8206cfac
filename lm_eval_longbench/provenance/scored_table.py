"""Put the samples of one table together again: figures and counts of a scored folder's report."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any

from lm_eval_longbench.aggregation.means import running_mean
from lm_eval_longbench.catalog import E_SPLITS, V1_SPLITS
from lm_eval_longbench.catalog_pro import BY_CODE, DIMENSIONS, QUESTIONS_PER_TASK
from lm_eval_longbench.catalog_v2 import DIFFICULTIES, LENGTHS, QUESTIONS
from lm_eval_longbench.errors import UnknownNameError
from lm_eval_longbench.metrics.reasoning import DROP, KEEP, OTHERWISE
from lm_eval_longbench.provenance.recompute import V2_TASKS
from lm_eval_longbench.provenance.scored_questions import (
    Question,
    Sample,
    counts_of,
    total,
    under_other_policy,
)
from lm_eval_longbench.provenance.scored_v2 import v2_figures
from lm_eval_longbench.provenance.shapes import (
    ANY,
    COUNT,
    FLAG,
    SCORE,
    Fields,
    OrNull,
    Plain,
    Shape,
    checked,
)
from lm_eval_longbench.provenance.signature import INGREDIENTS, of_scored

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
    "longbench_v1": Fields({"score": SCORE}, {"rougeL_google": SCORE}),
    "longbench_v1_e": Fields({"score": SCORE, "length": COUNT}, {"rougeL_google": SCORE}),
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


_OTHERWISE = Fields({}, {name: Fields({"score": ANY}) for name in OTHERWISE.values()})
_Key = tuple[str, Any, str]


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
        self._questions: dict[_Key, Question] = defaultdict(Question)
        self._tasks: dict[str, list[Question]] = defaultdict(list)
        self._repeats = 1
        # Policies for reasoning of the samples that tell one.
        self._policies: set[str] = set()
        self._entry = entry
        # It is known which questions are missing only where the report knows.
        self._official = entry["counts"].get("missing") is not None
        self._reported = entry["tasks"]
        self._benchmark = max(start for start in _SAMPLES if name.startswith(start))
        self._shape = _SAMPLES[self._benchmark]
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
        said = f"{where} is no sample of {self._name}"
        checked(checked(sample, self._shape, said), _OTHERWISE, said)
        for policy, name in OTHERWISE.items():
            if name in sample:
                self._policies.add(policy)
                checked({**sample, **sample[name]}, self._shape, said)
        self._repeats = max(self._repeats, sample["repeat"])
        key = (sample["task"], sample.get("index"), sample["id"])
        if key not in self._questions:
            self._tasks[sample["task"]].append(self._questions[key])
        self._questions[key].samples.append(
            {name: value for name, value in sample.items() if name not in _NOT_KEPT}
        )
        self.samples += 1

    def result(self) -> dict[str, Any]:
        """Return the parts of the report that follow from the samples, in its shape."""
        questions = list(self._questions.values())
        others: dict[_Key, Question] = {}
        if self._policies:
            others = {key: under_other_policy(own) for key, own in self._questions.items()}
        official = OFFICIAL_QUESTIONS[self._name]
        tasks = {
            task: self._task(
                self._tasks.get(task, []),
                [own for key, own in others.items() if key[0] == task] if others else None,
                official[task],
            )
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
        if self._benchmark == "longbench_v2":
            counts["unparsed"] = total(questions, "unparsed")
        result = self._figures(self._questions) | {
            "benchmark": self._benchmark,
            "repeats": self._repeats,
            "reasoning": self._reasoning(others, counts["reasoned"]),
            "counts": counts,
            "tasks": tasks,
        }
        return result | self._signature(result)

    def _figures(self, questions: Mapping[_Key, Question]) -> dict[str, Any]:
        """Return "official", and of LongBench v2 what stands beside it, from the questions."""
        if self._benchmark == "longbench_v2":
            return v2_figures(list(questions.values()), self._repeats, official=self._official)
        if self._benchmark == "longbench_pro":
            return {"official": _pro(questions, self._repeats)}
        return self._v1(questions) if self._benchmark == "longbench_v1" else self._v1_e(questions)

    def _reasoning(self, others: Mapping[_Key, Question], answers: int | None) -> dict[str, Any]:
        """Return the part about reasoning; the policy is as stated where no sample tells one."""
        if not self._policies:
            stated = self._entry.get("reasoning")
            policy = stated.get("policy") if isinstance(stated, Mapping) else None
            return {"policy": policy, "answers": answers, "other": None}
        policy = next(iter(self._policies)) if len(self._policies) == 1 else None
        other = DROP if policy == KEEP else KEEP
        figures = {"policy": other, "official": self._figures(others)["official"]}
        return {"policy": policy, "answers": answers, "other": figures}

    def _signature(self, result: Mapping[str, Any]) -> dict[str, Any]:
        """Return the part about the signature: its counts, its line, and tasks that agree with it.

        Nothing where the report has no signature that could be one.
        """
        stated = self._entry.get("signature")
        tasks = stated.get("tasks") if isinstance(stated, Mapping) else None
        if not isinstance(tasks, Mapping):
            return {}
        here = {
            "benchmark": self._benchmark,
            "repeats": self._repeats,
            "reasoning": result["reasoning"]["policy"],
            "embedding_model": self._entry.get("embedding_model"),
        }
        own = {
            task: {name: tasks.get(task, {}).get(name) for name in INGREDIENTS}
            | here
            | {"task": task}
            for task in result["tasks"]
        }
        return {"signature": of_scored(own, result)}

    def _task(
        self, questions: Sequence[Question], others: Sequence[Question] | None, official: int
    ) -> dict[str, Any]:
        own = counts_of(questions) | {
            "score": _mean(questions),
            "official_questions": official,
            "missing": max(0, official - len(questions)) if self._official else None,
        }
        own.pop("scored")
        if others is not None:
            own["score_otherwise"] = _mean(others)
        if any("rougeL_google" in sample for question in questions for sample in question.samples):
            own["rougeL_google"] = _mean(questions, "rougeL_google")
        return own

    def _labelled(self, questions: Mapping[_Key, Question]) -> dict[str, list[Question]]:
        labels = {split.task: split.info.name for split in V1_SPLITS + E_SPLITS}
        own: dict[str, list[Question]] = {
            task: [] for task in OFFICIAL_QUESTIONS[self._name] if task in self._reported
        }
        for (task, _, _), question in questions.items():
            own.setdefault(task, []).append(question)
        return {labels[task]: among for task, among in own.items()}

    def _v1(self, questions: Mapping[_Key, Question]) -> dict[str, Any]:
        from lm_eval_longbench.aggregation.longbench_v1 import percent  # imports numpy

        return {
            "official": {
                label: percent([question.mean() for question in own])  # type: ignore[misc]
                for label, own in self._labelled(questions).items()
            }
        }

    def _v1_e(self, questions: Mapping[_Key, Question]) -> dict[str, Any]:
        from lm_eval_longbench.aggregation.length_buckets import bucket
        from lm_eval_longbench.aggregation.longbench_v1 import bucket_percent

        official = {}
        for label, own in self._labelled(questions).items():
            scored: dict[str, list[Any]] = defaultdict(list)
            for question in own:
                scored[bucket(question.samples[0]["length"])].append(question.mean())
            official[label] = bucket_percent(scored)
        return {"official": official}


def _mean(questions: Sequence[Question], name: str = "score") -> float | None:
    """Return the mean over the questions; None without one or with one that has none."""
    means = [question.mean(name) for question in questions]
    known = [mean for mean in means if mean is not None]
    return running_mean(known) if known and len(known) == len(means) else None


def _pro(questions: Mapping[_Key, Question], repeats: int) -> dict[str, Any]:
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
