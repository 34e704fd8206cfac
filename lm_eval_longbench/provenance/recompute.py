"""Recompute the figures of a question from its answers, under the harness's metric names.

The functions are those that the task classes call; only what they need is taken from a log row.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from lm_eval_longbench.catalog import split_of_task
from lm_eval_longbench.catalog_pro import DIMENSIONS
from lm_eval_longbench.catalog_v2 import CHOICES, DIFFICULTIES, LENGTHS
from lm_eval_longbench.errors import PredictionError, UnknownNameError
from lm_eval_longbench.metrics.reasoning import DROP, answer_of, reasoned_share
from lm_eval_longbench.provenance.shapes import (
    COUNT,
    TEXT,
    Fields,
    ListOf,
    OrNull,
    Plain,
    Shape,
    checked,
)

Figures = Mapping[str, float | None]
COT, COT_ANSWER = "longbench_v2_cot", "longbench_v2_cot_answer"
# What of a question its figures need.
_V1 = Fields(
    {"answers": ListOf(TEXT, least=1), "all_classes": OrNull(ListOf(TEXT)), "length": COUNT}
)
_DOCUMENTS: Mapping[str, Shape] = {
    "longbench_v1": _V1,
    "longbench_v1_e": _V1,
    "longbench_v2": Fields(
        {
            "answer": Plain("a letter from A to D", among=CHOICES),
            "difficulty": Plain("a difficulty", among=DIFFICULTIES),
            "length": Plain("a length", among=LENGTHS),
            **dict.fromkeys(("question", *(f"choice_{letter}" for letter in CHOICES)), TEXT),
        }
    ),
    "longbench_pro": Fields(
        {"answer": ListOf(TEXT), "language": Plain("a language", among=DIMENSIONS["language"])}
    ),
}
_UNSOUND = "the document cannot be scored"
V2_TASKS = ("longbench_v2", "longbench_v2_no_context", "longbench_v2_rag", COT, COT_ANSWER)


@dataclass(frozen=True)
class Recomputed:
    """The figures of one question.

    Attributes:
        figures: by metric name. Those that cannot be recomputed are as the log states them.
        taken: of those the reason, by metric name.
        resting: why others, though computed here, rest on what only the log states.
    """

    figures: Figures
    taken: Mapping[str, str] = field(default_factory=dict)
    resting: Mapping[str, str] = field(default_factory=dict)


def recompute(
    signature: Mapping[str, Any],
    doc: Mapping[str, Any],
    responses: Sequence[str],
    logged: Figures,
) -> Recomputed:
    """Return every figure of one question from its answers.

    Args:
        signature: of the task; `benchmark`, `task` and `embedding_model` are used.
        doc: the question as it stands in the log.
        responses: its answers as they were scored, one a repeat.
        logged: its figures as the log states them, for what needs more than the answers.

    Raises:
        UnknownNameError: there is no such task.
        PredictionError: the document lacks a field, or one has a value that cannot be; the message
            names it.
    """
    task = str(signature.get("task"))
    policy = str(signature.get("reasoning", DROP))
    benchmark = str(signature.get("benchmark"))
    if benchmark not in _DOCUMENTS:
        raise UnknownNameError("benchmark", benchmark, _DOCUMENTS)
    if task == COT_ANSWER:
        checked(doc, _DOCUMENTS[benchmark], _UNSOUND)
        lost = had_no_reasoning(doc)
        if lost is None:
            reason = "whether pass one gave a reasoning cannot be told from a prompt that was cut"
            return Recomputed(dict(logged), dict.fromkeys(logged, reason))
        if lost:
            responses = [""] * len(responses)
    if benchmark == "longbench_v2":
        found = Recomputed(_v2(task, doc, responses, policy))
    elif benchmark == "longbench_pro":
        found = _pro(task, signature, doc, responses, logged, policy)
    else:
        found = Recomputed(_v1(task, doc, responses, policy))
    return replace(found, figures={**found.figures, "reasoned": reasoned_share(responses)})


def _v1(task: str, doc: Mapping[str, Any], responses: Sequence[str], policy: str) -> Figures:
    from lm_eval_longbench.aggregation.longbench_v1 import sample_figures  # imports numpy
    from lm_eval_longbench.aggregation.repeats import mean_of_repeats
    from lm_eval_longbench.metrics.longbench_v1 import CLASSIFICATION

    split = split_of_task(task)
    checked(doc, _DOCUMENTS[split.benchmark], _UNSOUND)
    if split.info.name in CLASSIFICATION and not doc["all_classes"]:
        raise PredictionError(f"{_UNSOUND}: it has no 'all_classes'.")
    return mean_of_repeats(
        [
            sample_figures(
                split,
                answer_of(response, policy),
                doc["answers"],
                doc["all_classes"],
                doc["length"],
                doc["prompt"]["truncated"],
            )
            for response in responses
        ]
    )


def _v2(task: str, doc: Mapping[str, Any], responses: Sequence[str], policy: str) -> Figures:
    from lm_eval_longbench.aggregation.longbench_v2 import one_call_figures, question_figures
    from lm_eval_longbench.aggregation.repeats import mean_of_repeats
    from lm_eval_longbench.metrics.longbench_v2 import judge

    if task not in V2_TASKS:
        raise UnknownNameError("LongBench v2 task", task, V2_TASKS)
    checked(doc, _DOCUMENTS["longbench_v2"], _UNSOUND)
    truncated = doc["prompt"]["truncated"]
    if task == COT:
        verdicts = [judge(response, doc["answer"], policy) for response in responses]
        return mean_of_repeats([one_call_figures(own, truncated=truncated) for own in verdicts])
    verdicts = [judge(response, doc["answer"], policy) for response in responses]
    return mean_of_repeats([question_figures(doc, own, truncated=truncated) for own in verdicts])


def had_no_reasoning(doc: Mapping[str, Any]) -> bool | None:
    """Say whether pass one of chain of thought failed for a question; None: it cannot be told.

    Its prompt embeds the reasoning and no document: without a reasoning it is made of the question
    alone, whose hash the log has.
    """
    from lm_eval_longbench.prompts.longbench_v2 import COT_ANSWER as TEMPLATE
    from lm_eval_longbench.prompts.longbench_v2 import render
    from lm_eval_longbench.prompts.text_hash import text_sha256

    if doc["prompt"]["sha256"] == text_sha256(render(doc, TEMPLATE, "")):
        return True
    return None if doc["prompt"]["truncated"] else False


def _pro(
    task: str,
    signature: Mapping[str, Any],
    doc: Mapping[str, Any],
    responses: Sequence[str],
    logged: Figures,
    policy: str,
) -> Recomputed:
    from lm_eval_longbench.aggregation.pro_question import question_figures
    from lm_eval_longbench.catalog_pro import BY_CODE
    from lm_eval_longbench.provenance.recompute_summary import recompute_summary

    code = task.removeprefix("longbench_pro_").removeprefix("thinking_")
    if code not in BY_CODE or not task.startswith("longbench_pro_"):
        raise UnknownNameError("LongBench Pro task", code, BY_CODE)
    secondary = BY_CODE[code]
    checked(doc, _DOCUMENTS["longbench_pro"], _UNSOUND)
    answers = [answer_of(response, policy) for response in responses]
    truncated = doc["prompt"]["truncated"]
    if secondary.metric == "summary":
        model = signature.get("embedding_model")
        return recompute_summary(secondary, doc, answers, logged, model, truncated=truncated)
    return Recomputed(
        question_figures(
            secondary,
            doc["language"],
            answers,
            doc["answer"],
            None,
            official=False,
            truncated=truncated,
        )
    )
