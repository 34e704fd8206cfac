"""The signature of a result: what the number depends on, besides the model.

A signature is a JSON object with the keys of INGREDIENTS, and one short line made from it that
changes whenever any of them does. `Ingredients` is the type of a task's in a results file; where
tasks are joined a value may be a list of values, and UNKNOWN where nobody knows it.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypedDict

from lm_eval_longbench.benchmarks.registry import benchmarks
from lm_eval_longbench.shapes import Count, Object, Positive
from lm_eval_longbench.version import __version__, installed

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
_HARMLESS = frozenset(
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
        settings = {**settings, BESIDE: {k: v for k, v in beside.items() if k not in _HARMLESS}}
    own = {k: v for k, v in settings.items() if k != TEMPLATE and v not in _EMPTY}
    return own or None


def setting_departures(settings: Any) -> Iterator[str]:
    """Yield in what an ingredient `model_settings` departs from every official protocol."""
    if settings is None:
        return
    if not isinstance(settings, Mapping):
        yield f"model settings {settings!r}"
        return
    if settings.get(STOP):
        yield "stop strings (officially none)"
    if settings.get(THINK_END) is not None:
        yield "reasoning taken out of answers (officially scored with them)"
    if str(settings.get(BEGIN)).lower() == "false":
        yield "prompts without a beginning-of-text token (officially as the tokenizer has them)"
    beside = settings.get(BESIDE) or {}
    names = sorted(beside) if isinstance(beside, Mapping) else [beside]
    for name in names:
        if name not in _HARMLESS:
            yield f"the field {name} beside prompts (officially left out)"


# ---------------------------------------------------------------------- the signature

# The ingredient `decoding`, and the fingerprint of kept answers that are so already.
CLEANED_UP = "cleaned up"
# Packages, besides this one, that scores depend on.
_PACKAGES = ("lm_eval", "jieba", "tokenizers", "transformers")
# Key by key, and what it holds.
INGREDIENTS: Mapping[str, str] = {
    "benchmark": "its name",
    "task": "our own name of the task",
    "version": "task version, from the YAML's metadata",
    "data": "label of the data: repository and revision, local-<hash> or sample-<hash>",
    "data_sha256": "of the file the documents were read from",
    "template_sha256": "of the prompt template",
    "truncation": "name of the rule that cuts long prompts",
    "limit": "longest prompt in tokens; null: none known",
    "overlength": "what happened to longer prompts: truncate, skip or fail",
    "tokenizer": "name of the tokenizer that cut; null: none was needed",
    "tokenizer_sha256": "of its whole description; null: none was needed, or it cannot be told",
    "chat": "on, off, or raw: withheld from a dataset that officially goes out raw",
    "chat_sha256": "of a one-word prompt as the backend gets it, system instruction included",
    "system_sha256": "of the system instruction; null: none",
    "generation": "generation arguments as sent",
    "model_settings": "what arguments of the model add to requests or take off answers; null: none",
    "decoding": "cleaned up: without spaces before punctuation; null: as the backend decodes",
    "repeats": "answers to each question",
    "seeds": "seed of each repeat, null: none is sent; null: the harness's own seeding",
    "filters": "a user's own filters of answers; null: none",
    "reasoning": "drop or keep: whether reasoning was taken out of answers before scoring",
    "reasoned": "answers that hold reasoning; null: not counted",
    "metrics": "version of the benchmark's metrics",
    "metric": "that a user's task file has in place of the official one; null: the official one",
    "context": "none: prompts without documents, by the option; null: as the task says",
    "embedding_model": "for summaries; null: none",
    "retrieval": "where chunks come from; null: no retrieval",
    "rag_top_n": "chunks in a prompt; null: no retrieval",
    "reasoning_sha256": "of the reasoning that prompts embed; null: none",
    "questions_sha256": "of the ids of the questions asked for, in order",
    "asked": "questions asked for",
    "kept": "questions left after overlength=skip",
    "answered": "questions with an answer from the model, empty ones included",
    "failed": "answers that are empty",
    "truncated": "questions whose prompt was cut",
    "capped": "answers that ended at the output budget; null: not known",
    "packages": "versions of this package, lm_eval, jieba, tokenizers and transformers",
}


class Ingredients(TypedDict, total=False):
    """The signature of a task, as its results file has it; what each means says INGREDIENTS."""

    benchmark: str | None
    task: str | None
    version: str | None
    data: str | None
    data_sha256: str | None
    template_sha256: str | None
    truncation: str | None
    limit: Count | None
    overlength: str | None
    tokenizer: str | None
    tokenizer_sha256: str | None
    chat: str | None
    chat_sha256: str | None
    system_sha256: str | None
    generation: Object | None
    model_settings: Object | None
    decoding: str | None
    repeats: Positive | None
    seeds: list[Any] | None
    filters: list[Any] | None
    reasoning: str | None
    reasoned: Count | None
    metrics: str | None
    metric: str | None
    context: str | None
    embedding_model: str | None
    retrieval: str | None
    rag_top_n: Count | None
    reasoning_sha256: str | None
    questions_sha256: str | None
    asked: Count | None
    kept: Count | None
    answered: Count | None
    failed: Count | None
    truncated: Count | None
    capped: Count | None
    packages: dict[str, str | None] | None


class SignaturePart(TypedDict, total=False):
    """The signature of a table in report.json.

    Attributes:
        line: in short.
        ingredients: of all tasks together.
        tasks: ingredients by task.
    """

    line: str | None
    ingredients: Object | None
    tasks: dict[str, Object] | None


# Ingredients that earlier versions do not state, which is the same as null. Where they are null the
# line is made without them, so that it is the one of those versions.
LATER = ("capped", "system_sha256", "model_settings", "decoding", "metric", "context")
# An ingredient of which nobody knows what it was, where null would say that there was none.
UNKNOWN = "?"


def unknown(**known: Any) -> dict[str, Any]:
    """Return a signature of answers of which little is known; what was not given is UNKNOWN."""
    completed(known)  # refuses a key that no signature has
    return {**dict.fromkeys(INGREDIENTS, UNKNOWN), **known}


def completed(given: Mapping[str, Any]) -> dict[str, Any]:
    """Return a signature with every key in its order; what was not given is null.

    Raises KeyError for a key that no signature has.
    """
    for key in given:
        if key not in INGREDIENTS:
            raise KeyError(key)
    return {key: given.get(key) for key in INGREDIENTS}


def fingerprint(signature: Mapping[str, Any] | Sequence[Any]) -> str:
    """Return eight hexadecimal digits that change with any ingredient."""
    text = json.dumps(signature, sort_keys=True, ensure_ascii=False, default=str)
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:8]


def values_of(value: Any) -> list[Any]:
    """Return the values of an ingredient: several where tasks were combined."""
    return value if isinstance(value, list) else [value]


def _joined(values: Sequence[object]) -> str:
    """Return up to three values, and of more their number and a hash."""
    texts = list(dict.fromkeys(map(str, values)))
    return "+".join(texts) if len(texts) <= 3 else f"{len(texts)}x{fingerprint(texts)}"


def _cut(signature: Mapping[str, Any]) -> str:
    if signature["limit"] in (None, UNKNOWN):
        return UNKNOWN if signature["limit"] else "none"
    names = [str(name).rstrip("/").rpartition("/")[2] for name in values_of(signature["tokenizer"])]
    how = [one for one in values_of(signature["overlength"]) if one != "truncate"]
    return (
        f"middle@{_joined(values_of(signature['limit']))}/{_joined(names)}"
        f"{'!' + _joined(how) if how else ''}"
    )


def line(signature: Mapping[str, Any]) -> str:
    """Return the signature in one short line.

    Benchmark, task version, data revision, template hash, cut, chat policy, temperature, repeats,
    answered of asked questions, metric version, fingerprint of everything.
    """
    temperatures = [
        one.get("temperature") if isinstance(one, Mapping) else UNKNOWN
        for one in values_of(signature["generation"])
    ]
    known = {
        name: value for name, value in signature.items() if name not in LATER or value is not None
    }
    signs = {name: own.sign for name, own in benchmarks().items()}
    parts = (
        _joined([signs.get(str(one), str(one)) for one in values_of(signature["benchmark"])]),
        f"v{_joined(values_of(signature['version']))}",
        f"data:{_joined([str(one).rpartition('@')[2] for one in values_of(signature['data'])])}",
        f"prompt:{_joined([str(one)[:8] for one in values_of(signature['template_sha256'])])}",
        f"cut:{_cut(signature)}",
        f"chat:{_joined(values_of(signature['chat']))}",
        f"t:{_joined(temperatures)}",
        f"k:{_joined(values_of(signature['repeats']))}",
        f"n:{signature['answered']}/{signature['asked']}",
        f"score:{_joined(values_of(signature['metrics']))}",
        f"sig:{fingerprint(known)}",
    )
    return "|".join(parts)


def of_scored(tasks: Mapping[str, Mapping[str, Any]], table: Mapping[str, Any]) -> SignaturePart:
    """Return the signature of a table that was scored, with its counts.

    Args:
        tasks: signature of each task, whose counts are replaced.
        table: counts of the table and of its tasks, as in report.json.

    Returns:
        "line", "ingredients", and under "tasks" the ingredients of each task.
    """
    counted = {
        task: {
            **own,
            "answered": table["tasks"][task]["questions"],
            "failed": table["tasks"][task]["failed"],
            "truncated": table["tasks"][task]["truncated"],
            "capped": table["tasks"][task].get("capped"),
            "reasoned": table["tasks"][task]["reasoned"],
        }
        for task, own in tasks.items()
    }
    whole = combined(list(counted.values())) | {
        "answered": table["counts"]["questions"],
        "failed": table["counts"]["failed"],
        "truncated": table["counts"]["truncated"],
        "capped": table["counts"].get("capped"),
    }
    if UNKNOWN in [own["asked"] for own in counted.values()]:
        whole |= {"asked": UNKNOWN, "kept": UNKNOWN}
    return {"line": line(whole), "ingredients": whole, "tasks": counted}


# Ingredients that add up over the tasks of a group.
_COUNTS = ("reasoned", "asked", "kept", "answered", "failed", "truncated", "capped")


def combined(signatures: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Return the signature of a figure over several tasks.

    What all tasks share stays, counts are summed, and what differs becomes a sorted list of the
    values met; the order of the tasks leaves no trace.
    """
    joined: dict[str, Any] = {}
    for key in INGREDIENTS:
        values = [signature.get(key) for signature in signatures]
        if key in _COUNTS:
            known = [value for value in values if isinstance(value, int)]
            joined[key] = sum(known) if len(known) == len(values) else None
        else:
            texts = {json.dumps(value, sort_keys=True, default=str): value for value in values}
            distinct = [texts[text] for text in sorted(texts)]
            joined[key] = distinct[0] if len(distinct) == 1 else distinct
    return joined


