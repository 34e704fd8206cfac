"""Remember how prompts were cut, so that the next run tokenizes none of them.

A cut prompt is nearly always a piece of its head and a piece of its tail. Stored are the lengths of
these and what stands between, so that 1,500 prompts take some 300 kB. Every entry is found by the
sha256 of its rendered prompt and carries the sha256 of its result.

No cheap look at an entry proves that its prompt was cut by the rule: that takes as long as cutting
it. So a file is believed only if this user's own key signed it, under the very name that holds all
that a cut depends on: a file that was edited, renamed or brought by somebody else is not. Besides,
each prompt that comes back is measured by a sample of its text (some 2 % of it): one that looks
longer than the limit, or nearly so, is tokenized anew.
"""

from __future__ import annotations

import contextlib
import hashlib
import hmac
import json
import logging
import os
import secrets
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lm_eval_longbench.datasets_cache import our_cache
from lm_eval_longbench.once import warn_once
from lm_eval_longbench.prompts.render import text_sha256
from lm_eval_longbench.prompts.tokens.fast import FastTokenizer, tokenizer_sha256
from lm_eval_longbench.prompts.tokens.official import cleans_up, panicked, settings
from lm_eval_longbench.prompts.truncation import BenchmarkRule, Cut, Rule, release_of
from lm_eval_longbench.version import __version__

if TYPE_CHECKING:
    from transformers import PreTrainedTokenizerBase

logger = logging.getLogger(__name__)

# Part of every key: raise it when entries change or a cut prompt would come out otherwise.
_FORMAT = "2"


def cache_key(
    source: str, tokenizer: PreTrainedTokenizerBase, limit: int, rule: Rule
) -> str | None:
    """Return the name under which cuts are kept; None: this tokenizer cannot be told from others.

    Args:
        source: names the prompts: data revision and template hash.
        tokenizer: told apart by its whole description, not by its name.
        limit: longest prompt in tokens.
        rule: the truncation rule.
    """
    known = tokenizer_sha256(tokenizer)
    if known is None:
        return None
    import tokenizers  # these two and datasets, below, are slow to import
    import transformers

    release = release_of(rule)
    plain: Any = rule.cut if isinstance(rule, BenchmarkRule) else rule
    parts = [_FORMAT, __version__, source, limit, plain.__module__, plain.__qualname__, release]
    parts += [known, type(tokenizer).__qualname__, *settings(tokenizer)]
    parts += [cleans_up(tokenizer, release), tokenizers.__version__, transformers.__version__]
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()


# Characters of a sample, and how many samples are taken at least and in how many characters.
_SAMPLE, _LEAST, _APART = 192, 3, 16_384
# A remembered prompt may look that much longer or shorter than it should be.
_NEARLY, _TOLERANCE, _FEW = 0.95, 1.5, 8


