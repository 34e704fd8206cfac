"""What a signature is made of: each ingredient once, with what a difference in it means.

A difference weighs NOT if it can move a score, and CARE if the same answers would still get the
same scores. Some weigh NOT only under a condition: where nothing was cut, what cuts does not
matter.
"""

from __future__ import annotations

import contextlib
import functools
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from lm_eval_longbench.shapes import Count, Object, Positive

COMPARABLE, CARE, NOT = "comparable", "comparable with care", "not comparable"
Signature = Mapping[str, Any]
Condition = Callable[[Signature, Signature], bool]
# An ingredient of which nobody knows what it was, where null would say that there was none.
UNKNOWN = "?"
# What conditions know besides ingredients: whether a task is scored with a Chinese segmenter.
SEGMENTED = "segmented"


# ---------------------------------------------------------------------- arguments of models
# Those that change requests, or what is left of answers: the ingredient `model_settings`.

# What the harness's models and longbench-api add to the stop strings, take out of answers, put
# before prompts, and send beside them.
STOP, THINK_END, BEGIN = "eos_string", "think_end_token", "add_bos_token"
BESIDE, TEMPLATE = "extra_body", "chat_template_kwargs"
_NAMES = (STOP, THINK_END, BEGIN, BESIDE, TEMPLATE)
_EMPTY: tuple[Any, ...] = (None, "", {})
# What requests may hold beside the prompt without a departure from any protocol: how a model
# thinks, which belongs to it, and what servers are told about the request itself.
HARMLESS = frozenset(
    {
        *(TEMPLATE, "reasoning", "reasoning_effort", "thinking", "enable_thinking"),
        *("user", "metadata", "store", "service_tier", "priority", "provider", "session_id"),
        *("request_id", "safety_identifier", "prompt_cache_key", "prompt_cache_retention"),
        *("cache_salt", "cache_prompt", "id_slot", "slot_id", "keep_alive"),
    }
)


def model_settings(arguments: Mapping[str, Any]) -> dict[str, Any] | None:
    """Return those of a model's arguments that are settings, objects in place of their JSON.

    None: there are none.
    """
    found: dict[str, Any] = {}
    for name in _NAMES:
        value = arguments.get(name)
        if name in (BESIDE, TEMPLATE) and isinstance(value, str):
            with contextlib.suppress(ValueError):  # the model refuses what is no JSON
                value = json.loads(value)
        if value not in _EMPTY:
            found[name] = value
    return found or None


def less_own(settings: Any) -> Any:
    """Return a value of `model_settings` without what departs from no protocol."""
    if not isinstance(settings, Mapping):
        return settings
    beside = settings.get(BESIDE)
    if isinstance(beside, Mapping):
        settings = {**settings, BESIDE: {k: v for k, v in beside.items() if k not in HARMLESS}}
    own = {k: v for k, v in settings.items() if k != TEMPLATE and v not in _EMPTY}
    return own or None


# ---------------------------------------------------------------------- what a difference means


@dataclass(frozen=True)
class Ingredient:
    """One ingredient of a signature, or one of its packages, and what a difference in it means.

    Attributes:
        weight: CARE or NOT.
        reason: why.
        harmless: of two signatures, whether it weighs CARE here in spite of `weight`; None: never.
        then: why it does.
        kind: its type, where it is not null.
        later: whether a signature may leave it out, which is the same as null. Where it is null the
            line is made without it.
    """

    weight: str
    reason: str
    harmless: Condition | None = None
    then: str = ""
    kind: Any = str
    later: bool = False

    def weigh(self, left: Signature, right: Signature) -> tuple[str, str]:
        """Return weight and reason for two signatures that differ in the ingredient."""
        if self.harmless is not None and self.harmless(left, right):
            return CARE, self.then
        return self.weight, self.reason


def values_of(value: Any) -> list[Any]:
    """Return the values of an ingredient: several where tasks were combined."""
    return value if isinstance(value, list) else [value]


def nothing_cut(left: Signature, right: Signature) -> bool:
    """Whether no prompt was cut and no question skipped for its length, on either side."""
    return all(
        one.get("truncated") == 0 and one.get("kept", 0) == one.get("asked", 0)
        for one in (left, right)
    )


def _cuts_unknown(left: Signature, right: Signature) -> bool:
    """Whether one side does not say how many prompts were cut, as official files."""
    return None in (left.get("truncated"), right.get("truncated"))


def same_tokenizer(left: Signature, right: Signature) -> bool:
    """Whether the two sides name the same tokenizer in two ways."""
    known = left.get("tokenizer_sha256")
    return known is not None and known == right.get("tokenizer_sha256")


