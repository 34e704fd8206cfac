"""Prompts over numbered paragraphs: which one is the abstract of, and how many are there."""

from __future__ import annotations

import re
from itertools import pairwise

import numpy as np

from lm_eval_longbench.baseline.bm25 import scores
from lm_eval_longbench.baseline.layout import paragraphs
from lm_eval_longbench.baseline.words import words

_HEADING = re.compile(r"^[ \t]*(Paragraph |段落)[ \t]*([0-9]{1,9})[ \t]*[:：]", re.MULTILINE)
_ASKS_COUNT = re.compile(r"unique paragraphs|non-repeating paragraphs|final count|不重复")
_ASKS_NUMBER = re.compile(r"number of the paragraph|which paragraph|段落的编号|哪一段|哪个段落")
_ANNOUNCES = re.compile(r"abstract|摘要")
_TAIL = 400  # characters at the end where the request stands
_LONGEST_ANNOUNCEMENT = 60  # characters


def count_paragraphs(prompt: str) -> str | None:
    """Return the number of paragraphs in a prompt that asks for the unique ones, else None.

    Repeated paragraphs count again: to find them is the task, and this is a floor.
    """
    if _ASKS_COUNT.search(prompt[-_TAIL:]) is None:
        return None
    found = sum(1 for _ in _HEADING.finditer(prompt))
    return str(found) if found else None


def find_paragraph(prompt: str) -> str | None:
    """Return "Paragraph 7" or "段落7", the paragraph that fits the abstract best.

    None if the prompt does not ask for a paragraph's number, or holds no numbered paragraph or no
    abstract. Of equals the first is taken.
    """
    if _ASKS_NUMBER.search(prompt[-_TAIL:]) is None:
        return None
    headings = list(_HEADING.finditer(prompt))
    if not headings:
        return None
    last, abstract = _split_tail(prompt[headings[-1].end() :])
    if not abstract:
        return None
    texts = [prompt[heading.end() : following.start()] for heading, following in pairwise(headings)]
    texts.append(last)
    best = headings[int(np.argmax(scores([words(text) for text in texts], words(abstract))))]
    return best.group(1) + best.group(2)


def _split_tail(tail: str) -> tuple[str, str]:
    """Return the last paragraph's text and the abstract, which may be empty."""
    blocks = paragraphs(tail)
    end = max((n for n, block in enumerate(blocks) if _ASKS_NUMBER.search(block)), default=0)
    # The first block is the passage, and one at least must be left for the abstract.
    for number in range(1, end - 1):
        if len(blocks[number]) <= _LONGEST_ANNOUNCEMENT and _ANNOUNCES.search(blocks[number]):
            return "\n".join(blocks[:number]), "\n".join(blocks[number + 1 : end])
    # Without an announcement, cut away perhaps, the block before the request is the abstract.
    start = max(end - 1, 0)
    return "\n".join(blocks[:start]), "\n".join(blocks[start:end])
