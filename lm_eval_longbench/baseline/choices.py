"""Prompts of LongBench v2: a question with four choices, of which the answer names one."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from lm_eval_longbench.baseline.text import cut, join, scores, sentences, words

# The official words, as they stand in the templates.
_QUESTION = "What is the correct answer to this question:"
_CHOICES = "\nChoices:\n"
_FORMAT = 'Format your response as follows: "The correct answer is (insert answer here)".'
_ASKS_ALONE = f"What is the single, most likely answer choice? {_FORMAT}"
_ASKS_AFTER_REASONING = (
    f"Based on the above, what is the single, most likely answer choice? {_FORMAT}"
)
_REASON = "Let’s think step by step:"
# The longest first: each is looked for at the very end, where no other benchmark has these words.
_REQUESTS = (_ASKS_AFTER_REASONING, _ASKS_ALONE, _FORMAT, _REASON)
_OMITTED = "The text is too long and omitted here."
_OPENS, _CLOSES = "<text>", "</text>"
_HEAD = 20_000  # characters at the start where a system message and the first lines stand
_TAIL = 40_000  # characters at the end where question and choices stand

_CONCLUDES = re.compile(r"(?i:correct answer is):? {0,3}\(?([A-D])(?!\w)")
_LETTER = re.compile(r"\(([A-D])\)")
_LETTERS = 4
_CANDIDATES = 50  # sentences that each choice is held against
_REASONS = 2  # sentences
_LONGEST_REASON = 100  # words


@dataclass(frozen=True)
class _Asked:
    """A prompt's parts: the choices by letter, not empty; `text` or `question` may be empty."""

    text: str
    question: str
    choices: Mapping[str, str]


def choose(prompt: str) -> str | None:
    """Return "The correct answer is (B)." for a LongBench v2 prompt, else None.

    The choice is taken that fits, with the question, one sentence of the text best; without a text
    the one most like the question; of equals the first. A prompt that asks for reasoning first
    gets the two best sentences before it. Where the prompt holds reasoning, its letter is
    repeated; if it names none, the choice most like it is taken.

    None if the stripped prompt does not end in one of the official requests, or holds no choices.
    """
    request = next((known for known in _REQUESTS if prompt.endswith(known)), None)
    if request is None:
        return None
    body = prompt[: len(prompt) - len(request)]
    if request == _ASKS_AFTER_REASONING:
        found = _conclude(body)
        if found is not None:
            return _say(found)
    start = max(0, len(body) - _TAIL)
    asked = _read(body, start)
    if asked is None:
        return None
    # These last words are not the benchmark's alone.
    if request == _REASON and not (_QUESTION in body[start:] and len(asked.choices) == _LETTERS):
        return None
    candidates = _candidates(asked)
    letter = _best(asked, candidates)
    if request != _REASON:
        return _say(letter)
    reasons = join([cut(text, _LONGEST_REASON) for _, text in sorted(candidates[:_REASONS])])
    return f"{reasons}\n\n{_say(letter)}".lstrip()


def _say(letter: str) -> str:
    return f"The correct answer is ({letter})."


def _read(body: str, start: int) -> _Asked | None:
    """Take a prompt without its request apart; None without choices at or after `start`.

    Read from the end, so that lines of a document or of a choice that look like choices do no
    harm; what a cut in the middle has taken away is missing in the result.
    """
    choices: dict[str, str] = {}
    end = len(body)
    for letter in "DCBA":
        mark = f"\n({letter}) "
        place = body.rfind(mark, start, end)
        if place >= 0:
            choices[letter] = body[place + len(mark) : end].strip()
            end = place
    if not choices:
        return None
    # One character more: the line end before the first choice is part of the mark.
    heading = body.rfind(_CHOICES, start, end + 1)
    before = body[: heading if heading >= 0 else end]
    place = before.rfind(_QUESTION, start)
    question = before[place + len(_QUESTION) :].strip() if place >= 0 else ""
    text = _text(before[:place] if place >= 0 else before)
    return _Asked(text, question, dict(sorted(choices.items())))


def _text(before: str) -> str:
    """Return the document in what stands before the question; empty if there is none."""
    opened = before.find(_OPENS, 0, _HEAD)
    return before[opened + len(_OPENS) :].rstrip().removesuffix(_CLOSES) if opened >= 0 else ""


def _candidates(asked: _Asked) -> list[tuple[int, str]]:
    """Return the sentences that fit the question and its choices best, best first, with places."""
    pieces = sentences(asked.text)
    query = words("\n".join((asked.question, *asked.choices.values())))
    order = np.argsort(-scores([words(piece) for piece in pieces], query), kind="stable")
    return [(int(place), pieces[place]) for place in order[:_CANDIDATES]]


def _best(asked: _Asked, candidates: list[tuple[int, str]]) -> str:
    if not candidates:
        return _most_like(asked.question, asked.choices)
    tokens = [words(text) for _, text in candidates]
    question = words(asked.question)
    fits = [scores(tokens, question + words(choice)).max() for choice in asked.choices.values()]
    return list(asked.choices)[int(np.argmax(fits))]


def _most_like(text: str, choices: Mapping[str, str]) -> str:
    fits = scores([words(choice) for choice in choices.values()], words(text))
    return list(choices)[int(np.argmax(fits))]


def _conclude(body: str) -> str | None:
    """Return the letter that fits the reasoning in a prompt; None if it is not such a prompt."""
    opened = body.find(_OMITTED, 0, _HEAD)
    # The first one after the choices: the reasoning may use the same words again.
    reasoned = body.find(f"\n\n{_REASON}", max(opened, 0))
    # A cut in the middle may have taken it away: then reasoning is whatever comes.
    asked = _read(body[:reasoned] if reasoned >= 0 else body, opened) if opened >= 0 else None
    if asked is None:
        return None
    reasoning = body[max(opened, reasoned) :].replace("*", "")
    concluded = _CONCLUDES.findall(reasoning)
    if concluded:
        return concluded[-1]
    named = set(_LETTER.findall(reasoning))
    return named.pop() if len(named) == 1 else _most_like(reasoning, asked.choices)