def _own_templates(left: Signature, right: Signature) -> bool:
    """Whether chat prompts of two models are compared, each with the template it knows."""
    chat = [value for one in (left, right) for value in values_of(one.get("chat"))]
    return "off" not in chat and "on" in chat and not same_tokenizer(left, right)


def _own_switches(left: Signature, right: Signature) -> bool:
    """Whether settings of two models differ in nothing but how each of them thinks."""
    ours, theirs = (
        [less_own(value) for value in values_of(one.get("model_settings"))] for one in (left, right)
    )
    return ours == theirs and not same_tokenizer(left, right)


def _both(name: str, value: object) -> Condition:
    """Return the condition that an ingredient has this value on both sides."""
    return lambda left, right: left.get(name) == value == right.get(name)


def data_of(label: object) -> str:
    """Return a label of data without which of its questions were chosen."""
    return str(label).partition(" (only ")[0]


def is_part(left: Signature, right: Signature) -> bool:
    """Whether the option `only` chose among the same questions, on one side or both."""
    ours, theirs = left.get("data"), right.get("data")
    known = isinstance(ours, str) and isinstance(theirs, str)
    return known and data_of(ours) == data_of(theirs) and f"{ours}{theirs}" != 2 * data_of(ours)


PART = (
    "the option `only` chose the questions of one side or both: B - A is over those that both have"
)
_CUTS = "prompts were cut, and this decides what the model read"
_UNCUT = "no prompt was cut on either side, so that it had nothing to decide"
_TOKENIZERS = "officially each model's own tokenizer cuts its prompts; two of one cut elsewhere"
# Makes an ingredient that tells which questions were asked: a part of them is no other data.
_chosen = functools.partial(Ingredient, NOT, harmless=is_part, then=PART)

# ---------------------------------------------------------------------- the ingredients


