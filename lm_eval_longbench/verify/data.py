"""Check the data that a result names, and the questions in its log against it."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from lm_eval_longbench.answers.reply import REPLIES
from lm_eval_longbench.benchmarks.base import Benchmark, Task
from lm_eval_longbench.benchmarks.registry import benchmark_of, find_task
from lm_eval_longbench.errors import LongBenchError
from lm_eval_longbench.logs.formulas import left_by_limit
from lm_eval_longbench.logs.results_file import TaskResult
from lm_eval_longbench.logs.sample_log import LogRow, at
from lm_eval_longbench.options import Options
from lm_eval_longbench.prompts.text_hash import text_sha256
from lm_eval_longbench.signature.data_label import read_label
from lm_eval_longbench.verify.check import (
    CONFIRMED,
    DIFFERENT,
    EDITED,
    NOT_CHECKABLE,
    Absent,
    Check,
    all_of,
    compared,
    some,
)

if TYPE_CHECKING:
    from lm_eval_longbench.data.documents import Documents

# What the task adds to the fields of the data.
_ADDED = ("index", "task", "data", "prompt", REPLIES)
_KIND = "data"
SHARED, ASKED = "shared ids", "questions asked"


def open_documents(task: TaskResult, data_dir: str | None) -> Documents:
    """Return the documents of a task that `is_known` from this machine.

    Args:
        task: what the results file says; its signature's task and data are used.
        data_dir: where local data is; None: nobody says.

    Raises:
        Absent: the data is not here; nothing is downloaded.
    """
    label = read_label(task.run.get("data"))
    whole = find_task(str(task.run.get("task")))
    benchmark = benchmark_of(whole)
    own = benchmark.asked(whole, task.config.get("dataset_name")) or whole
    try:
        if label.is_sample:
            return benchmark.load(own, "sample")
        if label.is_local and data_dir is None:
            raise Absent("It is a file of the user's own: name it with --data-dir.")
        if label.is_local:
            return benchmark.load(own, data_dir)
        if _is_cached(benchmark, own):
            return benchmark.load(own, None)
        if data_dir is not None:
            return benchmark.load(own, data_dir)
    except (LongBenchError, KeyError, OSError) as error:
        raise Absent(f"The data cannot be opened: {error}") from error
    raise Absent(
        f"{label.base} is not on this machine: `lm-eval-longbench prepare` downloads it, or name a "
        "copy with --data-dir."
    )


def _is_cached(benchmark: Benchmark, task: Task) -> bool:
    """Whether a task's pinned data can be opened without a download."""
    from huggingface_hub import try_to_load_from_cache

    from lm_eval_longbench.data.arrow import cache_folder, is_sound

    source = benchmark.source
    folder = cache_folder(benchmark.family, source.sha256)
    if is_sound(folder if benchmark.counts else folder / task.dataset, source.sha256):
        return True
    found = try_to_load_from_cache(
        source.repo, source.file, repo_type="dataset", revision=source.revision
    )
    return isinstance(found, str)


def check_label(task: TaskResult) -> Check:
    """Check the hash of the data against its label, without the data."""
    label = read_label(task.run.get("data"))
    found = str(task.run.get("data_sha256"))
    expected = label.pinned_sha256 or label.digits
    if not expected:
        said = f"The data {label.base!r} is pinned by another version of this package."
        return Check(_KIND, "label", NOT_CHECKABLE, found, None, said)
    if found.startswith(expected):
        return Check(_KIND, "label", CONFIRMED, found, expected)
    said = "The hash does not belong to the label of the data: one of them was edited."
    return Check(_KIND, "label", DIFFERENT, found, expected, said)


def selected(task: TaskResult, documents: Documents | str) -> Documents | str:
    """Return the documents that a task could ask for, in its order; a text says why not.

    The option `only` chooses among the data's.
    """
    from lm_eval_longbench.data.documents import select

    if isinstance(documents, str):
        return documents
    if documents.sha256 != task.run.get("data_sha256"):
        return f"Here is other data, {documents.label}."
    if not benchmark_of(find_task(str(task.run.get("task")))).choices:
        return documents
    try:
        return select(documents, Options.from_metadata(task.metadata).only, task.name)
    except LongBenchError as error:
        return f"Which questions were chosen cannot be told: {error}"


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


def _ids(documents: Documents) -> list[str]:
    field = "_id" if "_id" in documents.rows.column_names else "id"
    return [str(name) for name in documents.rows[field][:]]


def places_of(rows: Sequence[LogRow], documents: Documents) -> dict[int, int]:
    """Return the row number in the documents of each log row, by its line; absent: not there.

    The number in the log is the place; the id must be that of the question there.
    """
    ids = _ids(documents)
    return {
        row.line: row.index for row in rows if row.index < len(ids) and ids[row.index] == row.name
    }


