"""The prompts of a LongBench v2 question, one template a mode."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from lm_eval_longbench.errors import PromptError
from lm_eval_longbench.prompts.templates import after_document, load_template, text_field

TEMPLATES = "longbench_v2"
ZERO_SHOT = "0shot"
NO_CONTEXT = "0shot_no_context"
COT = "0shot_cot"
COT_ANSWER = "0shot_cot_ans"
RAG = "0shot_rag"

# In the official order. Each replacement sees the text that the ones before it put in, so that a
# document with a literal "$Q$" gets the question there: this is part of the protocol.
_DOCUMENT = "$DOC$"
_FIELDS = (
    (_DOCUMENT, "context"),
    ("$Q$", "question"),
    ("$C_A$", "choice_A"),
    ("$C_B$", "choice_B"),
    ("$C_C$", "choice_C"),
    ("$C_D$", "choice_D"),
)


def render(document: Mapping[str, Any], template: str, reasoning: str | None = None) -> str:
    """Return the official prompt of one question, before truncation.

    Args:
        document: with `question`, `choice_A` to `choice_D`, and `context` where the template has a
            document; each is stripped.
        template: ZERO_SHOT, NO_CONTEXT, COT, COT_ANSWER or RAG.
        reasoning: COT_ANSWER: the model's first answer, stripped and put in last.

    Raises:
        PromptError: a field that the template needs is missing in the document or is not a text.
    """
    return _filled(load_template(TEMPLATES, template), document, template, reasoning)


def question(document: Mapping[str, Any], template: str, reasoning: str | None = None) -> str:
    """Return the end of the prompt of `render` that follows the document."""
    return _filled(
        after_document(load_template(TEMPLATES, template), _DOCUMENT),
        document,
        template,
        reasoning,
    )


def _filled(prompt: str, document: Mapping[str, Any], template: str, reasoning: str | None) -> str:
    needs_document = _DOCUMENT in prompt
    for mark, field in _FIELDS:
        if field != "context" or needs_document:
            text = text_field(document, field, "The LongBench v2 prompt")
            prompt = prompt.replace(mark, text.strip())
    if template == COT_ANSWER:
        if reasoning is None:
            raise PromptError("The LongBench v2 answer prompt needs the reasoning of pass one.")
        prompt = prompt.replace("$COT$", reasoning.strip())
    return prompt


def retrieved_document(chunks: Sequence[Mapping[str, Any]], top_n: int) -> str:
    """Return the text that stands for the document in the RAG prompt.

    Args:
        chunks: `content` (text) and `c_idx` (position in the document), best first.
        top_n: how many of the best to take; they come in the order of the document.
    """
    best = sorted(chunks[:top_n], key=lambda chunk: chunk["c_idx"])
    return "\n\n".join(
        f"Retrieved chunk {number}: {chunk['content']}"
        for number, chunk in enumerate(best, start=1)
    )
