"""Chinese word segmentation with jieba's default mode, default dictionary and probabilities.

The words are jieba's, sum for sum and tie for tie; the time is linear in the text, which jieba's
own search for unknown words is not: it copies its path at every sign.
"""

from __future__ import annotations

import itertools
import math
import operator
from collections import Counter
from collections.abc import Iterator

import jieba
from jieba import finalseg

# What jieba takes for the likelihood of a sign that its tables do not have in a state.
_LEAST = finalseg.MIN_FLOAT
_CHINESE, _BLANK = jieba.re_han_default, jieba.re_skip_default
_FIRST, _FIRST_TWO = operator.itemgetter(0), operator.itemgetter(slice(2))
_UNKNOWN_CHINESE, _UNKNOWN_OTHER = finalseg.re_han, finalseg.re_skip


def _unknown_words(run: str) -> Iterator[str]:
    """Yield the words of a run of Chinese signs, at least one, that the dictionary does not have.

    The likeliest way of states over the signs: a word is "S", one sign, or "B", any number of "M",
    and "E". Of two equally likely states before a sign jieba takes the one that comes later in the
    alphabet.
    """
    start, emit, turn = finalseg.start_P, finalseg.emit_P, finalseg.trans_P
    emit_b, emit_e, emit_m, emit_s = (emit[state].get for state in "BEMS")
    b_e, b_m, m_e, m_m = turn["B"]["E"], turn["B"]["M"], turn["M"]["E"], turn["M"]["M"]
    e_b, e_s, s_b, s_s = turn["E"]["B"], turn["E"]["S"], turn["S"]["B"], turn["S"]["S"]
    signs = iter(run)
    first = next(signs)
    begin, end = start["B"] + emit_b(first, _LEAST), start["E"] + emit_e(first, _LEAST)
    middle, single = start["M"] + emit_m(first, _LEAST), start["S"] + emit_s(first, _LEAST)
    # Of each further sign: which state came before, if it is B or S (S or E), if it is M or E
    # (M or B).
    to_b, to_s, to_m, to_e = [False], [False], [False], [False]
    for sign in signs:
        at_b, at_e = emit_b(sign, _LEAST), emit_e(sign, _LEAST)
        at_m, at_s = emit_m(sign, _LEAST), emit_s(sign, _LEAST)
        b_from_e, b_from_s = end + e_b + at_b, single + s_b + at_b
        s_from_e, s_from_s = end + e_s + at_s, single + s_s + at_s
        m_from_b, m_from_m = begin + b_m + at_m, middle + m_m + at_m
        e_from_b, e_from_m = begin + b_e + at_e, middle + m_e + at_e
        to_b.append(b_from_s >= b_from_e)
        to_s.append(s_from_s >= s_from_e)
        to_m.append(m_from_m >= m_from_b)
        to_e.append(e_from_m >= e_from_b)
        begin = b_from_s if b_from_s >= b_from_e else b_from_e
        single = s_from_s if s_from_s >= s_from_e else s_from_e
        middle = m_from_m if m_from_m >= m_from_b else m_from_b
        end = e_from_m if e_from_m >= e_from_b else e_from_b
    state = "S" if single >= end else "E"
    starts = []  # of the words, from the last on
    for place in range(len(run) - 1, -1, -1):
        if state in "BS":
            starts.append(place)
            state = "S" if (to_b if state == "B" else to_s)[place] else "E"
        else:
            state = "M" if (to_m if state == "M" else to_e)[place] else "B"
    if not starts or starts[-1]:
        starts.append(0)  # the tables may hold a way that begins within a word
    last = starts.pop()
    while starts:
        yield run[last : starts[-1]]
        last = starts.pop()
    yield run[last:]


def _cut_unknown(text: str) -> Iterator[str]:
    """Yield the words of a text of which the dictionary has none."""
    for part in _UNKNOWN_CHINESE.split(text):
        if _UNKNOWN_CHINESE.match(part):
            yield from _unknown_words(part)
        else:
            yield from filter(None, _UNKNOWN_OTHER.split(part))


def _read(source: jieba.Tokenizer) -> tuple[list[str], list[str], int]:
    """Return the dictionary's words, their frequencies in digits, and the sum of these."""
    with source.get_dict_file() as file:
        text = file.read().decode("utf-8")
    fields = text.split()
    if len(fields) == 3 * text.count("\n"):  # a word, its frequency and its kind a line
        frequencies = fields[1::3]
        # Few words are frequent: there are seventy words for each number that occurs.
        return (
            fields[::3],
            frequencies,
            sum(int(n) * times for n, times in Counter(frequencies).items()),
        )
    # Lines of another shape are read by jieba, which also makes entries for beginnings of words.
    known, total = source.gen_pfdict(source.get_dict_file())
    return list(known), list(map(str, known.values())), total


