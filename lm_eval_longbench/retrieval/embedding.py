"""Rank the chunks of a document by the similarity of their embeddings to a question's."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from lm_eval_longbench.errors import OptionError
from lm_eval_longbench.retrieval.chunks import Chunk


def rank_by_embedding(
    chunks: Sequence[str], query: str, top_n: int, *, model: str | None, url: str | None
) -> list[Chunk]:
    """Return the `top_n` chunks whose embeddings have the highest cosine with the query's.

    Of equal chunks the earlier comes first. Vectors are cached.

    Args:
        chunks: texts in the order of the document; the place of each becomes its `c_idx`.
        query: any text.
        top_n: at least 1.
        model: embedding model.
        url: OpenAI-compatible embeddings server; None: the model is loaded here.

    Raises:
        OptionError: no model is named.
        EmbeddingError: the model or the server fails.
    """
    from lm_eval_longbench.semantic.cache import VectorCache
    from lm_eval_longbench.semantic.similarity import choose_embedder, vectors_by_text

    embedder = choose_embedder(model, url)
    if embedder is None:
        raise OptionError(
            "The option retriever \"embedding\" needs 'embedding_model', the model that embeds "
            "questions and chunks."
        )
    if not chunks:
        return []
    vectors = vectors_by_text([query, *chunks], embedder, VectorCache())
    cosines = np.array([vectors[chunk] @ vectors[query] for chunk in chunks])
    order = np.argsort(-cosines, kind="stable")[:top_n]
    return [Chunk(c_idx=int(place), content=chunks[place]) for place in order]
