"""Tokenize long texts in parts, with the very ids that the tokenizer gives for the whole."""

from __future__ import annotations

import functools
import hashlib
import json
import logging
import re
import unicodedata
import weakref
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from lm_eval_longbench.console import warn_once
from lm_eval_longbench.prompts.tokens.official import (
    BackendDecoder,
    clean_up_policy,
    panicked,
    take_backend,
)
from lm_eval_longbench.prompts.tokens.rules import TokenizerRules, read_rules

if TYPE_CHECKING:
    from transformers import PreTrainedTokenizerBase

logger = logging.getLogger(__name__)

# What `tokenizer(text)` runs through; a class that overrides any of it is asked itself.
_METHODS = (
    *("__call__", "_call_one", "_encode_plus", "_batch_encode_plus", "_convert_encoding"),
    *("_call_fast", "set_truncation_and_padding", "prepare_for_tokenization", "decode", "_decode"),
)
# Characters on either side of a cut that are tokenized again, uncut, to check it.
_CHECKED = 192

_from_files: weakref.WeakKeyDictionary[Any, FastTokenizer] = weakref.WeakKeyDictionary()
_known: weakref.WeakKeyDictionary[Any, tuple[Any, FastTokenizer | None]] = (
    weakref.WeakKeyDictionary()
)


def _probes(added: Sequence[str]) -> list[str]:
    """Texts with which a tokenizer is checked: all that tokenizers are known to stumble over."""
    words = "The harbor's ledger isn't theirs, we'll see; it costs 1234567 crowns (of 89)."
    texts = [
        " ".join("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"),
        f"{words}\n\n{words}  {words}\t{words}\r\n {words} ",
        "def f(x):\n    return [x ** 2 for _ in range(10)]\n\n\n" * 3,
        "合同的预算，会议在今天。我们说，好。但是，三千年前。" * 3,
        "中文 and English mixed，然后 back again。ok then\u3000全角 full",
        "naïve cafe\u0301 A\u030angstro\u0308m \u1e9b\u0323 \ufb01 ﷺ ½ ㎏ Ⅷ ａｂ １２ \u0130I ſ",
        "👩‍👩‍👧‍👦 🇩🇪🇫🇷 ❤️ 🏽 a 🙂 b",
        "हिन्दी भाषा ภาษาไทย العربية עברית 한국어 \u1112\u1161\u11ab ひらがな カタカナ ﾊﾟ",
        "\x00\x01\x1f\x7f\x85\xa0\u200b\u200d\u2028\u2581 \ufeff \u2581a b\u2581c \U000e0001",
        "a " * 50 + "a" * 300 + " " * 100 + "\n" * 50 + "!" * 100 + " b c",
        "we s 't d 'll m 're the 's I 'S, IT 'D. x 'ſ y",
        "",
    ]
    for content in added:
        texts.append(f"one {content}two three{content} four {content} five{content}{content}")
        texts.append(f"{content} alpha beta {content[:-1]} gamma {content[1:]}，的{content}的，的")
    return texts


@dataclass(frozen=True)
class Tokenized:
    """What is known of a text's ids.

    Attributes:
        ids: all of them, or the first and the last ones with a gap between.
        whole: whether they are all.
    """

    ids: list[int]
    whole: bool


