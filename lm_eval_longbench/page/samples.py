"""The answers of runs for the page: read from logs or prediction files, shortened and packed."""

from __future__ import annotations

import base64
import gzip
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from lm_eval_longbench.answers.reply import is_capped
from lm_eval_longbench.benchmarks.registry import tables
from lm_eval_longbench.benchmarks.sample import Sample, Scored, Unusable, failure_of
from lm_eval_longbench.errors import DataError
from lm_eval_longbench.input_files import decoded
from lm_eval_longbench.logs.sample_log import requests_of
from lm_eval_longbench.page.build import cleaned
from lm_eval_longbench.reports.scored_run import is_scored
from lm_eval_longbench.scoring.files import LOG, PredictionSource, chunks_of, find_files
from lm_eval_longbench.scoring.plan import plan_files
from lm_eval_longbench.scoring.problems import Problems
from lm_eval_longbench.scoring.recognise import recognise
from lm_eval_longbench.scoring.score_chunk import read_row, score_sample

# Characters that a page keeps of an answer and of a gold answer, half of them from its end, and the
# gold answers of a question.
ANSWER, GOLD, GOLDS = 4000, 1000, 8
_ENDS = ("head", "tail")
# The row of a log (else nothing), an answer in it, and what that is worth.
Judged = tuple[dict[str, Any], Sample, Scored]


def shortened(text: str, most: int) -> str:
    """Return a text's two ends, with what was left out in between."""
    if len(text) <= most:
        return text
    half = most // 2
    return f"{text[:half]}\n[... {len(text) - 2 * half} characters ...]\n{text[-half:]}"


def _prompt(row: Mapping[str, Any]) -> list[str]:
    """Return the two ends of the prompt that a log row tells."""
    _, excerpts = requests_of(row)
    found = excerpts[0] if excerpts else {}
    return [str(found.get(name, "")) for name in _ENDS] if found else []


def _about(sample: Sample, scored: Scored) -> str:
    """Return in words how the score came about, as far as the benchmark tells."""
    known = {name: value for name, value in scored.shown.items() if name not in sample.shown}
    reason = failure_of(sample, scored)
    parts = [
        f"{name} {value}"
        for name, value in known.items()
        if value is not None and value is not False
    ]
    return ", ".join([*parts, *([reason] if reason else [])])


def read_samples(
    path: Path, benchmark: str | None
) -> Iterator[tuple[dict[str, Any], Sample, PredictionSource]]:
    """Yield each answer under a path: its row (of a log, else nothing), itself, and its source.

    Raises:
        PredictionError: nothing is recognised, or a file cannot be read.
    """
    files = find_files([path])
    recognised = {file: recognise(file, benchmark) for file in files}
    for file in plan_files(files, recognised, [path], benchmark, Problems()).files:
        for chunk in chunks_of(file.path):
            for _, index, line in chunk.lines():
                try:
                    row = decoded(line)
                except (ValueError, RecursionError):
                    continue  # `score` has named it
                read = read_row(row, index, file.source)
                for sample in () if isinstance(read, Unusable) else read:
                    own = row if file.source.kind == LOG else {}
                    yield own, sample, file.source


def read_answers(
    path: Path, benchmark: str | None
) -> Iterator[tuple[dict[str, Any], Sample, Scored]]:
    """Yield each answer under a path: its row, itself, and what it is worth.

    A summary that needs semantic similarity has no score here.

    Raises:
        DataError: the path is a scored folder, which holds no answers.
        PredictionError: see `read_samples`.
    """
    if is_scored(path):
        raise DataError(
            f"{path} holds scores and no answers. For --answers give the sample logs or the "
            "prediction files that it was scored from."
        )
    for row, sample, source in read_samples(path, benchmark):
        yield row, sample, score_sample(sample, source.reasoning)


class Samples:
    """Answers of several runs by their questions, as plain JSON values."""

    def __init__(self) -> None:
        self._questions: dict[tuple[str, str, int], int] = {}
        self._known: list[dict[str, Any]] = []
        self._answers: list[list[Any]] = []
        self._runs: list[str] = []

    def __len__(self) -> int:
        """Return the number of answers."""
        return len(self._answers)

    def add(self, run: str, answers: Iterable[Judged]) -> None:
        """Add all answers of a run under its name in print."""
        number = len(self._runs)
        self._runs.append(run)
        for row, sample, scored in answers:
            key = (sample.task, sample.id, sample.order)
            place = self._questions.setdefault(key, len(self._known))
            if place == len(self._known):
                golds = [shortened(gold, GOLD) for gold in sample.golds[:GOLDS]]
                self._known.append(
                    {"task": sample.task, "id": sample.id, "golds": golds, "prompt": []}
                )
            if row and not self._known[place]["prompt"]:
                self._known[place]["prompt"] = _prompt(row)
            text = sample.response
            self._answers.append(
                [
                    number,
                    place,
                    sample.repeat,
                    scored.score,
                    int(scored.failed),
                    {True: 1, False: 0, None: None}[is_capped(sample.reply)],
                    {True: 1, False: 0, None: None}[sample.truncated],
                    None if text is None else shortened(text, ANSWER),
                    _about(sample, scored),
                ]
            )

    def as_json(self) -> dict[str, Any]:
        """Return the questions in the order of tasks and files, and the answers to them."""
        tasks = sorted({own["task"] for own in self._known})
        of_task = {name: table.benchmark for table in tables().values() for name in table.tasks}
        return {
            "runs": self._runs,
            "tasks": [[name, of_task[name]] for name in tasks],
            "questions": self._known,
            "answers": self._answers,
        }


def packed(samples: Samples) -> str:
    """Return the answers as base64 of gzip of JSON; the same answers give the same text."""
    value = cleaned(samples.as_json())
    text = json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    data = gzip.compress(text.encode("utf-8", "replace"), 9, mtime=0)
    return base64.b64encode(data).decode("ascii")


def answers_of(paths: Sequence[Path], names: Sequence[str], benchmark: str | None = None) -> str:
    """Return the packed answers of runs.

    Args:
        paths: of logs or prediction files, one a run.
        names: of the runs in print.
        benchmark: short name of what prediction files are; None: found out.

    Raises:
        DataError, PredictionError: see `read_answers`.
    """
    samples = Samples()
    for path, name in zip(paths, names, strict=True):
        samples.add(name, read_answers(path, benchmark))
    return packed(samples)
