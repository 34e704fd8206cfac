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
from typing import Any, NamedTuple

from lm_eval_longbench.benchmarks.registry import (
    benchmark_of_table,
    benchmarks,
    carried,
    layouts,
    learn_carried,
    table_number,
    table_of,
    tables,
    task_number,
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
    add_replies,
    document_in,
    document_of_hash,
    failure_of,
    is_whole,
    line_of,
)
from lm_eval_longbench.scoring.files import LOG, PredictionSource, decoded
from lm_eval_longbench.scoring.problems import Problems, entry

_MOST_DOCUMENTS = 2**53


def read_row(row: Any, index: int, source: PredictionSource) -> Read:
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
    samples = [
        benchmark.sample(
            own.doc, table.tasks[task], number, text, index=own.place, document=own.document
        )
        for number, text in enumerate(own.answers, start=1)
    ]
    for sample in samples:
        sample.stored, sample.has_stored = own.letter, sample.response is None
        sample.dropped, sample.doc = False, own.doc
    return samples


def _read_log_row(row: dict[str, Any], index: int, source: PredictionSource) -> Read:
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
    samples = [
        benchmark.sample(doc, task, number, text, index=place, truncated=cut, document=document)
        for number, text in enumerate(responses, start=1)
    ]
    add_replies(samples, doc)
    return samples


def score_sample(sample: Sample, reasoning: str, *, extras: bool = False) -> Scored:
    """Return what a sample's answer is worth under a policy for reasoning.

    Where the answer holds any, what it is worth under the other one comes along. `extras`: with
    what no official figure needs.
    """
    benchmark = benchmark_of_table(sample.table)
    scored = benchmark.score(sample, reasoning, extras=extras)
    if sample.response is not None and holds_reasoning(sample.response):
        other = DROP if reasoning == KEEP else KEEP
        scored.other = benchmark.score(sample, other, extras=extras)
    return scored


class Key(NamedTuple):
    """What sorts scored samples.

    Attributes:
        table, task: their numbers in the registry.
        place: see `Sample.order`.
        id: of the question.
        run, repeat: the run's number and the answer's number in it.
        source, line: where it was read.
    """

    table: int
    task: int
    place: int
    id: str
    run: int
    repeat: int
    source: int
    line: int


@dataclass(slots=True)
class ScoredSample:
    """A scored answer while all of them are sorted and merged.

    Attributes:
        key: sorts it.
        line: its line of samples.jsonl; `repeat` is the number in its run until runs are merged.
        gold: gold answers, classes and dimensions: equal for all answers to one question.
        content: see `Sample.content`.
        failure: why it failed, or may still turn out to have failed; None: not known.
        summaries: a text whose semantic similarity is not known, and its references, by whether it
            is about the other policy for reasoning.
        official: its row in an official file; None: none is wanted, or there is none.
    """

    key: Key
    line: dict[str, Any]
    gold: str
    content: bytes | None = None
    failure: str | None = None
    summaries: dict[bool, tuple[str, list[str]]] = field(default_factory=dict)
    official: dict[str, Any] | None = None


def _scored_sample(
    sample: Sample, scored: Scored, source: PredictionSource, line: int
) -> ScoredSample:
    if scored.score is not None and math.isnan(scored.score):
        raise ValueError(f"{source.name}, line {line}: the score of {sample.task} is NaN.")
    table, task = table_number(sample.table), task_number(sample.table, sample.task)
    # Without the document: some logs of a question know it, others do not.
    gold = (*sample.golds, *(sample.classes or ()), *map(str, sample.shown.values()))
    own = ScoredSample(
        Key(table, task, sample.order, sample.id, source.run, sample.repeat, source.number, line),
        line_of(sample, scored, source.reasoning),
        "\0".join(gold),
        sample.content,
        failure_of(sample, scored),
    )
    # With its reasoning a summary is a long text to embed, for a figure that nobody asked for.
    cheap = scored.other if source.reasoning == KEEP else None
    for worth, other in ((scored, False), (cheap, True)):
        if worth is not None and worth.summary is not None:
            own.summaries[other] = (worth.summary, sample.golds)
    files = benchmark_of_table(sample.table).official_files if source.official else None
    if files is not None:
        own.official = files.row(sample, scored, source.reasoning)
    return own


@dataclass(slots=True)
class Outcome:
    """What some lines of one file gave.

    Attributes:
        source: number of the file.
        lines: lines that are not blank.
        samples: scored answers.
        problems: lines without a sample, and v2: those whose stored letter is not the extracted.
        labels: (name of a table, of a task, label of its data; None: the row does not say).
    """

    source: int
    lines: int = 0
    samples: list[ScoredSample] = field(default_factory=list)
    problems: Problems = field(default_factory=Problems)
    labels: set[tuple[str, str, str | None]] = field(default_factory=set)


def score_row(outcome: Outcome, source: PredictionSource, line: int, index: int, row: Any) -> None:
    """Add what a decoded row gives to an outcome; Unusable: it is no JSON."""
    outcome.lines += 1
    read = row if isinstance(row, Unusable) else read_row(row, index, source)
    if isinstance(read, Unusable):
        outcome.problems.add(read.kind, entry(source.name, line, read.reason))
        return
    label = data_label(row) if source.kind == LOG else None
    for sample in read:
        scored = score_sample(sample, source.reasoning, extras=source.rouge_google)
        outcome.samples.append(_scored_sample(sample, scored, source, line))
        outcome.labels.add((sample.table, sample.task, label))
        if scored.differing is not None:
            had, found = scored.differing
            differing = {"id": sample.id, "stored": had, "extracted": found}
            place = {"file": source.name, "line": line}
            outcome.problems.add("differing_pred", {**place, **differing})


def score_chunk(source: PredictionSource, chunk: ByteChunk) -> Outcome:
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


def score_chunks(
    jobs: Iterable[tuple[PredictionSource, ByteChunk]], workers: int
) -> Iterator[Outcome]:
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
