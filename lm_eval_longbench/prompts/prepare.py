"""Prepare the prompts of many documents at once: cut, hold; where the question begins.

Authors of compressed key-value caches who do not let the question choose what is kept need to know
where the document ends. All that follows the document counts as the question.
"""

from __future__ import annotations

import logging
import os
import tempfile
import threading
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import IO, TYPE_CHECKING, Any

from lm_eval_longbench.console import warn_once
from lm_eval_longbench.files import our_cache
from lm_eval_longbench.prompts.render import text_sha256
from lm_eval_longbench.prompts.truncation import Rule, truncate

if TYPE_CHECKING:
    from transformers import PreTrainedTokenizerBase

__all__ = ["EXCERPT", "Prompt", "prepare", "text_sha256"]

logger = logging.getLogger(__name__)
# Characters of a prompt's head and tail that the sample log keeps.
EXCERPT = 256


# Bytes of the texts of one task that stay in memory: a short task needs no file.
_IN_MEMORY = 2_000_000


class Held:
    """A text in a file that has no name; it goes when nothing refers to it any more."""

    __slots__ = ("_file", "_make", "_place", "_size")

    def __init__(self, file: IO[bytes], place: int, size: int, make: Callable[[str], Any]) -> None:
        self._file, self._place, self._size, self._make = file, place, size, make

    def read(self) -> Any:
        """Return the text, or what is made of it."""
        data = os.pread(self._file.fileno(), self._size, self._place)
        return self._make(data.decode("utf-8", "surrogatepass"))


class Texts:
    """Holds the texts of one task."""

    def __init__(self) -> None:
        self._file: IO[bytes] | None = None
        self._size = self._end = 0
        self._lock = threading.Lock()

    def hold(self, text: str, make: Callable[[str], Any] = str) -> Any:
        """Return what `whole` makes the text of again, or what `make` makes of it.

        Where the disk is full or there is none that can be written, it stays in memory.
        """
        data = text.encode("utf-8", "surrogatepass")
        with self._lock:
            self._size += len(data)
            if self._size <= _IN_MEMORY or not hasattr(os, "pread"):
                return make(text)
            try:
                if self._file is None:
                    folder = our_cache()
                    folder.mkdir(parents=True, exist_ok=True)
                    self._file = tempfile.TemporaryFile(dir=folder, buffering=0)  # noqa: SIM115
                written = 0
                while written < len(data):
                    written += os.pwrite(
                        self._file.fileno(), memoryview(data)[written:], self._end + written
                    )
            except OSError as error:
                warn_once(logger, "held", f"Prompts stay in memory: {our_cache()}: {error}.")
                return make(text)
            held = Held(self._file, self._end, len(data), make)
            self._end += len(data)
            return held


def whole(held: Any) -> Any:
    """Return what was held."""
    return held.read() if isinstance(held, Held) else held


# ---------------------------------------------------------------------- prompts of many documents


@dataclass(frozen=True)
class Prompt:
    """A finished prompt, before any chat template.

    Attributes:
        held: what the model reads, or where it is held.
        tokens: tokens before it was cut; None where nobody had to count them. With a limit, a
            prompt that was not cut has at most that many.
        truncated: whether it was cut.
    """

    held: Any
    tokens: int | None = None
    truncated: bool = False

    @property
    def text(self) -> str:
        """What the model reads."""
        return str(whole(self.held))


def prepare(
    texts: Iterable[str],
    limit: int | None,
    load_tokenizer: Callable[[], PreTrainedTokenizerBase],
    rule: Rule,
    hold: Callable[[str], Any] = str,
) -> list[Prompt]:
    """Return the prompts in order, each cut by `rule` if longer than `limit` tokens.

    Args:
        texts: rendered prompts; taken one after the other, and let go of once cut.
        limit: longest prompt in tokens; None: nothing is cut.
        load_tokenizer: called only if there is a limit.
        rule: the benchmark's truncation rule.
        hold: what is kept of a text until it is asked for.
    """
    if limit is None:
        return [Prompt(hold(text)) for text in texts]
    return [
        Prompt(hold(cut.text), cut.tokens, cut.truncated)
        for cut in truncate(texts, load_tokenizer(), limit, rule)
    ]


# ---------------------------------------------------------------------- where the question begins

# Characters at the place of a cut that decoding may have changed.
_SEAM = 16


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


def question_at(prompt: str, whole: str, question: str) -> int | None:
    """Return the place in a prompt, cut or whole, where its question begins.

    Args:
        prompt: as it is asked, before any chat template.
        whole: the same prompt before it was cut.
        question: the end of `whole` that follows the document.

    Returns:
        Characters from 0 to len(prompt); None: nothing follows the document, or the tokenizer has
        changed the text when it was cut, so that the place cannot be told.
    """
    if not question:
        return None
    if prompt.endswith(question):
        return len(prompt) - len(question)
    # The cut goes through the question.
    begins = len(whole) - len(question)
    before = common(prompt, whole)
    after = common(prompt, whole, ends=True)
    if before >= begins:
        return begins
    seam = max(before, len(prompt) - after)
    return seam if seam - before <= _SEAM else None


def place_as_sent(sent: str, prompt: str, place: int) -> int | None:
    """Return the place in a prompt's request, in its chat template, that is a place in the prompt.

    None where the template has changed more of the prompt than white space around it.
    """
    bare = prompt.strip()
    found = sent.rfind(bare)
    if found < 0:
        return None
    skipped = len(prompt) - len(prompt.lstrip())
    return found + max(0, place - skipped)
