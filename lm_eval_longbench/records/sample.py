"""Answers as all readers give them, rows that are none, and what an answer is worth."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from hashlib import blake2b, sha256
from typing import Any

from lm_eval_longbench.metrics.reasoning import DROP, OTHERWISE
from lm_eval_longbench.records.answer import NOT_KNOWN, Reply, failure, is_capped

MALFORMED, FOREIGN = "malformed", "foreign"
# Hexadecimal digits of a sha256 that tell one document from another.
_DOCUMENT_DIGITS = 16


@dataclass(slots=True)
class Scored:
    """What an answer is worth under a policy for reasoning.

    Attributes:
        score: in [0, 1]; None: unscored.
        failed: whether it counts as failed.
        shown: the fields of its output line besides the common ones.
        summary: the text to compare, of a summary, whose similarity is not known; else None.
        differing: v2: the stored and the extracted letter, where they differ; else None.
    """

    score: float | None
    failed: bool
    shown: dict[str, Any]
    summary: str | None = None
    differing: tuple[str | None, str | None] | None = None


@dataclass(slots=True)
class Sample:
    """One answer to one question, with all that scoring it needs, and then what it is worth.

    Attributes:
        table, task: names, see `base.Table` and `base.Task`.
        id: the question's, unique in its task (v1 and E: together with `order`).
        order: place of the question in its dataset where that tells questions apart (v1, E), else
            0.
        repeat: number of the answer within its run, from 1.
        response: the model's text, "" for a failed call; None where only the letter that was
            taken from it is known (v2).
        golds: gold answers, at least one; v2: the right letter.
        classes: class names (v1, E), where the dataset has them.
        shown: the fields that go into the output as they are: dataset, dimensions, length, ...
        truncated: whether the prompt was cut; None: unknown.
        content: hash of what is asked and its gold answers: two questions of a task that share it
            are one question twice; None: the row does not tell.
        document: hash of the document it is about, 16 hexadecimal digits; None: the row does not
            tell.
        stored: v2: the letter that the file itself states, None for none. Only if `has_stored`.
        has_stored: whether it states one.
        dropped: v2: whether the official scripts would not have written the answer down, so that
            it is in no denominator of theirs: a failed call in a log of the harness.
        reply: what the log tells of how the answer came about; None: nothing.
        doc: the question as it was read, with whatever else its row had; None: not kept.
        policy: by which `worth` was scored, see `metrics.reasoning`.
        worth: what it is worth; unscored before it is scored.
        other: the same under the other policy, where the answer holds reasoning; else None.
        run: number of its run.
        source, line: number of its file, and where it stands there.
        official: its row in an official file; None: none is wanted, or there is none.
    """

    table: str
    task: str
    id: str
    order: int
    repeat: int
    response: str | None
    golds: list[str]
    classes: list[str] | None = None
    shown: dict[str, Any] = field(default_factory=dict)
    truncated: bool | None = None
    content: bytes | None = None
    document: str | None = None
    stored: str | None = None
    has_stored: bool = False
    dropped: bool = False
    reply: Reply | None = None
    doc: Mapping[str, Any] | None = None
    policy: str = DROP
    worth: Scored = field(default_factory=lambda: Scored(None, False, {}))
    other: Scored | None = None
    run: int = 0
    source: int = 0
    line: int = 0
    official: dict[str, Any] | None = None

    @property
    def gold(self) -> tuple[Any, ...]:
        """Gold answers, classes and dimensions: equal for all answers to one question.

        Without the document: some logs of a question know it, others do not.
        """
        return self.golds, self.classes, self.shown


@dataclass(frozen=True, slots=True)
class Unusable:
    """Why a row gives no sample.

    Attributes:
        reason: what is wrong with it; of a foreign row what it is, to be read after its place.
        kind: MALFORMED, or FOREIGN for a sound row of something else.
    """

    reason: str
    kind: str = MALFORMED


# What a reader makes of a decoded row.
Read = list[Sample] | Unusable


def is_texts(value: Any) -> bool:
    """Whether a value is a list of one or more texts."""
    return isinstance(value, list) and set(map(type, value)) == {str}


def is_whole(value: Any, least: int, most: int) -> bool:
    """Whether a value is a whole number from `least` to `most`; true and false are none."""
    return isinstance(value, int) and not isinstance(value, bool) and least <= value <= most


def text_id(value: Any) -> str | None:
    """Return a question's id as text; None for what is no id: only texts and numbers are."""
    if isinstance(value, str) and value:
        return value
    return str(value) if isinstance(value, int) and not isinstance(value, bool) else None


def content_hash(*parts: Any) -> bytes:
    """Return eight bytes that tell one question from another.

    Args:
        parts: decoded JSON: all that makes the question and its gold answers what they are.
    """
    return blake2b(json.dumps(parts).encode("ascii"), digest_size=8).digest()


# Documents of questions, by `Sample.content` and the question's place in its dataset.
KnownDocuments = Mapping[bytes, Mapping[int, str | None]]


def document_in(documents: KnownDocuments, sample: Sample) -> str | None:
    """Return the document of a sample's question; None: not known.

    Where questions on several documents are asked and answered alike, the place tells.
    """
    places = documents.get(sample.content or b"", {})
    distinct = set(places.values())
    return distinct.pop() if len(distinct) == 1 else places.get(sample.order)


def document_of_text(text: Any) -> str | None:
    """Return the short hash of a document; None for what is no text, or an empty one."""
    if not isinstance(text, str) or not text:
        return None
    return sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:_DOCUMENT_DIGITS]


def document_of_hash(digest: Any) -> str | None:
    """Return the short form of a document's sha256; None for what is none."""
    if not isinstance(digest, str) or len(digest) != 64 or set(digest) - set("0123456789abcdef"):
        return None
    return digest[:_DOCUMENT_DIGITS]


def failure_of(sample: Sample) -> str | None:
    """Return why an answer failed, or may still turn out to have failed, if it is known."""
    if not sample.worth.failed and sample.worth.score is not None:
        return None
    reason = failure(sample.reply)
    return None if reason == NOT_KNOWN else reason


def line_of(sample: Sample) -> dict[str, Any]:
    """Return an answer as a line of samples.jsonl has it.

    With what it is worth under the other policy for reasoning, where that differs.
    """
    worth, other = sample.worth, sample.other
    reason = failure_of(sample) if worth.failed else None
    line = {
        "table": sample.table,
        "task": sample.task,
        "id": sample.id,
        "repeat": sample.repeat,
        "score": worth.score,
        "failed": worth.failed,
        "truncated": sample.truncated,
        "capped": is_capped(sample.reply),
        **({} if reason is None else {"failure": reason}),
        **worth.shown,
    }
    if other is not None:
        # What the question has is the same.
        own = {name: value for name, value in other.shown.items() if name not in sample.shown}
        line[OTHERWISE[sample.policy]] = {"score": other.score, "failed": other.failed, **own}
    return {**line, "document": sample.document}
