"""Semantic similarity of summaries."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from lm_eval_longbench.errors import DataError
from lm_eval_longbench.metrics.answer_items import normalize
from lm_eval_longbench.semantic.cache import VectorCache
from lm_eval_longbench.semantic.embedder import Embedder
from lm_eval_longbench.semantic.vectors import vectors_by_text

# No true cosine is above 1, so an excess is float error whatever its size. Equal texts give 1
# within 1e-15 here (one vector, float64); in float32, as libraries compute it, they give up to
# 1 + 2.4e-7. Below 0 nothing is tolerated: real cosines are there.
TOLERANCE = 1e-6


def summary_similarities(
    pairs: Sequence[tuple[str, Sequence[str]]],
    embedder: Embedder,
    cache: VectorCache | None = None,
) -> list[float | None]:
    """Return, for each prediction, the highest cosine with one of its references.

    Call it once with all predictions: each distinct text is embedded once, in batches.

    Args:
        pairs: (prediction, references); compared lower-cased and with whitespace collapsed.
        embedder: used for texts that are not cached.
        cache: None: nothing is cached.

    Returns:
        Raw cosines, in [-1, 1] but for float error (see `in_range`); None for a prediction that is
        empty, which has no direction to compare.

    Raises:
        DataError: a prediction has no reference, or only empty ones.
        EmbeddingError: the embedder fails.
    """
    cleaned = [(_clean(prediction), _references(references)) for prediction, references in pairs]
    texts = [
        text
        for prediction, references in cleaned
        if prediction
        for text in (prediction, *references)
    ]
    vectors = {
        text: vector.astype(np.float64)
        for text, vector in vectors_by_text(texts, embedder, cache).items()
    }
    return [
        max(_cosine(vectors[prediction], vectors[reference]) for reference in references)
        if prediction
        else None
        for prediction, references in cleaned
    ]


def in_range(similarity: float | None) -> bool:
    """Return whether a similarity is in [0, 1], up to `TOLERANCE` above 1; None and NaN are not.

    The official scorer counts any other as failed, with score 0. It compares with 1 exactly, where
    float error fails perfect summaries on some machines.
    """
    return similarity is not None and 0.0 <= similarity <= 1.0 + TOLERANCE


def _references(references: Sequence[str]) -> list[str]:
    cleaned = [text for text in map(_clean, references) if text]
    if not cleaned:
        raise DataError("A summary has no reference to be compared with: its answers are empty.")
    return cleaned


def _cosine(first: np.ndarray, second: np.ndarray) -> float:
    scale = float(np.linalg.norm(first) * np.linalg.norm(second))
    # A vector of zeros has no direction; 0 is what sentence-transformers returns for it.
    return float(first @ second) / scale if scale else 0.0


def _clean(text: str) -> str:
    # Half surrogate pairs, which broken servers send, are no text to any tokenizer.
    return normalize(text.encode("utf-8", "replace").decode("utf-8"))
