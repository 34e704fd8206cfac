"""What loading a dataset of any benchmark gives."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from lm_eval_longbench.data.arrow import CONTEXT_SHA256, MappedRows
from lm_eval_longbench.errors import OptionError

# The value of the option data_dir that stands for the embedded sample.
SAMPLE = "sample"


@dataclass(frozen=True)
class Documents:
    """The documents of one dataset and where they come from.

    Attributes:
        rows: one row a document, official fields, memory-mapped.
        label: names the data in results: the pinned repository and revision, "local-<hash>" or
            "sample-<hash>".
        sha256: of the file or archive the rows were read from.
        official: whether this is the pinned official set.
        context_sha256: of each row's `context`, in hexadecimal digits; None where that is empty.
            Questions that share a document share it.
    """

    rows: MappedRows
    label: str
    sha256: str
    official: bool
    context_sha256: Sequence[str | None]

    @classmethod
    def of_stored(cls, stored: MappedRows, label: str, sha256: str, *, official: bool) -> Documents:
        """Return the documents of converted rows, which have the column CONTEXT_SHA256."""
        rows = stored.without(CONTEXT_SHA256)
        return cls(rows, label, sha256, official, stored[CONTEXT_SHA256])

    def select(self, indices: Sequence[int]) -> Documents:
        """Return some of the documents, by their row numbers."""
        return replace(
            self,
            rows=self.rows.select(indices),
            context_sha256=[self.context_sha256[index] for index in indices],
        )


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
