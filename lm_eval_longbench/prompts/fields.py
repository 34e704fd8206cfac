"""Put a document's fields into a template."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from lm_eval_longbench.errors import PromptError

_FIELD = re.compile(r"\{(context|input|question)\}")


def fill(template: str, name: str, document: Mapping[str, Any]) -> str:
    """Return the template with its `{field}`s replaced by the document's values.

    Values go in as they are, in one pass: braces inside a document are never read as a template.

    Args:
        template: text with `{context}`, `{input}` or `{question}`.
        name: what the template is called in errors.
        document: texts by field name.

    Raises:
        PromptError: a field of the template is missing in the document or is not a text.
    """

    def value(match: re.Match[str]) -> str:
        field = match[1]
        text = document.get(field)
        if not isinstance(text, str):
            found = f"{type(text).__name__}." if field in document else "no such field."
            raise PromptError(
                f"The {name} prompt needs the field {field!r} as a text; the document has {found}"
            )
        return text

    return _FIELD.sub(value, template)
