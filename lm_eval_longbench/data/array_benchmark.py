"""What tells one benchmark from another whose data is one JSON array in one file."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import datasets

from lm_eval_longbench.data.sources import Source

SAMPLES = Path(__file__).parent / "sample"


@dataclass(frozen=True)
class ArrayBenchmark:
    """A benchmark of this kind; `load_array` opens its data.

    Attributes:
        source: the pinned official file; a local folder holds a file of the same name.
        name: its folder in the datasets cache and among the embedded samples.
        fields: of a row, all of them needed, in the official order.
        problem_of: what is wrong with a decoded element; None: it is a row of this benchmark.
        features: columns and types of the fields.
        counts: questions of the official set that have each value, by dimension. A dimension is a
            field that every checked row has one of these values in.
        arrow_file: name, without suffix, of the Arrow file that a checked row goes to.
    """

    source: Source
    name: str
    fields: tuple[str, ...]
    problem_of: Callable[[Any], str | None]
    features: datasets.Features
    counts: Mapping[str, Mapping[str, int]]
    arrow_file: Callable[[Mapping[str, Any]], str]

    @property
    def sample(self) -> Path:
        """The embedded sample, a file of the same schema."""
        return SAMPLES / self.name / self.source.file
