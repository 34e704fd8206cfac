"""The tokenizers whose texts may be cut and tokenized in parts: a list, by what they describe.

A tokenizer of the `tokenizers` library describes itself in JSON. Two families are known, and of
each the few forms below; about any other nothing is known, and its texts are tokenized whole.

*Byte-level BPE* (GPT-2, Llama 3, Qwen, DeepSeek, ...) splits a text by a regex before its model
looks at it. No alternative of a listed regex matches, anywhere inside a match, a letter followed
by a space, nor a Chinese character followed by a Chinese comma or full stop; none looks behind
itself; and none looks further ahead than the one character after a run of white space. So no match
ever runs over such a place, whatever stands around it, and matching starts anew there.

*BPE of SentencePiece* (Llama 2, Mistral, Gemma) marks spaces and merges the whole text. A merge
needs a token that spans both of its parts; where no token of the vocabulary has a mark right behind
a letter, the two sides of such a place are merged as if each stood alone.

Both are bounded: each token covers at least one byte, so a text has no more tokens than bytes.
"""

from __future__ import annotations

import re
import string
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

# Places to cut; each regex matches just behind the cut.
WORD = "(?<=[A-Za-z]) (?=[A-Za-z])"
HAN = "(?<=[一-龥])[，。](?=[一-龥])"  # of these characters no normal form is another

_ENDINGS = "(?i:'s|'t|'re|'ve|'m|'ll|'d)"
_LEAD = r"[^\r\n\p{L}\p{N}]?"
_UPPER, _LOWER = r"[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]", r"[\p{Ll}\p{Lm}\p{Lo}\p{M}]"
_SIGNS, _WHITE = r" ?[^\s\p{L}\p{N}]+[\r\n]*", r"\s*[\r\n]+|\s+(?!\S)|\s+"
PATTERNS = {
    "GPT-2": r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+",
    "GPT-2 of tiktoken": (
        r"'(?:[sdmt]|ll|ve|re)| ?\p{L}++| ?\p{N}++| ?[^\s\p{L}\p{N}]++|\s++$|\s+(?!\S)|\s"
    ),
    "cl100k": (
        r"'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}++|\p{N}{1,3}+"
        r"| ?[^\s\p{L}\p{N}]++[\r\n]*+|\s++$|\s*[\r\n]|\s+(?!\S)|\s"
    ),
    "cl100k, older": (
        r"'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}+|\p{N}{1,3}"
        r"| ?[^\s\p{L}\p{N}]++[\r\n]*|\s*[\r\n]|\s+(?!\S)|\s+"
    ),
    "o200k": (
        rf"{_LEAD}{_UPPER}*{_LOWER}+{_ENDINGS}?|{_LEAD}{_UPPER}+{_LOWER}*{_ENDINGS}?|\p{{N}}{{1,3}}"
        rf"| ?[^\s\p{{L}}\p{{N}}]+[\r\n/]*|{_WHITE}"
    ),
    "Tekken": (
        rf"{_LEAD}{_UPPER}*{_LOWER}+|{_LEAD}{_UPPER}+{_LOWER}*|\p{{N}}"
        rf"| ?[^\s\p{{L}}\p{{N}}]+[\r\n/]*|{_WHITE}"
    ),
    "Llama 3": rf"{_ENDINGS}|{_LEAD}\p{{L}}+|\p{{N}}{{1,3}}|{_SIGNS}|{_WHITE}",
    "Qwen": rf"{_ENDINGS}|{_LEAD}\p{{L}}+|\p{{N}}|{_SIGNS}|{_WHITE}",
    "Qwen 3.5": (
        rf"{_ENDINGS}|{_LEAD}[\p{{L}}\p{{M}}]+|\p{{N}}"
        rf"| ?[^\s\p{{L}}\p{{M}}\p{{N}}]+[\r\n]*|{_WHITE}"
    ),
    "DeepSeek": (
        r"""[!"#$%&'()*+,\-./:;<=>?@\[\\\]^_`{|}~][A-Za-z]+|[^\r\n\p{L}\p{P}\p{S}]?[\p{L}\p{M}]+"""
        rf"| ?[\p{{P}}\p{{S}}]+[\r\n]*|{_WHITE}"
    ),
}
# Regexes before one of these: at such a place they split, or have no match on either side of it.
BEFORE = (r"\p{N}{1,3}", r"\p{N}", "[一-龥぀-ゟ゠-ヿ]+")

_SPACE = "▁"
_MARK = {"type": "Replace", "pattern": {"String": " "}, "content": _SPACE}
_NFC = {"type": "NFC"}
_NO_SPACES = {  # Gemma's, which finds none: all are marks by then
    "type": "Split",
    "pattern": {"String": " "},
    "behavior": "MergedWithPrevious",
    "invert": False,
}
_METASPACE = {"type", "replacement", "prepend_scheme", "split"}
_BPE = {
    *("type", "dropout", "unk_token", "continuing_subword_prefix", "end_of_word_suffix"),
    *("fuse_unk", "byte_fallback", "ignore_merges", "vocab", "merges"),
}
_BRACKETED = re.compile(r"[<\[][!-~]*[>\]]")


