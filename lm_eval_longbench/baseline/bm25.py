"""Words of a text, and how relevant texts are to some of them: BM25, by the `bm25s` library."""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np

# Scripts written without spaces, as a character class; here neighbouring characters stand in for
# words.
UNSPACED = r"\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
_RUN = re.compile(rf"([{UNSPACED}]+)|[^\W{UNSPACED}]+")
_CODE = re.compile(r"\w+|[^\w\s]")


def words(text: str) -> list[str]:
    """Return the lower-cased words of `text`; Chinese and Japanese runs as character pairs.

    A run of one such character is a token by itself. Punctuation gives no tokens.
    """
    tokens: list[str] = []
    for run in _RUN.finditer(text.lower()):
        token = run.group()
        if run.group(1) and len(token) > 1:
            tokens.extend(token[at : at + 2] for at in range(len(token) - 1))
        else:
            tokens.append(token)
    return tokens


def code_words(line: str) -> list[str]:
    """Return the words of a code line, case kept, and each mark of punctuation as a token."""
    return _CODE.findall(line)


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
