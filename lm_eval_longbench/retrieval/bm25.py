"""Rank the chunks of a document by their relevance to a question."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from lm_eval_longbench.baseline.bm25 import scores, words
from lm_eval_longbench.errors import OptionError
from lm_eval_longbench.prompts.templates import text_field
from lm_eval_longbench.retrieval.chunks import SIZE, Chunk, chunks

_INSTALL = "pip install bm25s"
BM25, EMBEDDING = "bm25", "embedding"
# Returns the best of some chunks for a query, best first, at most so many.
Ranker = Callable[[Sequence[str], str, int], list[Chunk]]


def rank(chunks: Sequence[str], query: str, top_n: int) -> list[Chunk]:
    """Return the `top_n` chunks that fit the query best, best first; all if there are no more.

    BM25 in the variant and with the parameters that are bm25s' default (Lucene's, k1 = 1.5,
    b = 0.75). Its words are lower-cased words, of Chinese and Japanese pairs of characters; a word
    that the query repeats counts once. Of equal chunks the earlier comes first.

    Args:
        chunks: texts in the order of the document; the place of each becomes its `c_idx`.
        query: any text.
        top_n: at least 1.

    Raises:
        OptionError: bm25s cannot be imported; the message has the pip line.
        ValueError: `top_n` is less than 1.
    """
    if top_n < 1:
        raise ValueError(f"top_n must be 1 or more, not {top_n}")
    # bm25s keeps its progress bars and log lines away there.
    try:
        relevance = scores([words(chunk) for chunk in chunks], words(query))
    except ImportError as error:
        raise OptionError(
            f"Retrieving chunks needs the package 'bm25s', which cannot be imported ({error}). "
            f"Install it with: {_INSTALL} - or give the chunks with the option "
            "'retrieved_context'."
        ) from error
    order = np.argsort(-relevance, kind="stable")[:top_n]
    return [Chunk(c_idx=int(place), content=chunks[place]) for place in order]


# ---------------------------------------------------------------------- questions without chunks


def label(retriever: str, chunks: str, model: str | None = None) -> str:
    """Return how chunks are ranked here, for results: published figures come from others.

    Args:
        retriever: "bm25" or "embedding".
        chunks: size and unit of a chunk, such as "512-token".
        model: embedding model.
    """
    by = f"embeddings of {model}" if retriever == EMBEDDING else "bm25s"
    return f"{by} over {chunks} chunks, lm-eval-longbench's own"


LABEL = label(BM25, f"{SIZE}-token")
_ASKED = ("question", "choice_A", "choice_B", "choice_C", "choice_D")


def retrieve(
    question_row: Mapping[str, Any], top_n: int, ranked: Ranker = rank, size: int = SIZE
) -> list[Chunk]:
    """Return the chunks of a question's document that fit the question and its choices, best first.

    Args:
        question_row: with the texts `context`, `question` and `choice_A` to `choice_D`, each
            stripped before use, as in the prompt.
        top_n: at most so many chunks, 1 or more.
        ranked: ranks them.
        size: of a chunk in tokens.

    Raises:
        OptionError: bm25s cannot be imported.
        PromptError: a field is missing or is not a text.
        ValueError: `top_n` is less than 1.
    """
    *asked, context = (
        text_field(question_row, name, "Retrieval", "row").strip() for name in (*_ASKED, "context")
    )
    return ranked(chunks(context, size), "\n".join(asked), top_n)
