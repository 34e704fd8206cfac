"""Vectors of many texts: from the cache, the rest from the embedder."""

from __future__ import annotations

import logging
from collections.abc import Iterable

import numpy as np

from lm_eval_longbench.errors import EmbeddingError
from lm_eval_longbench.semantic.cache import VectorCache
from lm_eval_longbench.semantic.embedder import Embedder

_log = logging.getLogger(__name__)
# Texts between two writes to the cache: what a run loses if the embedder fails.
_CHUNK = 256


def vectors_by_text(
    texts: Iterable[str], embedder: Embedder, cache: VectorCache | None = None
) -> dict[str, np.ndarray]:
    """Return the vector of each distinct text, float32 of shape (d,), all of one dimension.

    Each text is embedded once, and not at all if the cache has it.

    Raises:
        EmbeddingError: the embedder fails; what it had done is in the cache.
    """
    distinct = list(dict.fromkeys(texts))
    found = cache.get(embedder.identity, distinct) if cache else {}
    missing = [text for text in distinct if text not in found]
    _log.info("Embedding %d texts; %d more are cached.", len(missing), len(found))
    vectors = found | _embed(missing, embedder, cache)
    if found and _mixed(vectors):
        _log.warning(
            "The model behind %s has other dimensions than when vectors were cached: embedding "
            "every text anew.",
            embedder.name,
        )
        vectors = _embed(distinct, embedder, cache)
    if _mixed(vectors):
        raise EmbeddingError(
            f"The model behind {embedder.name} changed its dimensions within one run. Run again."
        )
    return vectors


def _embed(
    texts: list[str], embedder: Embedder, cache: VectorCache | None
) -> dict[str, np.ndarray]:
    result: dict[str, np.ndarray] = {}
    # Texts of like length are quicker together.
    texts = sorted(texts, key=len)
    for start in range(0, len(texts), _CHUNK):
        chunk = texts[start : start + _CHUNK]
        vectors = embedder.embed(chunk)
        if cache:
            cache.put(embedder.identity, chunk, vectors)
        result.update(zip(chunk, vectors, strict=True))
    return result


def _mixed(vectors: dict[str, np.ndarray]) -> bool:
    return len({len(vector) for vector in vectors.values()}) > 1
