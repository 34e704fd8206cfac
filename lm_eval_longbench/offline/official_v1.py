"""Read the prediction files that the official LongBench v1 and LongBench-E scripts write."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lm_eval_longbench.catalog import Split
from lm_eval_longbench.errors import PredictionError
from lm_eval_longbench.metrics.longbench_v1 import CLASSIFICATION


@dataclass(frozen=True)
class Prediction:
    """One line of a prediction file.

    Attributes:
        index: position among the file's lines that are not blank, from 0.
        pred: the model's answer.
        answers: gold answers, at least one.
        all_classes: class names, where the dataset has them.
        length: of the document, as LongBench counts it; None where the file does not say.
    """

    index: int
    pred: str
    answers: list[str]
    all_classes: list[str] | None
    length: int | None


@dataclass(frozen=True)
class BadLine:
    """A line that cannot be scored.

    Attributes:
        file: name of the file.
        line: number in the file, from 1.
        reason: what is wrong with it.
    """

    file: str
    line: int
    reason: str

    def __str__(self) -> str:
        return f"{self.file}, line {self.line}: {self.reason}"


def _is_texts(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(item, str) for item in value)


def _problem(row: Any, split: Split) -> str | None:
    """Return why a decoded line cannot be scored, or None."""
    if not isinstance(row, dict):
        return "not a JSON object"
    for name in ("pred", "answers"):
        if name not in row:
            return f"no field {name!r}"
    if not isinstance(row["pred"], str):
        return "'pred' is not a text"
    if not _is_texts(row["answers"]) or not row["answers"]:
        return "'answers' is not a list of one or more texts"
    classes, length = row.get("all_classes"), row.get("length")
    if split.info.name in CLASSIFICATION and not (_is_texts(classes) and classes):
        return f"{split.info.name} needs 'all_classes', a list of texts"
    if split.is_e and (not isinstance(length, int) or isinstance(length, bool)):
        return "LongBench-E needs 'length', a whole number"
    return None


def read_predictions(file: Path, split: Split) -> Iterator[Prediction | BadLine]:
    """Yield every line of a prediction file in order, as a prediction or as a bad line.

    Blank lines are passed over.

    Raises:
        PredictionError: the file cannot be read.
    """
    index = -1
    try:
        with file.open("rb") as handle:
            for number, line in enumerate(handle, start=1):
                if not line.strip():
                    continue
                index += 1
                try:
                    row = json.loads(line)
                except (ValueError, RecursionError) as error:
                    yield BadLine(file.name, number, f"not JSON ({error})")
                    continue
                problem = _problem(row, split)
                if problem:
                    yield BadLine(file.name, number, problem)
                    continue
                length = row.get("length")
                yield Prediction(
                    index,
                    row["pred"],
                    row["answers"],
                    row.get("all_classes"),
                    length if isinstance(length, int) else None,
                )
    except OSError as error:
        raise PredictionError(f"{file} cannot be read: {error}") from error
