"""Put the outcomes of all chunks into the store, and what else they say into its place."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

from lm_eval_longbench.offline.labels import Labels
from lm_eval_longbench.offline.problems import Problems, entry
from lm_eval_longbench.offline.sample import FOREIGN, MALFORMED
from lm_eval_longbench.offline.score_chunk import Outcome
from lm_eval_longbench.offline.source import Source
from lm_eval_longbench.offline.store import Store


class Gathered:
    """What was read, besides the samples themselves.

    Attributes:
        sources: the files, by number.
        lines: lines of each file that are not blank, by its number.
        malformed: lines of each file that are malformed, by its number.
        labels: of the data.
        problems: in the order of files and lines.
    """

    def __init__(self, sources: Sequence[Source], problems: Problems) -> None:
        self.sources = sources
        self.lines: Counter[int] = Counter()
        self.malformed: Counter[int] = Counter()
        self.labels = Labels()
        self.problems = problems

    def add(self, outcome: Outcome, store: Store) -> None:
        """Add an outcome; those of one file must come in the order of its lines."""
        source = self.sources[outcome.source]
        self.lines[source.number] += outcome.lines
        self.malformed[source.number] += outcome.bad_number[MALFORMED]
        for kind in (MALFORMED, FOREIGN):
            bad = [entry(bad.file, bad.line, bad.reason) for bad in outcome.bad if bad.kind == kind]
            self.problems.add(kind, *bad, number=outcome.bad_number[kind])
        self.problems.add("differing_pred", *outcome.differing, number=outcome.differing_number)
        for table, task, label in sorted(outcome.labels, key=str):
            self.labels.add(table, task, label, source)
        store.add(
            outcome.rows,
            (
                (outcome.rows[position], other, text, golds)
                for (position, other), (text, golds) in outcome.summaries.items()
            ),
        )

    def add_all(self, outcomes: Iterable[Outcome], store: Store) -> None:
        """Add outcomes in order; see `add`."""
        for outcome in outcomes:
            self.add(outcome, store)
