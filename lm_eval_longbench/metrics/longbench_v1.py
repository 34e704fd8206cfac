"""Which metric scores which LongBench v1 and LongBench-E dataset, and how a sample is scored."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from lm_eval_longbench.errors import UnknownNameError
from lm_eval_longbench.metrics.classification import classification
from lm_eval_longbench.metrics.code_sim import code_sim
from lm_eval_longbench.metrics.count import count
from lm_eval_longbench.metrics.qa_f1 import qa_f1, qa_f1_zh
from lm_eval_longbench.metrics.retrieval import retrieval, retrieval_zh
from lm_eval_longbench.metrics.rouge_l import rouge_l, rouge_l_google, rouge_l_zh

_TEXT_METRICS: dict[str, Callable[[str, str], float]] = {
    "narrativeqa": qa_f1,
    "qasper": qa_f1,
    "multifieldqa_en": qa_f1,
    "multifieldqa_zh": qa_f1_zh,
    "hotpotqa": qa_f1,
    "2wikimqa": qa_f1,
    "musique": qa_f1,
    "dureader": rouge_l_zh,
    "gov_report": rouge_l,
    "qmsum": rouge_l,
    "multi_news": rouge_l,
    "vcsum": rouge_l_zh,
    "triviaqa": qa_f1,
    "nq": qa_f1,  # of the first release
    "samsum": rouge_l,
    "passage_count": count,
    "passage_retrieval_en": retrieval,
    "passage_retrieval_zh": retrieval_zh,
    "lcc": code_sim,
    "repobench-p": code_sim,
}
CLASSIFICATION = frozenset({"trec", "lsht"})
DATASETS = frozenset(_TEXT_METRICS) | CLASSIFICATION
# Datasets that also report Google's ROUGE-L.
ROUGE_DATASETS = frozenset({"gov_report", "qmsum", "multi_news", "samsum"})
# Few-shot answers end at the line; models that go on with another example are not punished.
FIRST_LINE = frozenset({"trec", "triviaqa", "samsum", "lsht"})


def scored_text(dataset: str, prediction: str) -> str:
    """Return the part of a prediction that is scored.

    For the few-shot datasets: the first line after leading newlines. Nothing else is stripped.
    """
    if dataset in FIRST_LINE:
        return prediction.lstrip("\n").split("\n", 1)[0]
    return prediction


def score_sample(
    dataset: str,
    prediction: str,
    answers: Sequence[str],
    all_classes: Sequence[str] | None = None,
) -> float:
    """Return the official score of one prediction, in [0, 1]: the best over its gold answers.

    No answers: 0. Raises UnknownNameError for a dataset that LongBench v1 does not have.
    """
    if dataset not in DATASETS:
        raise UnknownNameError("LongBench v1 dataset", dataset, DATASETS)
    text = scored_text(dataset, prediction)
    if dataset in CLASSIFICATION:
        scores = [classification(text, answer, all_classes or ()) for answer in answers]
    else:
        metric = _TEXT_METRICS[dataset]
        scores = [metric(text, answer) for answer in answers]
    return max(scores, default=0.0)


def rouge_l_google_sample(dataset: str, prediction: str, answers: Sequence[str]) -> float:
    """Return Google's rougeL of one prediction, in [0, 1]: the best over its gold answers."""
    text = scored_text(dataset, prediction)
    return max((rouge_l_google(text, answer) for answer in answers), default=0.0)