def _about(fast: FastTokenizer, text: str) -> float:
    """Return about how many tokens a text has; of a short text exactly."""
    if len(text) <= 2 * _LEAST * _SAMPLE:
        return fast.count(text, True)
    number = max(_LEAST, len(text) // _APART)
    starts = range(0, len(text) - _SAMPLE, (len(text) - _SAMPLE) // number)
    found = sum(len(fast.body(text[start : start + _SAMPLE])) for start in starts)
    return found / (len(starts) * _SAMPLE) * len(text)


def plausible(prompt: str, cut: Cut, fast: FastTokenizer, limit: int) -> bool:
    """Whether a remembered prompt can be what cutting gives; False: it must be cut anew.

    A prompt that was not cut needs a count within the limit, and its sample must agree; one that
    was cut must be about as long as the limit.
    """
    if not cut.truncated and fast.surely_within(prompt, limit):
        return True
    try:
        about = _about(fast, cut.text)
    except BaseException as error:  # the tokenizer fails on this text
        if isinstance(error, Exception) or panicked(error):
            return False
        raise
    if cut.truncated:
        longest, least = limit * _TOLERANCE + _FEW, limit / _TOLERANCE - _FEW
        return cut.text != prompt and least <= about <= longest
    exact = len(prompt) <= 2 * _LEAST * _SAMPLE
    return cut.tokens is not None and max(cut.tokens, about if exact else about / _NEARLY) <= limit


def _common(left: str, right: str, *, ends: bool = False) -> int:
    """Return the length of the common prefix of two texts, or of their common suffix."""

    def part(text: str, size: int) -> str:
        return text[len(text) - size :] if ends else text[:size]

    low, high = 0, min(len(left), len(right))
    while low < high:
        middle = (low + high + 1) // 2
        if part(left, middle) == part(right, middle):
            low = middle
        else:
            high = middle - 1
    return low


def _own_key(folder: Path) -> bytes:
    """Return the key that signs this user's cuts; it is made when there is none.

    Raises:
        OSError: it cannot be read or made, or somebody else could have.
    """
    user = os.getuid() if hasattr(os, "getuid") else None
    path = folder / f"cuts-{user if user is not None else 'own'}.key"
    if not path.exists():
        partial = path.with_name(f"{path.name}.{secrets.token_hex(8)}.partial")
        folder.mkdir(parents=True, exist_ok=True)
        try:
            descriptor = os.open(partial, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
            with os.fdopen(descriptor, "wb") as file:
                file.write(secrets.token_hex(32).encode())
            try:
                os.link(partial, path)
            except FileExistsError:  # another process has made one meanwhile
                pass
            except OSError:  # a file system without links
                partial.replace(path)
        finally:
            partial.unlink(missing_ok=True)
    about = path.lstat()
    if user is not None and (about.st_uid != user or about.st_mode & 0o077):
        raise PermissionError(f"{path} can be read or was made by another user")
    return path.read_bytes()


class CutCache:
    """The cuts of one task's prompts, in one file of the datasets cache.

    A damaged file counts as none, and so does one that this user's key has not signed. A file that
    cannot be written costs a warning, nothing else.
    """

    def __init__(self, key: str) -> None:
        folder = our_cache()
        self._name = key
        self._file = folder / "cuts" / f"{key}.json"
        self._new: dict[str, list[Any]] = {}
        self._entries: dict[str, list[Any]] = {}
        self._key: bytes | None = None
        try:
            self._key = _own_key(folder)
        except OSError as error:
            self._warn(error)
        else:
            self._entries = self._read()

    @staticmethod
    def _warn(error: OSError) -> None:
        warn_once(
            logger, "cut cache", f"Cut prompts cannot be remembered for the next run: {error}."
        )

    def _signature(self, body: bytes) -> bytes:
        message = self._name.encode() + b"\n" + body
        return hmac.new(self._key or b"", message, hashlib.sha256).hexdigest().encode()

    def _read(self) -> dict[str, list[Any]]:
        try:
            signature, body = self._file.read_bytes().split(b"\n", 1)
            if not hmac.compare_digest(self._signature(body), signature):
                return {}
            entries: dict[str, list[Any]] = json.loads(body)
        except (OSError, ValueError):
            return {}
        return entries

    def get(self, prompt: str) -> Cut | None:
        """Return how a prompt was cut, or None."""
        entry = self._entries.get(text_sha256(prompt)) if self._entries else None
        if entry is None:
            return None
        tokens, *cut = entry
        if not cut:
            return Cut(prompt, tokens, False)
        head, middle, tail, digest = cut
        text = prompt[:head] + middle + prompt[len(prompt) - tail :]
        return Cut(text, tokens, True) if text_sha256(text) == digest else None

    def put(self, prompt: str, cut: Cut) -> None:
        """Remember a cut; nothing is written before `save`."""
        entry: list[Any] = [cut.tokens]
        if cut.truncated:
            head = _common(prompt, cut.text)
            tail = _common(prompt, cut.text[head:], ends=True)
            middle = cut.text[head : len(cut.text) - tail]
            entry += [head, middle, tail, text_sha256(cut.text)]
        name = text_sha256(prompt)
        if self._entries.get(name) != entry:
            self._new[name] = entry

    def save(self) -> None:
        """Write what is new, beside what other processes wrote meanwhile, in one step."""
        if not self._new or self._key is None:
            return
        body = json.dumps(self._read() | self._new).encode()
        partial = self._file.with_name(f"{self._file.name}.{os.getpid()}.partial")
        try:
            self._file.parent.mkdir(parents=True, exist_ok=True)
            partial.write_bytes(self._signature(body) + b"\n" + body)
            partial.replace(self._file)
        except OSError as error:
            self._warn(error)
        finally:
            with contextlib.suppress(OSError):
                partial.unlink(missing_ok=True)