class FastTokenizer:
    """A tokenizer of the `tokenizers` library, with what is known of it and a check confirmed.

    Calls are safe from several threads.

    Attributes:
        rules: what is known about it.
        trusts_cuts: whether texts are tokenized in parts; not once a cut failed its check.
        sha256: of its description.
        splits_special: whether special tokens in a text are split like any other text.
        decode: ids to text, special tokens skipped, not cleaned up.
    """

    # Characters tokenized at a time, and at first, while tokens per character are not known.
    block = 65_536
    first_block = 8_192

    def __init__(self, backend: Any, rules: TokenizerRules, name: str, sha256: str = "") -> None:
        self.rules = rules
        self.trusts_cuts = bool(rules.places)
        self._backend = backend
        self._name = name
        self.sha256 = sha256
        self.splits_special = bool(backend.encode_special_tokens)
        self.decode = BackendDecoder(backend)
        self._places = re.compile(rules.places or "(?!)")
        self._reach = max(map(len, rules.added), default=0)
        known = rules != TokenizerRules()
        self._first, self._last = self._put_around() if known else ([], [])

    # ------------------------------------------------------------------ ids

    def _encode(self, text: str, special: bool) -> Any:
        # Without offsets, and in this thread: what TOKENIZERS_PARALLELISM says does not matter.
        return self._backend.encode_batch_fast([text], add_special_tokens=special)[0]

    def body(self, text: str) -> list[int]:
        """Return the ids of a text without special tokens."""
        ids: list[int] = self._encode(text, False).ids
        return ids

    def ids(self, text: str) -> list[int]:
        """Return all ids of a text, special tokens included."""
        ids: list[int] = self._encode(text, True).ids
        return ids

    def count(self, text: str, special: bool) -> int:
        """Return the number of tokens of a text, with its special tokens or without."""
        return len(self._encode(text, special))

    def _put_around(self) -> tuple[list[int], list[int]]:
        """Return the special tokens before and after every text."""
        text = "the ledger"
        body, ids = self.body(text), self.ids(text)
        # What is not found fails the check on texts, and so does what was found by chance.
        at = next((n for n in range(len(ids)) if ids[n : n + len(body)] == body), 0)
        return ids[:at], ids[at + len(body) :]

    def surely_within(self, text: str, limit: int) -> bool:
        """Whether a text's bytes tell that it has at most `limit` tokens, special ones included.

        False means nothing: the text must be tokenized to know.
        """
        most = limit - len(self._first) - len(self._last) - self.rules.marked
        if not self.rules.bounded or len(text) > most:
            return False
        if text.isascii():
            return True
        try:
            within = len(text.encode()) <= most
        except UnicodeEncodeError:  # a lone surrogate: the tokenizer shall say what it thinks of it
            return False
        return within and (not self.rules.composes or unicodedata.is_normalized("NFC", text))

    # ------------------------------------------------------------------ cuts

    def _cut(self, text: str, start: int, stop: int) -> int | None:
        """Return the first safe place in `text[start:stop]` behind its first character."""
        at = start + 1
        while found := self._places.search(text, at, stop):
            at = found.start()
            near = text[max(0, at - self._reach) : at + self._reach + 1]
            added = (content for content in self.rules.added if content in near)
            if not any(c in text[max(0, at - len(c)) : at + len(c) + 1] for c in added):
                return at
            at += 1
        return None

    def _behind(self, cut: int) -> int:
        """Return where the part behind a cut starts."""
        return cut + self.rules.skip_space

    def holds(self, text: str, cut: int) -> bool:
        """Check a cut: tokenize what is around it with and without it."""
        start, stop = max(0, cut - _CHECKED), cut + _CHECKED
        apart = self.body(text[start:cut]) + self.body(text[self._behind(cut) : stop])
        return self.body(text[start:stop]) == apart

    def tokenize(self, text: str, limit: int) -> Tokenized:
        """Return the ids of a text, without those in the middle if it is surely too long.

        With a gap there are more than `limit` ids, and at least (limit + 1) // 2 of either end.
        """
        if self.trusts_cuts and len(text) > self.first_block:
            found = self._ends(text, limit)
            if found is not None:
                return found
            self.trusts_cuts = False
            _distrust(self._name)
        return Tokenized(self.ids(text), whole=True)

    def _ends(self, text: str, limit: int) -> Tokenized | None:
        """Do as `tokenize`, from both ends in blocks that end at safe places.

        None: a cut did not hold, contrary to what the rules say; nothing must be built on it.
        """
        need = (limit + 1) // 2
        head, tail = _End(len(self._first)), _End(len(self._last))
        start, stop, whole = 0, len(text), True
        while head.tokens < need or tail.tokens < need or head.tokens + tail.tokens <= limit:
            at_head = head.tokens <= tail.tokens
            end = head if at_head else tail
            size = end.next_size(need, self.first_block, self.block)
            cut = None
            if stop - start > size + size // 2:
                if at_head:
                    cut = self._cut(text, start + size, stop)
                else:
                    # Further back until there is a place: one far ahead would gain too little.
                    back = size
                    while cut is None and back < stop - start:
                        cut = self._cut(text, stop - back, stop - back // 2)
                        back *= 2
            if cut is None:
                head.add(self.body(text[start:stop]), stop - start)
                break
            if not self.holds(text, cut):
                return None
            if at_head:
                head.add(self.body(text[start:cut]), cut - start)
                start = self._behind(cut)
            else:
                tail.add(self.body(text[self._behind(cut) : stop]), stop - cut)
                stop = cut
        else:
            whole = False
        return Tokenized([*self._first, *head.joined(), *tail.joined(-1), *self._last], whole)

    def every_cut(self, text: str) -> list[int]:
        """Return all ids of a text tokenized between all of its safe places, for checks."""
        ids, start, at = [*self._first], 0, 0
        while (cut := self._cut(text, at, len(text))) is not None:
            ids += self.body(text[start:cut])
            start, at = self._behind(cut), cut
        return [*ids, *self.body(text[start:]), *self._last]


class _End:
    """The ids gathered at one end of a text, in blocks."""

    def __init__(self, special: int) -> None:
        self.tokens = special
        self._blocks: list[list[int]] = []
        self._characters = 0

    def add(self, ids: list[int], characters: int) -> None:
        self._blocks.append(ids)
        self.tokens += len(ids)
        self._characters += characters

    def next_size(self, need: int, first: int, most: int) -> int:
        """Return how many characters to tokenize next: a little more than seem to be needed."""
        if not self._characters:
            return first
        density = self._characters / max(1, self.tokens)
        wanted = int((need - self.tokens) * density * 1.02) + first // 16
        return max(first // 8, min(most, wanted), 1)

    def joined(self, step: int = 1) -> list[int]:
        return [token for block in self._blocks[::step] for token in block]


def _same_methods(tokenizer: PreTrainedTokenizerBase) -> bool:
    """Whether a tokenizer is the library's own, with nothing overridden on the way to its ids."""
    from transformers import PreTrainedTokenizerFast  # slow to import

    kind = type(tokenizer)
    return isinstance(tokenizer, PreTrainedTokenizerFast) and all(
        getattr(kind, name, None) is getattr(PreTrainedTokenizerFast, name, None)
        for name in _METHODS
    )


def _official(tokenizer: PreTrainedTokenizerBase, text: str) -> list[int]:
    return list(tokenizer(text, truncation=False, verbose=False)["input_ids"])


def _confirmed(fast: FastTokenizer, added: Sequence[str], ask: Callable[[str], list[int]]) -> bool:
    """Check that the fast ways give what the tokenizer gives, on texts made to break them."""
    for text in _probes(added[:64]):
        ids = ask(text)
        known = fast.rules != TokenizerRules()
        if fast.ids(text) != ids or (known and fast.every_cut(text) != ids):
            return False
        if fast.surely_within(text, len(ids) - 1):
            return False
    return True


def _build(backend: Any, name: str, ask: Callable[[str], list[int]]) -> FastTokenizer | None:
    """Return the fast way to a backend's ids; None: it has no description or fails on a probe.

    Args:
        backend: a tokenizer of the `tokenizers` library.
        name: what it is called in warnings.
        ask: gives the ids that are the right ones.
    """
    if not hasattr(backend, "encode_batch_fast"):
        return None
    try:
        description = backend.to_str()
    except Exception:  # a component written in Python has no description
        return None
    rules = read_rules(json.loads(description))
    digest = hashlib.sha256(description.encode()).hexdigest()
    added = [token.content for token in backend.get_added_tokens_decoder().values()]
    for tried in (rules, TokenizerRules()):
        try:
            fast = FastTokenizer(backend, tried, name, digest)
            if _confirmed(fast, added, ask):
                return fast
        except BaseException as error:
            # Some tokenizers fail on some texts. Prompts need not be such texts.
            if isinstance(error, Exception) or panicked(error):
                return None
            raise
        _distrust(name)
    return None


def _distrust(name: str) -> None:
    """Say that a check contradicts the rules, which is a bug worth a report."""
    warn_once(
        logger,
        f"tokenizer rules {name}",
        f"The tokenizer {name!r} does not do what its description says. Whole prompts are "
        "tokenized with it, slowly. Please report this.",
    )


def _state(tokenizer: PreTrainedTokenizerBase) -> tuple[Any, ...]:
    """What would make an earlier look at a tokenizer worthless if it changed."""
    backend = tokenizer.backend_tokenizer
    parts = (backend.normalizer, backend.pre_tokenizer, backend.post_processor)
    added = tuple(sorted((n, repr(t)) for n, t in tokenizer.added_tokens_decoder.items()))
    return (
        *(part.__getstate__() if part is not None else None for part in parts),
        *(id(backend), type(backend.model), backend.get_vocab_size(), added),
        backend.encode_special_tokens,
    )


def fast_tokenizer(tokenizer: PreTrainedTokenizerBase) -> FastTokenizer | None:
    """Return the fast way to a tokenizer's ids, or None if only the tokenizer itself is to be had.

    The rules are read and checked once for each state of a tokenizer (about a second for a large
    one) and kept as long as it lives.
    """
    if not getattr(tokenizer, "is_fast", False):
        return None
    try:
        # A call puts the backend into the state in which the tokenizer itself would use it.
        _official(tokenizer, "?")
        state = _state(tokenizer)
    except BaseException as error:  # a component written in Python, or a tokenizer that fails
        if isinstance(error, Exception) or panicked(error):
            return None
        raise
    kept = _known.get(tokenizer)
    if kept is None or kept[0] != state:
        fast = None
        if _same_methods(tokenizer):
            ask = functools.partial(_official, tokenizer)
            fast = _build(tokenizer.backend_tokenizer, tokenizer.name_or_path, ask)
        kept = _known[tokenizer] = state, fast
    return kept[1]


def cutting_tokenizer(tokenizer: PreTrainedTokenizerBase) -> FastTokenizer | None:
    """Return the fast way to the ids and texts of cut prompts, the same under any transformers.

    It is that of `fast_tokenizer` unless the tokenizer was loaded by `load_tokenizer` and its
    tokenizer.json describes another one than the installed transformers made of it: see
    `official_tokenizer`. None: the tokenizer must be asked itself.
    """
    if tokenizer in _from_files:
        return _from_files[tokenizer]
    installed = fast_tokenizer(tokenizer)
    own = _build_from_files(tokenizer, installed)
    if own is None:
        return installed
    _from_files[tokenizer] = own
    return own


def _build_from_files(
    tokenizer: PreTrainedTokenizerBase, installed: FastTokenizer | None
) -> FastTokenizer | None:
    """Return the tokenizer of the files; None: there is none, or it is the installed one."""
    backend = take_backend(tokenizer)
    if backend is None:
        return None
    description = backend.to_str()
    digest = hashlib.sha256(description.encode()).hexdigest()
    if installed is not None and installed.sha256 == digest:
        split = tokenizer.backend_tokenizer.encode_special_tokens
        if split == backend.encode_special_tokens:
            return None
    name = tokenizer.name_or_path
    fast = _build(backend, name, lambda text: backend.encode(text).ids)
    # One that fails on a probe is believed nothing, and whole prompts are tokenized with it.
    return fast or FastTokenizer(backend, TokenizerRules(), name, digest)


def tokenizer_sha256(tokenizer: PreTrainedTokenizerBase) -> str | None:
    """Return a hash of all that makes a tokenizer's cut prompts; None: it cannot be told.

    It is that of the description of `cutting_tokenizer` alone, unless special tokens in a text are
    split or an official release cleans up.
    """
    fast = cutting_tokenizer(tokenizer)
    if fast is None:
        return getattr(tokenizer, "description_sha256", None)  # of an encoding of tiktoken
    more = {"split_special_tokens": fast.splits_special, "clean_up": clean_up_policy(tokenizer)}
    if not any(more.values()):
        return fast.sha256
    return hashlib.sha256(json.dumps([fast.sha256, more]).encode()).hexdigest()
