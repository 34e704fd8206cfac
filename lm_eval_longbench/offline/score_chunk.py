"""Read and score some lines of a file: the unit of work of a process."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from lm_eval_longbench.input_files import Chunk, decoded
from lm_eval_longbench.metrics.reasoning import KEEP
from lm_eval_longbench.offline import harness_log, official_pro, official_v1, official_v2
from lm_eval_longbench.offline.problems import SHOWN
from lm_eval_longbench.offline.sample import BadLine, Unusable
from lm_eval_longbench.offline.score_sample import score_sample, store_row
from lm_eval_longbench.offline.scored import Row
from lm_eval_longbench.offline.source import LOG, PRO_FILE, V1_FILE, V2_FILE, Source

READERS = {
    LOG: harness_log.read_row,
    V1_FILE: official_v1.read_row,
    V2_FILE: official_v2.read_row,
    PRO_FILE: official_pro.read_row,
}


@dataclass(slots=True)
class Outcome:
    """What some lines of one file gave.

    Attributes:
        source: number of the file.
        lines: lines that are not blank.
        rows: scored samples.
        summaries: of rows whose semantic similarity is not known, by position in `rows` and whether
            it is about the other policy for reasoning: the text to compare and its references.
        bad: lines without a sample, the first of each kind; all are in `bad_number`.
        bad_number: of lines without a sample, by kind.
        differing: v2: the first lines whose stored letter is not the extracted one; all are in
            `differing_number`.
        differing_number: of such lines.
        labels: (number of a table, of a task, label of its data; None: the row does not say).
    """

    source: int
    lines: int = 0
    rows: list[Row] = field(default_factory=list)
    summaries: dict[tuple[int, bool], tuple[str, list[str]]] = field(default_factory=dict)
    bad: list[BadLine] = field(default_factory=list)
    bad_number: Counter[str] = field(default_factory=Counter)
    differing: list[dict[str, Any]] = field(default_factory=list)
    differing_number: int = 0
    labels: set[tuple[int, int, str | None]] = field(default_factory=set)

    def add_bad(self, source: Source, line: int, problem: Unusable) -> None:
        """Count a line without a sample, and keep it if it is among the first."""
        self.bad_number[problem.kind] += 1
        if self.bad_number[problem.kind] <= SHOWN:
            self.bad.append(BadLine(source.name, line, problem.reason, problem.kind))


def _decoded(chunk: Chunk) -> Iterator[tuple[int, int, Any]]:
    """Yield number, index and decoded row of each line; Unusable where it is not JSON."""
    for number, index, line in chunk.lines():
        try:
            yield number, index, decoded(line)
        except (ValueError, RecursionError) as error:
            yield number, index, Unusable(f"not JSON ({error})")


def score_row(outcome: Outcome, source: Source, line: int, index: int, row: Any) -> None:
    """Add what a decoded row gives to an outcome."""
    outcome.lines += 1
    read = row if isinstance(row, Unusable) else READERS[source.kind](row, index, source)
    if isinstance(read, Unusable):
        outcome.add_bad(source, line, read)
        return
    label = harness_log.data_label(row) if source.kind == LOG else None
    for sample in read:
        scored = score_sample(sample, source.reasoning, rouge_google=source.rouge_google)
        stored = store_row(sample, scored, source, line)
        outcome.labels.add((stored.table, stored.task, label))
        # With its reasoning a summary is a long text to embed, for a figure that nobody asked for.
        cheap = scored.other if source.reasoning == KEEP else None
        for own, other in ((scored, False), (cheap, True)):
            if own is not None and own.summary is not None:
                outcome.summaries[len(outcome.rows), other] = (own.summary, sample.golds)
        outcome.rows.append(stored)
        if scored.differing is not None:
            outcome.differing_number += 1
            if outcome.differing_number <= SHOWN:
                had, found = scored.differing
                outcome.differing.append(
                    {
                        "file": source.name,
                        "line": line,
                        "id": sample.id,
                        "stored": had,
                        "extracted": found,
                    }
                )


def score_chunk(source: Source, chunk: Chunk) -> Outcome:
    """Return what the lines of a chunk are worth."""
    outcome = Outcome(source.number)
    if chunk.problem is not None:
        outcome.add_bad(source, chunk.line, Unusable(chunk.problem))
    for line, index, row in _decoded(chunk):
        score_row(outcome, source, line, index, row)
    return outcome
