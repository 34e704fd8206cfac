"""Retrieval for LongBench v2 questions whose data names no retrieved chunks."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from lm_eval_longbench.errors import PromptError
from lm_eval_longbench.retrieval.bm25 import rank
from lm_eval_longbench.retrieval.chunks import SIZE, Chunk, chunks

# For results: the published figures with retrieval come from another retriever.
LABEL = f"bm25s over {SIZE}-token chunks, lm-eval-longbench's own"
_ASKED = ("question", "choice_A", "choice_B", "choice_C", "choice_D")


def retrieve(question_row: Mapping[str, Any], top_n: int) -> list[Chunk]:
    """Return the chunks of a question's document that fit the question and its choices, best first.

    Args:
        question_row: with the texts `context`, `question` and `choice_A` to `choice_D`, each
            stripped before use, as in the prompt.
        top_n: at most so many chunks, 1 or more.

    Raises:
        OptionError: bm25s cannot be imported.
        PromptError: a field is missing or is not a text.
        ValueError: `top_n` is less than 1.
    """
    query = "\n".join(_text(question_row, name) for name in _ASKED)
    return rank(chunks(_text(question_row, "context")), query, top_n)


def _text(row: Mapping[str, Any], name: str) -> str:
    value = row.get(name)
    if not isinstance(value, str):
        found = f"{type(value).__name__}." if name in row else "no such field."
        raise PromptError(f"Retrieval needs the field {name!r} as a text; the row has {found}")
    return value.strip()
