"""The files that `lm-eval-longbench score` writes: their names, and their formats as types.

What has a field of its own in one benchmark alone (`choice` of an answer, `strict` of a table) is
not named here.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any

from annotated_types import Ge, Le
from typing_extensions import Required, TypedDict

from lm_eval_longbench.options import MOST_REPEATS
from lm_eval_longbench.shapes import Count, Object

SAMPLES, SCORES, REPORT = "samples.jsonl", "scores.json", "report.json"
FORMAT = 1
Repeats = Annotated[int, Ge(1), Le(MOST_REPEATS)]


class Worth(TypedDict):
    """What an answer is worth under the other policy for reasoning."""

    score: float | None


class SampleLine(TypedDict, total=False):
    """A line of samples.jsonl, an answer.

    Attributes:
        table, task, id: which question it answers.
        repeat: which of the answers to it, from 1.
        score: from 0 to 1; null: unscored.
        failed: whether there is no answer.
        failure: why, where it is known.
        truncated, capped: whether the prompt was cut, and whether the answer ended at the output
            budget; null: not known.
        dataset, index, document: where the question stands in its data, and a hash of its document.
        with_reasoning, without_reasoning: what an answer that holds reasoning is worth under the
            other policy, see `metrics.reasoning.OTHERWISE`.
    """

    table: Required[str]
    task: Required[str]
    id: Required[int | str]
    repeat: Required[Repeats]
    score: Required[float | None]
    failed: Required[bool]
    truncated: bool | None
    capped: bool | None
    failure: str
    dataset: str
    index: Count | None
    document: str | None
    with_reasoning: Worth
    without_reasoning: Worth


class TaskCounts(TypedDict, total=False):
    """A task's part of a table in report.json.

    Attributes:
        score, score_otherwise: from 0 to 1, and the same under the other policy for reasoning.
        malformed, duplicate: lines that were not scored.
        copies: questions that are copies of others there; null: not known.
        official_questions, missing: questions of the official data, and those that are not there;
            null: the data is not official.
    """

    questions: Count
    samples: Count
    score: float | None
    score_otherwise: float | None
    failed: Count
    unscored: Count
    reasoned: Count
    truncated: Count | None
    capped: Count | None
    malformed: Count
    duplicate: Count
    copies: Count | None
    official_questions: Count
    missing: Count | None


class Otherwise(TypedDict, total=False):
    """The other policy for reasoning, and the official figures under it."""

    official: Required[Object]
    policy: str


class Reasoning(TypedDict, total=False):
    """What happened to reasoning, how many answers hold any, and the figures if it had not."""

    policy: str | None
    answers: Count | None
    other: Otherwise | None


class SignaturePart(TypedDict, total=False):
    """The signature of a table in report.json.

    Attributes:
        line: in short.
        ingredients: of all tasks together.
        tasks: ingredients by task.
    """

    line: str | None
    ingredients: Object | None
    tasks: dict[str, Object] | None


class ReportTable(TypedDict, total=False):
    """A table's part of report.json.

    Attributes:
        benchmark: its name.
        official: the figures in the official files' shape.
        repeats: answers to each question.
        data: labels of the data; empty where none is known.
        embedding_model: that gave similarities; null: none.
        runs: names of the runs that the answers are from.
        counts: of the table, as those of a task; with what its benchmark counts besides.
        failures: failed answers by reason.
    """

    repeats: Required[Repeats]
    data: Required[list[str]]
    embedding_model: Required[str | None]
    official: Required[Object]
    counts: Required[dict[str, Count | None]]
    tasks: Required[dict[str, TaskCounts]]
    benchmark: str
    runs: list[str] | None
    reasoning: Reasoning | None
    failures: dict[str, Count] | None
    signature: SignaturePart | None


class ReportFile(TypedDict, total=False):
    """report.json.

    Attributes:
        format: FORMAT.
        package: name and version of this package.
        tables: by name.
        inputs: files and logs that were read, with their hashes.
        problems: by kind the first entries, and by "<kind>_total" how many there are.
        stated: figures beside official files, and what they are compared with; not there without.
        equal: sample logs that others have in them, and so counted once; not there without.
        longbench_benchmarks: those of a user's task files, see `catalog.users.WHOLE`; not there
            without.
    """

    format: Required[int]
    package: Required[str]
    tables: Required[dict[str, ReportTable]]
    inputs: Required[list[Object]]
    problems: Required[dict[str, list[Object] | int]]
    stated: list[Object]
    equal: list[Object]
    longbench_benchmarks: Object


def table_parts(entry: Mapping[str, Any]) -> dict[str, Any]:
    """Return the parts of a table in report.json that are its benchmark's own."""
    return {name: own for name, own in entry.items() if name not in ReportTable.__annotations__}
