"""Answer a prompt from its own text, by its kind: no weights, no randomness, no files."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from lm_eval_longbench.baseline.choices import choose
from lm_eval_longbench.baseline.text import (
    best_sentences,
    code_words,
    count_units,
    cut,
    join,
    last_match,
    material,
    paragraphs,
    scores,
    sentences,
    strip_markup,
    words,
)

# ---------------------------------------------------------------------- the next line of code

_ASKS_LINE = re.compile(r"next line of code[ \t]*[:：]\Z", re.IGNORECASE)
_LAST_LINE = 40  # characters; the request is the prompt's last line
_REQUEST = re.compile(r"complete the code[^\n]*(?:\n|\Z)", re.IGNORECASE)
_HEAD = 1000  # characters at the start where the request may stand, after chat markup


def next_line(prompt: str) -> str | None:
    """Return the line that follows the earlier line most like the code's last one.

    With its indentation; blank lines are passed over, and of equals the latest is taken. None if
    the stripped prompt does not end in "Next line of code:"; empty if there are not two lines.
    """
    asks = _ASKS_LINE.search(prompt, max(0, len(prompt) - _LAST_LINE))
    if asks is None:
        return None
    code = prompt[: asks.start()]
    request = _REQUEST.search(code, 0, _HEAD)
    if request:
        code = code[request.end() :]
    lines = [line.rstrip() for line in code.split("\n") if line.strip()]
    if len(lines) < 2:
        return ""
    tokens = [code_words(line) for line in lines]
    ranked = scores(tokens[:-1], tokens[-1])
    return lines[len(ranked) - int(np.argmax(ranked[::-1]))]


# ---------------------------------------------------------------------- labelled examples

_ASKS_LABEL = re.compile(
    r"^[ \t]*(Type|Label|Category|Class|类别|类型|标签)[ \t]*[:：]\Z", re.MULTILINE
)


def nearest_label(prompt: str) -> str | None:
    """Return the label of the example most like the unlabelled last one, e.g. "Date".

    None if the stripped prompt does not end in a label line such as "Type:" or "类别：", or no
    example has a label. Of equals the first is taken.
    """
    start = max(0, len(prompt) - _LAST_LINE)
    asks = _ASKS_LABEL.search(prompt, start)
    if asks is None:
        return None
    line = re.compile(rf"^[ \t]*{asks.group(1)}[ \t]*[:：][ \t]*(\S.*)$", re.MULTILINE)
    texts: list[str] = []
    labels: list[str] = []
    previous = 0
    for label in line.finditer(prompt, 0, asks.start()):
        texts.append(prompt[previous : label.start()])
        labels.append(label.group(1).strip())
        previous = label.end()
    if not labels:
        return None
    query = words(prompt[previous : asks.start()])
    return labels[int(np.argmax(scores([words(text) for text in texts], query)))]


# ---------------------------------------------------------------------- numbered paragraphs

_HEADING = re.compile(r"^[ \t]*(Paragraph |段落)[ \t]*([0-9]{1,9})[ \t]*[:：]", re.MULTILINE)
_ASKS_COUNT = re.compile(r"unique paragraphs|non-repeating paragraphs|final count|不重复")
_ASKS_NUMBER = re.compile(r"number of the paragraph|which paragraph|段落的编号|哪一段|哪个段落")
_ANNOUNCES = re.compile(r"abstract|摘要")
_REQUEST_TAIL = 400  # characters at the end where the request stands
_LONGEST_ANNOUNCEMENT = 60  # characters


def count_paragraphs(prompt: str) -> str | None:
    """Return the number of paragraphs in a prompt that asks for the unique ones, else None.

    Repeated paragraphs count again: to find them is the task, and this is a floor.
    """
    if _ASKS_COUNT.search(prompt[-_REQUEST_TAIL:]) is None:
        return None
    found = sum(1 for _ in _HEADING.finditer(prompt))
    return str(found) if found else None


def find_paragraph(prompt: str) -> str | None:
    """Return "Paragraph 7" or "段落7", the paragraph that fits the abstract best.

    None if the prompt does not ask for a paragraph's number, or holds no numbered paragraph or no
    abstract. Of equals the first is taken.
    """
    if _ASKS_NUMBER.search(prompt[-_REQUEST_TAIL:]) is None:
        return None
    headings = list(_HEADING.finditer(prompt))
    if not headings:
        return None
    last, abstract = _split_tail(prompt[headings[-1].end() :])
    if not abstract:
        return None
    texts = [prompt[heading.end() : following.start()] for heading, following in pairwise(headings)]
    texts.append(last)
    best = headings[int(np.argmax(scores([words(text) for text in texts], words(abstract))))]
    return best.group(1) + best.group(2)


def _split_tail(tail: str) -> tuple[str, str]:
    """Return the last paragraph's text and the abstract, which may be empty."""
    blocks = paragraphs(tail)
    end = max((n for n, block in enumerate(blocks) if _ASKS_NUMBER.search(block)), default=0)
    # The first block is the passage, and one at least must be left for the abstract.
    for number in range(1, end - 1):
        if len(blocks[number]) <= _LONGEST_ANNOUNCEMENT and _ANNOUNCES.search(blocks[number]):
            return "\n".join(blocks[:number]), "\n".join(blocks[number + 1 : end])
    # Without an announcement, cut away perhaps, the block before the request is the abstract.
    start = max(end - 1, 0)
    return "\n".join(blocks[:start]), "\n".join(blocks[start:end])


# ---------------------------------------------------------------------- a summary

