"""How much it matters, ingredient by ingredient, that two signatures differ in it.

A difference weighs NOT if it can move a score, and CARE if the same answers would still get the
same scores. Some weigh NOT only under a condition: where nothing was cut, what cuts does not
matter.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

COMPARABLE, CARE, NOT = "comparable", "comparable with care", "not comparable"
Signature = Mapping[str, Any]
Condition = Callable[[Signature, Signature], bool]


@dataclass(frozen=True)
class Rule:
    """What a difference in one ingredient means.

    Attributes:
        weight: CARE or NOT.
        reason: why.
        harmless: of two signatures, whether it weighs CARE here in spite of `weight`; None: never.
        then: why it does.
    """

    weight: str
    reason: str
    harmless: Condition | None = None
    then: str = ""

    def weigh(self, left: Signature, right: Signature) -> tuple[str, str]:
        """Return weight and reason for two signatures that differ in the ingredient."""
        if self.harmless is not None and self.harmless(left, right):
            return CARE, self.then
        return self.weight, self.reason


def _values(value: Any) -> list[Any]:
    """Return the values of an ingredient: several where tasks were combined."""
    return value if isinstance(value, list) else [value]


def _nothing_cut(left: Signature, right: Signature) -> bool:
    """Whether no prompt was cut and no question skipped for its length, on either side."""
    return all(
        one.get("truncated") == 0 and one.get("kept", 0) == one.get("asked", 0)
        for one in (left, right)
    )


def _same_tokenizer(left: Signature, right: Signature) -> bool:
    """Whether the two sides name the same tokenizer in two ways."""
    known = left.get("tokenizer_sha256")
    return known is not None and known == right.get("tokenizer_sha256")


def _own_templates(left: Signature, right: Signature) -> bool:
    """Whether chat prompts of two models are compared, each with the template it knows."""
    chat = [value for one in (left, right) for value in _values(one.get("chat"))]
    known = (left.get("tokenizer_sha256"), right.get("tokenizer_sha256"))
    return "off" not in chat and "on" in chat and (None in known or known[0] != known[1])


# Tasks whose metric segments Chinese text with jieba.
_SEGMENTED = ("multifieldqa_zh", "dureader", "vcsum", "_t4_1", "_t4_2")


def is_segmented(task: str) -> bool:
    """Whether a task's answers are segmented with jieba before they are scored."""
    return task.endswith(_SEGMENTED)


def _no_segmentation(left: Signature, right: Signature) -> bool:
    """Whether no task on either side is scored with jieba."""
    tasks = [str(value) for one in (left, right) for value in _values(one.get("task"))]
    return not any(map(is_segmented, tasks))


def _no_reasoning(left: Signature, right: Signature) -> bool:
    """Whether no answer on either side holds reasoning."""
    return left.get("reasoned") == 0 and right.get("reasoned") == 0


_CUTS = "prompts were cut, and this decides what the model read"
_UNCUT = "no prompt was cut on either side, so that it had nothing to decide"
_OWN = "officially each model's own tokenizer cuts its prompts; two of one model cut elsewhere"

# Every ingredient of a signature, in the order of a signature.
RULES: Mapping[str, Rule] = {
    "benchmark": Rule(NOT, "another benchmark asks other questions"),
    "task": Rule(NOT, "other tasks have other questions"),
    "version": Rule(NOT, "a task's version is raised with every change that can move a score"),
    "data": Rule(NOT, "other data, other questions"),
    "data_sha256": Rule(NOT, "the documents were read from another file"),
    "template_sha256": Rule(NOT, "the questions were put in other words"),
    "truncation": Rule(NOT, _CUTS, _nothing_cut, _UNCUT),
    "limit": Rule(NOT, _CUTS, _nothing_cut, _UNCUT),
    "overlength": Rule(
        NOT, "longer prompts were cut on one side and left out on the other", _nothing_cut, _UNCUT
    ),
    "tokenizer": Rule(CARE, _OWN, _same_tokenizer, "another name for the same tokenizer"),
    "tokenizer_sha256": Rule(CARE, _OWN),
    "chat": Rule(NOT, "prompts were wrapped in a chat template on one side only"),
    "chat_sha256": Rule(
        NOT,
        "something else stood around the prompts: another chat template of the same model, or a "
        "system instruction",
        _own_templates,
        "each model has a chat template of its own; a system instruction would show here too",
    ),
    "generation": Rule(NOT, "other sampling or another output budget gives other answers"),
    "repeats": Rule(NOT, "best-of-N and pass@N need the same N"),
    "seeds": Rule(CARE, "other seeds draw other answers from the same distribution"),
    "filters": Rule(NOT, "something else of the answers was scored"),
    "reasoning": Rule(
        NOT,
        "reasoning was scored with the answers on one side only",
        _no_reasoning,
        "no answer on either side holds reasoning",
    ),
    "reasoned": Rule(CARE, "another number of answers holds reasoning"),
    "metrics": Rule(NOT, "the same answers are scored by other rules"),
    "embedding_model": Rule(NOT, "another embedding model gives other similarities"),
    "retrieval": Rule(NOT, "another retriever finds other chunks"),
    "rag_top_n": Rule(NOT, "prompts hold another number of chunks"),
    "reasoning_sha256": Rule(CARE, "each run answers from its own reasoning"),
    "questions_sha256": Rule(NOT, "other questions were asked, or in another order"),
    "asked": Rule(NOT, "other questions were asked"),
    "kept": Rule(NOT, "questions were left out for their length, and not the same"),
    "answered": Rule(NOT, "the means are over other questions"),
    "failed": Rule(CARE, "failed answers count as wrong on both sides"),
    "truncated": Rule(CARE, "another number of prompts was cut, as tokenizers differ"),
    "packages": Rule(NOT, "other versions of packages that scores depend on"),
}
# Each package of the ingredient "packages".
PACKAGES: Mapping[str, Rule] = {
    "lm_eval_longbench": Rule(
        CARE, "what moves scores has versions of its own: task, template and metrics"
    ),
    "lm_eval": Rule(CARE, "another harness may send requests otherwise; it scores nothing here"),
    "jieba": Rule(
        NOT,
        "Chinese answers are segmented by another version before they are scored",
        _no_segmentation,
        "none of these tasks is scored with it",
    ),
    "tokenizers": Rule(NOT, _CUTS, _nothing_cut, _UNCUT),
}
