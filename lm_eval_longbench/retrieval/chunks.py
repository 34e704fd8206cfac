"""Cut a document into chunks that are the same for every model."""

from __future__ import annotations

import re
from itertools import islice, pairwise
from typing import TypedDict

from lm_eval_longbench.baseline.bm25 import UNSPACED

SIZE = 512  # tokens
# No token of any model: the chunks must not change with the model that reads them.
_TOKEN = re.compile(rf"[{UNSPACED}]|[^\W_{UNSPACED}]+|\S")


# Where a sentence ends, with the white space behind it (source: LongBench, retrieval/).
_SENTENCE = re.compile(r".*?(?:[。？！；\n.!?;]\s*|$)", re.DOTALL)
_WORD = re.compile(r"[\u4e00-\u9fa5]|[^\W\u4e00-\u9fa5]+")


class Chunk(TypedDict):
    """A piece of a document, with the names of the official data.

    Attributes:
        c_idx: place in the document, 0 or more.
        content: its text.
    """

    c_idx: int
    content: str


def chunks(text: str, size: int = SIZE) -> list[str]:
    """Return `text` cut into consecutive pieces, which together are the text again.

    Every piece has `size` tokens, the last one 1 to `size`. A token is a run of letters and
    digits, a single character of Chinese or Japanese script, or any other single character that is
    no white space. White space stays with the token before it, at the start of the text with the
    one after it. A text of nothing but white space is one piece; an empty text has none.

    Raises:
        ValueError: `size` is less than 1.
    """
    if size < 1:
        raise ValueError(f"size must be 1 or more, not {size}")
    starts = [token.start() for token in islice(_TOKEN.finditer(text), 0, None, size)]
    borders = [0, *starts[1:], len(text)]
    return [text[start:end] for start, end in pairwise(borders)] if text else []


def sentence_chunks(text: str, size: int) -> list[str]:
    """Return `text` cut where sentences end, which together are the text again.

    A chunk takes sentences as long as it has at most `size` words; a longer sentence is a chunk. A
    word is a Chinese character or any other run of letters, digits and underscores. These are the
    chunks of LongBench v1's retrieval, but for the spaces that its code adds between sentences.

    Raises:
        ValueError: `size` is less than 1.
    """
    if size < 1:
        raise ValueError(f"size must be 1 or more, not {size}")
    found: list[str] = []
    number = 0
    for sentence in _SENTENCE.findall(text):
        own = words_in(sentence)
        if found and number + own <= size:
            found[-1] += sentence
            number += own
        elif sentence:
            found.append(sentence)
            number = own
    return found


def words_in(text: str) -> int:
    """Return how many words a text has, see `sentence_chunks`."""
    return sum(1 for _ in _WORD.finditer(text))


def first_words(text: str, number: int) -> str:
    """Return the start of a text up to the end of its word of this number."""
    ends = [word.end() for word in islice(_WORD.finditer(text), number)]
    return text[: ends[-1]].strip() if ends else ""
