"""What loading a dataset of any benchmark gives."""

from __future__ import annotations

from dataclasses import dataclass

import datasets

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
    """

    rows: datasets.Dataset
    label: str
    sha256: str
    official: bool
