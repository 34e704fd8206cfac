"""Check a signature against the rest of the file; name the ingredients that nothing confirms.

A results file says most things twice: in the signature, and in the configuration that the harness
dumped. Both are in one file, so that they agree proves little; that they do not is an edit.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from lm_eval_longbench.catalog import RAW_PROMPT, split_of_task
from lm_eval_longbench.catalog_v2 import DOMAINS
from lm_eval_longbench.errors import LongBenchError, OptionError
from lm_eval_longbench.options import Options, read_seed
from lm_eval_longbench.prompts.text_hash import text_sha256
from lm_eval_longbench.prompts.tokenizer import tokenizer_name
from lm_eval_longbench.prompts.truncation import ends_decoded_together, halves_decoded_apart
from lm_eval_longbench.provenance.check import (
    CONFIRMED,
    DIFFERENT,
    NOT_CHECKABLE,
    Check,
    compared,
)
from lm_eval_longbench.provenance.check_log import PLAIN
from lm_eval_longbench.provenance.check_prompts import AROUND, CUT, LIMIT
from lm_eval_longbench.provenance.data_label import read_label
from lm_eval_longbench.provenance.lock_tasks import LockTask
from lm_eval_longbench.provenance.packages import package_versions
from lm_eval_longbench.provenance.read_results import TaskResult
from lm_eval_longbench.provenance.recompute import COT_ANSWER

KIND = "settings"
_RAG = "longbench_v2_rag"
_SUMMARIES = ("_t4_1", "_t4_2")
_OFFICIAL_LIMIT, _FROM_FILE = "truncate_to=", "file sha256 "
UNCONFIRMED = "ingredients"
# Names of the output budget in --gen_kwargs, which a task writes under one of them, as a number.
_BUDGET = ("max_gen_toks", "max_new_tokens", "max_tokens", "max_completion_tokens")
_NOWHERE = "not there"
_UNCUT = "No cut prompt could be compared: what cuts had nothing to decide, or cannot be told."
_AROUND = "Only requests and the data together tell what stood around the prompts."
_UNLOGGED = "Only the requests in the log tell."
_CHAT = "The signature and what the file says of chat templates do not go together."
_EDITED = "The signature and the configuration say different things: one of them was edited."


def check_settings(task: TaskResult, ours: Mapping[str, LockTask]) -> Iterator[Check]:
    """Yield the checks of what the signature and the rest of the file both say.

    Args:
        task: what the results file says.
        ours: our tasks by name.
    """
    run, config = task.run, task.config

    def same(key: str, found: Any, expected: Any) -> Check:
        return compared(KIND, key, found, expected, _EDITED)

    yield _dataset(task, ours)
    yield same("version", str(task.metadata.get("version")), str(run.get("version")))
    yield same("generation", config.get("generation_kwargs"), run.get("generation"))
    given = task.settings.get("config", {}).get("gen_kwargs")
    if isinstance(given, Mapping):
        own = run.get("generation") or {}
        asked = {key: value for key, value in given.items() if key not in _BUDGET}
        if "seed" in asked:  # the harness states it as it was typed
            with contextlib.suppress(OptionError):
                asked["seed"] = read_seed(asked["seed"])
        yield same("gen_kwargs", asked, {key: own.get(key, _NOWHERE) for key in asked})
    yield same("filters", config.get("filter_list"), run.get("filters"))
    repeats = run.get("repeats")
    # A server gets a request for each of them.
    yield same("repeats", config.get("repeats") in (None, 1, repeats), True)
    v1 = str(run.get("benchmark")).startswith("longbench_v1")
    rule = halves_decoded_apart if v1 else ends_decoded_together
    yield same("truncation", run.get("truncation"), rule.__name__)
    yield from _chat(task)
    yield from _options(task)


def _dataset(task: TaskResult, ours: Mapping[str, LockTask]) -> Check:
    """Check that a task asks the questions that its name in the file and the signature say."""
    name, dataset = str(task.run.get("task")), task.config.get("dataset_name")
    own, named = ours[name], ours.get(task.name)
    wanted = [own.dataset]
    if own.benchmark == "longbench_v2":
        wanted = ["all", *DOMAINS]
    elif name.startswith("longbench_pro_thinking"):
        wanted = [f"{own.dataset}_thinking"]
    if named is not None:
        is_domain = named.benchmark == "longbench_v2" and named.dataset != "all"
        if name != ("longbench_v2" if is_domain else named.name):
            wanted = []
        elif own.benchmark == "longbench_v2":
            wanted = [named.dataset]
    if dataset in wanted:
        return Check(KIND, "dataset", CONFIRMED, dataset, dataset)
    said = "The task's name, its dataset and its signature are of different questions."
    return Check(KIND, "dataset", DIFFERENT, dataset, " or ".join(wanted) or None, said)


def _chat(task: TaskResult) -> Iterator[Check]:
    """Check the chat policy against the template and the instruction that the harness states."""
    chat, found = task.run.get("chat"), task.run.get("chat_sha256")
    name = str(task.run.get("task"))
    is_v1 = str(task.run.get("benchmark")).startswith("longbench_v1")
    is_raw = is_v1 and split_of_task(name).info.name in RAW_PROMPT
    if chat == "raw" or (chat == "on" and is_raw and found == PLAIN):
        yield compared(KIND, "raw", chat, "raw" if is_raw else "on", _CHAT)
    if chat == "raw":
        yield compared(KIND, "chat_sha256", found, PLAIN, _CHAT)
    if task.settings.get("model_source") is None:
        return  # the harness was not told what else it states
    template, system = (task.settings.get(key) for key in ("chat_template", "system_instruction"))
    fits = {
        "off": template is None,
        "raw": template is not None,
        # Servers of chats may have a template that nobody here knows.
        "on": template is not None or found != PLAIN,
    }
    yield compared(KIND, "chat", fits.get(str(chat)), True, _CHAT)
    if chat == "off":
        expected = text_sha256(f"{system}?") if isinstance(system, str) else PLAIN
        yield compared(KIND, "chat_sha256", found, expected, _CHAT)


def _options(task: TaskResult) -> Iterator[Check]:
    """Check the signature against the options and the model arguments that the task was given."""
    run = task.run
    try:
        options = Options.from_metadata(task.metadata)
    except LongBenchError as error:
        packages = run.get("packages") or {}
        same = packages.get("lm_eval_longbench") == package_versions()["lm_eval_longbench"]
        status = DIFFERENT if same else NOT_CHECKABLE
        said = f"This package takes no such options: {error}"
        yield Check(KIND, "options", status, str(task.metadata.get("longbench")), None, said)
        return
    name, label = str(run.get("task")), read_label(run.get("data"))
    limit, source = run.get("limit"), str(run.get("limit_source"))
    official, cut = source.startswith(_OFFICIAL_LIMIT), options.truncate_to
    is_rag, retrieval = name == _RAG, str(run.get("retrieval"))
    cutter = None if limit is None else tokenizer_name(options.tokenizer, task.metadata)
    expected: dict[str, tuple[Any, Any]] = {
        "truncate_to": (
            (limit, source) if official else None,
            cut and (cut, f"{_OFFICIAL_LIMIT}{cut}"),
        ),
        "limit": (limit is None, source == "unknown"),
        "overlength": (run.get("overlength"), options.overlength),
        "data_dir": (
            (label.is_sample, label.is_local and options.data_dir is None),
            (options.data_dir == "sample", False),
        ),
        "only": (label.is_choice, bool(options.only)),
        "tokenizer": (run.get("tokenizer"), cutter),
        "tokenizer_sha256": (limit is None and run.get("tokenizer_sha256") is not None, False),
        "embedding_model": (
            run.get("embedding_model"),
            options.embedding_model if name.endswith(_SUMMARIES) else None,
        ),
        "retrieved_context": (
            (run.get("retrieval") is not None, retrieval.startswith(_FROM_FILE)),
            (is_rag, is_rag and options.retrieved_context is not None),
        ),
        "rag_top_n": (run.get("rag_top_n"), options.rag_top_n if is_rag else None),
        "cot_samples": (run.get("reasoning_sha256") is not None, name == COT_ANSWER),
        "reasoning": (run.get("reasoning"), options.reasoning),
    }
    if options.repeats is not None:
        expected["repeats"] = (run.get("repeats"), options.repeats)
    for key, (found, wanted) in expected.items():
        yield compared(KIND, f"option {key}", found, wanted, _EDITED)


def unconfirmed(task: TaskResult, checks: Sequence[Check]) -> Iterator[Check]:
    """Yield, for each ingredient that no other check speaks of, that nothing confirms it.

    Args:
        task: what the results file says.
        checks: all others of the task.
    """
    confirmed = {(check.kind, check.name) for check in checks if check.status == CONFIRMED}
    run = task.run

    def seen(*kinds: str) -> bool:
        return any((kind, kind) in confirmed for kind in kinds)

    open_: dict[str, str] = {}
    if not seen(CUT):
        cuts = "tokenizer", "tokenizer_sha256", "overlength"
        open_ |= dict.fromkeys(("limit", *cuts), _UNCUT)
    elif not seen(LIMIT):
        open_["limit"] = "No prompt was cut at just this limit."
    if (AROUND, "chat_sha256") not in confirmed:
        open_["chat_sha256"] = _AROUND
        if not seen("prompts in requests"):
            open_["chat"] = _AROUND
    if not seen("requests"):
        open_["generation"] = _UNLOGGED
    if not seen("repeats"):
        open_["repeats"] = _UNLOGGED
    if not seen("seeds") and (run.get("seeds") is not None or not seen("requests")):
        open_["seeds"] = _UNLOGGED
    if str(run.get("task")).endswith(_SUMMARIES):
        open_["embedding_model"] = "Similarities are as the log states them."
    if run.get("task") == _RAG:
        open_ |= dict.fromkeys(("retrieval", "rag_top_n"), "Retrieved chunks are not in the log.")
    if run.get("task") == COT_ANSWER and not seen("reasoning"):
        open_["reasoning_sha256"] = "Only the log of pass one tells."
    for name, said in open_.items():
        yield Check(UNCONFIRMED, name, NOT_CHECKABLE, run.get(name), None, said)