_ASKS_SUMMARY = re.compile(r"^[ \t]*(?:Summary|\w{0,8}(?:总结|摘要))[ \t]*[:：]\Z", re.MULTILINE)
_DIALOGUE = re.compile(r"^[ \t]*(?:Dialogue|对话)[ \t]*[:：]", re.MULTILINE)
_UTTERANCES = 2


def lead_summary(prompt: str, max_words: int) -> str | None:
    """Return the leading sentences of the text to be summarized, else None.

    As many whole sentences as fit into `max_words` (words, or characters of Chinese), the first
    one in any case. Of a dialogue, the last one if there are examples, the first two utterances.
    None if the stripped prompt does not end in a line such as "Summary:" or "会议总结：".
    """
    asks = _ASKS_SUMMARY.search(prompt, max(0, len(prompt) - _LAST_LINE))
    if asks is None:
        return None
    text = prompt[: asks.start()]
    dialogue = last_match(_DIALOGUE, text)
    if dialogue:
        lines = (line.strip() for line in text[dialogue.end() :].split("\n"))
        return " ".join([line for line in lines if line][:_UTTERANCES])
    chosen: list[str] = []
    left = max_words
    for sentence in sentences(material(text)):
        left -= count_units(sentence)
        if chosen and left < 0:
            break
        chosen.append(sentence)
    return join(chosen)


# ---------------------------------------------------------------------- a question about a text

_QUESTION = re.compile(r"^[ \t]*(Question|Query|问题)[ \t]*[:：]", re.MULTILINE)
_ANSWER = re.compile(r"^[ \t]*(?:Answer|回答|答案)[ \t]*[:：]?\s*\Z", re.MULTILINE)
_PASSAGE = re.compile(r"^[ \t]*Passage[ \t]*:", re.MULTILINE)
# A "Question:" farther from the end than this is part of a document.
_LONGEST_QUESTION = 4000  # characters
_QUERY_SENTENCES = 5


def answer_question(prompt: str) -> str | None:
    """Return the sentence that fits the last "Question:" of a stripped prompt best.

    For a "Query:", which asks for a summary, the five best sentences. None without such a line
    near the end; empty if the prompt holds nothing besides the question.
    """
    cue = last_match(_QUESTION, prompt, max(0, len(prompt) - _LONGEST_QUESTION))
    if cue is None:
        return None
    question = _ANSWER.sub("", prompt[cue.end() :])
    text = prompt[: cue.start()]
    # In a prompt with worked examples only the last passage belongs to the question.
    opened = last_match(_PASSAGE, text)
    body = text[opened.end() :] if opened else material(text)
    most = _QUERY_SENTENCES if cue.group(1) == "Query" else 1
    return join(best_sentences(body, question, most))


def answer_last_paragraph(prompt: str) -> str:
    """Return the sentence before the last paragraph that fits that paragraph best.

    For prompts of no known kind; empty if there is only one paragraph.
    """
    blocks = paragraphs(prompt)
    return join(best_sentences("\n".join(blocks[:-1]), blocks[-1] if blocks else "", 1))


# ---------------------------------------------------------------------- any prompt


def answer(prompt: str, max_words: int) -> str:
    """Return the baseline's answer to any prompt, the same at every call.

    The prompt's own cues, at its end, tell what it asks for; a prompt without known cues is taken
    as material with a question in its last paragraph. Text that a chat template put around the
    prompt does no harm. The answer has at most `max_words` words, or characters of Chinese
    (`text.count_units`), and may be empty.

    Raises:
        ValueError: `max_words` is negative.
    """
    return cut(_answer(strip_markup(prompt), max_words), max_words)


def _answer(prompt: str, max_words: int) -> str:
    # First the one that goes by whole sentences of its own at the very end: its question may hold
    # the looser cues of the others.
    for strategy in (choose, next_line, count_paragraphs, find_paragraph, nearest_label):
        found = strategy(prompt)
        if found is not None:
            return found
    summary = lead_summary(prompt, max_words)
    if summary is not None:
        return summary
    found = answer_question(prompt)
    return answer_last_paragraph(prompt) if found is None else found


# ---------------------------------------------------------------------- within generation arguments

# The harness's own order of precedence, and its default.
_BUDGET_NAMES = ("max_gen_toks", "max_new_tokens", "max_tokens", "max_completion_tokens")
_DEFAULT_BUDGET = 256


def generate(prompt: str, gen_kwargs: Mapping[str, Any]) -> str:
    """Return the answer to `prompt` within the budget, cut before the first stop string.

    The budget counts words, or characters of Chinese; `until` is a string, a list or None. Other
    generation arguments have no meaning here and are ignored.

    Raises:
        ValueError: the budget is negative or no number.
    """
    return cut_at_stops(answer(prompt, read_budget(gen_kwargs)), gen_kwargs.get("until"))


def read_budget(gen_kwargs: Mapping[str, Any]) -> int:
    """Return the budget in words, under any of the harness's names for it; 256 if none is set.

    Raises:
        ValueError: the value is no number.
    """
    for name in _BUDGET_NAMES:
        if gen_kwargs.get(name) is not None:
            return int(gen_kwargs[name])
    return _DEFAULT_BUDGET


def cut_at_stops(text: str, until: str | Sequence[str] | None) -> str:
    """Return `text` up to the first of the stop strings in it; empty stop strings are ignored."""
    stops = [until] if isinstance(until, str) else (until or [])
    places = [text.find(stop) for stop in stops if stop]
    return text[: min((place for place in places if place >= 0), default=len(text))]
