"""Check a sample log in itself: its rows, its hashes and its gold answers."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import Any

from lm_eval_longbench.prompts.text_hash import text_sha256
from lm_eval_longbench.provenance.check import (
    EDITED,
    NOT_CHECKABLE,
    Check,
    all_of,
    compared,
    those_that_tell,
)
from lm_eval_longbench.provenance.read_log import LogRow, at, rows_sha256
from lm_eval_longbench.provenance.read_results import TaskResult

# Of a prompt around which nothing stands when it is sent.
PLAIN = text_sha256("?")


def check_log(task: TaskResult, rows: Sequence[LogRow]) -> Iterator[Check]:
    """Yield the checks of a task's sample log that need nothing but it and the results file."""
    yield from _numbers(task, rows)
    yield from _places(task, rows)
    yield from _filters(task, rows)
    yield from _origin(task, rows)
    yield from _hashes(task, rows)


def _numbers(task: TaskResult, rows: Sequence[LogRow]) -> Iterator[Check]:
    kind = "log rows"
    meaning = f"Rows were lost or added. {EDITED}"
    filters = _by_filter(rows)
    numbers = sorted({len(own) for own in filters.values()})
    for name, stated in (
        ("n-samples", task.n_samples),
        ("sample_len", task.figures.get("sample_len")),
    ):
        if stated is None:
            said = "The results state no number."
            yield Check(kind, name, NOT_CHECKABLE, stated, numbers[-1], said)
        else:
            yield compared(kind, name, [stated], numbers, meaning)
    added = [at(row, f"has {row.extra[0]!r} beside what is known") for row in rows if row.extra]
    yield all_of("row fields", len(rows), added, "what the harness writes", EDITED)


def _by_filter(rows: Sequence[LogRow]) -> dict[str, list[LogRow]]:
    filters: dict[str, list[LogRow]] = defaultdict(list)
    for row in rows:
        filters[row.filter].append(row)
    return filters


def _places(task: TaskResult, rows: Sequence[LogRow]) -> Iterator[Check]:
    """Check that each row has a place of its own, the same ones under every filter."""
    seen: dict[Any, int] = {}
    twice = []
    for row in rows:
        first = seen.setdefault((row.filter, row.index), row.line)
        if first != row.line:
            twice.append(at(row, f"is the question of line {first}"))
    yield all_of(
        "duplicate rows", len(rows), twice, "each question once", f"It counts twice. {EDITED}"
    )
    filters = _by_filter(rows)
    indices = [{row.index for row in own} for own in filters.values()]
    # Under --samples the harness's own numbers may go to other rows, but they are the same ones.
    numbers = {row.doc_id for row in rows}
    most = task.original
    wrong = []
    if numbers not in ({None}, indices[0]):
        wrong.append(f"doc_id is {_few(numbers ^ indices[0])} where index is not, or the reverse")
    if any(own != indices[0] for own in indices):
        wrong.append(f"the filters {', '.join(filters)} are over other questions")
    if most is not None and max(indices[0]) >= most:
        wrong.append(f"there is a question {max(indices[0])}, but they are numbered below {most}")
    said = f"Rows are not where the run had them. {EDITED}"
    yield all_of("places", len(rows), wrong, "the numbers of the questions asked", said)


def _few(numbers: set[int | None]) -> str:
    return ", ".join(map(str, sorted(numbers, key=str)[:5]))


def _filters(task: TaskResult, rows: Sequence[LogRow]) -> Iterator[Check]:
    given = task.config.get("filter_list")
    names = sorted(str(own.get("name")) for own in given) if given else ["none"]
    said = "The log was made with other filters than the configuration has."
    yield compared("filters", "names", sorted({row.filter for row in rows}), names, said)


def _origin(task: TaskResult, rows: Sequence[LogRow]) -> Iterator[Check]:
    own, data = task.run.get("task"), task.run.get("data")
    foreign = [
        at(row, f"is of {row.doc.get('task')}, data {row.doc.get('data')}")
        for row in rows
        if (row.doc.get("task"), row.doc.get("data")) != (own, data)
    ]
    yield all_of(
        "foreign rows", len(rows), foreign, f"of {own}, data {data}", "These are of another run."
    )


def _hashes(task: TaskResult, rows: Sequence[LogRow]) -> Iterator[Check]:
    meaning = f"What the harness hashed is not what stands there now. {EDITED}"
    yield all_of(
        "document hashes",
        len(rows),
        [
            at(row, "has another document than was hashed")
            for row in rows
            if row.hashes["doc"] != row.doc_sha256
        ],
        "doc_hash of the document",
        f"A gold answer or another field was edited. {meaning}",
    )
    wrong = []
    for row in rows:
        if row.hashes["target"] != text_sha256(row.target):
            wrong.append(at(row, "has another target than was hashed"))
        elif row.target != str(_gold(row)):
            wrong.append(at(row, "has another target than its document"))
    yield all_of(
        "gold answers", len(rows), wrong, "target and target_hash of the document", meaning
    )
    telling = [row for row in rows if row.excerpts]
    yield from those_that_tell(
        "sent prompts",
        len(telling),
        len(rows) - len(telling),
        [
            at(row, "has another prompt than was hashed")
            for row in telling
            if row.excerpts[0].get("sha256") != row.hashes["prompt"]
            or any(own != row.excerpts[0] for own in row.excerpts)
        ],
        "prompt_hash of each request",
        meaning,
    )
    plain = task.run.get("chat_sha256") == PLAIN
    said = "a chat template or a system instruction" if not plain else "nothing"
    yield all_of(
        "prompts in requests",
        len(rows),
        [
            at(row, "sent another prompt than its document has" if plain else "sent it bare")
            for row in rows
            if (row.hashes["prompt"] == row.prompt["sha256"]) is not plain
        ],
        f"prompt_hash is that of the prompt, with {said} around it",
        f"What stood around the prompts is not what the signature says. {EDITED}",
    )
    if task.log_hash is None:
        said = "The results file has no hash of this log, which the harness writes beside it."
        yield compared("log hash", "log hash", None, rows_sha256(rows), said)
    else:
        said = f"The log's rows are not those the results were made from. {EDITED}"
        yield compared("log hash", "log hash", rows_sha256(rows), task.log_hash, said)


def _gold(row: LogRow) -> list[str]:
    gold = row.doc.get("answers", row.doc.get("answer"))
    return list(gold) if isinstance(gold, list) else [str(gold)]
