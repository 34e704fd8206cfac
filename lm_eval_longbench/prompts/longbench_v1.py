"""The prompt of a LongBench v1 or LongBench-E document."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from lm_eval_longbench.errors import PromptError
from lm_eval_longbench.prompts.templates import load_template

TEMPLATES = "longbench_v1"
_FIELD = re.compile(r"\{(context|input)\}")


def render(dataset: str, document: Mapping[str, Any]) -> str:
    """Return the official prompt of one document, before truncation and any chat template.

    Values go in as they are, in one pass: braces inside a document are never read as a template.

    Raises:
        PromptError: a field of the template is missing in the document or is not a text.
    """

    def value(match: re.Match[str]) -> str:
        name = match[1]
        text = document.get(name)
        if not isinstance(text, str):
            raise PromptError(
                f"The {dataset} prompt needs the field {name!r} as a text; the document has "
                + (f"{type(text).__name__}." if name in document else "no such field.")
            )
        return text

    return _FIELD.sub(value, load_template(TEMPLATES, dataset))