@dataclass(frozen=True)
class TokenizerRules:
    """What is known about a tokenizer; by default nothing.

    Attributes:
        places: a regex of the places where a text may be cut; empty: nowhere.
        bounded: whether a text has no more tokens than bytes, special tokens and marks aside.
        composes: whether it must be in form NFC for that.
        marked: whether each text gets a mark, which can be a token, put before it.
        skip_space: whether the part behind a cut must leave out the space that it starts with,
            because the mark takes its place.
        added: tokens that are looked for in a text before everything else: no cut where one touches
            it.
    """

    places: str = ""
    bounded: bool = False
    composes: bool = False
    marked: bool = False
    skip_space: bool = False
    added: tuple[str, ...] = ()


def _flat(part: Mapping[str, Any] | None, key: str) -> list[Mapping[str, Any]]:
    """Return the steps of a component, sequences unfolded."""
    if part is None:
        return []
    if part["type"] != "Sequence":
        return [part]
    return [step for inner in part[key] for step in _flat(inner, key)]


def _splits(steps: Sequence[Mapping[str, Any]]) -> bool:
    """Whether pre-tokenizers of a byte-level model split at every place, in every text."""
    *splits, last = steps
    if last.keys() - {"trim_offsets"} != {"type", "add_prefix_space", "use_regex"}:
        return False
    if last["type"] != "ByteLevel" or last["add_prefix_space"]:
        return False
    known = last["use_regex"]  # GPT-2's
    for step in splits:
        if step.keys() == {"type", "individual_digits"}:  # Digits, which no place has
            continue
        if step.keys() != {"type", "pattern", "behavior", "invert"}:
            return False
        # Some files have the very characters in place of their escapes.
        regex = step["pattern"]["Regex"].replace("\r", r"\r").replace("\n", r"\n")
        how = step["behavior"], step["invert"]
        if regex in PATTERNS.values() and how in (("Isolated", False), ("Removed", True)):
            known = True
        elif regex not in BEFORE or how != ("Isolated", False):
            return False
    return bool(known)


def _pieces(
    normalizers: list[Mapping[str, Any]],
    steps: list[Mapping[str, Any]],
    model: Mapping[str, Any],
) -> TokenizerRules:
    """Return what is known of a model that marks spaces."""
    prepend = {"type": "Prepend", "prepend": _SPACE}
    if normalizers == [prepend, _MARK] and not steps:
        marked = skip_space = True
    elif normalizers == [_MARK] and steps in ([], [_NO_SPACES]):
        marked = skip_space = False
    elif not normalizers and len(steps) == 1 and steps[0].keys() == _METASPACE:
        # The part behind a cut starts with a space, so that it gets no other mark.
        if steps[0]["replacement"] != _SPACE:
            return TokenizerRules()
        marked, skip_space = steps[0]["prepend_scheme"] != "never", False
    else:
        return TokenizerRules()
    vocab = model["vocab"]
    # Unknown characters could be fused over a place, so there must be none.
    local = vocab.keys() >= {_SPACE, *string.ascii_letters} and not model["ignore_merges"]
    if local and any(re.search(f"[A-Za-z]{_SPACE}", token) for token in vocab):
        local = False
    return TokenizerRules(WORD if local else "", _SPACE in vocab, False, marked, skip_space)


def read_rules(description: Mapping[str, Any]) -> TokenizerRules:
    """Return what is known about a tokenizer of the `tokenizers` library by its JSON.

    Its settings `truncation` and `padding` are not looked at: they must be off. The post-processor
    neither: it puts tokens around the ids, and the tokenizer can be asked for them.
    """
    try:
        return _read(description)
    except (KeyError, TypeError, AttributeError, ValueError):  # parts of another form
        return TokenizerRules()


def _read(description: Mapping[str, Any]) -> TokenizerRules:
    model = description["model"]
    affixes = model["continuing_subword_prefix"] or model["end_of_word_suffix"]
    if model["type"] != "BPE" or model.keys() != _BPE or model["dropout"] or affixes:
        return TokenizerRules()
    normalizers = _flat(description["normalizer"], "normalizers")
    steps = _flat(description["pre_tokenizer"], "pretokenizers")
    rules = TokenizerRules()
    if steps and steps[-1]["type"] == "ByteLevel":
        composes = normalizers == [_NFC]
        if (composes or not normalizers) and not model["byte_fallback"] and _splits(steps):
            rules = TokenizerRules(f"{WORD}|{HAN}", True, composes)
    else:
        rules = _pieces(normalizers, steps, model)
    added = description["added_tokens"]
    return _with_added(rules, added, bool(normalizers)) if rules.bounded else rules


def _with_added(
    rules: TokenizerRules, tokens: Sequence[Mapping[str, Any]], normalizes: bool
) -> TokenizerRules:
    """Account for added tokens.

    Their `lstrip` and `rstrip` stop at a cut's letters; `single_word` looks one character away.
    """
    places, bounded = rules.places, rules.bounded
    for token in tokens:
        if normalizes and token["normalized"]:
            # It is looked for in the normalized text, where it may look otherwise; a bracket at
            # either end stays one.
            places = places if _BRACKETED.fullmatch(token["content"]) else ""
            bounded = bounded and not rules.marked
        elif len(token["content"].encode()) < 2 and rules.marked:
            bounded = False  # the text behind it gets its own mark
    return replace(
        rules,
        places=places,
        bounded=bounded,
        added=tuple(token["content"] for token in tokens),
    )
