"""Prompts with labelled examples: the label of the nearest one."""

from __future__ import annotations

import re

import numpy as np

from lm_eval_longbench.baseline.bm25 import scores
from lm_eval_longbench.baseline.words import words

_ASKS = re.compile(r"^[ \t]*(Type|Label|Category|Class|类别|类型|标签)[ \t]*[:：]\Z", re.MULTILINE)
_TAIL = 40  # characters; the request is the prompt's last line


def nearest_label(prompt: str) -> str | None:
    """Return the label of the example most like the unlabelled last one, e.g. "Date".

    None if the stripped prompt does not end in a label line such as "Type:" or "类别：", or no
    example has a label. Of equals the first is taken.
    """
    start = max(0, len(prompt) - _TAIL)
    asks = _ASKS.search(prompt, start)
    if asks is None:
        return None
    line = re.compile(rf"^[ \t]*{asks.group(1)}[ \t]*[:：][ \t]*(\S.*)$", re.MULTILINE)
    texts: list[str] = []
    labels: list[str] = []
    previous = 0
    for label in line.finditer(prompt, 0, asks.start()):
        texts.append(prompt[previous : label.start()])
        labels.append(label.group(1).strip())
        previous = label.end()
    if not labels:
        return None
    query = words(prompt[previous : asks.start()])
    return labels[int(np.argmax(scores([words(text) for text in texts], query)))]
