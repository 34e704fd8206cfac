"""Semantic similarity of summaries."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Sequence

import numpy as np

from lm_eval_longbench.errors import DataError, EmbeddingError, OptionError
from lm_eval_longbench.metrics.lists import normalize
from lm_eval_longbench.semantic import local
from lm_eval_longbench.semantic.cache import VectorCache
from lm_eval_longbench.semantic.embedder import Embedder
from lm_eval_longbench.semantic.local import LocalEmbedder
from lm_eval_longbench.semantic.remote import RemoteEmbedder


def choose_embedder(model: str | None, url: str | None) -> Embedder | None:
    """Return the embedder for the options 'embedding_model' and 'embedding_url', or None.

    With a URL the model is the name to ask the server for; without one it is loaded here.

    Raises:
        OptionError: a URL without a model: whether a score is official depends on the model.
        EmbeddingError: the URL is unusable.
    """
    if url is None:
        return None if model is None else LocalEmbedder(model)
    if model is None:
        raise OptionError(
            "'embedding_url' needs 'embedding_model': the name the server knows its model by, "
            'such as "Qwen/Qwen3-Embedding-8B".'
        )
    return RemoteEmbedder(url, model)


# ---------------------------------------------------------------------- vectors of many texts

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


# ---------------------------------------------------------------------- similarity


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
        Raw cosines, in [-1, 1]; None for a prediction that is
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
    vectors = vectors_by_text(texts, embedder, cache)
    own = local.cosine if isinstance(embedder, LocalEmbedder) else cosine
    return [
        max(own(vectors[prediction], vectors[reference]) for reference in references)
        if prediction
        else None
        for prediction, references in cleaned
    ]


def _references(references: Sequence[str]) -> list[str]:
    cleaned = [text for text in map(_clean, references) if text]
    if not cleaned:
        raise DataError("A summary has no reference to be compared with: its answers are empty.")
    return cleaned


def cosine(first: np.ndarray, second: np.ndarray) -> float:
    """Return the cosine of two vectors of any lengths, at most 1; 0 if one has no direction."""
    first, second = first.astype(np.float64), second.astype(np.float64)
    scale = float(np.linalg.norm(first) * np.linalg.norm(second))
    # 0 is what sentence-transformers returns for a vector of zeros.
    return min(1.0, float(first @ second) / scale) if scale else 0.0


def _clean(text: str) -> str:
    # Half surrogate pairs, which broken servers send, are no text to any tokenizer.
    return normalize(text.encode("utf-8", "replace").decode("utf-8"))
