"""Read samples.jsonl of a scored folder."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from lm_eval_longbench.errors import PredictionError
from lm_eval_longbench.input_files import read_json_lines

_FIELDS = ("table", "task", "id", "repeat", "score", "failed")


def read_samples(path: Path) -> Iterator[tuple[int, Mapping[str, Any]]]:
    """Yield the number (from 1) and the sample of each line.

    Raises:
        PredictionError: the file is broken, or a line is no sample; names file, line and reason.
    """
    for number, sample in read_json_lines(path, PredictionError):
        missing = [
            name for name in _FIELDS if not isinstance(sample, Mapping) or name not in sample
        ]
        if missing:
            raise PredictionError(f"{path}, line {number}, is no sample: it has no {missing[0]!r}.")
        yield number, sample
