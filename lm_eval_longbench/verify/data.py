"""Check the data that a result names, and the questions in its log against it."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence

from lm_eval_longbench.answers.answer import REPLIES
from lm_eval_longbench.logs.formulas import left_by_limit
from lm_eval_longbench.logs.sample_log import LogRow, at
from lm_eval_longbench.prompts.render import text_sha256
from lm_eval_longbench.verify.check import (
    CONFIRMED,
    DIFFERENT,
    EDITED,
    NOT_CHECKABLE,
    Check,
    all_of,
    compared,
    some,
)
from lm_eval_longbench.verify.subject import Subject

# What the task adds to the fields of the data.
_ADDED = ("index", "task", "data", "scored_by", "prompt", REPLIES)
_KIND = "data"
SHARED, ASKED = "shared ids", "questions asked"


def check_data(task: Subject, *, named: bool) -> Iterator[Check]:
    """Yield the checks of the data's hash: against its label, and against the data here.

    `named`: whether the user named the data.
    """
    label, data, found = task.label, task.data, task.run.get("data_sha256")
    expected = label.pinned_sha256 or label.digits
    if not expected:
        said = f"The data {label.base!r} is pinned by another version of this package."
        yield Check(_KIND, "label", NOT_CHECKABLE, str(found), None, said)
    else:
        said = "The hash does not belong to the label of the data: one of them was edited."
        fits = str(found).startswith(expected)
        status, said = (CONFIRMED, "") if fits else (DIFFERENT, said)
        yield Check(_KIND, "label", status, str(found), expected, said)
    if isinstance(data, str):
        yield Check(_KIND, "sha256", NOT_CHECKABLE, found, None, data)
    elif label.is_local and named:
        said = f"The result was not made from the data in --data-dir, {data.label}."
        yield compared(_KIND, "sha256", found, data.sha256, said)
    else:
        said = f"Here is other data, {data.label}."
        yield compared(_KIND, "sha256", found, data.sha256, said, NOT_CHECKABLE)


def check_questions(task: Subject) -> Iterator[Check]:
    """Check every logged question against the data; without it, that no two are one."""
    documents, rows = task.documents, task.rows
    if isinstance(documents, str):
        yield from _shared_ids(task)
        return
    said = "The label does not say which questions were chosen, as the options do."
    yield compared(_KIND, "choice", task.run.get("data"), documents.label, said)
    number = len(documents.rows)
    if task.original is not None:
        said = "The results state another number of questions than the task has."
        yield compared("log rows", "n-samples original", task.original, number, said)
    light = documents.rows.without("context").columns()
    known = set(task.ids)
    wrong = []
    for row in rows:
        place = task.places.get(row.line)
        if row.name not in known:
            wrong.append(at(row, "is no question of the data"))
        elif place is None:
            wrong.append(at(row, f"is not the question in place {row.index} of the data"))
        else:
            other = [name for name, column in light.items() if row.doc.get(name) != column[place]]
            other += [name for name in row.doc if name not in light and name not in _ADDED]
            if other:
                wrong.append(at(row, f"has {other[0]} {row.doc.get(other[0])!r}"))
    said = "The log has other questions or gold answers than the data it names."
    yield from all_of("questions", len(rows), wrong, "fields as in the data", said)


def _shared_ids(task: Subject) -> Iterator[Check]:
    """Look for rows of one id in different places, which may be copies of one question."""
    first: dict[tuple[str, str], LogRow] = {}
    shared = []
    for row in task.rows:
        other = first.setdefault((row.filter, row.name), row)
        if other.index != row.index:
            shared.append(at(row, f"has the id of line {other.line}"))
    if shared and task.benchmark.ids_are_unique and not task.label.is_local:
        said = f"One question stands in the places of others. {EDITED}"
        yield Check(SHARED, SHARED, DIFFERENT, some(shared), "an id each", said)
    elif shared:
        said = "Whether they are copies of one question can be told with the data only."
        yield Check(SHARED, SHARED, NOT_CHECKABLE, some(shared), "an id each", said)


def check_asked(task: Subject) -> Iterator[Check]:
    """Check the hash of the questions that were to be asked, and their number.

    The run hashed their ids in the order of the data. The log is in the order of the ranks, so its
    rows are put back by their number; questions that were skipped for their length are not in it.
    """
    stated, asked, ids = task.run.get("questions_sha256"), task.run.get("asked"), task.ids
    first = task.rows[0].filter
    own = sorted((row for row in task.rows if row.filter == first), key=lambda row: row.index)
    left = left_by_limit(task.settings.get("config", {}).get("limit"), task.original)
    said = "The run was to ask other questions than the log has."
    problem, counted, number = "", said, None
    if task.run.get("overlength") != "skip":
        ids, number = [row.name for row in own], len(own)
        counted = "The log has another number of them."
    elif isinstance(task.documents, str):
        problem = "Skipped questions are not in the log, and the data is not here to tell them."
    else:
        numbers = (asked, len(ids), left)
        possible = [n for n in numbers if isinstance(n, int) and n <= len(ids)]
        whole = asked if asked == len(ids) else None
        number = next((n for n in possible if _hash(ids[:n]) == stated), whole)
        problem = "Skipped questions are not in the log: which were chosen cannot be told."
    if number is None:
        yield Check(ASKED, "questions_sha256", NOT_CHECKABLE, stated, None, problem)
        yield Check("counts", "asked", NOT_CHECKABLE, asked, None, problem)
    else:
        yield compared(ASKED, "questions_sha256", stated, _hash(ids[:number]), said)
        yield compared("counts", "asked", asked, number, counted)
    yield from _limited(task, own, left)


def _hash(ids: Sequence[str]) -> str:
    return text_sha256(json.dumps(ids))


def _limited(task: Subject, rows: Sequence[LogRow], number: int | None) -> Iterator[Check]:
    """Check the questions of one filter against --limit, which leaves the first `number` of them.

    None: there was no --limit, or it is lost.
    """
    kind, asked = "limit", task.run.get("asked")
    limit = task.settings.get("config", {}).get("limit")
    if isinstance(limit, bool) or not isinstance(limit, int | float | None):
        said = "The harness takes no such --limit."
        yield Check(kind, kind, DIFFERENT, limit, None, said)
    elif number is not None:
        said = "The questions are not the first ones that --limit leaves."
        yield compared(kind, kind, asked, number, said)
        beyond = [at(row, f"is in place {row.index}") for row in rows if row.index >= number]
        yield from all_of("limit places", len(rows), beyond, f"one of the first {number}", said)
    elif task.original is None:
        said = "The results do not state how many questions there are."
        yield Check(kind, kind, NOT_CHECKABLE, asked, None, said)
    elif not isinstance(asked, int) or asked >= task.original:
        said = "There are not so many questions."
        yield compared(kind, kind, asked, task.original, said)
    else:
        said = "Not all questions, and no --limit: --samples chose, which the results do not state."
        yield Check(kind, kind, NOT_CHECKABLE, asked, task.original, said)
