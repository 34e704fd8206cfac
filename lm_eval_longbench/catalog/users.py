"""What a user's task file changes of one of ours: prompt, metric, budget and so on."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from lm_eval_longbench.catalog.model import Task, prompt_sha256

# The key of a task's metadata in results that holds what its file changes.
KEY = "longbench_definition"
# What results call a change, by the key that a user's file may have; "": the label of the data
# says it.
CHANGES: Mapping[str, str] = {
    "doc_to_text": "prompt",
    "template": "prompt",
    "metric": "metric",
    "chat_template": "chat template",
    "generation_kwargs": "generation",
    "dataset_name": "",
}
_BUDGET = ("max_gen_toks",)


def changed(official: Task, definition: Mapping[str, Any]) -> Task:
    """Return one of our tasks with what a user's file changes of it; it counts as ours.

    Generation arguments stay the official ones: those of a run are told by its signature.
    """
    found = official
    if "doc_to_text" in definition:
        found = replace(found, prompt=definition["doc_to_text"], hook="")
    elif "template" in definition:
        found = replace(found, prompt=definition["template"])
    if found.prompt != official.prompt:
        found = replace(found, prompt_sha256=prompt_sha256(found.prompt))
    return replace(
        found,
        metric=definition.get("metric", official.metric),
        chat=definition.get("chat_template", official.chat),
        dataset=definition.get("dataset_name", official.dataset),
    )


def notes(definition: Mapping[str, Any]) -> list[str]:
    """Return what a task's version says of what its file changes: "prompt: own" and so on."""
    found = []
    for key in definition:
        called = CHANGES.get(key, "")
        if key == "generation_kwargs" and tuple(definition[key]) == _BUDGET:
            called = "budget"
        if called:
            found.append(f"{called}: own")
    return list(dict.fromkeys(found))
