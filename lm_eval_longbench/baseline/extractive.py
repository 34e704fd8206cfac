"""Answer a prompt from its own text: no weights, no randomness, no files."""

from __future__ import annotations

from lm_eval_longbench.baseline.budget import cut
from lm_eval_longbench.baseline.choices import choose
from lm_eval_longbench.baseline.code import next_line
from lm_eval_longbench.baseline.examples import nearest_label
from lm_eval_longbench.baseline.layout import strip_markup
from lm_eval_longbench.baseline.lead import lead_summary
from lm_eval_longbench.baseline.passages import count_paragraphs, find_paragraph
from lm_eval_longbench.baseline.questions import answer_last_paragraph, answer_question


def answer(prompt: str, max_words: int) -> str:
    """Return the baseline's answer to any prompt, the same at every call.

    The prompt's own cues, at its end, tell what it asks for; a prompt without known cues is taken
    as material with a question in its last paragraph. Text that a chat template put around the
    prompt does no harm. The answer has at most `max_words` words, or characters of Chinese
    (`budget.count_units`), and may be empty.

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
