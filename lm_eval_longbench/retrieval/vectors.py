"""Vectors of texts: what an embedder gives, that they are sound, and a cache of them."""

from __future__ import annotations

import hashlib
import importlib
import logging
from collections.abc import Callable, Iterable, Sequence
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

import numpy as np

from lm_eval_longbench.console import warn_once
from lm_eval_longbench.errors import EmbeddingError
from lm_eval_longbench.files import our_cache

if TYPE_CHECKING:
    import sqlite3

_log = logging.getLogger(__name__)
_T = TypeVar("_T")
# The model of the official scorer, by its name on the hub; similarities of any other are not
# comparable with published scores.
OFFICIAL_MODEL = "Qwen/Qwen3-Embedding-8B"


class Embedder(Protocol):
    """An embedding model, wherever it runs.

    Attributes:
        name: the model's, for the result.
    """

    name: str

    @property
    def identity(self) -> str:
        """Model and place. Vectors may be mixed, and cached ones used, only if this is equal."""
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


# ---------------------------------------------------------------------- the cache

# Part of the file's name: raise it when the rows or the way to embed change.
_FORMAT = "3"
# Seconds to wait for another process that writes.
_PATIENCE = 60.0
_TABLE = "CREATE TABLE IF NOT EXISTS vectors (key BLOB PRIMARY KEY, vector BLOB NOT NULL)"


class VectorCache:
    """One SQLite file in the datasets cache, shared by all embedders and processes.

    It can only save time: where it cannot be read or written, such as on a full disk or in a
    read-only folder, vectors are computed as without a cache.

    Args:
        folder: where the file lies; None: lm_eval_longbench/embeddings in the datasets cache.
    """

    def __init__(self, folder: Path | None = None) -> None:
        if folder is None:
            folder = our_cache() / "embeddings"
        self.path = folder / f"vectors-{_FORMAT}.sqlite"

    def get(self, identity: str, texts: Sequence[str]) -> dict[str, np.ndarray]:
        """Return an embedder's vectors that are kept, float32 of shape (d,), by text."""

        def read(connection: sqlite3.Connection) -> dict[str, np.ndarray]:
            found = {}
            for text in texts:
                query = "SELECT vector FROM vectors WHERE key = ?"
                for (value,) in connection.execute(query, [_key(identity, text)]):
                    found[text] = np.frombuffer(value, dtype="<f4").astype(np.float32)
            return found

        return self._do(read, "read") or {}

    def put(self, identity: str, texts: Sequence[str], vectors: np.ndarray) -> None:
        """Keep the vectors, float32 of shape (n, d), of n texts: all of them, or none."""
        rows = [
            (_key(identity, text), np.ascontiguousarray(vector, dtype="<f4").tobytes())
            for text, vector in zip(texts, vectors, strict=True)
        ]

        def write(connection: sqlite3.Connection) -> None:
            connection.executemany("INSERT OR REPLACE INTO vectors VALUES (?, ?)", rows)

        self._do(write, "written")

    def _do(self, action: Callable[[sqlite3.Connection], _T], done: str) -> _T | None:
        import sqlite3  # most commands embed nothing

        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            with closing(sqlite3.connect(self.path, timeout=_PATIENCE)) as connection, connection:
                connection.execute(_TABLE)
                return action(connection)
        except (sqlite3.Error, OSError) as error:
            warn_once(
                _log,
                f"embedding cache {done}",
                f"The embedding cache {self.path} cannot be {done} ({error}). Vectors are computed "
                "without it; only time is lost. Delete it, free some space, or name another folder "
                "with the environment variable HF_DATASETS_CACHE.",
            )
            return None


def _key(identity: str, text: str) -> bytes:
    return hashlib.sha256(f"{identity}\0{text}".encode("utf-8", "surrogatepass")).digest()


# ---------------------------------------------------------------------- vectors of many texts

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
