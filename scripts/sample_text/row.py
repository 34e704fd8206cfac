"""The parts of a sample line that its author chooses, and helpers that put texts together."""

from collections.abc import Callable
from typing import NamedTuple


class Row(NamedTuple):
    """One sample: what is asked, of which text, and the gold answers."""

    input: str
    context: str
    answers: list[str]


class Passage(NamedTuple):
    """A titled text of a multi-document sample."""

    title: str
    text: str


def numbered(passages: list[Passage]) -> str:
    """Return the passages in the layout of LongBench's multi-document sets."""
    return "\n\n".join(
        f"Passage {number}:\n{passage.title}\n{passage.text}"
        for number, passage in enumerate(passages, start=1)
    )


def count_words(text: str) -> int:
    """Return the number of whitespace-separated words."""
    return len(text.split())


def fill(make: Callable[[], str], words: int) -> list[str]:
    """Return pieces of filler of at least `words` words in all."""
    pieces: list[str] = []
    left = words
    while left > 0:
        pieces.append(make())
        left -= count_words(pieces[-1])
    return pieces
