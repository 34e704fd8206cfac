"""What an answer is worth, and its row in the store."""

from __future__ import annotations

import json
from dataclasses import dataclass
from hashlib import blake2b
from typing import Any, NamedTuple

from lm_eval_longbench.offline.sample import Sample


@dataclass(slots=True)
class Scored:
    """What an answer is worth.

    Attributes:
        score: in [0, 1]; None: unscored.
        failed: whether it counts as failed.
        shown: the fields of its output line besides the common ones.
        summary: the text to compare, of a summary, whose similarity is not known; else None.
        other: the same under the other policy for reasoning, where the answer holds reasoning; else
            None.
        differing: v2: the stored and the extracted letter, where they differ; else None.
    """

    score: float | None
    failed: bool
    shown: dict[str, Any]
    summary: str | None = None
    differing: tuple[str | None, str | None] | None = None
    other: Scored | None = None


class Row(NamedTuple):
    """A sample in the store. The first eight fields are its key, which sorts it.

    Attributes:
        table, task: their numbers in `score_tables`.
        place: see `Sample.order`.
        id: of the question, UTF-8; half surrogate pairs, which JSON can spell, pass.
        run, repeat: the run's number and the answer's number in it.
        source, line: where it was read.
        gold: hash of the gold data and the dimensions: equal for all answers to one question.
        reasoned: whether the answer holds reasoning; then `shown` has what it is worth otherwise.
        score, failed, truncated: as in the output, truth values as 0 and 1.
        shown: JSON of the other output fields.
        content: see `Sample.content`.
    """

    table: int
    task: int
    place: int
    id: bytes
    run: int
    repeat: int
    source: int
    line: int
    gold: bytes
    score: float | None
    failed: int
    truncated: int | None
    reasoned: int
    shown: str
    content: bytes | None = None


def text_bytes(text: str) -> bytes:
    """Return a text as UTF-8; half surrogate pairs pass."""
    return text.encode("utf-8", "surrogatepass")


def text_of(data: bytes) -> str:
    """Return the text that `text_bytes` encoded."""
    return data.decode("utf-8", "surrogatepass")


def gold_hash(sample: Sample) -> bytes:
    """Return eight bytes that differ where gold data or dimensions do."""
    parts = (*sample.golds, *(sample.classes or ()), *map(str, sample.shown.values()))
    return blake2b(text_bytes("\0".join(parts)), digest_size=8).digest()


def shown_json(shown: dict[str, Any]) -> str:
    """Return output fields as JSON."""
    return json.dumps(shown)
