"""Recompute the figures of a summary (LongBench Pro, T4) around its semantic similarity.

The similarity itself needs the embedding model. The log states its mean over the repeats, from
which the score follows.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from lm_eval_longbench.aggregation.pro_question import question_figures
from lm_eval_longbench.catalog_pro import SecondaryTask
from lm_eval_longbench.metrics.longbench_pro import SummaryParts, score_sample
from lm_eval_longbench.provenance.recompute import Figures, Recomputed

_SIMILARITY = "semantic_similarity"
# Figures that rest on it.
_SCORES = ("score", "best_of_n", "pass_at_n")
_EMBEDDED = "the embedding model is needed to compute it again"
_EACH = "the log states the mean similarity of the repeats, and this needs each of them"
# Shares of repeats are told apart by less than this.
_NEAR = 1e-9


def recompute_summary(
    task: SecondaryTask,
    doc: Mapping[str, Any],
    answers: Sequence[str],
    logged: Figures,
    embedding_model: object,
    *,
    truncated: bool,
) -> Recomputed:
    """Return the figures of one question whose answers are summaries.

    Args:
        task: the secondary task.
        doc: the question as it stands in the log.
        answers: one a repeat, their reasoning taken out.
        logged: the figures that the log states.
        embedding_model: that gave the similarity; None: none did.
        truncated: whether the prompt was cut.
    """
    from lm_eval_longbench.semantic.embedder import OFFICIAL_MODEL

    official = embedding_model == OFFICIAL_MODEL
    stated = logged.get(_SIMILARITY)
    known = isinstance(stated, float | int) and not math.isnan(stated)

    def figures(similarities: Sequence[float | None] | None) -> dict[str, float | None]:
        return question_figures(
            task,
            doc["language"],
            answers,
            doc["answer"],
            similarities,
            official=official,
            truncated=truncated,
        )

    if not known:
        return Recomputed(figures(None))
    similarity = float(stated)
    parts = [
        score_sample(task.metric, doc["language"], answer, doc["answer"]) for answer in answers
    ]
    summaries = [part for part in parts if isinstance(part, SummaryParts)]
    full = [part for part in summaries if not part.empty]
    taken = {_SIMILARITY: _EMBEDDED} if full else {}
    resting = dict.fromkeys(_SCORES, _EMBEDDED) if full and official else {}
    if len(answers) == 1 or not full:
        own = figures([None if part.empty else similarity for part in summaries])
        return Recomputed(own, taken, resting)
    own = figures(None) | {_SIMILARITY: similarity}
    if not official:
        return Recomputed(own, taken)
    # A sum outside [0, 1] counts as failed, and its share in the mean is not known.
    failed = logged.get("failed")
    beyond = isinstance(failed, float | int) and failed > (own["failed"] or 0.0) + _NEAR
    unknown = ["best_of_n", "pass_at_n", *(["score", "failed"] if beyond else [])]
    if not beyond:
        rouge = math.fsum(part.rouge_l for part in full) / len(answers)
        own["score"] = 0.5 * similarity + 0.5 * rouge
    own |= {name: logged.get(name) for name in unknown}
    return Recomputed(own, taken | dict.fromkeys(unknown, _EACH), resting)
