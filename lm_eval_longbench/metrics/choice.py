"""The letter that an answer to a multiple-choice question of LongBench v2 names."""

from __future__ import annotations

import re

# In this order, case-sensitive. Source: LongBench at commit 2e00731, pred.py.
_FORMS = (
    re.compile(r"The correct answer is \(([A-D])\)"),
    re.compile(r"The correct answer is ([A-D])"),
)


def extract_choice(answer: str) -> str | None:
    """Return the letter "A" to "D" that an answer names in the official words, else None.

    Asterisks are taken out first: models print letters in bold.
    """
    plain = answer.replace("*", "")
    for form in _FORMS:
        found = form.search(plain)
        if found:
            return found[1]
    return None
