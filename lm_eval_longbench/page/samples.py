"""The answers of runs for the page, and how long their prompts are, read from logs or files."""

from __future__ import annotations

import base64
import gzip
import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from lm_eval_longbench.benchmarks.registry import benchmark_of_table, tables
from lm_eval_longbench.errors import DataError
from lm_eval_longbench.page.build import cleaned
from lm_eval_longbench.records.answer import is_capped
from lm_eval_longbench.records.log import prompt_of, requests_of
from lm_eval_longbench.records.results import is_scored
from lm_eval_longbench.records.sample import Sample, Scored, Unusable, failure_of
from lm_eval_longbench.reporting.scored_run import ScoredTable
from lm_eval_longbench.scoring.files import LOG, InputFile
from lm_eval_longbench.scoring.plan import plan_paths
from lm_eval_longbench.scoring.score_chunk import score_sample
from lm_eval_longbench.statistics.answers import question_key
from lm_eval_longbench.statistics.effective import ByTokens, by_tokens

# Characters that a page keeps of an answer and of a gold answer, half of them from its end, and the
# gold answers of a question.
ANSWER, GOLD, GOLDS = 4000, 1000, 8
_ENDS = ("head", "tail")


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


def _flag(value: bool | None) -> int | None:
    return None if value is None else int(value)


def _about(sample: Sample, scored: Scored) -> str:
    """Return in words how the score came about, as far as the benchmark tells."""
    known = {name: value for name, value in scored.shown.items() if name not in sample.shown}
    reason = failure_of(sample)
    parts = [
        f"{name} {value}"
        for name, value in known.items()
        if value is not None and value is not False
    ]
    return ", ".join([*parts, *([reason] if reason else [])])


def read_samples(
    path: Path, benchmark: str | None
) -> Iterator[tuple[dict[str, Any], Sample, InputFile]]:
    """Yield each answer under a path: its row (of a log, else nothing), itself, and its source.

    Raises:
        PredictionError: nothing is recognised, or a file cannot be read.
    """
    for file, row, read in plan_paths([path], benchmark).rows():
        for sample in () if isinstance(read, Unusable) else read:  # `score` has named it
            yield row if file.kind == LOG else {}, sample, file


def answers_of(paths: Sequence[Path], names: Sequence[str], benchmark: str | None = None) -> str:
    """Return the answers of runs as base64 of gzip of JSON; the same answers give the same text.

    A summary that needs semantic similarity has no score here.

    Args:
        paths: of logs or prediction files, one a run.
        names: of the runs in print.
        benchmark: short name of what prediction files are; None: found out.

    Raises:
        DataError: a path is a scored folder, which holds no answers.
        PredictionError: see `read_samples`.
    """
    questions: dict[tuple[str, str, int], dict[str, Any]] = {}
    places: dict[tuple[str, str, int], int] = {}
    answers = []
    for number, path in enumerate(paths):
        if is_scored(path):
            raise DataError(
                f"{path} holds scores and no answers. For --answers give the sample logs or the "
                "prediction files that it was scored from."
            )
        for row, sample, source in read_samples(path, benchmark):
            scored = score_sample(sample, source.reasoning)
            key = (sample.task, sample.id, sample.order)
            place = places.setdefault(key, len(places))
            golds = [shortened(gold, GOLD) for gold in sample.golds[:GOLDS]]
            new = {"task": sample.task, "id": sample.id, "golds": golds, "prompt": []}
            question = questions.setdefault(key, new)
            question["prompt"] = question["prompt"] or (_prompt(row) if row else [])
            text = sample.response
            answers.append(
                [
                    number,
                    place,
                    sample.repeat,
                    scored.score,
                    int(scored.failed),
                    _flag(is_capped(sample.reply)),
                    _flag(sample.truncated),
                    None if text is None else shortened(text, ANSWER),
                    _about(sample, scored),
                ]
            )
    of_task = {name: table.benchmark for table in tables().values() for name in table.tasks}
    tasks = sorted({task for task, _, _ in questions})
    value = {
        "runs": list(names),
        "tasks": [[name, of_task[name]] for name in tasks],
        "questions": list(questions.values()),
        "answers": answers,
    }
    text = json.dumps(cleaned(value), ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    data = gzip.compress(text.encode("utf-8", "replace"), 9, mtime=0)
    return base64.b64encode(data).decode("ascii")


# ---------------------------------------------------------------------- how long prompts are

# Tokens of each question's whole prompt, by table and key; None: it was cut and not counted.
Lengths = Mapping[str, Mapping[bytes, int | None]]


def _count(value: object) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) and value > 0 else None


def _tokens(row: Mapping[str, object], sample: Sample) -> int | None:
    """Return the tokens of a whole prompt as the log has them; None: it does not tell.

    A prompt that was not cut went out whole: then what the model or the server counted holds, the
    chat template included.
    """
    counted = _count(prompt_of(row).get("tokens_before_cut"))
    if counted is None and sample.truncated is False and sample.reply is not None:
        counted = _count(sample.reply.get("prompt_tokens"))
    return counted


def lengths_of(paths: Sequence[Path], benchmark: str | None = None) -> Lengths:
    """Return how long the prompts are of benchmarks that show scores by measured length.

    Args:
        paths: of a run: sample logs; of anything else nothing is known.
        benchmark: short name of what prediction files are; None: found out.
    """
    wanted = {name for name in tables() if benchmark_of_table(name).look.tokens}
    found: dict[str, dict[bytes, int | None]] = {}
    logs = [path for path in paths if not is_scored(path)]
    for row, sample, _ in (one for path in logs for one in read_samples(path, benchmark)):
        if not row or sample.table not in wanted:
            continue
        own, table = benchmark_of_table(sample.table), tables()[sample.table]
        key = question_key(own, table, sample.task, sample.id, sample.shown.get("index"))
        of_table = found.setdefault(sample.table, {})
        tokens = _tokens(row, sample)
        if tokens is not None or (sample.truncated and key not in of_table):
            of_table[key] = tokens
    return found


def measured(table: ScoredTable, lengths: Lengths) -> ByTokens | None:
    """Return a table's score by measured length; None if a length or a limit is not known."""
    own = lengths.get(table.info.name, {})
    # As numpy keeps keys: without zeros at their ends.
    known = {key.rstrip(b"\0"): tokens for key, tokens in own.items()}
    keys = table.answers.keys.tolist()
    if not keys or any(key not in known for key in keys):
        return None
    stated = (table.facts.signature_of(task).get("limit") for task in table.info.tasks)
    limits = np.array([float(_count(one) or np.nan) for one in stated])[table.answers.tasks]
    tokens = np.array([np.nan if known[key] is None else known[key] for key in keys], np.float64)
    return by_tokens(table.answers, tokens, np.where(np.isnan(tokens), limits, np.nan))