# By name, in the order of a signature; the comments say what each holds.
INGREDIENTS: Mapping[str, Ingredient] = {
    # Its name.
    "benchmark": Ingredient(NOT, "another benchmark asks other questions"),
    # Our own name of the task.
    "task": Ingredient(NOT, "other tasks have other questions"),
    # Task version, from the YAML's metadata.
    "version": Ingredient(
        NOT, "a task's version is raised with every change that can move a score"
    ),
    # Label of the data: repository and revision, local-<hash> or sample-<hash>.
    "data": _chosen("other data, other questions"),
    # Of the file the documents were read from.
    "data_sha256": Ingredient(NOT, "the documents were read from another file"),
    # Of the prompt template.
    "template_sha256": Ingredient(NOT, "the questions were put in other words"),
    # Name of the rule that cuts long prompts.
    "truncation": Ingredient(NOT, _CUTS, nothing_cut, _UNCUT),
    # Longest prompt in tokens; null: none known.
    "limit": Ingredient(NOT, _CUTS, nothing_cut, _UNCUT, kind=Count),
    # What happened to longer prompts: truncate, skip or fail.
    "overlength": Ingredient(
        NOT, "longer prompts were cut on one side and left out on the other", nothing_cut, _UNCUT
    ),
    # Name of the tokenizer that cut; null: none was needed.
    "tokenizer": Ingredient(
        CARE, _TOKENIZERS, same_tokenizer, "another name for the same tokenizer"
    ),
    # Of its whole description; null: none was needed, or it cannot be told.
    "tokenizer_sha256": Ingredient(CARE, _TOKENIZERS),
    # On, off, or raw: withheld from a dataset that officially goes out raw.
    "chat": Ingredient(NOT, "prompts were wrapped in a chat template on one side only"),
    # Of a one-word prompt as the backend gets it, system instruction included.
    "chat_sha256": Ingredient(
        NOT,
        "something else stood around the prompts: another chat template of the same model, or a "
        "system instruction",
        _own_templates,
        "each model has a chat template of its own; a system instruction would show here too",
    ),
    # Of the system instruction; null: none.
    "system_sha256": Ingredient(
        NOT, "a system instruction on one side only, or another one", later=True
    ),
    # Generation arguments as sent.
    "generation": Ingredient(
        NOT, "other sampling or another output budget gives other answers", kind=Object
    ),
    # What arguments of the model add to requests or take off answers; null: none.
    "model_settings": Ingredient(
        NOT,
        "arguments of a model changed requests, or what is left of answers",
        _own_switches,
        "each model has switches of its own for how it thinks",
        later=True,
        kind=Object,
    ),
    # Cleaned up: without spaces before punctuation; null: as the backend decodes.
    "decoding": Ingredient(
        CARE,
        "the official release cleans up what this tokenizer decodes and servers do not, or the "
        "tokenizers differ: it moves lcc by up to 0.05 points, repobench-p by 0.01, others not",
        later=True,
    ),
    # Reused: what prompts have in common was read once; null: each was read whole.
    "prefill": Ingredient(
        CARE,
        "what prompts have in common was read once on one side: with less than 32 bits the last "
        "bit of a token's score may differ",
        later=True,
    ),
    # Batch: some answers came in result files of a batch API; null: none.
    "via": Ingredient(
        CARE,
        "answers of a batch API on one side: a provider may serve batches by other machines",
        later=True,
    ),
    # Answers to each question.
    "repeats": Ingredient(NOT, "best-of-N and pass@N need the same N", kind=Positive),
    # Seed of each repeat, null: none is sent; null: the harness's own seeding.
    "seeds": Ingredient(
        CARE, "other seeds draw other answers from the same distribution", kind=list[Any]
    ),
    # A user's own filters of answers; null: none.
    "filters": Ingredient(NOT, "something else of the answers was scored", kind=list[Any]),
    # Drop or keep: whether reasoning was taken out of answers before scoring.
    "reasoning": Ingredient(
        NOT,
        "reasoning was scored with the answers on one side only",
        _both("reasoned", 0),
        "no answer on either side holds reasoning",
    ),
    # Answers that hold reasoning; null: not counted.
    "reasoned": Ingredient(CARE, "another number of answers holds reasoning", kind=Count),
    # Version of the benchmark's metrics.
    "metrics": Ingredient(NOT, "the same answers are scored by other rules"),
    # That a user's task file has in place of the official one; null: the official one.
    "metric": Ingredient(NOT, "the same answers are scored by another metric", later=True),
    # None: prompts without documents, by the option; null: as the task says.
    "context": Ingredient(NOT, "prompts have no documents on one side only", later=True),
    # For summaries; null: none.
    "embedding_model": Ingredient(NOT, "another embedding model gives other similarities"),
    # Where chunks come from; null: no retrieval.
    "retrieval": Ingredient(NOT, "another retriever finds other chunks"),
    # Chunks in a prompt; null: no retrieval.
    "rag_top_n": Ingredient(NOT, "prompts hold another number of chunks", kind=Count),
    # Of the reasoning that prompts embed; null: none.
    "reasoning_sha256": Ingredient(CARE, "each run answers from its own reasoning"),
    # Piece of a run, and the questions of all pieces; null: all of it, or all pieces were merged.
    "shard": Ingredient(NOT, "a piece of a run was asked, or other pieces", later=True),
    # Of the ids of the questions asked for, in order; of those of all pieces.
    "questions_sha256": _chosen("other questions were asked, or in another order"),
    # Questions asked for.
    "asked": _chosen("other questions were asked", kind=Count),
    # Questions left after overlength=skip.
    "kept": _chosen("questions were left out for their length, and not the same", kind=Count),
    # Questions with an answer from the model, empty ones included.
    "answered": _chosen("the means are over other questions", kind=Count),
    # Answers that are empty.
    "failed": Ingredient(CARE, "failed answers count as wrong on both sides", kind=Count),
    # Questions whose prompt was cut.
    "truncated": Ingredient(
        CARE,
        "another number of prompts was cut",
        _cuts_unknown,
        "how many prompts were cut is not known on one side",
        kind=Count,
    ),
    # Answers that ended at the output budget; null: not known.
    "capped": Ingredient(
        CARE,
        "another number of answers ended at the budget, or it is not known on one side",
        later=True,
        kind=Count,
    ),
    # Versions of this package, lm_eval, jieba, tokenizers and transformers.
    "packages": Ingredient(
        NOT, "other versions of packages that scores depend on", kind=dict[str, str | None]
    ),
}
# Those that a signature may leave out, which is the same as null.
LATER = tuple(name for name, own in INGREDIENTS.items() if own.later)
# Each package of the ingredient "packages".
PACKAGES: Mapping[str, Ingredient] = {
    "lm_eval_longbench": Ingredient(
        CARE, "what moves scores has versions of its own: task, template and metrics"
    ),
    "lm_eval": Ingredient(
        CARE, "another harness may send requests otherwise; it scores nothing here"
    ),
    "jieba": Ingredient(
        NOT,
        "Chinese answers are segmented by another version before they are scored",
        _both(SEGMENTED, False),
        "none of these tasks is scored with it",
    ),
    "tokenizers": Ingredient(NOT, _CUTS, nothing_cut, _UNCUT),
    "transformers": Ingredient(
        CARE, "prompts are cut and answers cleaned up as the official release did under any release"
    ),
}
