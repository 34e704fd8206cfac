"""Score a folder of official LongBench v1 or LongBench-E prediction files."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from lm_eval_longbench.aggregation.length_buckets import BUCKETS, bucket
from lm_eval_longbench.aggregation.longbench_v1 import bucket_percent, percent
from lm_eval_longbench.catalog import E_SPLITS, V1_SPLITS, Split
from lm_eval_longbench.errors import PredictionError, UnknownNameError
from lm_eval_longbench.metrics.longbench_v1 import score_sample
from lm_eval_longbench.metrics.reasoning import strip_reasoning
from lm_eval_longbench.offline.official_v1 import BadLine, read_predictions

_SPLITS = {"v1": V1_SPLITS, "v1_e": E_SPLITS}
BENCHMARKS = tuple(_SPLITS)


@dataclass
class DatasetScores:
    """What was found in one prediction file.

    Attributes:
        split: the dataset.
        scores: of the scored lines, in order, in [0, 1].
        buckets: the same scores by LongBench-E length bucket; empty for v1.
        failed: scored lines whose answer is empty.
        bad: lines that could not be scored.
    """

    split: Split
    scores: list[float] = field(default_factory=list)
    buckets: dict[str, list[float]] = field(default_factory=dict)
    failed: int = 0
    bad: list[BadLine] = field(default_factory=list)

    @property
    def figure(self) -> float | dict[str, float | None] | None:
        """The official figure in percent: one number, or one a bucket; None for no samples."""
        return bucket_percent(self.buckets) if self.split.is_e else percent(self.scores)


def find_files(folder: Path, benchmark: str) -> tuple[list[tuple[Split, Path]], list[Path]]:
    """Return the folder's prediction files in the benchmark's order, and files of other names.

    Raises:
        UnknownNameError: there is no such benchmark.
        PredictionError: the folder is missing or has no prediction file of the benchmark.
    """
    if benchmark not in _SPLITS:
        raise UnknownNameError("benchmark", benchmark, _SPLITS)
    if not folder.is_dir():
        raise PredictionError(f"{folder} is not a folder of <dataset>.jsonl prediction files.")
    splits = _SPLITS[benchmark]
    found = [
        (split, file) for split in splits if (file := folder / f"{split.info.name}.jsonl").is_file()
    ]
    if not found:
        names = ", ".join(f"{split.info.name}.jsonl" for split in splits)
        raise PredictionError(f"{folder} has no prediction file of {benchmark}: {names}.")
    known = {file for _, file in found}
    return found, sorted(
        file for file in folder.glob("*.jsonl") if file.is_file() and file not in known
    )


def score_file(split: Split, file: Path, emit: Callable[[dict[str, Any]], None]) -> DatasetScores:
    """Score one prediction file.

    Args:
        split: the dataset it belongs to.
        file: official prediction file.
        emit: gets each scored sample as {"dataset", "index", "score"}, in input order.
    """
    result = DatasetScores(split, buckets={name: [] for name in BUCKETS} if split.is_e else {})
    for line in read_predictions(file, split):
        if isinstance(line, BadLine):
            result.bad.append(line)
            continue
        answer = strip_reasoning(line.pred)
        score = score_sample(split.info.name, answer, line.answers, line.all_classes)
        result.scores.append(score)
        result.failed += not answer.strip()
        if split.is_e and line.length is not None:
            result.buckets[bucket(line.length)].append(score)
        emit({"dataset": split.info.name, "index": line.index, "score": score})
    return result


def score_files(
    files: list[tuple[Split, Path]], emit: Callable[[dict[str, Any]], None]
) -> Iterator[DatasetScores]:
    """Score prediction files one after the other; see `score_file`."""
    return (score_file(split, file, emit) for split, file in files)
