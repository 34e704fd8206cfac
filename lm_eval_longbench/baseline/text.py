"""Anatomy of a prompt: chat markup, paragraphs, sentences, words, and their relevance by BM25."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import islice

import numpy as np

# ---------------------------------------------------------------------- words and their relevance

# Scripts written without spaces, as a character class; here neighbouring characters stand in for
# words.
UNSPACED = r"\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
_RUN = re.compile(rf"([{UNSPACED}]+)|[^\W{UNSPACED}]+")
_CODE = re.compile(r"\w+|[^\w\s]")


def words(text: str) -> list[str]:
    """Return the lower-cased words of `text`; Chinese and Japanese runs as character pairs.

    A run of one such character is a token by itself. Punctuation gives no tokens.
    """
    tokens: list[str] = []
    for run in _RUN.finditer(text.lower()):
        token = run.group()
        if run.group(1) and len(token) > 1:
            tokens.extend(token[at : at + 2] for at in range(len(token) - 1))
        else:
            tokens.append(token)
    return tokens


def code_words(line: str) -> list[str]:
    """Return the words of a code line, case kept, and each mark of punctuation as a token."""
    return _CODE.findall(line)


def scores(documents: Sequence[Sequence[str]], query: Sequence[str]) -> np.ndarray:
    """Return one BM25 score (0 or more, float32) for each tokenized document.

    All scores are 0 when the query or all documents are empty. Repeated query words count once.
    """
    ids = {word: number for number, word in enumerate(dict.fromkeys(query))}
    # Words outside the query only weigh by a document's length: one id does for all of them,
    # and the index stays as small as the query.
    other = len(ids)
    corpus = [[ids.get(word, other) for word in document] for document in documents]
    if not ids or not any(corpus):
        return np.zeros(len(corpus), dtype=np.float32)
    # bm25s brings numba, whose exit handler must run after that of multiprocessing: otherwise a
    # program that has started an engine such as vLLM never ends. So multiprocessing comes first,
    # and bm25s only where it is used.
    import multiprocessing.util  # noqa: F401

    import bm25s

    index = bm25s.BM25()
    # Not index.index(): that writes a debug line to the log at every call, which a program that
    # has set up logging, as the harness does, would show.
    index.scores = index.build_index_from_ids(list(range(other + 1)), corpus, show_progress=False)
    return index.get_scores_from_ids(list(ids.values()))


# ---------------------------------------------------------------------- the prompt

# How a chat template opens the model's turn: tags, bracket marks, a role name.
_CLOSING_MARK = re.compile(
    r"(?:<[^<>\s]{1,40}>"
    r"|\[/?[A-Z_]{2,20}\]"
    r"|#{1,4} ?(?:Response|Assistant|ASSISTANT):?"
    r"|(?:Assistant|ASSISTANT):"
    r"|(?<=[\n>])(?:assistant|model))\Z"
)
_MOST_MARKS = 20
_LONGEST_MARK = 60  # characters

# How it opens the user's turn. White space belongs to the mark before it: were it a mark of its
# own, a line of spaces could be read in exponentially many ways.
_MARKUP = (
    r"\s*(?:(?:<[^<>\s]{1,40}>(?:system\b|user\b)?|\[/?[A-Z_]{2,20}\]|USER:|User:|Human:)\s*){0,20}"
)
_OPENING = re.compile(_MARKUP)
_INSTRUCTION = re.compile(
    rf"{_MARKUP}(?:\Z|(?:You are|You will|Now|Answer|Read|Please|Here (?:is|are)|The following"
    r"|Summari[sz]e|Write|Complete)\b|现在请|请|阅读|以下|下面)"
)
# The heading that opens the material, alone on its line or with the material after it.
_HEADING = re.compile(
    r"\s*(?:Story|Article|Report|News|Transcript|Passages?|Text|Context|Document"
    r"|文章|新闻|会议记录|材料|文本)[:：]\s*"
)
_MOST_LINES = 12
_LONGEST_LINE = 1000  # characters
_BLANK_LINES = re.compile(r"\n[ \t\r]*\n\s*")


def strip_markup(prompt: str) -> str:
    """Return the prompt without white space and chat markup at its two ends."""
    opening = _OPENING.match(prompt)
    text = prompt[opening.end() if opening else 0 :].rstrip()
    for _ in range(_MOST_MARKS):
        tail = text[-_LONGEST_MARK:]
        mark = _CLOSING_MARK.search(tail)
        if mark is None:
            break
        text = text[: len(text) - len(mark.group())].rstrip()
    return text


def paragraphs(text: str) -> list[str]:
    """Return the blocks of text between blank lines, stripped; none of them is empty."""
    blocks = (block.strip() for block in _BLANK_LINES.split(text))
    return [block for block in blocks if block]


def last_match(pattern: re.Pattern[str], text: str, start: int = 0) -> re.Match[str] | None:
    """Return the last match of `pattern` in `text` at or after position `start`, None if none."""
    found = None
    for match in pattern.finditer(text, start):
        found = match
    return found


def material(text: str) -> str:
    """Return `text` without the instruction lines, and the heading, at its two ends.

    Only short lines that open like an instruction go, a dozen at either end at most; what is left
    may be empty.
    """
    lines = text.split("\n")
    first, end = 0, len(lines)
    while first < min(end, _MOST_LINES) and _instructs(lines[first]):
        first += 1
    floor = max(first, end - _MOST_LINES)
    while end > floor and _instructs(lines[end - 1]):
        end -= 1
    body = "\n".join(lines[first:end])
    heading = _HEADING.match(body)
    return body[heading.end() :] if heading else body


def _instructs(line: str) -> bool:
    return len(line) <= _LONGEST_LINE and _INSTRUCTION.match(line) is not None


# ---------------------------------------------------------------------- sentences

_BORDER = re.compile(r"(?<=[.!?])\s+|(?<=[.!?][\"”’')])\s+|(?<=[。！？])|\n")


def sentences(text: str) -> list[str]:
    """Return the sentences of `text` in order, stripped; a line end also ends a sentence."""
    pieces = (piece.strip() for piece in _BORDER.split(text))
    return [piece for piece in pieces if piece]


def join(chosen: Sequence[str]) -> str:
    """Return the sentences as one text, with spaces except after Chinese punctuation."""
    return "".join(
        sentence if sentence.endswith(("。", "！", "？")) else sentence + " " for sentence in chosen
    ).rstrip()


def best_sentences(text: str, question: str, most: int) -> list[str]:
    """Return up to `most` (1 or more) sentences of `text` that fit the question, in text order.

    Sentences of equal score are taken in text order. Sentences that hold no word beyond the
    question's own cannot answer it and are passed over; the list is empty if no other is there.
    """
    asked = words(question)
    known = set(asked)
    candidates: list[str] = []
    tokens: list[list[str]] = []
    for sentence in sentences(text):
        found = words(sentence)
        if not known.issuperset(found):
            candidates.append(sentence)
            tokens.append(found)
    order = np.argsort(-scores(tokens, asked), kind="stable")
    return [candidates[number] for number in sorted(order[:most])]


# ---------------------------------------------------------------------- length

# Chinese and Japanese script with its punctuation and full-width forms: one unit a character.
_WIDE = r"\u3001-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\uff01-\uffef\U00020000-\U0003ffff"
_UNIT = re.compile(rf"[{_WIDE}]|[^\s{_WIDE}]+")


def count_units(text: str) -> int:
    """Return the length of `text` in units, 0 or more.

    A unit is one character of Chinese or Japanese script, or a run of other characters without
    white space.
    """
    return sum(1 for _ in _UNIT.finditer(text))


def cut(text: str, max_units: int) -> str:
    """Return the longest beginning of `text` of at most `max_units` units.

    White space at the start is kept (it is a code line's indentation), at the end it is dropped.

    Raises:
        ValueError: `max_units` is negative.
    """
    if max_units < 0:
        raise ValueError(f"max_units must be 0 or more, not {max_units}")
    end = 0
    for unit in islice(_UNIT.finditer(text), max_units):
        end = unit.end()
    return text[:end]
