"""Tell from its bytes alone that a text has few tokens."""

from __future__ import annotations

import re

from lm_eval_longbench.prompts.tokenizer_rules import Bound, TokenizerRules

# Characters that are in form NFC by themselves, start a new cluster and combine with nothing before
# them: a text of nothing else is what NFC makes of it. Not all such characters, but most texts.
# Jamo, combining marks and the few characters that NFC replaces lie between the ranges.
NFC_QUIET = (
    "\x00-\u02ff\u0400-\u0482\u048a-\u052f\u2010-\u2027\u2030-\u205e\u2070-\u209c\u20a0-\u20bf"
    "\u2190-\u2328\u232b-\u2adb\u3001-\u3029\u3030-\u303f\u3041-\u3096\u309b-\u30ff\u3400-\u4dbf"
    "\u4e00-\u9fff\uac00-\ud7a3\uff01-\uff9d\uffe0-\uffe6\U0001f300-\U0001faff"
    "\U00020000-\U0002a6df"
)
_QUIET = re.compile(f"[{NFC_QUIET}]*")


def surely_within(text: str, rules: TokenizerRules, limit: int) -> bool:
    """Whether a text has at most `limit` tokens, special ones included, by its length in bytes.

    False means nothing: the text must be tokenized to know.
    """
    room = limit - rules.extra
    if rules.bound is Bound.NEVER or len(text) > room:
        return False
    if text.isascii():
        return True
    if rules.bound is Bound.ASCII or not _bytes_within(text, room):
        return False
    return rules.bound is Bound.ALWAYS or _QUIET.fullmatch(text) is not None


def _bytes_within(text: str, room: int) -> bool:
    try:
        return len(text.encode()) <= room
    except UnicodeEncodeError:  # a lone surrogate: the tokenizer shall say what it thinks of it
        return False
