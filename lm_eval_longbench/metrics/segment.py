"""Chinese word segmentation with jieba's default mode and default dictionary."""

from __future__ import annotations

import functools
import math

import jieba


class _Tokenizer(jieba.Tokenizer):
    """jieba's tokenizer with the best path through its dictionary found in one pass, not two.

    The same path: of equally likely words the longer one, and the sums in jieba's order.
    """

    def initialize(self, dictionary: str | None = None) -> None:
        """Read the dictionary itself: jieba's cache is a file that anybody may have written."""
        if self.initialized:
            return
        self.FREQ, self.total = self.gen_pfdict(self.get_dict_file())
        self.initialized = True
        self._total = math.log(self.total)
        self._likelihood: dict[str, float] = {}  # of the words met so far

    def get_DAG(self, sentence: str) -> None:
        """Return nothing: `calc` looks words up by itself."""

    def calc(self, sentence: str, DAG: None, route: dict[int, tuple[float, int]]) -> None:
        """Fill `route`: for each place the likelihood from there on, and where its word ends."""
        frequencies, known, total = self.FREQ, self._likelihood, self._total
        size = len(sentence)
        after = [0.0] * (size + 1)
        route[size] = (0, 0)
        for start in range(size - 1, -1, -1):
            best, last = -math.inf, start
            end = start
            word = sentence[start]
            # A single sign is a word of its own where the dictionary has none that begins with it.
            while end < size and (frequency := frequencies.get(word)) is not None:
                if frequency:
                    likelihood = known.get(word)
                    if likelihood is None:
                        likelihood = known[word] = math.log(frequency) - total
                    likelihood += after[end + 1]
                    if likelihood >= best:
                        best, last = likelihood, end
                end += 1
                word = sentence[start : end + 1]
            if best == -math.inf:
                best = math.log(frequencies.get(sentence[start]) or 1) - total + after[start + 1]
            after[start] = best
            route[start] = (best, last)


@functools.cache
def _tokenizer() -> jieba.Tokenizer:
    """Build a tokenizer of our own once.

    The module-wide one may carry words that a user added; scores must not depend on them.
    """
    tokenizer = _Tokenizer()
    tokenizer.initialize()
    return tokenizer


# A prediction meets each of its gold answers: remember it for that long.
@functools.lru_cache(maxsize=64)
def words(text: str) -> tuple[str, ...]:
    """Return jieba's default-mode tokens of `text`, whitespace tokens included."""
    return tuple(_tokenizer().cut(text, cut_all=False))


# Gold answers come again with every run of a dataset, which has at most 200 questions.
@functools.lru_cache(maxsize=1024)
def gold_words(text: str) -> tuple[str, ...]:
    """Return `words` of a gold answer."""
    return words(text)
