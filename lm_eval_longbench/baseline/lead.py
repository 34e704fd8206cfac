"""Prompts that ask for a summary: the beginning of the text."""

from __future__ import annotations

import re

from lm_eval_longbench.baseline.budget import count_units
from lm_eval_longbench.baseline.layout import last_match, material
from lm_eval_longbench.baseline.sentences import join, sentences

_ASKS = re.compile(r"^[ \t]*(?:Summary|\w{0,8}(?:总结|摘要))[ \t]*[:：]\Z", re.MULTILINE)
_DIALOGUE = re.compile(r"^[ \t]*(?:Dialogue|对话)[ \t]*[:：]", re.MULTILINE)
_TAIL = 40  # characters; the request is the prompt's last line
_UTTERANCES = 2


def lead_summary(prompt: str, max_words: int) -> str | None:
    """Return the leading sentences of the text to be summarized, else None.

    As many whole sentences as fit into `max_words` (words, or characters of Chinese), the first
    one in any case. Of a dialogue, the last one if there are examples, the first two utterances.
    None if the stripped prompt does not end in a line such as "Summary:" or "会议总结：".
    """
    asks = _ASKS.search(prompt, max(0, len(prompt) - _TAIL))
    if asks is None:
        return None
    text = prompt[: asks.start()]
    dialogue = last_match(_DIALOGUE, text)
    if dialogue:
        lines = (line.strip() for line in text[dialogue.end() :].split("\n"))
        return " ".join([line for line in lines if line][:_UTTERANCES])
    chosen: list[str] = []
    left = max_words
    for sentence in sentences(material(text)):
        left -= count_units(sentence)
        if chosen and left < 0:
            break
        chosen.append(sentence)
    return join(chosen)
