"""The prompt of a LongBench Pro question, in its thinking or non-thinking form."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from lm_eval_longbench.errors import PromptError
from lm_eval_longbench.prompts.fields import fill
from lm_eval_longbench.prompts.templates import load_template

TEMPLATES = "longbench_pro"
TEMPLATE = "prompt"


def render(document: Mapping[str, Any], *, thinking: bool) -> str:
    """Return the official prompt of one question, stripped, before truncation.

    Args:
        document: with `context` and `question_thinking` or `question_nonthinking`.
        thinking: which of the two forms.

    Raises:
        PromptError: one of these fields is missing in the document or is not a text.
    """
    form = "question_thinking" if thinking else "question_nonthinking"
    if form not in document:
        raise PromptError(
            f"The LongBench Pro prompt needs the field {form!r}; the document lacks it."
        )
    fields = {**document, "question": document[form]}
    return fill(load_template(TEMPLATES, TEMPLATE), "LongBench Pro", fields).strip()
