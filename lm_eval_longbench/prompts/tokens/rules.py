"""What the description of a tokenizer proves about it: a bound, and places to cut a text.

The rules read the JSON of a `tokenizers` tokenizer. They know some components with their fields;
with any other nothing is proven and the caller must tokenize whole texts.

*The bound.* Each token covers at least one byte of the text as the model sees it, so a text has no
more tokens than bytes, as long as nothing makes it longer. Normalizers can (NFKC makes 18
characters of one), and so can a prefix put before each piece of text between added tokens.

*The places.* At a safe place c of a text, ids(text) == ids(text[:c]) + ids(text[c:]) without
special tokens, whatever stands around it. A place is proven safe in three steps: no added token can
reach over it; each normalizer maps both sides on their own; and a pre-tokenizer splits there in
every context, as models never look over a split. Without such a pre-tokenizer (Llama 2, Gemma) a
BPE model is still local where no token of its vocabulary could reach over the place.
"""

from __future__ import annotations

import re
import string
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from enum import Enum, IntEnum
from typing import Any

from lm_eval_longbench.prompts.tokens.patterns import Split, pattern_split

_SPACE = "▁"
# What ByteLevel writes for a space.
_BYTE_SPACE = "Ġ"
_LETTERS = frozenset(string.ascii_letters)
# The range of Chinese characters that no normalization form changes.
_HAN = "一-龥"
_BRACKETED = re.compile(r"[<\[][!-~]*[>\]]")
# What the characters at a safe place can be before and after any normalizer known here.
_TOUCHED = re.compile(f"[A-Za-z ▁{_HAN}，。,]")


class Bound(IntEnum):
    """For which texts the number of UTF-8 bytes bounds the number of tokens."""

    NEVER = 0
    ASCII = 1
    NFC = 2
    ALWAYS = 3


class Place(Enum):
    """Kinds of places to cut a text; the value is a regex that matches just behind the cut."""

    WORD = "(?<=[A-Za-z]) (?=[A-Za-z])"
    HAN = f"(?<=[{_HAN}])[，。](?=[{_HAN}])"


@dataclass(frozen=True)
class TokenizerRules:
    """What is proven about a tokenizer.

    Attributes:
        prefix: ids of the special tokens before every text.
        suffix: ids of those after it.
        bound: for which texts tokens <= bytes + `extra`.
        extra: tokens beyond the bytes: special tokens and added prefixes.
        places: kinds of places where a text may be cut; none: nothing is proven.
        skip_space: the part behind a cut must leave out the space it starts with, because the
            tokenizer puts one before every text.
        nearby: added tokens that could reach over a cut: no cut where one of them is near.
    """

    prefix: tuple[int, ...] = ()
    suffix: tuple[int, ...] = ()
    bound: Bound = Bound.NEVER
    extra: int = 0
    places: frozenset[Place] = frozenset()
    skip_space: bool = False
    nearby: tuple[str, ...] = ()


@dataclass(frozen=True)
class _State:
    """What is known while following a text through the tokenizer."""

    bound: Bound = Bound.ALWAYS
    places: frozenset[Place] = frozenset(Place)
    split: frozenset[Place] = frozenset()
    space: str = " "
    prefixes: int = 0
    skip_space: bool = False
    # Whether one byte of text can become `_SPACE`: then the model must know that character.
    marks: bool = False
    byte_level: bool = False
    # Whether a normalizer could turn brackets into anything.
    rewrites: bool = False

    def without(self, *places: Place) -> _State:
        """Give up places, except where an earlier step has already split."""
        return replace(self, places=self.places - (set(places) - self.split))

    def splitting(self, *places: Place) -> _State:
        return replace(self, split=self.split | (set(places) & self.places))

    def bounded(self, bound: Bound) -> _State:
        return replace(self, bound=min(self.bound, bound))


class _UnknownError(Exception):
    """A component or a field that the rules do not know."""


def _fields(part: Mapping[str, Any], *names: str) -> None:
    """Refuse fields that the rules do not know: a later release may give them any meaning."""
    if not part.keys() <= {"type", *names}:
        raise _UnknownError(part.get("type"))


def _flat(part: Mapping[str, Any] | None, key: str) -> list[Mapping[str, Any]]:
    """Return the steps of a component, sequences unfolded."""
    if part is None:
        return []
    if part.get("type") != "Sequence":
        return [part]
    _fields(part, key)
    return [step for inner in part[key] for step in _flat(inner, key)]


# ---------------------------------------------------------------------- normalizers