def counted(signatures: Mapping[str, Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """Return the signatures of what the report counts.

    Where one task was run in two settings, that is the one under our own name, if there is one.
    """
    return [
        own
        for name, own in signatures.items()
        if name == own["task"] or own["task"] not in signatures
    ]


def package_versions() -> dict[str, str | None]:
    """Return the version of each package by name; None where it is not installed."""
    return {"lm_eval_longbench": __version__, **{name: installed(name) for name in _PACKAGES}}


# ---------------------------------------------------------------------- the label of data

_SAMPLE, _LOCAL = "sample-", "local-"
_ONLY = " (only "


@dataclass(frozen=True)
class Label:
    """A label of data, taken apart.

    Attributes:
        base: without the choice of questions.
        pinned_sha256: of the pinned file, if this is the label of pinned data.
        digits: of the file's sha256, if the label has them.
        is_choice: whether only some of the questions were chosen.
    """

    base: str
    pinned_sha256: str | None
    digits: str | None
    is_choice: bool = False

    @property
    def is_sample(self) -> bool:
        """Whether it is the embedded sample."""
        return self.base.startswith(_SAMPLE)

    @property
    def is_local(self) -> bool:
        """Whether it is a file of the user's own."""
        return self.base.startswith(_LOCAL)


def read_label(label: object) -> Label:
    """Take a label of data apart."""
    base, choice, _ = str(label).partition(_ONLY)
    pinned = {one.source.label: one.source.sha256 for one in benchmarks().values()}
    marked = base.startswith((_SAMPLE, _LOCAL))
    return Label(base, pinned.get(base), base.partition("-")[2] if marked else None, bool(choice))
