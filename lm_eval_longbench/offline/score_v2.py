"""Score a sample of LongBench v2."""

from __future__ import annotations

from lm_eval_longbench.metrics.longbench_v2 import Verdict, judge
from lm_eval_longbench.metrics.reasoning import DROP
from lm_eval_longbench.offline.sample import Sample
from lm_eval_longbench.offline.scored import Scored


def score(sample: Sample, reasoning: str = DROP) -> Scored:
    """Return what an answer is worth; the letter is read again where the answer is kept."""
    (gold,) = sample.golds
    if sample.response is None:
        verdict = Verdict(sample.stored, sample.stored == gold, failed=False)
    else:
        verdict = judge(sample.response, gold, reasoning)
    differs = sample.has_stored and sample.stored != verdict.choice
    return Scored(
        verdict.accuracy,
        verdict.failed,
        {
            **sample.shown,
            "choice": verdict.choice,
            "unparsed": verdict.unparsed,
            "compensated": verdict.compensated,
            "dropped": sample.dropped,
        },
        differing=(sample.stored, verdict.choice) if differs else None,
    )