def _replaced(part: Mapping[str, Any], state: _State) -> _State:
    _fields(part, "pattern", "content")
    content, pattern = part["content"], part["pattern"]
    if pattern == {"String": " "} and content == _SPACE:
        return replace(state, space=_SPACE, marks=True)
    if pattern == {"Regex": " {2,}"} and content in (" ", _SPACE):
        # A cut stands at a single space, which this does not match.
        return replace(state, marks=state.marks or content == _SPACE)
    if set(pattern) != {"String"} or not pattern["String"]:
        raise _UnknownError(pattern)
    old = pattern["String"]
    state = replace(state, rewrites=True)
    if len(content.encode()) > len(old.encode()):
        state = state.bounded(Bound.NEVER)
    # Without any character of a cut the pattern cannot reach over one.
    return state.without(*Place) if _TOUCHED.search(old) else state


def _normalize(steps: list[Mapping[str, Any]], state: _State) -> _State:
    for number, part in enumerate(steps):
        match part["type"]:
            case "NFC":
                _fields(part)
                state = state.bounded(Bound.NFC)
            case "NFD" | "NFKC" | "NFKD" | "Lowercase" | "StripAccents":
                _fields(part)
                state = state.bounded(Bound.ASCII)
            case "BertNormalizer":
                _fields(part, "clean_text", "handle_chinese_chars", "strip_accents", "lowercase")
                # It may put spaces around Chinese characters.
                state = state.bounded(Bound.ASCII).without(Place.HAN)
            case "Strip":
                _fields(part, "strip_left", "strip_right")
                if part["strip_left"]:
                    state = state.without(*Place)
            case "Precompiled":
                _fields(part, "precompiled_charsmap")
                # Its table maps grapheme clusters one by one; its entries can be of any length.
                state = replace(state.bounded(Bound.NEVER).without(Place.HAN), rewrites=True)
            case "Prepend":
                _fields(part, "prepend")
                # "abc def" becomes "▁abc▁def", and so do "abc" and "def", without the space: but
                # only if nothing but the marks is done to a text.
                mark = {"type": "Replace", "pattern": {"String": " "}, "content": _SPACE}
                if part["prepend"] != _SPACE or number or list(map(dict, steps[1:])) != [mark]:
                    raise _UnknownError("Prepend")
                state = replace(
                    state.without(Place.HAN),
                    skip_space=True,
                    marks=True,
                    prefixes=state.prefixes + 1,
                )
            case "Replace":
                state = _replaced(part, state)
            case other:
                raise _UnknownError(other)
    return state


# ---------------------------------------------------------------------- pre-tokenizers


def _prefixed(state: _State, first: bool) -> _State:
    """Account for something put before every piece: one piece only if nothing has split yet."""
    state = replace(state, prefixes=state.prefixes + 1)
    return state if first else state.bounded(Bound.NEVER)


def _byte_level(part: Mapping[str, Any], state: _State, first: bool) -> _State:
    _fields(part, "add_prefix_space", "trim_offsets", "use_regex")
    if state.byte_level:
        raise _UnknownError("ByteLevel twice")
    if part["add_prefix_space"]:
        # The part behind a word's cut starts with a space and gets no other.
        state = _prefixed(state.without(Place.HAN), first)
    if part.get("use_regex", True):
        state = state.splitting(*Place) if state.space == " " else state.without(*Place)
    # Later steps see no space and no Chinese any more, but a sign for each of their bytes.
    return replace(state, byte_level=True, space=_BYTE_SPACE)


def _split(part: Mapping[str, Any], state: _State) -> _State:
    _fields(part, "pattern", "behavior", "invert")
    pattern, behavior, invert = part["pattern"], part["behavior"], part["invert"]
    if pattern == {"String": " "} and not invert:
        if state.space != " ":  # marks have taken the place of all spaces
            return state
        if behavior in ("Isolated", "Removed", "MergedWithNext"):
            return state.splitting(Place.WORD)
        return state if behavior == "MergedWithPrevious" else state.without(*Place)
    usual = (behavior, invert) in (("Isolated", False), ("Removed", True))
    known = pattern_split(pattern["Regex"]) if set(pattern) == {"Regex"} else Split.UNKNOWN
    if known is Split.UNKNOWN or not usual or state.space != " ":
        return state.without(*Place)
    if known is Split.ALWAYS:
        return state.splitting(*Place)
    # Inverted, the text between matches is dropped: then nothing is left to cut.
    return state.without(*Place) if invert else state


