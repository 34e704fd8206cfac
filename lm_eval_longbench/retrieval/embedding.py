"""Embed in this process or on a server, and compare summaries by their vectors."""

from __future__ import annotations

import functools
import hashlib
import importlib.util
import logging
import threading
from collections import defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from lm_eval_longbench.console import warn_once
from lm_eval_longbench.errors import DataError, EmbeddingError, OptionError
from lm_eval_longbench.metrics.lists import normalize
from lm_eval_longbench.retrieval.remote import RemoteEmbedder
from lm_eval_longbench.retrieval.vectors import (
    Embedder,
    VectorCache,
    semantic_package,
    sound_vectors,
    vectors_by_text,
)

_log = logging.getLogger(__name__)
# Texts and tokens in one batch at most, unless one text alone has more: a batch of long answers
# must fit where a batch of summaries does.
_TEXTS, _TOKENS = 32, 32_768
# A fast tokenizer keeps padding as a state of its own: of two threads that embed at once, one could
# measure its texts padded, and then embed texts of unlike lengths together.
_ONE_AT_A_TIME = threading.Lock()
# Either tells that a repository on the hub holds a model.
_MODEL_FILES = ("modules.json", "config.json")


def _local_cosine(first: np.ndarray, second: np.ndarray) -> float:
    """Return the cosine of two vectors of a model in this process, at most 1.

    With the operations of sentence-transformers' `cos_sim`, whose float32 sums differ from others
    in their last bits.
    """
    torch = semantic_package("torch")
    rows = [torch.from_numpy(vector[None]) for vector in (first, second)]
    left, right = (torch.nn.functional.normalize(row, p=2, dim=1) for row in rows)
    return min(1.0, torch.mm(left, right.T).item())


class LocalEmbedder:
    """A sentence-transformers model, loaded when the first text is embedded.

    Padding is on the left, as in the official scorer, which matters to models that pool the last
    token. But models with absolute positions (BERT and its kin) give another vector to a text that
    is padded on the left: the cosine between the two was 0.78 for all-MiniLM-L6-v2. So only texts
    of the same number of tokens share a batch, nothing is padded, and a vector depends on its text
    alone, whatever the model.

    Args:
        name: model name on the hub, or folder.
        device: such as "cpu" or "cuda:1"; None: the library chooses.
    """

    def __init__(self, name: str, device: str | None = None) -> None:
        self.name = name
        self.device = device

    @property
    def identity(self) -> str:
        """The name, and for a folder the state of its files: it may hold another model later."""
        folder = Path(self.name)
        if not folder.is_dir():
            return f"unscaled {self.name}"
        files = {path: path.stat() for path in sorted(folder.rglob("*")) if path.is_file()}
        state = [(str(path), own.st_size, own.st_mtime_ns) for path, own in files.items()]
        return f"unscaled {folder.resolve()} {hashlib.sha256(repr(state).encode()).hexdigest()}"

    def check(self) -> None:
        """Make sure that the package is there and the model's settings can be had.

        The weights are not loaded: they need not fit beside the evaluated model.

        Raises:
            EmbeddingError: one of them is missing.
        """
        if importlib.util.find_spec("sentence_transformers") is None:
            semantic_package("sentence_transformers")  # raises
        if Path(self.name).is_dir():
            return
        from huggingface_hub import hf_hub_download

        # The library looks names without an owner up under its own.
        repo = self.name if "/" in self.name else f"sentence-transformers/{self.name}"
        problem: Exception | None = None
        for file in _MODEL_FILES:
            try:
                hf_hub_download(repo, file)
                return
            except Exception as error:  # one of many of the hub's, or OSError
                problem = error
        raise self._unusable(problem) from problem

    def embed(self, texts: Sequence[str]) -> np.ndarray:
        """Return one vector per text, as the model gives it: float32 of shape (n, d).

        Texts longer than the model takes are cut at their end by the library; a warning says how
        many.

        Raises:
            EmbeddingError: package or model is missing, or the model fails.
        """
        with _ONE_AT_A_TIME:
            rows = self._rows(texts)
        source = f"The embedding model {self.name!r}"
        return sound_vectors(rows, len(texts), source).astype(np.float32)

    def _rows(self, texts: Sequence[str]) -> list[Any]:
        model = self._model  # loaded here: what goes wrong then has a message of its own
        rows: list[Any] = [None] * len(texts)
        try:
            for batch in self._batches(texts):
                vectors = model.encode(
                    [texts[index] for index in batch],
                    batch_size=len(batch),
                    show_progress_bar=False,
                    convert_to_numpy=True,
                )
                for index, vector in zip(batch, vectors, strict=True):
                    rows[index] = vector
        except Exception as error:  # torch raises its own, and what its devices raise
            raise EmbeddingError(
                f"The embedding model {self.name!r} failed ({type(error).__name__}: {error}). If "
                "memory ran out: serve the model elsewhere and name the server with the option "
                "'embedding_url', or score the logged run later on a free machine."
            ) from error
        return rows

    @functools.cached_property
    def _model(self) -> Any:
        package = semantic_package("sentence_transformers")
        try:
            model = package.SentenceTransformer(self.name, device=self.device)
        except Exception as error:  # the hub's, transformers' and torch's own
            raise self._unusable(error) from error
        # Set here because the constructor's argument for it changes its name between versions.
        if callable(model.tokenizer):
            model.tokenizer.padding_side = "left"
        return model

    def _unusable(self, error: Exception | None) -> EmbeddingError:
        return EmbeddingError(
            f"The embedding model {self.name!r} cannot be loaded ({type(error).__name__}: "
            f"{error}). Give a model name or folder that sentence-transformers can load, or name "
            "a server with the option 'embedding_url'."
        )

    def _batches(self, texts: Sequence[str]) -> Iterator[list[int]]:
        by_length = defaultdict(list)
        for index, length in enumerate(self._lengths(texts)):
            by_length[length].append(index)
        # Longest first: if memory does not suffice, that shows at once.
        for length, indices in sorted(by_length.items(), reverse=True):
            size = max(1, min(_TEXTS, _TOKENS // max(1, length)))
            for start in range(0, len(indices), size):
                yield indices[start : start + size]

    def _lengths(self, texts: Sequence[str]) -> list[int]:
        tokenizer, limit = self._model.tokenizer, self._model.max_seq_length
        if not callable(tokenizer):  # a static model, which looks words up and pads nothing
            return [0] * len(texts)
        lengths = [len(ids) for ids in tokenizer(list(texts), verbose=False)["input_ids"]]
        if limit is None:
            return lengths
        longer = sum(length > limit for length in lengths)
        if longer:
            warn_once(
                _log,
                f"cut embeddings {self.name}",
                f"The embedding model {self.name!r} takes {limit} tokens: {longer} of "
                f"{len(texts)} texts are longer and are compared by their beginning only.",
            )
        return [min(length, limit) for length in lengths]


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
    own = _local_cosine if isinstance(embedder, LocalEmbedder) else cosine
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
