"""What the readers of all formats give: samples, and rows that are none."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

MALFORMED, FOREIGN = "malformed", "foreign"


@dataclass(slots=True)
class Sample:
    """One answer to one question, with all that scoring it needs.

    Attributes:
        table, task: canonical names, see `score_tables`.
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


@dataclass(frozen=True, slots=True)
class Unusable:
    """Why a row gives no sample.

    Attributes:
        reason: what is wrong with it; of a foreign row what it is, to be read after its place.
        kind: MALFORMED, or FOREIGN for a sound row of something else.
    """

    reason: str
    kind: str = MALFORMED


@dataclass(frozen=True, slots=True)
class BadLine:
    """A line that gives no sample.

    Attributes:
        file: name of the file.
        line: number in the file, from 1.
        reason: what is wrong with it.
        kind: MALFORMED or FOREIGN.
    """

    file: str
    line: int
    reason: str
    kind: str = MALFORMED

    def __str__(self) -> str:
        return f"{self.file}, line {self.line}: {self.reason}"


# What a reader makes of a decoded row.
Read = list[Sample] | Unusable
