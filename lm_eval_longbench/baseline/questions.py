"""Prompts that put a question to a text."""

from __future__ import annotations

import re

from lm_eval_longbench.baseline.layout import last_match, material, paragraphs
from lm_eval_longbench.baseline.sentences import best_sentences, join

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
