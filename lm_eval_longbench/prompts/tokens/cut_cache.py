"""Remember how prompts were cut, so that the next run tokenizes none of them.

A cut prompt is nearly always a piece of its head and a piece of its tail. Stored are the lengths of
these and what stands between, so that 1,500 prompts take some 300 kB. Every entry is found by the
sha256 of its rendered prompt and carries the sha256 of its result. A file that cannot be read is
deleted and made again.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import logging
import os
from typing import TYPE_CHECKING, Any

from lm_eval_longbench.console import warn_once
from lm_eval_longbench.files import our_cache
from lm_eval_longbench.prompts.render import text_sha256
from lm_eval_longbench.prompts.tokens.fast import tokenizer_sha256
from lm_eval_longbench.prompts.tokens.official import cleans_up, settings
from lm_eval_longbench.prompts.truncation import BenchmarkRule, Cut, Rule, release_of
from lm_eval_longbench.version import __version__

if TYPE_CHECKING:
    from transformers import PreTrainedTokenizerBase

logger = logging.getLogger(__name__)

# Part of every key: raise it when entries change or a cut prompt would come out otherwise.
_FORMAT = "3"


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
    import tokenizers  # these two are slow to import
    import transformers

    release = release_of(rule)
    plain: Any = rule.cut if isinstance(rule, BenchmarkRule) else rule
    parts = [_FORMAT, __version__, source, limit, plain.__module__, plain.__qualname__, release]
    parts += [known, type(tokenizer).__qualname__, *settings(tokenizer)]
    parts += [cleans_up(tokenizer, release), tokenizers.__version__, transformers.__version__]
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()


def common(left: str, right: str, *, ends: bool = False) -> int:
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


class CutCache:
    """The cuts of one task's prompts, in one file of the datasets cache.

    A file that cannot be written costs a warning, nothing else.
    """

    def __init__(self, key: str) -> None:
        self._file = our_cache() / "cuts" / f"{key}.json"
        self._new: dict[str, list[Any]] = {}
        self._entries = self._read()

    def _read(self) -> dict[str, list[Any]]:
        try:
            entries = json.loads(self._file.read_bytes())
            if isinstance(entries, dict):
                return entries
        except FileNotFoundError:
            return {}
        except (OSError, ValueError):
            pass
        with contextlib.suppress(OSError):
            self._file.unlink()
        return {}

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
            head = common(prompt, cut.text)
            tail = common(prompt, cut.text[head:], ends=True)
            middle = cut.text[head : len(cut.text) - tail]
            entry += [head, middle, tail, text_sha256(cut.text)]
        self._new[text_sha256(prompt)] = entry

    def save(self) -> None:
        """Write what is new, beside what other processes wrote meanwhile, in one step."""
        if not self._new:
            return
        partial = self._file.with_name(f"{self._file.name}.{os.getpid()}.partial")
        try:
            self._file.parent.mkdir(parents=True, exist_ok=True)
            partial.write_text(json.dumps(self._read() | self._new), encoding="utf-8")
            partial.replace(self._file)
        except OSError as error:
            warn_once(
                logger, "cut cache", f"Cut prompts cannot be remembered for the next run: {error}."
            )
        finally:
            with contextlib.suppress(OSError):
                partial.unlink(missing_ok=True)
