"""Regexes by which known tokenizers split text, and where their splits cannot depend on context.

A regex is known when each of its alternatives is. No alternative below matches, anywhere inside a
match, a letter followed by a space, nor a Chinese character followed by a Chinese comma or full
stop; none looks behind itself; and none looks further ahead than the one character after a run of
white space. So no match ever runs over such a place, whatever stands around it, and matching
starts anew there.
"""

from __future__ import annotations

from enum import Enum

_CONTRACTIONS = (
    *("'s", "'t", "'re", "'ve", "'m", "'ll", "'d"),
    "(?i:'s|'t|'re|'ve|'m|'ll|'d)",
    "'(?i:[sdmt]|ll|ve|re)",
    "'(?:[sdmt]|ll|ve|re)",
)
_UPPER = r"[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]"
_LOWER = r"[\p{Ll}\p{Lm}\p{Lo}\p{M}]"
_LEAD = r"[^\r\n\p{L}\p{N}]"
# Each of these alone matches at every letter.
_LETTERS = frozenset(
    {
        r"\p{L}+",
        r"[\p{L}]+",
        r" ?\p{L}+",
        r" ?\p{L}++",
        rf"{_LEAD}?\p{{L}}+",
        rf"{_LEAD}?+\p{{L}}+",
        rf"{_LEAD}?+\p{{L}}++",
        rf"{_LEAD}?[\p{{L}}\p{{M}}]+",
        r"[^\r\n\p{L}\p{P}\p{S}]?[\p{L}\p{M}]+",
    }
)
# These match at every letter in pairs: words in lower case, and words in upper case.
_LETTER_PAIRS = tuple(
    (f"{_LEAD}?{_UPPER}*{_LOWER}+{end}", f"{_LEAD}?{_UPPER}+{_LOWER}*{end}")
    for end in ("", "(?i:'s|'t|'re|'ve|'m|'ll|'d)?")
)
_OTHERS = frozenset(
    {
        *_CONTRACTIONS,
        *(r"\p{N}", r"[\p{N}]", r"\p{N}+", r" ?\p{N}+", r" ?\p{N}++"),
        *(r"\p{N}{1,3}", r"\p{N}{1,3}+"),
        *(r"[^\s\p{L}\p{N}]+", r" ?[^\s\p{L}\p{N}]+", r" ?[^\s\p{L}\p{N}]++"),
        *(rf" ?[^\s\p{{L}}\p{{N}}]{some}" for some in (r"+[\r\n]*", r"++[\r\n]*", r"++[\r\n]*+")),
        r" ?[^\s\p{L}\p{N}]+[\r\n/]*",
        r" ?[^\s\p{L}\p{M}\p{N}]+[\r\n]*",
        r" ?[\p{P}\p{S}]+[\r\n]*",
        r"""[!"#$%&'()*+,\-./:;<=>?@\[\\\]^_`{|}~][A-Za-z]+""",
        *("[一-龥぀-ゟ゠-ヿ]+", "[一-龥\u0800-一가-\ud7ff]+"),
        *(r"[\r\n]", r"\s*[\r\n]+", r"\s*[\r\n]", r"\s+(?!\S)", r"\s+", r"\s", r"\s++$", r"\s+$"),
    }
)


class Split(Enum):
    """What a splitter does at a safe place: see `pattern_split`."""

    ALWAYS = "always"
    NEVER = "never"
    UNKNOWN = "unknown"


def alternatives(regex: str) -> list[str]:
    """Return the parts of a regex between the `|` that stand in no bracket."""
    parts, depth, inside, at = [""], 0, False, 0
    while at < len(regex):
        char = regex[at]
        if char == "\\":
            char = regex[at : at + 2]
        elif inside:
            inside = char != "]"
        elif char == "[":
            inside = True
        elif char in "()":
            depth += 1 if char == "(" else -1
        if char == "|" and not inside and depth == 0:
            parts.append("")
        else:
            parts[-1] += char
        at += len(char)
    return parts


def pattern_split(regex: str) -> Split:
    """Say whether a regex ends a match between a letter and a space, and between Chinese and comma.

    ALWAYS: it does, in every text. NEVER: no match touches such a letter's end so that the place
    could matter, and matching is unaffected by it. UNKNOWN: the regex is not a known one.
    """
    parts = set(alternatives(regex))
    paired = {part for pair in _LETTER_PAIRS for part in pair}
    if not parts <= _LETTERS | paired | _OTHERS:
        return Split.UNKNOWN
    if parts & _LETTERS or any(parts.issuperset(pair) for pair in _LETTER_PAIRS):
        return Split.ALWAYS
    # Half a pair would be a letter alternative that does not match at every letter.
    return Split.UNKNOWN if parts & paired else Split.NEVER
