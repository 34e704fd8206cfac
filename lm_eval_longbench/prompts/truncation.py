"""The official truncation rules: keep both ends of a prompt, drop its middle."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NoReturn, TypeVar

from lm_eval_longbench.errors import TokenizerError, UnknownNameError
from lm_eval_longbench.prompts.tokens.fast import Tokenized, cutting_tokenizer, fast_tokenizer
from lm_eval_longbench.prompts.tokens.official import (
    RELEASE_PRO,
    RELEASE_V1,
    RELEASE_V2,
    Decode,
    cleaned,
    cleans_up,
    panicked,
    slow_decoder,
)

if TYPE_CHECKING:
    from transformers import PreTrainedTokenizerBase

Rule = Callable[[Sequence[int], int, Decode], str]


def halves_decoded_apart(ids: Sequence[int], limit: int, decode: Decode) -> str:
    """Cut as LongBench v1 and LongBench-E do: two halves of int(limit / 2), decoded separately.

    Args:
        ids: token ids of the prompt, special tokens included; longer than `limit`.
        limit: tokens to keep; for an odd limit one fewer is kept.
        decode: ids to text, special tokens skipped.
    """
    half = int(limit / 2)
    return decode(ids[:half]) + decode(ids[-half:])


def ends_decoded_together(ids: Sequence[int], limit: int, decode: Decode) -> str:
    """Cut as LongBench v2 and LongBench Pro do: one decode of both ends.

    For an odd limit the tail is one token longer. Arguments as in `halves_decoded_apart`.
    """
    return decode([*ids[: limit // 2], *ids[-limit // 2 :]])


@dataclass(frozen=True)
class BenchmarkRule:
    """A truncation rule with the release of transformers that the benchmark's authors pin.

    Attributes:
        cut: the rule.
        release: decides about the clean-up of tokenizers that do not state it: see
            `official_tokenizer`. With a plain function for a rule they are not cleaned up.
    """

    cut: Rule
    release: str

    @property
    def __name__(self) -> str:
        return self.cut.__name__

    def __call__(self, ids: Sequence[int], limit: int, decode: Decode) -> str:
        """Cut as the rule does."""
        return self.cut(ids, limit, decode)


_CUTS = {one.__name__: one for one in (halves_decoded_apart, ends_decoded_together)}


def rule_of(name: str, release: str | None) -> Rule:
    """Return a rule by its name in task files; see `BenchmarkRule`. UnknownNameError: none."""
    if name not in _CUTS:
        raise UnknownNameError("truncation", name, _CUTS)
    return _CUTS[name] if release is None else BenchmarkRule(_CUTS[name], release)


RULE_V1 = BenchmarkRule(halves_decoded_apart, RELEASE_V1)
RULE_V2 = BenchmarkRule(ends_decoded_together, RELEASE_V2)
RULE_PRO = BenchmarkRule(ends_decoded_together, RELEASE_PRO)


def release_of(rule: Rule) -> str | None:
    """Return the official release that goes with a rule; None: it is a plain function."""
    return rule.release if isinstance(rule, BenchmarkRule) else None


@dataclass(frozen=True)
class Cut:
    """A prompt after truncation.

    Attributes:
        text: the prompt, cut or whole.
        tokens: length of the whole prompt in tokens, special tokens included; None where the
            decision did not need it. A prompt that was not cut has at most `limit` tokens.
        truncated: whether it was cut.
    """

    text: str
    tokens: int | None
    truncated: bool


def _cannot(tokenizer: PreTrainedTokenizerBase, text: str, error: BaseException) -> NoReturn:
    """Raise what a failing tokenizer means; anything but its own failure goes on as it is."""
    if not isinstance(error, Exception) and not panicked(error):
        raise error
    raise TokenizerError(
        f"The tokenizer {getattr(tokenizer, 'name_or_path', '')!r} cannot tokenize a text of "
        f"{len(text):,} characters that starts with {text[:40]!r} ({type(error).__name__}: "
        f"{error}). Its files may be damaged, or too new for the installed tokenizers: download "
        "or upgrade them, name another one with the option 'tokenizer', or leave out 'truncate_to' "
        "and the model's length to send prompts whole."
    ) from error


def _ids(tokenizer: PreTrainedTokenizerBase, text: str) -> list[int]:
    try:
        encoded: Any = tokenizer(text, truncation=False, return_attention_mask=False, verbose=False)
    except BaseException as error:
        _cannot(tokenizer, text, error)
    ids: list[int] = encoded["input_ids"]
    return ids


def count_tokens(tokenizer: PreTrainedTokenizerBase, text: str, *, special: bool = True) -> int:
    """Return the number of tokens of `text`, with the default special tokens if `special`.

    Raises:
        TokenizerError: the tokenizer fails on this text.
    """
    try:
        encoded = tokenizer(text, add_special_tokens=special, truncation=False, verbose=False)
    except BaseException as error:
        _cannot(tokenizer, text, error)
    return len(encoded["input_ids"])


def count_many(
    tokenizer: PreTrainedTokenizerBase, texts: Iterable[tuple[str, bool]]
) -> Iterator[int]:
    """Yield what `count_tokens` returns for each text and `special`, several at a time."""
    fast = fast_tokenizer(tokenizer)
    if fast is None:
        for text, special in texts:
            yield count_tokens(tokenizer, text, special=special)
        return

    def count(item: tuple[str, bool]) -> int:
        try:
            return fast.count(*item)
        except BaseException as error:
            _cannot(tokenizer, item[0], error)

    yield from in_order(count, texts)


def counts_as_installed(tokenizer: PreTrainedTokenizerBase) -> bool:
    """Whether prompts are cut with the very ids that the installed transformers gives them.

    If not, a prompt that is within a limit when it is cut can be longer where it is sent.
    """
    return cutting_tokenizer(tokenizer) is fast_tokenizer(tokenizer)


def truncate(
    prompts: Iterable[str], tokenizer: PreTrainedTokenizerBase, limit: int, rule: Rule
) -> Iterator[Cut]:
    """Yield each prompt, cut by `rule` if it is longer than `limit` tokens.

    The result is that of `rule` on `tokenizer(prompt)` under the official release, but no more is
    tokenized than is needed to know it: see `tokens.official` and `tokens.rules`. Several prompts
    are worked on at a time, in threads, where the tokenizer is one of the `tokenizers` library.

    Args:
        prompts: finished prompts, before any chat template; taken one after the other.
        tokenizer: the evaluated model's; its default special tokens count.
        limit: longest prompt in tokens, at least 2.
        rule: RULE_V1, RULE_V2, RULE_PRO or another that looks at no ids but the first and the last
            (limit + 1) // 2.

    Raises:
        TokenizerError: the tokenizer fails on a prompt.
    """
    fast = cutting_tokenizer(tokenizer)
    clean = cleans_up(tokenizer, release_of(rule))
    decode = slow_decoder(tokenizer, clean) if fast is None else cleaned(fast.decode, clean)

    def cut(text: str, tokenized: Tokenized) -> Cut:
        known = len(tokenized.ids) if tokenized.whole else None
        longer = len(tokenized.ids) > limit
        return Cut(rule(tokenized.ids, limit, decode) if longer else text, known, longer)

    if fast is None:
        for text in prompts:
            tokenized = Tokenized(_ids(tokenizer, text), whole=True)
            try:
                done = cut(text, tokenized)
            except BaseException as error:  # ids that it cannot decode itself
                _cannot(tokenizer, text, error)
            yield done
        return

    def cut_fast(text: str) -> Cut:
        if fast.surely_within(text, limit):
            return Cut(text, None, False)
        try:
            tokenized = fast.tokenize(text, limit)
        except BaseException as error:
            _cannot(tokenizer, text, error)
        return cut(text, tokenized)

    yield from in_order(cut_fast, prompts)


# ---------------------------------------------------------------------- in threads

Item = TypeVar("Item")
Result = TypeVar("Result")

# Tokenizing scales no further: its threads share the interpreter between calls.
_MOST = 16


def usable_cores() -> int:
    """Return the number of processor cores this process may use, at least 1."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def in_order(
    function: Callable[[Item], Result], items: Iterable[Item], threads: int | None = None
) -> Iterator[Result]:
    """Yield `function(item)` for each item, in order, computed ahead in threads.

    Items are taken only as fast as results are: at most twice as many as threads are under way.
    The threads end with the iteration, so that a later fork meets none.

    Args:
        function: must release the interpreter lock for its main work, or threads do not help.
        items: taken in the caller's thread.
        threads: how many; None: one for each core, 16 at most.
    """
    threads = min(usable_cores(), _MOST) if threads is None else threads
    if threads < 2:
        yield from map(function, items)
        return
    waiting: deque[Future[Result]] = deque()
    with ThreadPoolExecutor(threads, thread_name_prefix="longbench-tokenize") as pool:
        try:
            for item in items:
                waiting.append(pool.submit(function, item))
                if len(waiting) >= 2 * threads:
                    yield waiting.popleft().result()
            while waiting:
                yield waiting.popleft().result()
        finally:
            for future in waiting:
                future.cancel()
