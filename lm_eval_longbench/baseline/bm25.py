"""BM25 relevance, by the `bm25s` library."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np


def scores(documents: Sequence[Sequence[str]], query: Sequence[str]) -> np.ndarray:
    """Return one BM25 score (0 or more, float32) for each tokenized document.

    All scores are 0 when the query or all documents are empty. Repeated query words count once.
    """
    ids = {word: number for number, word in enumerate(dict.fromkeys(query))}
    # Words outside the query only weigh by a document's length: one id does for all of them,
    # and the index stays as small as the query.
    other = len(ids)
    corpus = [[ids.get(word, other) for word in document] for document in documents]
    if not ids or not any(corpus):
        return np.zeros(len(corpus), dtype=np.float32)
    # bm25s brings numba, whose exit handler must run after that of multiprocessing: otherwise a
    # program that has started an engine such as vLLM never ends. So multiprocessing comes first,
    # and bm25s only where it is used.
    import multiprocessing.util  # noqa: F401

    import bm25s

    index = bm25s.BM25()
    # Not index.index(): that writes a debug line to the log at every call, which a program that
    # has set up logging, as the harness does, would show.
    index.scores = index.build_index_from_ids(list(range(other + 1)), corpus, show_progress=False)
    return index.get_scores_from_ids(list(ids.values()))
