"""Take the reasoning of a thinking model out of its answer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

_OPEN, _CLOSE = "<think>", "</think>"
# What happens to reasoning before an answer is scored. Official evaluations keep it.
DROP, KEEP = "drop", "keep"
POLICIES = (DROP, KEEP)
# By the policy of a score, the field of a line of samples.jsonl that holds what the answer is worth
# under the other one; only lines of answers with reasoning have it.
OTHERWISE = {KEEP: "without_reasoning", DROP: "with_reasoning"}


def otherwise(line: Mapping[str, Any]) -> Any:
    """Return what an answer is worth under the other policy for reasoning; None: the same."""
    return next((line[name] for name in OTHERWISE.values() if name in line), None)


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


def answer_of(response: str, policy: str) -> str:
    """Return what is scored of a response: all of it, or with DROP what is not reasoning."""
    return strip_reasoning(response) if policy == DROP else response


def reasoned_share(responses: Sequence[str]) -> float:
    """Return the share of responses that hold reasoning, in [0, 1]: a figure of every task."""
    return sum(map(holds_reasoning, responses)) / len(responses)


def holds_reasoning(response: str) -> bool:
    """Whether a response has reasoning that can be told: whether the policy decides about it."""
    return strip_reasoning(response) != response
