"""Read samples.jsonl of a scored folder."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from lm_eval_longbench.catalog import MOST_REPEATS
from lm_eval_longbench.errors import PredictionError
from lm_eval_longbench.input_files import read_json_lines
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

_SAMPLE = Fields(
    {
        "table": TEXT,
        "task": TEXT,
        "id": NAME,
        "repeat": Plain(
            f"a whole number from 1 to {MOST_REPEATS}", (int,), least=1, most=MOST_REPEATS
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
    for number, sample in read_json_lines(path, PredictionError):
        yield number, checked(sample, _SAMPLE, f"{path}, line {number}, is no sample")
