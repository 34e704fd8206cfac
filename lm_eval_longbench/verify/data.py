"""Check the data that a result names, and the questions in its log against it."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence

from lm_eval_longbench.logs.sample_log import at
from lm_eval_longbench.prompts.render import text_sha256
from lm_eval_longbench.verify.check import NOT_CHECKABLE, Check, all_of, compared
from lm_eval_longbench.verify.subject import Subject

_KIND, ASKED = "data", "questions asked"


def check_data(task: Subject, *, named: bool) -> Iterator[Check]:
    """Yield the checks of the data's hash: against its label, and against the data here.

    `named`: whether the user named the data.
    """
    label, data, found = task.label, task.data, task.run.get("data_sha256")
    expected = label.pinned_sha256 or label.digits
    if expected:
        said = "The label names other data than the hash."
        fits = found if str(found).startswith(expected) else expected
        yield compared(_KIND, "label", found, fits, said)
    else:
        said = f"The data {label.base!r} is pinned by another version of this package."
        yield Check(_KIND, "label", NOT_CHECKABLE, found, None, said)
    if isinstance(data, str):
        yield Check(_KIND, "sha256", NOT_CHECKABLE, found, None, data)
    elif label.is_local and named:
        said = f"The result was not made from the data of the option data_dir, {data.label}."
        yield compared(_KIND, "sha256", found, data.sha256, said)
    else:
        said = f"Here is other data, {data.label}."
        yield compared(_KIND, "sha256", found, data.sha256, said, NOT_CHECKABLE)


def check_questions(task: Subject) -> Iterator[Check]:
    """Check every logged question against the data, if it is here: its place and its fields."""
    if isinstance(task.documents, str):
        return
    light = task.documents.rows.without("context").columns()
    known, wrong = set(task.ids), []
    for row in task.rows:
        place = task.places.get(row.line)
        if row.name not in known:
            wrong.append(at(row, "is no question of the data"))
        elif place is None:
            wrong.append(at(row, f"is not the question in place {row.index} of the data"))
        else:
            other = [name for name, column in light.items() if row.doc.get(name) != column[place]]
            wrong += [at(row, f"has {name} {row.doc.get(name)!r}") for name in other[:1]]
    said = "The log has other questions or gold answers than the data it names."
    yield from all_of("questions", len(task.rows), wrong, "fields as in the data", said)


def check_asked(task: Subject) -> Iterator[Check]:
    """Check the hash of the questions that were to be asked, and their number.

    The run hashed their ids in the order of the data. The log is in the order of the ranks, so its
    rows are put back by their number; questions that were skipped for their length are not in it.
    """
    stated, asked = task.run.get("questions_sha256"), task.run.get("asked")
    first = task.rows[0].filter
    own = sorted((row for row in task.rows if row.filter == first), key=lambda row: row.index)
    ids = [row.name for row in own]
    said = "The run was to ask other questions than the log has."
    if task.run.get("overlength") == "skip":
        problem = "Skipped questions are not in the log, and the data is not here to tell them."
        ids = task.ids[:asked]
        if task.ids:
            problem = "Skipped questions are not in the log: which were chosen cannot be told."
        if _hash(ids) != stated:
            yield Check(ASKED, "questions_sha256", NOT_CHECKABLE, stated, None, problem)
            yield Check("counts", "asked", NOT_CHECKABLE, asked, None, problem)
            return
    yield compared(ASKED, "questions_sha256", stated, _hash(ids), said)
    yield compared("counts", "asked", asked, len(ids), "The log has another number of them.")


def _hash(ids: Sequence[str]) -> str:
    return text_sha256(json.dumps(ids))
