"""Prepare the prompts of many documents at once: cut, hold; where the question begins.

Authors of compressed key-value caches who do not let the question choose what is kept need to know
where the document ends. All that follows the document counts as the question.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import logging
import os
import tempfile
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import IO, TYPE_CHECKING, Any

from lm_eval_longbench.console import warn_once
from lm_eval_longbench.files import our_cache
from lm_eval_longbench.prompts.render import text_sha256
from lm_eval_longbench.prompts.tokens.fast import tokenizer_sha256
from lm_eval_longbench.prompts.tokens.official import cleans_up, settings
from lm_eval_longbench.prompts.truncation import BenchmarkRule, Cut, Rule, release_of, truncate
from lm_eval_longbench.version import __version__

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


# ---------------------------------------------------------------------- cuts, remembered

# A cut prompt is nearly always a piece of its head and a piece of its tail. Stored are the lengths
# of these and what stands between, so that 1,500 prompts take some 300 kB.

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

    Every entry is found by the sha256 of its rendered prompt and carries that of its result. A file
    that cannot be read is deleted and made again. One that cannot be written costs a warning,
    nothing else.
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
    source: str | None = None,
    hold: Callable[[str], Any] = str,
) -> list[Prompt]:
    """Return the prompts in order, each cut by `rule` if longer than `limit` tokens.

    Args:
        texts: rendered prompts; taken one after the other, and let go of once cut.
        limit: longest prompt in tokens; None: nothing is cut.
        load_tokenizer: called only if there is a limit.
        rule: the benchmark's truncation rule.
        source: names the prompts (data revision, template hash) to remember the cuts between runs;
            None: not remembered.
        hold: what is kept of a text until it is asked for.
    """
    if limit is None:
        return [Prompt(hold(text)) for text in texts]
    tokenizer = load_tokenizer()
    key = cache_key(source, tokenizer, limit, rule) if source is not None else None
    if key is None:
        return [_prompt(cut, hold) for cut in truncate(texts, tokenizer, limit, rule)]
    return _remembered(texts, tokenizer, limit, rule, CutCache(key), hold)


def _prompt(cut: Cut, hold: Callable[[str], Any]) -> Prompt:
    return Prompt(hold(cut.text), cut.tokens, cut.truncated)


def _remembered(
    texts: Iterable[str],
    tokenizer: PreTrainedTokenizerBase,
    limit: int,
    rule: Rule,
    cache: CutCache,
    hold: Callable[[str], Any],
) -> list[Prompt]:
    """Cut what the cache does not know, and tell it."""
    prompts: list[Prompt | None] = []
    waiting: deque[tuple[int, str]] = deque()

    def unknown() -> Iterator[str]:
        for number, text in enumerate(texts):
            found = cache.get(text)
            prompts.append(None if found is None else _prompt(found, hold))
            if found is None:
                waiting.append((number, text))
                yield text

    for cut in truncate(unknown(), tokenizer, limit, rule):
        number, text = waiting.popleft()
        prompts[number] = _prompt(cut, hold)
        cache.put(text, cut)
    cache.save()
    return [prompt for prompt in prompts if prompt is not None]


# ---------------------------------------------------------------------- where the question begins

# Characters at the place of a cut that decoding may have changed.
_SEAM = 16


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
