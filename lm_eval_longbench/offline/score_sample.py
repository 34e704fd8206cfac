"""Score a sample of any benchmark."""

from __future__ import annotations

from lm_eval_longbench.offline import score_pro, score_v1, score_v2
from lm_eval_longbench.offline.sample import Sample
from lm_eval_longbench.offline.score_tables import TABLES
from lm_eval_longbench.offline.scored import Row, Scored, gold_hash, shown_json, text_bytes
from lm_eval_longbench.offline.source import Source

_SCORERS = {
    "longbench_v1": score_v1.score,
    "longbench_v1_e": score_v1.score,
    "longbench_v2": score_v2.score,
    "longbench_pro": score_pro.score,
}


def score_sample(sample: Sample) -> Scored:
    """Return what a sample's answer is worth."""
    return _SCORERS[TABLES[sample.table].benchmark](sample)


def store_row(sample: Sample, scored: Scored, source: Source, line: int) -> Row:
    """Return a scored sample as it is stored.

    Args:
        sample: the sample.
        scored: what it is worth.
        source: its file.
        line: its line there, from 1.
    """
    table = TABLES[sample.table]
    return Row(
        table.number,
        table.tasks[sample.task].number,
        sample.order,
        text_bytes(sample.id),
        source.run,
        sample.repeat,
        source.number,
        line,
        gold_hash(sample),
        scored.score,
        int(scored.failed),
        None if sample.truncated is None else int(sample.truncated),
        # Not in the hash above: some logs of a question know its document, others do not.
        shown_json({**scored.shown, "document": sample.document}),
        sample.content,
    )
