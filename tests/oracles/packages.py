"""LongBench v1 scored with the packages of the official scorer: rouge, fuzzywuzzy, jieba."""

import jieba

from lm_eval_longbench.benchmarks.v1 import V1
from lm_eval_longbench.harness import doctor as scorers
from lm_eval_longbench.metrics import text as ours
from oracles import classification, numbers_share, qa_f1, qa_f1_zh


def cut(text):
    return " ".join(jieba.cut(text))


# By the name of our metric. Where scoring takes no time, the plain oracles stand.
METRICS = {
    "qa_f1": qa_f1.qa_f1,
    "qa_f1_zh": qa_f1_zh.qa_f1_zh,
    "rouge_l": scorers._rouge,
    "rouge_l_zh": lambda pred, gold: scorers._rouge(cut(pred), cut(gold)),
    "count": numbers_share.count,
    "retrieval": numbers_share.retrieval,
    "retrieval_zh": numbers_share.retrieval_zh,
    "code_sim": scorers._fuzzywuzzy,
}


def score_sample(name, prediction, answers, all_classes):
    task = V1.datasets[name]
    text = ours.scored_text(prediction, first_line=task.first_line)
    if task.metric == ours.CLASSIFICATION:
        scores = (classification.classification(text, gold, all_classes) for gold in answers)
    else:
        metric = METRICS[task.metric]
        scores = (metric(text, gold) for gold in answers)
    return max(scores, default=0.0)
