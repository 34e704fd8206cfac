"""Check a sample log in itself: its rows, its hashes and its gold answers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

from lm_eval_longbench.prompts.text_hash import text_sha256
from lm_eval_longbench.provenance.check import EDITED, NOT_CHECKABLE, Check, all_of, compared
from lm_eval_longbench.provenance.read_log import LogRow, at, rows_sha256
from lm_eval_longbench.provenance.read_results import TaskResult


def check_log(task: TaskResult, rows: Sequence[LogRow]) -> Iterator[Check]:
    """Yield the checks of a task's sample log that need nothing but it and the results file."""
    yield from _rows(task, rows)
    yield from _hashes(task, rows)


def _rows(task: TaskResult, rows: Sequence[LogRow]) -> Iterator[Check]:
    kind = "log rows"
    filters = Counter(row.filter for row in rows)
    number = max(filters.values(), default=0)
    meaning = f"Rows were lost or added. {EDITED}"
    for name, stated in (
        ("n-samples", task.n_samples),
        ("sample_len", task.figures.get("sample_len")),
    ):
        if stated is None:
            said = "The results state no number."
            yield Check(kind, name, NOT_CHECKABLE, stated, number, said)
        else:
            numbers = set(filters.values()) or {0}
            yield compared(kind, name, [stated], sorted(numbers), meaning)
    seen: dict[Any, int] = {}
    twice = []
    for row in rows:
        first = seen.setdefault((row.filter, row.doc.get("index", row.name)), row.line)
        if first != row.line:
            twice.append(at(row, f"is the question of line {first}"))
    yield all_of(
        "duplicate rows", len(rows), twice, "each question once", f"It counts twice. {EDITED}"
    )
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
    yield all_of(
        "sent prompts",
        len(rows),
        [
            at(row, "has another prompt than was hashed")
            for row in rows
            if row.sent_sha256 is not None and row.hashes["prompt"] != row.sent_sha256
        ],
        "prompt_hash of the first request",
        meaning,
    )
    plain = task.run.get("chat_sha256") == text_sha256("?")
    if plain:  # nothing stands around the prompt when it is sent
        yield all_of(
            "prompts in requests",
            len(rows),
            [
                at(row, "sent another prompt than its document has")
                for row in rows
                if row.hashes["prompt"] != row.prompt.get("sha256")
            ],
            "prompt_hash equal to prompt.sha256",
            "Without a chat template both are hashes of one text. " + EDITED,
        )
    if task.log_hash is None:
        said = "The results file has no hash of this log: it was written without --log_samples."
        yield Check("log hash", "log hash", NOT_CHECKABLE, meaning=said)
    else:
        said = f"The log's rows are not those the results were made from. {EDITED}"
        yield compared("log hash", "log hash", rows_sha256(rows), task.log_hash, said)


def _gold(row: LogRow) -> list[str]:
    gold = row.doc.get("answers", row.doc.get("answer"))
    return list(gold) if isinstance(gold, list) else [str(gold)]
