"""Words of Chinese texts, segmented once and remembered."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from lm_eval_longbench.metrics.segmenter import Segmenter


@functools.cache
def _segmenter() -> Segmenter:
    """Read the dictionary once."""
    # Only where there is something to segment: English answers need no jieba.
    from lm_eval_longbench.metrics.segmenter import Segmenter

    return Segmenter()


# A prediction meets each of its gold answers: remember it for that long.
@functools.lru_cache(maxsize=64)
def words(text: str) -> tuple[str, ...]:
    """Return jieba's default-mode tokens of `text`, whitespace tokens included."""
    return tuple(_segmenter().words(text))


# Gold answers come again with every run of a dataset, which has at most 200 questions.
gold_words = functools.lru_cache(maxsize=1024)(words.__wrapped__)
