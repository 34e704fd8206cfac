"""Prompts that ask for the next line of code."""

from __future__ import annotations

import re

import numpy as np

from lm_eval_longbench.baseline.bm25 import scores
from lm_eval_longbench.baseline.words import code_words

_ASKS = re.compile(r"next line of code[ \t]*[:：]\Z", re.IGNORECASE)
_TAIL = 40  # characters; the request is the prompt's last line
_REQUEST = re.compile(r"complete the code[^\n]*(?:\n|\Z)", re.IGNORECASE)
_HEAD = 1000  # characters at the start where the request may stand, after chat markup


def next_line(prompt: str) -> str | None:
    """Return the line that follows the earlier line most like the code's last one.

    With its indentation; blank lines are passed over, and of equals the latest is taken. None if
    the stripped prompt does not end in "Next line of code:"; empty if there are not two lines.
    """
    asks = _ASKS.search(prompt, max(0, len(prompt) - _TAIL))
    if asks is None:
        return None
    code = prompt[: asks.start()]
    request = _REQUEST.search(code, 0, _HEAD)
    if request:
        code = code[request.end() :]
    lines = [line.rstrip() for line in code.split("\n") if line.strip()]
    if len(lines) < 2:
        return ""
    tokens = [code_words(line) for line in lines]
    ranked = scores(tokens[:-1], tokens[-1])
    return lines[len(ranked) - int(np.argmax(ranked[::-1]))]
