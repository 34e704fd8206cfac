"""Check the data that a result names, and the questions in its log against it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from lm_eval_longbench.provenance.check import (
    CONFIRMED,
    DIFFERENT,
    NOT_CHECKABLE,
    Check,
    all_of,
)
from lm_eval_longbench.provenance.data_label import read_label
from lm_eval_longbench.provenance.read_log import LogRow
from lm_eval_longbench.provenance.read_results import TaskResult

if TYPE_CHECKING:
    from lm_eval_longbench.data.documents import Documents

# What the task adds to the fields of the data.
_ADDED = ("index", "task", "data", "prompt")
_KIND = "data"


def check_label(task: TaskResult) -> Check:
    """Check the hash of the data against its label, without the data."""
    label = read_label(task.run.get("data"))
    found = str(task.run.get("data_sha256"))
    expected = label.pinned_sha256 or label.digits
    if expected is None:
        said = f"The data {label.base!r} is pinned by another version of this package."
        return Check(_KIND, "label", NOT_CHECKABLE, found, None, said)
    if found.startswith(expected):
        return Check(_KIND, "label", CONFIRMED, found, expected)
    said = "The hash does not belong to the label of the data: one of them was edited."
    return Check(_KIND, "label", DIFFERENT, found, expected, said)


def check_data(task: TaskResult, documents: Documents | str, *, named: bool) -> Check:
    """Check the hash of the data against the data of this machine.

    Args:
        task: what the results file says.
        documents: the data; a text: why it is not here.
        named: whether the user named it.
    """
    found = task.run.get("data_sha256")
    if isinstance(documents, str):
        return Check(_KIND, "sha256", NOT_CHECKABLE, found, None, documents)
    if found == documents.sha256:
        return Check(_KIND, "sha256", CONFIRMED, found, documents.sha256)
    label = read_label(task.run.get("data"))
    if label.is_local and named:
        said = f"The result was not made from the data in --data-dir, {documents.label}."
        return Check(_KIND, "sha256", DIFFERENT, found, documents.sha256, said)
    said = f"Here is other data, {documents.label}."
    return Check(_KIND, "sha256", NOT_CHECKABLE, found, documents.sha256, said)


def places_of(rows: Sequence[LogRow], documents: Documents) -> dict[int, int]:
    """Return the row number in the data of each log row, by its line; absent: it is not there.

    A log numbers questions within what was asked; ids lead back to the whole data, and of v1, where
    questions may share one, the number itself.
    """
    field = "_id" if "_id" in documents.rows.column_names else "id"
    ids = [str(name) for name in documents.rows[field]]
    first: dict[str, int] = {}
    for number, name in enumerate(ids):
        first.setdefault(name, number)
    places = {}
    for row in rows:
        index = row.doc.get("index")
        if isinstance(index, int) and 0 <= index < len(ids) and ids[index] == row.name:
            places[row.line] = index
        elif row.name in first:
            places[row.line] = first[row.name]
    return places


def check_questions(
    rows: Sequence[LogRow], documents: Documents, places: Mapping[int, int]
) -> Iterator[Check]:
    """Check every field of the logged questions against the data."""
    light = documents.rows.remove_columns("context")
    wrong = []
    for row in rows:
        if row.line not in places:
            wrong.append(f"line {row.line} ({row.name}) is no question of the data")
            continue
        stored = light[places[row.line]]
        other = [name for name in stored if row.doc.get(name) != stored[name]]
        other += [name for name in row.doc if name not in stored and name not in _ADDED]
        if other:
            what: Any = row.doc.get(other[0])
            wrong.append(f"line {row.line} ({row.name}) has {other[0]} {what!r}")
    said = "The log has other questions or gold answers than the data it names."
    yield all_of("questions", len(rows), wrong, "fields as in the data", said)
