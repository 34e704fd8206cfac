"""The prompt of a LongBench v1 or LongBench-E document."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from lm_eval_longbench.prompts.fields import fill
from lm_eval_longbench.prompts.templates import load_template

TEMPLATES = "longbench_v1"


def render(dataset: str, document: Mapping[str, Any]) -> str:
    """Return the official prompt of one document, before truncation and any chat template.

    Raises:
        PromptError: a field of the template is missing in the document or is not a text.
    """
    return fill(load_template(TEMPLATES, dataset), dataset, document)
