"""Which metric scores which LongBench Pro task, and how a sample is scored.

Official code scores a sample 0 and counts it as failed when its prediction is empty, when its
metric lies outside [0, 1], and when scoring raises:

- outside [0, 1]: pairwise accuracy where the gold list repeats items; a summary whose cosine
  similarity is negative beyond its ROUGE, or above 1 by rounding for a copied reference. Kept.
- raising: lone surrogates and NUL in NDCG items, very long pieces in ROUGE. These are not failed
  here, they get their true score.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from lm_eval_longbench.errors import UnknownNameError
from lm_eval_longbench.metrics.lists import ITEM_METRICS, normalize
from lm_eval_longbench.metrics.rouge import rouge_l, rouge_l_zh

# ----------------------------------------------------------------------
# The ROUGE half of LongBench Pro's summary score.


def summary_rouge(prediction: str, answers: Sequence[str], *, chinese: bool) -> float:
    """Return the best `rouge_l` of a summary over its references, in [0, 1); 0 without one.

    Both texts are lower-cased and whitespace-collapsed first; no answer area is taken out.

    Args:
        chinese: cut both texts with jieba. The `language` of the question decides, not the text.

    Source of the definition: LongBench Pro, task T4.
    """
    metric = rouge_l_zh if chinese else rouge_l
    text = normalize(prediction)
    return max((metric(text, normalize(answer)) for answer in answers), default=0.0)


# ---------------------------------------------------------------------- samples

SUMMARY = "summary"
LANGUAGES = ("Chinese", "English")


def _valid(metric: float) -> bool:
    return 0.0 <= metric <= 1.0


def _raw_summary_score(rouge: float, similarity: float | None) -> float | None:
    if similarity is None or math.isnan(similarity):
        return None
    return 0.5 * similarity + 0.5 * rouge


def summary_score(rouge: float, similarity: float | None) -> float | None:
    """Return the official score of a summary, in [0, 1]: half similarity, half ROUGE.

    None where the similarity is not known (None or NaN): ROUGE alone is not the score. A sum
    outside [0, 1] scores 0, as in official code.
    """
    score = _raw_summary_score(rouge, similarity)
    return score if score is None or _valid(score) else 0.0


@dataclass(frozen=True)
class SummaryParts:
    """What is known of a summary (T4) before its semantic similarity is.

    Attributes:
        rouge_l: ROUGE half, in [0, 1).
        empty: the prediction has no word, of which the official ROUGE raises: 0, and failed.
    """

    rouge_l: float
    empty: bool

    def score(self, similarity: float | None) -> float | None:
        """Return the official score, in [0, 1]; None while the similarity is not known."""
        return 0.0 if self.empty else summary_score(self.rouge_l, similarity)

    def failed(self, similarity: float | None) -> bool:
        """Say whether official code counts the sample as failed."""
        score = _raw_summary_score(self.rouge_l, similarity)
        return self.empty or (score is not None and not _valid(score))


def _item_score(metric: str, prediction: str, answers: Sequence[str]) -> tuple[float, bool]:
    """Return the score of a prediction of items, and whether it counts as failed."""
    if not prediction:  # one of white space scores 0 and has not failed
        return 0.0, True
    score = ITEM_METRICS[metric](prediction, answers)
    return (score, False) if _valid(score) else (0.0, True)


def score_sample(
    metric: str, language: str, prediction: str, answers: Sequence[str]
) -> float | SummaryParts:
    """Return the official score of one prediction, in [0, 1]; for T4 what it is made of.

    Args:
        metric: of the secondary task: "accuracy", "f1", "sub_em", "ndcg", "pairwise_accuracy" or
            "summary".
        language: the question's `language`, "Chinese" or "English".
        prediction: the answer, its reasoning already taken out.

    Raises UnknownNameError for another language. No answers: 0.
    """
    if language not in LANGUAGES:
        raise UnknownNameError("LongBench Pro language", language, LANGUAGES)
    if metric == SUMMARY:
        rouge = summary_rouge(prediction, answers, chinese=language == "Chinese")
        return SummaryParts(rouge, not prediction.strip())
    return _item_score(metric, prediction, answers)[0]


def sample_failed(metric: str, prediction: str, answers: Sequence[str]) -> bool:
    """Say whether official code counts the sample as failed.

    Of a summary this sees the empty ones; `SummaryParts.failed` sees the others too.
    """
    if metric == SUMMARY:
        return not prediction.strip()
    return _item_score(metric, prediction, answers)[1]
