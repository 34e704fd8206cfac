"""What a user's task files say: what one changes of ours, and whole benchmarks of a user's own."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from typing_extensions import TypedDict

from lm_eval_longbench.catalog.model import Task, prompt_sha256
from lm_eval_longbench.errors import OptionError, PredictionError
from lm_eval_longbench.shapes import Count, Object, Positive, checked

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


# ---------------------------------------------------------------------- whole benchmarks

# The key of a task's metadata in results, and of report.json, with whole benchmarks by their names:
# what all tasks say, and what each says besides.
WHOLE = "longbench_benchmarks"
# What no task file need say: what the harness is to do.
DEFAULTS: Mapping[str, Any] = {
    "test_split": "test",
    "output_type": "generate_until",
    "num_fewshot": 0,
    "target_delimiter": "",
}
_GENERATION = {"until": [], "do_sample": False, "temperature": 0.0}
_MODULE = frozenset(
    {
        *("table", "tables", "mode", "published", "first_pass", "counts_as", "dimensions"),
        *("where", "document", "template"),
    }
)
# Keys that are not part of what a task is.
_NOT_CARRIED = ("class", "tag", "task_alias", "include")
_PARTS = frozenset({"category", "language", "label"})
# Of benchmarks, tasks and data: they become names of files.
_NAME = re.compile(r"\w[\w.-]*")
_FILE = re.compile(r"(\w[\w.-]*/)*\w[\w.-]*\.(jsonl|zip)")
_ADDRESS = re.compile(r"https?://[^\s'\"]+")
_REPOSITORY = re.compile(r"[\w.-]+/[\w.-]+")


class Carried(TypedDict):
    """A benchmark in results: what all of its tasks say, and by task what each says besides."""

    all: Object
    tasks: dict[str, Object]


class _Budget(TypedDict):
    max_gen_toks: Positive


class _Source(TypedDict):
    file: str
    sha256: str


class _Pinned(_Source, total=False):
    revision: str
    url: str
    bytes: Count


class _TaskFile(TypedDict):
    benchmark: str
    task: str
    doc_to_text: str
    generation_kwargs: _Budget


class TaskFile(_TaskFile, total=False):
    """What a task file of a benchmark of a user's own says."""

    dataset_path: str
    dataset_name: str
    metric: str
    label: str
    category: str
    language: str
    questions: Count
    length: str
    prompt_sha256: str
    truncation: str
    chat_template: bool
    first_line: bool
    limits: list[Positive]
    source: _Pinned
    headline: dict[str, dict[str, str | list[str]]]
    metadata: Object


def _strange(headline: Mapping[str, Mapping[str, Any]]) -> Iterator[str]:
    """Yield what headlines are said to be the mean of, and is no part of a task."""
    for own in headline.values():
        yield from own.keys() - _PARTS - {"mean_of"}
        if own.get("mean_of", "label") not in _PARTS:
            yield str(own["mean_of"])


def whole(given: Mapping[str, Any], where: object) -> dict[str, Any]:
    """Return a task of a user's own benchmark with what its file leaves out, as JSON has it.

    Raises:
        OptionError: it says too little, a value is of another kind, or it needs a module.
    """
    name = given.get("task")
    own = {k: v for k, v in given.items() if v is not None and k not in _NOT_CARRIED}
    leaf: dict[str, Any] = json.loads(json.dumps(own, default=str))
    leaf = {"label": name, "dataset_name": name, **leaf}
    said = f"{name}, in {where}, does not define a task"
    try:
        checked(leaf, TaskFile, said)
    except PredictionError as error:
        raise OptionError(f"{error} docs/new-benchmark.md shows a whole file.") from error
    leaf["generation_kwargs"] = {**_GENERATION, **leaf["generation_kwargs"]}
    source, headline = leaf.get("source"), leaf.get("headline", {})
    more = sorted(_MODULE & leaf.keys())
    names = [leaf["benchmark"], leaf["task"], leaf["dataset_name"]]
    odd = [one for one in names if not _NAME.fullmatch(one)]
    problem = ""
    if more:
        problem = f"{more[0]!r} needs a module of its own"
    elif odd:
        problem = f"{odd[0]!r} is no name of letters, digits, '_', '-' and '.'"
    elif source and not _FILE.fullmatch(source["file"]):
        problem = f"the file of its source is {source['file']!r}, not NAME.jsonl or NAME.zip"
    elif source and not re.fullmatch("[0-9a-f]{64}", source["sha256"]):
        problem = f"the sha256 of its source is {source['sha256']!r}, not 64 hexadecimal digits"
    elif source and not _REPOSITORY.fullmatch(leaf.get("dataset_path", "")):
        problem = "its source needs the repository, 'dataset_path: OWNER/NAME'"
    elif source and "revision" not in source and not _ADDRESS.fullmatch(source.get("url", "")):
        problem = "its source has neither a 'revision' of the repository nor a 'url' of the file"
    elif headline and (key := next(_strange(headline), None)):
        problem = f"a headline has {key!r}; it may have 'mean_of' and {', '.join(sorted(_PARTS))}"
    if problem:
        raise OptionError(f"{said}: {problem}. See docs/new-benchmark.md.")
    return leaf
