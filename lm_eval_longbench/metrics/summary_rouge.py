"""The ROUGE half of LongBench Pro's summary score."""

from __future__ import annotations

from collections.abc import Sequence

from lm_eval_longbench.metrics.answer_items import normalize
from lm_eval_longbench.metrics.rouge_l import rouge_l, rouge_l_zh


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