def _metaspace(part: Mapping[str, Any], state: _State, first: bool) -> _State:
    _fields(part, "replacement", "prepend_scheme", "split", "add_prefix_space", "str_rep")
    if part["replacement"] != _SPACE or "prepend_scheme" not in part or state.skip_space:
        raise _UnknownError("Metaspace")
    if state.byte_level:
        raise _UnknownError("Metaspace behind ByteLevel")
    state = replace(state, space=_SPACE, marks=True)
    if part["prepend_scheme"] != "never":
        # The part behind a word's cut starts with a mark and gets no other.
        state = _prefixed(state.without(Place.HAN), first)
        if not first and part["prepend_scheme"] != "always":
            # It looks at the place in the text, which a cut changes for all but the first step.
            state = replace(state, places=frozenset(), split=frozenset())
    return state.splitting(Place.WORD) if part.get("split", True) else state


def _pre_tokenize(steps: list[Mapping[str, Any]], state: _State) -> _State:
    for number, part in enumerate(steps):
        spaced = state.space == " "
        match part["type"]:
            case "ByteLevel":
                state = _byte_level(part, state, first=number == 0)
            case "Split":
                state = _split(part, state)
            case "Metaspace":
                state = _metaspace(part, state, first=number == 0)
            case "Whitespace" | "BertPreTokenizer":
                _fields(part)
                state = state.splitting(*Place) if spaced else state.without(*Place)
            case "WhitespaceSplit":
                _fields(part)
                state = state.splitting(Place.WORD) if spaced else state
            case "Punctuation":
                _fields(part, "behavior")
                if part.get("behavior") in ("Isolated", "Contiguous"):
                    state = state if state.byte_level else state.splitting(Place.HAN)
                else:
                    state = state.without(Place.HAN)
            case "Digits":
                _fields(part, "individual_digits")
            case other:
                raise _UnknownError(other)
    return state


# ---------------------------------------------------------------------- models