class _Likelihoods(dict[str, float | None]):
    """The logarithm of each frequency that was asked for, less that of all words together."""

    def __init__(self, total: float) -> None:
        super().__init__()
        self._total = total

    def __missing__(self, digits: str) -> float | None:
        frequency = int(digits)
        found = self[digits] = math.log(frequency) - self._total if frequency else None
        return found


class Segmenter:
    """jieba's dictionary, read from its file, and the likeliest way of its words over a text."""

    def __init__(self) -> None:
        # Not through jieba's cache, which is a file that anybody may have written; nor from the
        # module-wide tokenizer, which may carry words of a user's: scores must not depend on them.
        self._words, self._frequencies, total = _read(jieba.Tokenizer())
        self._total = math.log(total)
        # Where the words that begin with a sign stand. A text has few of all signs: the words of
        # the others are never looked at.
        self._places: dict[str, list[slice]] = {}
        begin = 0
        for sign, group in itertools.groupby(map(_FIRST, self._words)):
            end = begin + len(list(group))
            self._places.setdefault(sign, []).append(slice(begin, end))
            begin = end
        self._met: set[str] = set()  # signs
        self._logarithms = _Likelihoods(self._total)
        # Of the words that begin with them; None: never a word.
        self._likelihood: dict[str, float | None] = {}
        self._longest: dict[str, int] = {}  # of these words, by their first two signs

    def _meet(self, sign: str) -> None:
        """Look at the words that begin with a sign."""
        words: list[str] = []
        for place in self._places.get(sign, ()):
            words += self._words[place]
            own = map(self._logarithms.__getitem__, self._frequencies[place])
            self._likelihood.update(zip(self._words[place], own, strict=True))
        words.sort(key=len)  # the last of those that begin with the same signs counts
        self._longest.update(zip(map(_FIRST_TWO, words), map(len, words), strict=True))
        self._met.add(sign)  # last: another thread may be reading the same words

    def _ends(self, sentence: str) -> list[int]:
        """Return for each place where the word that begins there ends, if one begins there.

        Of equally likely ways the one with the longer word is jieba's. The sums are in its order.
        """
        if not self._met.issuperset(sentence):
            for sign in set(sentence) - self._met:
                self._meet(sign)
        known, longest = self._likelihood.get, self._longest.get
        size = len(sentence)
        after = [0.0] * (size + 1)
        ends = [0] * size
        following = 0.0  # after[start + 1]
        for start in range(size - 1, -1, -1):
            last = start + 1
            pair = sentence[start : start + 2]
            best = known(pair[0])
            if best is not None:
                best += following
            reach = longest(pair, 1)
            if reach > 1 and last < size:
                likelihood = known(pair)
                end = start + 2
                while True:
                    if likelihood is not None:
                        likelihood += after[end]
                        if best is None or likelihood >= best:
                            best, last = likelihood, end
                    end += 1
                    if end - start > reach or end > size:
                        break
                    likelihood = known(sentence[start:end])
            if best is None:
                # A sign is a word of its own where the dictionary has none that begins with it.
                best = following - self._total
            after[start] = following = best
            ends[start] = last
        return ends

    def _add_singles(self, run: str, found: list[str]) -> None:
        """Add the words of signs that stand alone on the likeliest way."""
        if len(run) > 1 and self._likelihood.get(run) is None:
            found += _cut_unknown(run)
        else:
            found += run

    def _add_sentence(self, sentence: str, found: list[str]) -> None:
        ends = self._ends(sentence)
        start = alone = 0  # where signs that stand alone begin
        while start < len(sentence):
            end = ends[start]
            if end - start > 1:
                if alone < start:
                    self._add_singles(sentence[alone:start], found)
                found.append(sentence[start:end])
                alone = end
            start = end
        self._add_singles(sentence[alone:], found)

    def words(self, text: str) -> list[str]:
        """Return the words of a text in order; together they are the text."""
        found: list[str] = []
        for part in filter(None, _CHINESE.split(text)):
            if _CHINESE.match(part):
                self._add_sentence(part, found)
            else:
                for piece in _BLANK.split(part):
                    found += [piece] if _BLANK.match(piece) else piece
        return found
