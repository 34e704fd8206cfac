"""The sentences that fit a question best."""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np

from lm_eval_longbench.baseline.bm25 import scores
from lm_eval_longbench.baseline.words import words

_BORDER = re.compile(r"(?<=[.!?])\s+|(?<=[.!?][\"”’')])\s+|(?<=[。！？])|\n")


def sentences(text: str) -> list[str]:
    """Return the sentences of `text` in order, stripped; a line end also ends a sentence."""
    pieces = (piece.strip() for piece in _BORDER.split(text))
    return [piece for piece in pieces if piece]


def join(chosen: Sequence[str]) -> str:
    """Return the sentences as one text, with spaces except after Chinese punctuation."""
    return "".join(
        sentence if sentence.endswith(("。", "！", "？")) else sentence + " " for sentence in chosen
    ).rstrip()


def best_sentences(text: str, question: str, most: int) -> list[str]:
    """Return up to `most` (1 or more) sentences of `text` that fit the question, in text order.

    Sentences of equal score are taken in text order. Sentences that hold no word beyond the
    question's own cannot answer it and are passed over; the list is empty if no other is there.
    """
    asked = words(question)
    known = set(asked)
    candidates: list[str] = []
    tokens: list[list[str]] = []
    for sentence in sentences(text):
        found = words(sentence)
        if not known.issuperset(found):
            candidates.append(sentence)
            tokens.append(found)
    order = np.argsort(-scores(tokens, asked), kind="stable")
    return [candidates[number] for number in sorted(order[:most])]
