"""Similarity of the first line of code to the gold line (LongBench v1 `code_sim_score`).

The official scorer calls fuzzywuzzy, which uses difflib unless python-Levenshtein happens to be
installed; then scores of 500 real answers rise by 1.7 (lcc) and 2.4 points (repobench-p). Published
scores are the difflib ones, so this metric counts difflib's blocks and nothing else.

difflib takes the longest block that both texts have, of several the earliest in the first text and
then in the second, and goes on in what is left of it and right of it. It is a table walked in
Python; here the same blocks come from searches for ever longer pieces of the first text.
"""

from __future__ import annotations

from collections import Counter
from itertools import count

# Characters of a second text from which on difflib leaves popular ones aside (its "autojunk").
_LONG = 200


def _popular(text: str) -> set[str]:
    """Return the characters that begin no block: those of more than 1% of a long text, and one."""
    if len(text) < _LONG:
        return set()
    most = len(text) // 100 + 1
    return {character for character, number in Counter(text).items() if number > most}


def _marked(text: str, characters: set[str], mark: str) -> str:
    return text.translate(dict.fromkeys(map(ord, characters), mark)) if characters else text


def matched(first: str, second: str) -> int:
    """Return how many characters are in the blocks of `SequenceMatcher(None, first, second)`.

    Source: CPython's difflib.py, `get_matching_blocks` with the default autojunk; versions 3.10 to
    3.13 find the same blocks.
    """
    ours, theirs, popular = set(first), set(second), _popular(second)
    # What cannot be in a block becomes one sign in each text, which the other text does not have.
    free = (sign for sign in map(chr, count()) if sign not in ours and sign not in theirs)
    lost, other_lost = next(free), next(free)
    marked = _marked(first, popular | (ours - theirs), lost)
    other = _marked(second, popular, other_lost)
    total, waiting = 0, [(0, len(first), 0, len(second))]
    while waiting:
        low, high, begin, end = waiting.pop()
        part = other[begin:end]
        size, left, at = 0, low, low
        while at + size < high:
            if marked[at + size] == lost:
                at += size + 1  # no longer block holds it
                continue
            if marked[at : at + size + 1] in part:
                left, size = at, size + 1
                while at + size < high and marked[at : at + size + 1] in part:
                    size += 1
            at += 1
        right = begin + (part.find(marked[left : left + size]) if size else 0)
        if popular:  # a block grows over popular ones beside it
            while left > low and right > begin and first[left - 1] == second[right - 1]:
                left, right, size = left - 1, right - 1, size + 1
            while (
                left + size < high
                and right + size < end
                and first[left + size] == second[right + size]
            ):
                size += 1
        total += size
        if size and low < left and begin < right:
            waiting.append((low, left, begin, right))
        if size and left + size < high and right + size < end:
            waiting.append((left + size, high, right + size, end))
    return total


_NOT_CODE = ("`", "#", "//")


def first_code_line(prediction: str) -> str:
    """Return the first line without a backtick, `#` or `//` after leading newlines; "" if none."""
    for line in prediction.lstrip("\n").split("\n"):
        if not any(mark in line for mark in _NOT_CODE):
            return line
    return ""


def code_sim(prediction: str, answer: str) -> float:
    """Return difflib's ratio (default autojunk) in whole percent as a fraction, in [0, 1].

    fuzzywuzzy's guards in its order: equal strings, two empty ones included, give 1; else an
    empty one gives 0. The ratio is not symmetric.
    """
    line = first_code_line(prediction)
    if line == answer:
        return 1.0
    if not line or not answer:
        return 0.0
    ratio = 2.0 * matched(line, answer) / (len(line) + len(answer))
    return round(100 * ratio) / 100
