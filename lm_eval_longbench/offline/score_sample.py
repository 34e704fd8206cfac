"""Score a sample of any benchmark."""

from __future__ import annotations

from typing import Any

from lm_eval_longbench.metrics.reasoning import DROP, KEEP, OTHERWISE, holds_reasoning
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


def score_sample(sample: Sample, reasoning: str, *, rouge_google: bool = False) -> Scored:
    """Return what a sample's answer is worth.

    Args:
        sample: the sample.
        reasoning: policy for reasoning in the answer. Where the answer holds any, what it is worth
            under the other one comes along.
        rouge_google: LongBench v1 and E: compute Google's ROUGE-L too, where a dataset has it.
    """

    def scored_by(policy: str) -> Scored:
        scored = _SCORERS[TABLES[sample.table].benchmark](sample, policy)
        if rouge_google and "dataset" in sample.shown:
            score_v1.add_rouge_google(scored, sample, policy)
        return scored

    scored = scored_by(reasoning)
    if sample.response is not None and holds_reasoning(sample.response):
        scored.other = scored_by(DROP if reasoning == KEEP else KEEP)
    return scored


def _shown(sample: Sample, scored: Scored, reasoning: str) -> dict[str, Any]:
    """Return the fields of an output line, with what the answer is worth otherwise."""
    if scored.other is None:
        return scored.shown
    other = {
        name: value
        for name, value in scored.other.shown.items()
        if name not in sample.shown  # what the question has is the same
    }
    own = {"score": scored.other.score, "failed": scored.other.failed, **other}
    return {**scored.shown, OTHERWISE[reasoning]: own}


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
        int(scored.other is not None),
        # Not in the hash above: some logs of a question know its document, others do not.
        shown_json({**_shown(sample, scored, source.reasoning), "document": sample.document}),
        sample.content,
    )
