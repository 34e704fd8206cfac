"""The metrics of LongBench v1 and LongBench-E by their names in task files."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from lm_eval_longbench.errors import UnknownNameError
from lm_eval_longbench.metrics.classification import classification
from lm_eval_longbench.metrics.code_sim import code_sim
from lm_eval_longbench.metrics.count import count
from lm_eval_longbench.metrics.qa_f1 import qa_f1, qa_f1_zh
from lm_eval_longbench.metrics.retrieval import retrieval, retrieval_zh
from lm_eval_longbench.metrics.rouge_l import rouge_l, rouge_l_google, rouge_l_zh

CLASSIFICATION = classification.__name__
# With which also Google's ROUGE-L is reported.
ROUGE = rouge_l.__name__
METRICS: Mapping[str, Callable[[str, str], float]] = {
    one.__name__: one
    for one in (
        qa_f1,
        qa_f1_zh,
        rouge_l,
        rouge_l_zh,
        count,
        retrieval,
        retrieval_zh,
        code_sim,
    )
}


def scored_text(prediction: str, *, first_line: bool) -> str:
    """Return the part of a prediction that is scored.

    Few-shot answers end at the line, so that models that go on with another example are not
    punished: the first line after leading newlines. Nothing else is stripped.
    """
    return prediction.lstrip("\n").split("\n", 1)[0] if first_line else prediction


def score_sample(
    metric: str,
    prediction: str,
    answers: Sequence[str],
    all_classes: Sequence[str] | None = None,
    *,
    first_line: bool = False,
) -> float:
    """Return the official score of one prediction, in [0, 1]: the best over its gold answers.

    Args:
        metric: its name.
        prediction: the answer.
        answers: gold ones; none: 0.
        all_classes: for classification.
        first_line: whether only the first line of the prediction is scored.

    Raises:
        UnknownNameError: there is no such metric.
    """
    if metric not in (*METRICS, CLASSIFICATION):
        raise UnknownNameError("LongBench v1 metric", metric, [*METRICS, CLASSIFICATION])
    text = scored_text(prediction, first_line=first_line)
    if metric == CLASSIFICATION:
        scores = [classification(text, answer, all_classes or ()) for answer in answers]
    else:
        scores = [METRICS[metric](text, answer) for answer in answers]
    return max(scores, default=0.0)


def rouge_l_google_sample(
    prediction: str, answers: Sequence[str], *, first_line: bool = False
) -> float:
    """Return Google's rougeL of one prediction, in [0, 1]: the best over its gold answers."""
    text = scored_text(prediction, first_line=first_line)
    return max((rouge_l_google(text, answer) for answer in answers), default=0.0)