def check_questions(
    task: TaskResult, rows: Sequence[LogRow], documents: Documents | str, places: dict[int, int]
) -> Iterator[Check]:
    """Check every logged question against the data; without it, that no two are one.

    Args:
        task: what the results file says.
        rows: of its log.
        documents: those that it could ask for, see `selected`; a text: why they are not here.
        places: see `places_of`.
    """
    if isinstance(documents, str):
        yield from _shared_ids(task, rows)
        return
    said = "The label does not say which questions were chosen, as the options do."
    yield compared(_KIND, "choice", task.run.get("data"), documents.label, said)
    number = len(documents.rows)
    if task.original is not None:
        said = "The results state another number of questions than the task has."
        yield compared("log rows", "n-samples original", task.original, number, said)
    light: dict[str, Sequence[Any]] = documents.rows.remove_columns("context")[:]
    known = set(_ids(documents))
    wrong = []
    for row in rows:
        if row.name not in known:
            wrong.append(at(row, "is no question of the data"))
            continue
        if row.line not in places:
            wrong.append(at(row, f"is not the question in place {row.index} of the data"))
            continue
        place = places[row.line]
        other = [name for name, column in light.items() if row.doc.get(name) != column[place]]
        other += [name for name in row.doc if name not in light and name not in _ADDED]
        if other:
            wrong.append(at(row, f"has {other[0]} {row.doc.get(other[0])!r}"))
    said = "The log has other questions or gold answers than the data it names."
    yield all_of("questions", len(rows), wrong, "fields as in the data", said)


def _shared_ids(task: TaskResult, rows: Sequence[LogRow]) -> Iterator[Check]:
    """Look for rows of one id in different places, which may be copies of one question."""
    first: dict[tuple[str, str], LogRow] = {}
    shared = []
    for row in rows:
        other = first.setdefault((row.filter, row.name), row)
        if other.index != row.index:
            shared.append(at(row, f"has the id of line {other.line}"))
    label = read_label(task.run.get("data"))
    unique = benchmark_of(find_task(str(task.run.get("task")))).ids_are_unique
    if shared and unique and not label.is_local:
        said = f"One question stands in the places of others. {EDITED}"
        yield Check(SHARED, SHARED, DIFFERENT, some(shared), "an id each", said)
    elif shared:
        said = "Whether they are copies of one question can be told with the data only."
        yield Check(SHARED, SHARED, NOT_CHECKABLE, some(shared), "an id each", said)


def check_asked(
    task: TaskResult, rows: Sequence[LogRow], documents: Documents | str
) -> Iterator[Check]:
    """Check the hash of the questions that were to be asked, and their number.

    The run hashed their ids in the order of the data. The log is in the order of the ranks, so its
    rows are put back by their number; questions that were skipped for their length are not in it.
    """
    stated, asked = task.run.get("questions_sha256"), task.run.get("asked")
    first = rows[0].filter
    own = sorted((row for row in rows if row.filter == first), key=lambda row: row.index)
    said = "The run was to ask other questions than the log has."
    if task.run.get("overlength") != "skip":
        ids = [row.name for row in own]
        yield compared(ASKED, "questions_sha256", stated, _hash(ids), said)
        yield compared("counts", "asked", asked, len(ids), "The log has another number of them.")
    elif isinstance(documents, str):
        said = "Skipped questions are not in the log, and the data is not here to tell them."
        yield Check(ASKED, "questions_sha256", NOT_CHECKABLE, stated, None, said)
        yield Check("counts", "asked", NOT_CHECKABLE, asked, None, said)
    else:
        ids = _ids(documents)
        numbers = (asked, len(ids), _left_by_limit(task))
        possible = [n for n in numbers if isinstance(n, int) and n <= len(ids)]
        whole = asked if asked == len(ids) else None
        number = next((n for n in possible if _hash(ids[:n]) == stated), whole)
        if number is not None:
            yield compared(ASKED, "questions_sha256", stated, _hash(ids[:number]), said)
            yield compared("counts", "asked", asked, number, said)
        else:
            said = "Skipped questions are not in the log: which were chosen cannot be told."
            yield Check(ASKED, "questions_sha256", NOT_CHECKABLE, stated, None, said)
            yield Check("counts", "asked", NOT_CHECKABLE, asked, None, said)
    yield from _limited(task, own)


def _hash(ids: Sequence[str]) -> str:
    return text_sha256(json.dumps(ids))


def _left_by_limit(task: TaskResult) -> int | None:
    """Return how many questions --limit leaves; None: there was none, or it is lost."""
    return left_by_limit(task.settings.get("config", {}).get("limit"), task.original)


def _limited(task: TaskResult, rows: Sequence[LogRow]) -> Iterator[Check]:
    """Check the questions against --limit, which takes the first ones."""
    kind, asked, number = "limit", task.run.get("asked"), _left_by_limit(task)
    limit = task.settings.get("config", {}).get("limit")
    if isinstance(limit, bool) or not isinstance(limit, int | float | None):
        said = "The harness takes no such --limit."
        yield Check(kind, kind, DIFFERENT, limit, None, said)
        return
    if number is not None:
        said = "The questions are not the first ones that --limit leaves."
        yield compared(kind, kind, asked, number, said)
        beyond = [at(row, f"is in place {row.index}") for row in rows if row.index >= number]
        yield all_of("limit places", len(rows), beyond, f"one of the first {number}", said)
    elif task.original is None:
        said = "The results do not state how many questions there are."
        yield Check(kind, kind, NOT_CHECKABLE, asked, None, said)
    elif not isinstance(asked, int) or asked >= task.original:
        said = "There are not so many questions."
        yield compared(kind, kind, asked, task.original, said)
    else:
        said = "Not all questions, and no --limit: --samples chose, which the results do not state."
        yield Check(kind, kind, NOT_CHECKABLE, asked, task.original, said)
