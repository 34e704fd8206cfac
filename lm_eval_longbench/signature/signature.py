"""The signature of a result: what the number depends on, besides the model.

A signature is a JSON object with the keys of INGREDIENTS, and one short line made from it that
changes whenever any of them does. Where tasks are joined a value may be a list of values, and
UNKNOWN where nobody knows it.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from typing import Any

from lm_eval_longbench.records.scored import SignaturePart
from lm_eval_longbench.signature.ingredients import INGREDIENTS, LATER, PACKAGES, values_of
from lm_eval_longbench.signature.ingredients import UNKNOWN as UNKNOWN
from lm_eval_longbench.signature.ingredients import data_of as data_of
from lm_eval_longbench.version import __version__, installed

# The ingredient `decoding`, and the fingerprint of kept answers that are so already.
CLEANED_UP = "cleaned up"
# The ingredient `prefill`.
REUSED = "reused"


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


def line(signature: Mapping[str, Any], signs: Mapping[str, str]) -> str:
    """Return the signature in one short line; `signs`: of benchmarks, by name.

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


def of_scored(
    tasks: Mapping[str, Mapping[str, Any]], table: Mapping[str, Any], signs: Mapping[str, str]
) -> SignaturePart:
    """Return the signature of a table that was scored, with its counts.

    Args:
        tasks: signature of each task, whose counts are replaced.
        table: counts of the table and of its tasks, as in report.json.
        signs: see `line`.

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
    return {"line": line(whole, signs), "ingredients": whole, "tasks": counted}


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
    versions = {name: installed(name) for name in PACKAGES}
    return {**versions, "lm_eval_longbench": __version__}


# ---------------------------------------------------------------------- the label of data


def is_sample(label: object) -> bool:
    """Whether a label is of the embedded sample."""
    return str(label).startswith("sample-")


def is_local(label: object) -> bool:
    """Whether a label is of a file of the user's own."""
    return str(label).startswith("local-")
