"""The figures of one question; the definitions, written out by hand, are the oracle."""

import math
import random

import pytest
from asked import rows_of
from longbench_pro_facts import SECONDARY_TASKS
from v1_tasks import score_sample as score_v1

from lm_eval_longbench.benchmarks.asking import question_values
from lm_eval_longbench.benchmarks.pro import PRO
from lm_eval_longbench.benchmarks.v1 import V1, E
from lm_eval_longbench.benchmarks.v2 import V2
from lm_eval_longbench.metrics.letter import judge
from lm_eval_longbench.metrics.reasoning import answer_of, holds_reasoning
from lm_eval_longbench.metrics.summary import SummaryParts, sample_failed, score_sample
from lm_eval_longbench.metrics.text import ROUGE, rouge_l_google_sample

TEXTS = (
    *("", "  ", "yes", "no 3", "Paragraph 3", "段落3 是 的", "<think>open", "a b c d e f"),
    *("The correct answer is (A)", "The correct answer is (B)", "<think>hm</think>yes"),
    *("</think>The correct answer is (C)", "[Answer]\nx\ny"),
)


def running_mean(values):
    """From the left; None if one is None."""
    if None in values:
        return None
    total = 0.0
    for value in values:
        total += value
    return total / len(values)


def exact_mean(values):
    return None if None in values else math.fsum(values) / len(values)


def by_hand_v1(task, doc, responses, policy, similarities, official):
    texts = [answer_of(response, policy) for response in responses]
    score = running_mean(
        [score_v1(task.label, text, doc["answers"], doc["all_classes"]) for text in texts]
    )
    found = {"score": score}
    if task.name in E.tasks:
        length = doc["length"]
        found["score_0_4k"] = score if length < 4000 else None
        found["score_4_8k"] = score if 4000 <= length < 8000 else None
        found["score_8k_plus"] = score if length >= 8000 else None
    if task.metric == ROUGE:
        first = task.first_line
        own = [rouge_l_google_sample(text, doc["answers"], first_line=first) for text in texts]
        found["rougeL_google"] = running_mean(own)
    return found | {"failed": running_mean([float(not text.strip()) for text in texts])}


def by_hand_v2(task, doc, responses, policy, similarities, official):
    verdicts = [judge(response, doc["answer"], policy) for response in responses]
    accuracy = running_mean([verdict.accuracy for verdict in verdicts])
    if task.name == "longbench_v2_cot":
        found = {"acc_one_call": accuracy}
    else:
        own = (doc["difficulty"], doc["length"])
        names = ("easy", "hard", "short", "medium", "long")
        found = {"acc": accuracy}
        found |= {f"acc_{name}": accuracy if name in own else None for name in names}
        found["acc_compensated"] = running_mean([one.compensated for one in verdicts])
    found["unparsed"] = running_mean([float(verdict.unparsed) for verdict in verdicts])
    return found | {"failed": running_mean([float(verdict.failed) for verdict in verdicts])}


def by_hand_pro(task, doc, responses, policy, similarities, official):
    metric = SECONDARY_TASKS[task.label].metric
    texts = [answer_of(response, policy) for response in responses]
    scores = [score_sample(metric, doc["language"], text, doc["answer"]) for text in texts]
    failed = [sample_failed(metric, text, doc["answer"]) for text in texts]
    extra = {}
    if task.summary:
        parts = scores
        assert all(isinstance(part, SummaryParts) for part in parts)
        known = similarities or [None] * len(parts)
        counted = known if official else [None] * len(parts)
        scores = [part.score(value) for part, value in zip(parts, counted, strict=True)]
        failed = [part.failed(value) for part, value in zip(parts, counted, strict=True)]
        shown = [
            0.0 if part.empty and similarities else value
            for part, value in zip(parts, known, strict=True)
        ]
        extra = {
            "rouge_l": exact_mean([part.rouge_l for part in parts]),
            "semantic_similarity": exact_mean(shown),
        }
    best = None if None in scores else max(scores)
    passed = best if best is None else float(best > 0.65 if task.summary else best == 1.0)
    found = {"score": exact_mean(scores), "best_of_n": best, "pass_at_n": passed}
    return found | extra | {"failed": exact_mean(list(map(float, failed)))}


# What a log tells of an answer, and whether it ended at its budget.
REPLIES = (
    ({"state": "answered", "finish_reason": "stop"}, False),
    ({"state": "answered", "finish_reason": "length", "completion_tokens": 32}, True),
    ({"state": "failed", "reason": "HTTP 500"}, False),
    ({"state": "answered", "seconds": 1.5}, None),
    ({}, None),
)


def by_hand_capped(known):
    """Of the answers to a question; None where one is not known."""
    if not known or None in known:
        return None
    number = 0
    for capped in known:
        if capped:
            number += 1
    return number / len(known)


BY_HAND = {V1: by_hand_v1, E: by_hand_v1, V2: by_hand_v2, PRO: by_hand_pro}


@pytest.mark.parametrize("benchmark", BY_HAND, ids=lambda one: one.name)
def test_figures_are_those_of_the_definitions(benchmark):
    draw = random.Random(benchmark.name)
    for task in benchmark.tasks.values():
        for index, row in enumerate(rows_of(task.name)):
            doc = {**row, "index": index, "prompt": {"truncated": draw.random() < 0.5}}
            replies = []
            golds = benchmark.golds(doc)
            right = ("[Answer]\n" + "\n".join(golds), golds[0], f"<think>q</think>{golds[-1]}")
            responses = draw.choices(TEXTS + right, k=draw.choice((1, 1, 2, 3, 5)))
            if draw.random() < 0.8:
                replies = draw.choices(REPLIES, [8, 8, 1, 1, 1], k=len(responses))
                doc["replies"] = [reply for reply, _ in replies]
            policy, official = draw.choice(("drop", "keep")), draw.random() < 0.7
            similarities = None
            if task.summary and draw.random() < 0.8:
                similarities = [
                    draw.uniform(-1, 1) if answer_of(text, policy).strip() else None
                    for text in responses
                ]

            def add(doc, scored, given=similarities, official=official):
                for one, similarity in zip(scored, given or (), strict=bool(given)):
                    one.score, one.failed, one.shown = PRO.with_similarity(
                        one.shown, similarity, official=official
                    )

            found = question_values(benchmark, task, doc, responses, policy, complete=add)
            expected = BY_HAND[benchmark](task, doc, responses, policy, similarities, official)
            reasoned = sum(map(holds_reasoning, responses)) / len(responses)
            expected |= {"truncated": float(doc["prompt"]["truncated"]), "reasoned": reasoned}
            expected["capped"] = by_hand_capped([capped for _, capped in replies])
            assert found == expected, (task.name, responses)
            assert list(found) == [one.name for one in benchmark.harness_metrics(task)]
