"""Read and score some lines of a file, in this process or in several."""

from __future__ import annotations

import math
import signal
from collections import deque
from collections.abc import Iterable, Iterator, Mapping
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass, field
from multiprocessing import get_context
from pathlib import Path
from typing import Any

from lm_eval_longbench.benchmarks.registry import (
    benchmark_of_table,
    benchmarks,
    carried,
    layouts,
    learn_carried,
    table_of,
    tables,
)
from lm_eval_longbench.catalog.model import Table
from lm_eval_longbench.catalog.users import WHOLE
from lm_eval_longbench.errors import LongBenchError, OptionError
from lm_eval_longbench.files import ByteChunk
from lm_eval_longbench.metrics.reasoning import DROP, KEEP, holds_reasoning
from lm_eval_longbench.options import MOST_REPEATS
from lm_eval_longbench.prompts.truncation import usable_cores
from lm_eval_longbench.records.log import data_label, is_log_row, prompt_of, responses_of
from lm_eval_longbench.records.sample import (
    FOREIGN,
    MALFORMED,
    Read,
    Sample,
    Scored,
    Unusable,
    document_in,
    document_of_hash,
    is_whole,
)
from lm_eval_longbench.scoring.files import LOG, InputFile, decoded
from lm_eval_longbench.scoring.problems import Problems, entry

_MOST_DOCUMENTS = 2**53


def read_row(row: Any, index: int, source: InputFile) -> Read:
    """Return the samples of a decoded row, one an answer; `index` is its place, from 0."""
    if not isinstance(row, dict):
        return Unusable("not a JSON object")
    if source.kind == LOG:
        read, doc = _read_log_row(row, index, source), row.get("doc")
    else:
        table, doc = tables()[str(source.table)], row
        if source.layout:
            read = _read_layout(row, index, source.layout, table, source.task or table.name)
        else:
            benchmark = benchmark_of_table(table.name)
            read = benchmark.read_official(row, index, table, source.task or "")
    if not isinstance(read, Unusable):
        for sample in read:
            sample.doc = sample.doc or doc
            sample.document = sample.document or document_in(source.documents, sample)
    return read


def _read_layout(row: dict[str, Any], index: int, layout: str, table: Table, task: str) -> Read:
    own = layouts()[layout].read(row, index, table.tasks[task])
    if isinstance(own, Unusable):
        return own
    benchmark = benchmark_of_table(table.name)
    problem = benchmark.question_problem(own.doc, table.tasks[task])
    if problem:
        return Unusable(problem)
    samples = benchmark.samples_of(
        own.doc, table.tasks[task], own.answers, index=own.place, document=own.document
    )
    for sample in samples:
        sample.stored, sample.has_stored = own.letter, sample.response is None
        sample.dropped, sample.doc = False, own.doc
    return samples


def _read_log_row(row: dict[str, Any], index: int, source: InputFile) -> Read:
    if not is_log_row(row):
        return Unusable("no sample log row: it needs 'doc' and 'filtered_resps' or 'resps'")
    own = row.get("filter")
    if own != source.filter:
        reason = f"is of the filter {own!r}; scored is {source.filter!r}, the file's first"
        return Unusable(reason, FOREIGN)
    doc = row["doc"]
    told = doc.get("task", source.task)
    table = table_of(told)
    if table is None or source.benchmark not in (None, table.benchmark):
        known = source.benchmark if table else f"any of {', '.join(tables())}"
        return Unusable(f"is of the task {told!r}, which is not of {known}", FOREIGN)
    benchmark, task = benchmark_of_table(table.name), table.tasks[str(told)]
    problem = benchmark.question_problem(doc, task)
    if problem:
        return Unusable(f"doc: {problem}")
    place = doc.get("index", row.get("doc_id", index)) if benchmark.ids_may_be_lines else 0
    if not is_whole(place, 0, _MOST_DOCUMENTS):
        return Unusable("doc: 'index' is not a whole number from 0")
    responses = responses_of(row)
    if responses is None:
        return Unusable("neither 'filtered_resps' nor 'resps' holds a list of texts")
    if len(responses) > MOST_REPEATS:
        return Unusable(f"has {len(responses)} answers; at most {MOST_REPEATS} are scored")
    try:
        lost = benchmark.failed_before(task, doc)
    except (KeyError, TypeError, AttributeError, LongBenchError):
        lost = None
    # Of a prompt that was cut, or that is not logged, what the harness found stands.
    if row.get("failed") == 1.0 if lost is None else lost:
        responses = [""] * len(responses)
    prompt = prompt_of(row)
    cut, document = prompt.get("truncated"), document_of_hash(prompt.get("document_sha256"))
    cut = cut if isinstance(cut, bool) else None
    return benchmark.samples_of(doc, task, responses, index=place, truncated=cut, document=document)


