"""Keep some of a task's questions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from lm_eval_longbench.data.documents import Documents
from lm_eval_longbench.errors import OptionError


def select(documents: Documents, only: Mapping[str, Sequence[str]], name: str) -> Documents:
    """Return the documents whose dimensions have one of the wanted values, in order.

    Args:
        documents: of one task, memory-mapped; their long texts are not read.
        only: wanted values by dimension, all of which must hold; empty keeps everything.
        name: the task's, for the error.

    Raises:
        OptionError: no document is left.
    """
    if not only:
        return documents
    columns = {dimension: documents.rows[dimension] for dimension in only}
    kept = [
        index
        for index in range(len(documents.rows))
        if all(columns[dimension][index] in values for dimension, values in only.items())
    ]
    if not kept:
        wanted = ", ".join(f"{dimension} in {list(values)}" for dimension, values in only.items())
        raise OptionError(
            f"{name}: no question has {wanted}. Widen the option 'only', or evaluate the tasks "
            "that have such questions."
        )
    part = "; ".join(f"{dimension}: {', '.join(values)}" for dimension, values in only.items())
    return replace(
        documents.select(kept),
        label=f"{documents.label} (only {part})",
        official=False,
    )
