"""Take the reasoning of a thinking model out of its answer."""

from __future__ import annotations

import re

_BLOCK = re.compile(r"<think>.*?</think>", re.DOTALL)
_OPEN, _CLOSE = "<think>", "</think>"


def strip_reasoning(text: str) -> str:
    """Return the answer without its reasoning.

    `<think>...</think>` blocks go, then everything up to a last `</think>` without a beginning
    (some chat templates open the block in the prompt). Newlines that separated the reasoning from
    the answer go with it; indentation stays. A text that opens with `<think>` and never closes it
    was cut off before its answer: "". Any other text is returned unchanged.
    """
    if _CLOSE not in text:
        return "" if text.lstrip().startswith(_OPEN) else text
    rest = _BLOCK.sub("", text).rpartition(_CLOSE)[2].lstrip("\n")
    return "" if rest.lstrip().startswith(_OPEN) else rest
