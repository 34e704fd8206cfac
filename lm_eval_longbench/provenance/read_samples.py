"""Read samples.jsonl of a scored folder."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from lm_eval_longbench.provenance.open_file import read_lines
from lm_eval_longbench.provenance.shapes import (
    COUNT,
    FLAG,
    NAME,
    NUMBER,
    TEXT,
    Fields,
    OrNull,
    Plain,
    checked,
)

# What `score` takes at most: with more, a file is damaged.
_MOST_REPEATS = 10_000
_SAMPLE = Fields(
    {
        "table": TEXT,
        "task": TEXT,
        "id": NAME,
        "repeat": Plain(
            f"a whole number from 1 to {_MOST_REPEATS}", (int,), least=1, most=_MOST_REPEATS
        ),
        "score": OrNull(NUMBER),
        "failed": FLAG,
    },
    {"truncated": OrNull(FLAG), "index": OrNull(COUNT)},
)


def read_samples(path: Path) -> Iterator[tuple[int, Mapping[str, Any]]]:
    """Yield the number (from 1) and the sample of each line.

    Raises:
        PredictionError: the file is broken, or a line is no sample; names file, line and reason.
    """
    for number, sample in read_lines(path):
        yield number, checked(sample, _SAMPLE, f"{path}, line {number}, is no sample")
