"""Take the reasoning of a thinking model out of its answer."""

from __future__ import annotations

_OPEN, _CLOSE = "<think>", "</think>"


def _without_blocks(text: str) -> str:
    """Return the text without its `<think>...</think>` blocks, each ending at the first mark."""
    kept = []
    end = 0
    while (start := text.find(_OPEN, end)) >= 0 and (close := text.find(_CLOSE, start)) >= 0:
        kept.append(text[end:start])
        end = close + len(_CLOSE)
    return "".join(kept) + text[end:]


def strip_reasoning(text: str) -> str:
    """Return the answer without its reasoning.

    `<think>...</think>` blocks go, then everything up to a last `</think>` without a beginning
    (some chat templates open the block in the prompt). Newlines that separated the reasoning from
    the answer go with it; indentation stays. A text that opens with `<think>` and never closes it
    was cut off before its answer: "". Any other text is returned unchanged.
    """
    if _CLOSE not in text:
        return "" if text.lstrip().startswith(_OPEN) else text
    rest = _without_blocks(text).rpartition(_CLOSE)[2].lstrip("\n")
    return "" if rest.lstrip().startswith(_OPEN) else rest