def score_sample(sample: Sample, reasoning: str, *, extras: bool = False) -> Scored:
    """Score an answer under a policy for reasoning, and return what it is worth.

    Where the answer holds any, what it is worth under the other one comes along. `extras`: with
    what no official figure needs.
    """
    benchmark = benchmark_of_table(sample.table)
    sample.policy, sample.worth = reasoning, benchmark.score(sample, reasoning, extras=extras)
    if sample.response is not None and holds_reasoning(sample.response):
        other = DROP if reasoning == KEEP else KEEP
        sample.other = benchmark.score(sample, other, extras=extras)
    return sample.worth


@dataclass(slots=True)
class Outcome:
    """What some lines of one file gave.

    Attributes:
        source: number of the file.
        lines: lines that are not blank.
        samples: scored answers, without their texts.
        problems: lines without a sample, and v2: those whose stored letter is not the extracted.
        labels: (name of a table, of a task, label of its data; None: the row does not say).
    """

    source: int
    lines: int = 0
    samples: list[Sample] = field(default_factory=list)
    problems: Problems = field(default_factory=Problems)
    labels: set[tuple[str, str, str | None]] = field(default_factory=set)


def score_row(outcome: Outcome, source: InputFile, line: int, index: int, row: Any) -> None:
    """Add what a decoded row gives to an outcome; Unusable: it is no JSON."""
    outcome.lines += 1
    read = row if isinstance(row, Unusable) else read_row(row, index, source)
    if isinstance(read, Unusable):
        outcome.problems.add(read.kind, entry(source.name, line, read.reason))
        return
    label = data_label(row) if source.kind == LOG else None
    for sample in read:
        worth = score_sample(sample, source.reasoning, extras=source.rouge_google)
        if worth.score is not None and math.isnan(worth.score):
            raise ValueError(f"{source.name}, line {line}: the score of {sample.task} is NaN.")
        files = benchmark_of_table(sample.table).official_files if source.official else None
        if files is not None:
            sample.official = files.row(sample)
        sample.run, sample.source, sample.line = source.run, source.number, line
        sample.doc = sample.response = None  # of all answers they would not be small
        outcome.samples.append(sample)
        outcome.labels.add((sample.table, sample.task, label))
        if worth.differing is not None:
            had, found = worth.differing
            differing = {"id": sample.id, "stored": had, "extracted": found}
            place = {"file": source.name, "line": line}
            outcome.problems.add("differing_pred", {**place, **differing})


def score_chunk(source: InputFile, chunk: ByteChunk) -> Outcome:
    """Return what the lines of a chunk are worth."""
    outcome = Outcome(source.number)
    if chunk.problem is not None:
        outcome.problems.add(MALFORMED, entry(source.name, chunk.line, chunk.problem))
    for number, index, line in chunk.lines():
        score_row(outcome, source, number, index, decoded(line))
    return outcome


# ---------------------------------------------------------------------- in several processes

# Below this many bytes of text other processes cost more than they save: each loads the package and
# perhaps jieba's dictionary.
SMALL = 8 << 20
# Chunks under way for each process: enough that none waits, few enough to stay small.
_AHEAD = 3


def number_of_workers(asked: int | None, size: int) -> int:
    """Return how many processes score `size` bytes of text: 1 means this one.

    None asked for: as many as there are cores. Raises OptionError for fewer than one.
    """
    if asked is not None and asked < 1:
        raise OptionError(f"workers must be 1 or more, not {asked}.")
    return 1 if size < SMALL else asked or usable_cores()


def _begin(learnt: Mapping[str, Any]) -> None:
    # Ctrl-C reaches all processes; the first one stops the others.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    learn_carried({WHOLE: learnt}, Path("the first process"))


def score_chunks(jobs: Iterable[tuple[InputFile, ByteChunk]], workers: int) -> Iterator[Outcome]:
    """Yield the outcome of each chunk, in order; a few chunks are in memory at a time.

    One worker is this process. Raises LongBenchError if a process died.
    """
    if workers == 1:
        for source, chunk in jobs:
            yield score_chunk(source, chunk)
        return
    # Benchmarks of users' task files were learnt from these inputs, here alone.
    learnt = (carried(benchmarks()),)
    pool = ProcessPoolExecutor(workers, get_context("spawn"), _begin, learnt)
    under_way: deque[Future[Outcome]] = deque()
    try:
        for source, chunk in jobs:
            if len(under_way) == workers * _AHEAD:
                yield under_way.popleft().result()
            under_way.append(pool.submit(score_chunk, source, chunk))
        while under_way:
            yield under_way.popleft().result()
    except BrokenProcessPool as error:
        raise LongBenchError(
            "A scoring process ended before its work was done: memory ran out, it was killed, or "
            "the script that called `score_paths` does more than define things when it is "
            'imported (put its main part under `if __name__ == "__main__":`). Nothing was '
            "written; with workers=1 everything runs in one process."
        ) from error
    finally:
        pool.shutdown(wait=True, cancel_futures=True)
