"""What turns texts into vectors."""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from typing import Any, Protocol

import numpy as np

from lm_eval_longbench.errors import EmbeddingError

# The model of the official scorer; similarities of any other are not comparable with published
# scores.
OFFICIAL_MODEL = "Qwen/Qwen3-Embedding-8B"


class Embedder(Protocol):
    """An embedding model, wherever it runs."""

    @property
    def name(self) -> str:
        """The model's name, for the result."""
        ...

    @property
    def identity(self) -> str:
        """Model and place. Vectors may be mixed, and cached ones used, only if this is equal."""
        ...

    @property
    def official(self) -> bool:
        """True if this is the official scorer's model."""
        ...

    def check(self) -> None:
        """Find out cheaply, before hours of generation, whether `embed` can work.

        Raises:
            EmbeddingError: it cannot.
        """
        ...

    def embed(self, texts: Sequence[str]) -> np.ndarray:
        """Return one vector per text: float32 of shape (n, d), finite.

        A text's vector does not depend on the texts around it, except for float noise.

        Raises:
            EmbeddingError: there is no usable vector for some text.
        """
        ...


def sound_vectors(raw: Any, number: int, source: str) -> np.ndarray:
    """Return `raw` as float64 of shape (number, d).

    Args:
        raw: array, or sequences of numbers.
        number: vectors expected.
        source: whose vectors they are, for the message.

    Raises:
        EmbeddingError: another number of vectors, unequal or no dimensions, or values that are
            not finite numbers.
    """
    try:
        vectors = np.asarray(raw, dtype=np.float64)
    except (TypeError, ValueError, OverflowError) as error:
        raise EmbeddingError(
            f"{source} returned vectors of unequal dimensions or with values that are not "
            f"numbers ({error}). Is it an embedding model that serves plain float vectors?"
        ) from error
    if vectors.ndim != 2 or len(vectors) != number or not vectors.shape[1]:
        raise EmbeddingError(
            f"{source} returned vectors of shape {vectors.shape} for {number} texts; "
            f"({number}, dimensions) is needed."
        )
    if not np.isfinite(vectors).all():
        bad = int((~np.isfinite(vectors)).any(axis=1).sum())
        raise EmbeddingError(
            f"{source} returned NaN or infinite values in {bad} of {number} vectors. This happens "
            "to models run in float16: run it in bfloat16 or float32."
        )
    return vectors


def unit_vectors(raw: Any, number: int, source: str) -> np.ndarray:
    """Return `sound_vectors` as float32, each row scaled to length 1; zero rows stay."""
    vectors = sound_vectors(raw, number, source)
    # Largest value first: the squares of large or tiny values leave the range of floats.
    largest = np.abs(vectors).max(axis=1, keepdims=True)
    vectors = np.divide(vectors, largest, out=np.zeros_like(vectors), where=largest > 0)
    norms = np.linalg.norm(vectors, axis=1, keepdims=True)
    return np.divide(vectors, norms, out=vectors, where=norms > 0).astype(np.float32)


_INSTALL = 'pip install "lm-eval-longbench[semantic]"'


def semantic_package(name: str) -> Any:
    """Return the imported module.

    Raises:
        EmbeddingError: it cannot be imported; the message has the pip line.
    """
    try:
        return importlib.import_module(name)
    except ImportError as error:
        raise EmbeddingError(
            f"Semantic similarity needs the package {name!r}, which cannot be imported ({error}). "
            f"Install it with: {_INSTALL}"
        ) from error