def _bytes_known(vocab: Iterable[str]) -> bool:
    """Whether a byte-level vocabulary has a token for each of the 256 bytes."""
    plain = [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
    characters = {chr(byte) for byte in plain} | {chr(0x100 + n) for n in range(256 - len(plain))}
    return characters <= set(vocab)


def _bytes_bound(state: _State, pieces: Collection[str], byte_fallback: bool) -> bool:
    """Whether a model makes no more tokens than there are bytes in the text before any marks.

    A space that has become `_SPACE` is three bytes, which are three tokens where the model does not
    know the mark. The sign that ByteLevel writes for a byte is up to two bytes.
    """
    if state.byte_level and byte_fallback and not _bytes_known(pieces):
        return False
    return not (state.marks and _SPACE not in pieces)


def _reaching(vocab: Iterable[str]) -> set[str]:
    """Return the characters that some token has right before a space mark."""
    return {before for token in vocab for before in re.findall(f"(.)(?={_SPACE})", token, re.S)}


def _bpe(model: Mapping[str, Any], state: _State) -> _State:
    _fields(
        model,
        *("dropout", "unk_token", "continuing_subword_prefix", "end_of_word_suffix", "fuse_unk"),
        *("byte_fallback", "ignore_merges", "vocab", "merges"),
    )
    if model.get("dropout"):
        raise _UnknownError("dropout")
    vocab = model["vocab"]
    affixes = model.get("continuing_subword_prefix") or model.get("end_of_word_suffix")
    if affixes or not _bytes_bound(state, vocab, bool(model.get("byte_fallback"))):
        state = state.bounded(Bound.NEVER)
    # A merge needs a token that spans both of its parts. With none over the cut, the two sides are
    # merged as if each stood alone. Unknown characters could be fused over it, so there are none.
    whole = (
        state.space == _SPACE
        and not (state.byte_level or affixes or model.get("ignore_merges"))
        and vocab.keys() >= {_SPACE, *_LETTERS}
        and not _reaching(vocab) & _LETTERS
    )
    return state.splitting(Place.WORD) if whole else state


def _model(model: Mapping[str, Any], state: _State) -> _State:
    kind = model.get("type")
    if state.marks and state.byte_level:
        # The mark for a space has become three signs, each of which can be a token of any model.
        state = state.bounded(Bound.NEVER)
    if kind == "BPE":
        return _bpe(model, state)
    if kind == "Unigram":
        _fields(model, "unk_id", "vocab", "byte_fallback")
        pieces = {piece for piece, _ in model["vocab"]}
        if not _bytes_bound(state, pieces, bool(model.get("byte_fallback"))):
            state = state.bounded(Bound.NEVER)
    elif kind == "WordPiece":
        _fields(
            model, "unk_token", "continuing_subword_prefix", "max_input_chars_per_word", "vocab"
        )
    elif kind == "WordLevel":
        _fields(model, "vocab", "unk_token")
    else:
        raise _UnknownError(kind)
    return state


# ---------------------------------------------------------------------- special and added tokens


def _special_ids(
    post: Mapping[str, Any] | None,
) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Return the ids put before and after a text."""
    before: tuple[int, ...] = ()
    after: tuple[int, ...] = ()
    new: tuple[tuple[int, ...], tuple[int, ...]]
    for part in _flat(post, "processors"):
        match part["type"]:
            case "ByteLevel":
                continue
            case "BertProcessing" | "RobertaProcessing":
                _fields(part, "cls", "sep", "trim_offsets", "add_prefix_space")
                new = (part["cls"][1],), (part["sep"][1],)
            case "TemplateProcessing":
                _fields(part, "single", "pair", "special_tokens")
                new = _template_ids(part)
            case other:
                raise _UnknownError(other)
        if (before or after) and any(new):
            raise _UnknownError("two post-processors that add tokens")
        before, after = before + new[0], after + new[1]
    return before, after


def _template_ids(part: Mapping[str, Any]) -> tuple[tuple[int, ...], tuple[int, ...]]:
    sides: list[list[int]] = [[]]
    for item in part["single"]:
        if "Sequence" in item:
            sides.append([])
        else:
            sides[-1] += part["special_tokens"][item["SpecialToken"]["id"]]["ids"]
    if len(sides) != 2:
        raise _UnknownError("a template that does not have the text once")
    return tuple(sides[0]), tuple(sides[1])


def _could_touch(content: str, skip_space: bool) -> bool:
    """Whether an added token could reach over a cut, start or end at one.

    Where the space behind a cut is left out, a token that starts with a letter starts at the cut:
    no mark is put before it, and the one for the space would be missing.
    """
    cut = f"[A-Za-z][ {_SPACE}]|[{_HAN}][，。,]"
    end = f"[A-Za-z{_HAN}]$"
    start = f"^[ {_SPACE}]([A-Za-z]|$)|^[，。,]([{_HAN}]|$)" + ("|^[A-Za-z]" if skip_space else "")
    return re.search(f"{cut}|{end}|{start}", content) is not None


def _added(
    tokens: list[Mapping[str, Any]], normalized: bool, state: _State
) -> tuple[_State, tuple[str, ...]]:
    """Account for added tokens, which are found in a text before everything else.

    Their `lstrip` and `rstrip` stop at a cut's letters; `single_word` looks one character away.
    """
    nearby = []
    for token in tokens:
        _fields(
            token,
            *("id", "content", "single_word", "lstrip", "rstrip", "normalized", "special"),
        )
        content = token["content"]
        if len(content.encode()) <= state.prefixes:
            # Each piece of text behind an added token gets its own prefix.
            state = state.bounded(Bound.NEVER)
        if token["normalized"] and normalized:
            # It is looked for in the normalized text, where it may look otherwise; a bracket at
            # either end stays one.
            if state.rewrites or not _BRACKETED.fullmatch(content):
                state = replace(state, places=frozenset(), split=frozenset())
            if state.prefixes:
                state = state.bounded(Bound.NEVER)
        elif _could_touch(content, state.skip_space):
            nearby.append(content)
    return state, tuple(nearby)


def read_rules(description: Mapping[str, Any]) -> TokenizerRules:
    """Return what the JSON of a `tokenizers` tokenizer proves; nothing if a part is not known.

    Its settings `truncation` and `padding` are not looked at: they must be off.
    """
    try:
        normalizers = _flat(description["normalizer"], "normalizers")
        pre_tokenizers = _flat(description["pre_tokenizer"], "pretokenizers")
        state = _normalize(normalizers, _State())
        state = _pre_tokenize(pre_tokenizers, state)
        state = _model(description["model"], state)
        state, nearby = _added(description["added_tokens"], bool(normalizers), state)
        before, after = _special_ids(description["post_processor"])
    except (_UnknownError, KeyError, TypeError, AttributeError, ValueError):
        return TokenizerRules()
    return TokenizerRules(
        prefix=before,
        suffix=after,
        bound=state.bound,
        extra=len(before) + len(after) + state.prefixes,
        places=state.split & state.places,
        skip_space=state.skip_space,
        nearby=nearby,
    )


# ---------------------------------------------------------------------- few tokens by bytes alone

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
    most = limit - rules.extra
    if rules.bound is Bound.NEVER or len(text) > most:
        return False
    if text.isascii():
        return True
    if rules.bound is Bound.ASCII or not _bytes_within(text, most):
        return False
    return rules.bound is Bound.ALWAYS or _QUIET.fullmatch(text) is not None


def _bytes_within(text: str, most: int) -> bool:
    try:
        return len(text.encode()) <= most
    except UnicodeEncodeError:  # a lone surrogate: the tokenizer shall say what it thinks of it
        return False
