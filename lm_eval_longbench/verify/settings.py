"""Check a signature: in itself, against this package and the rest of the file; name what is open.

A results file says most things twice: in the signature, and in the configuration that the harness
dumped. Both are in one file, so that they agree proves little; that they do not is an edit.
"""

from __future__ import annotations

import contextlib
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from lm_eval_longbench.benchmarks.asking import OWN_RETRIEVAL, is_own
from lm_eval_longbench.benchmarks.registry import benchmark_of, tasks
from lm_eval_longbench.catalog.users import notes
from lm_eval_longbench.errors import LongBenchError, OptionError
from lm_eval_longbench.logs.results_file import TaskResult
from lm_eval_longbench.logs.sample_log import at
from lm_eval_longbench.options import Options, read_seed
from lm_eval_longbench.prompts.render import text_sha256
from lm_eval_longbench.prompts.tokenizer import tokenizer_name
from lm_eval_longbench.signature.signature import (
    INGREDIENTS,
    LATER,
    completed,
    line,
    model_settings,
    package_versions,
)
from lm_eval_longbench.verify.check import (
    CONFIRMED,
    DIFFERENT,
    EDITED,
    NOT_CHECKABLE,
    Check,
    all_of,
    compared,
)
from lm_eval_longbench.verify.log import PLAIN
from lm_eval_longbench.verify.prompts import AROUND, CUT, LIMIT
from lm_eval_longbench.verify.subject import Subject

KIND = "settings"
# A pinned official set: repository and revision, and nothing that says questions were left out.
OFFICIAL_DATA = re.compile(r"[\w.-]+/[\w.-]+@[0-9a-f]{7,40}")
_OFFICIAL_LIMIT = "truncate_to="
UNCONFIRMED = "ingredients"
# Names of the output budget in --gen_kwargs, which a task writes under one of them, as a number.
_BUDGET = ("max_gen_toks", "max_new_tokens", "max_tokens", "max_completion_tokens")
_NOWHERE = "not there"
_UNCUT = "No cut prompt could be compared: what cuts had nothing to decide, or cannot be told."
_AROUND = "Only requests and the data together tell what stood around the prompts."
_UNLOGGED = "Only the requests in the log tell."
_CHAT = "The signature and what the file says of chat templates do not go together."
_EDITED = "The signature and the configuration say different things: one of them was edited."


def check_line(task: TaskResult) -> Check:
    """Check the signature's line against the ingredients beside it."""
    kind = "signature"
    found = task.run.get("signature")
    missing = [key for key in INGREDIENTS if key not in task.run and key not in LATER]
    own = (task.run.get("packages") or {}).get("lm_eval_longbench")
    if missing and own != package_versions()["lm_eval_longbench"]:
        said = f"Written by version {own}, whose signatures have no {', '.join(missing)}."
        return Check(kind, kind, NOT_CHECKABLE, found, None, said)
    if missing:
        said = f"The ingredients {', '.join(missing)} were taken out of the results file."
        return Check(kind, kind, DIFFERENT, found, None, said)
    said = "The line does not belong to the ingredients beside it: one of them was edited."
    return compared(kind, kind, found, line(completed(task.signature)), said)


def is_known(task: TaskResult) -> Check:
    """Return the check whether there are such a benchmark and task; without, there is no other."""
    name, benchmark = str(task.run.get("task")), str(task.run.get("benchmark"))
    own = tasks().get(name)
    # Parts of what another task asks have names, but sign as the whole.
    if own is not None and own.counted == name and benchmark_of(own).name == benchmark:
        return Check("task", "task", CONFIRMED, name, name)
    said = "This package has no such task of such a benchmark: nothing else can be checked."
    return Check("task", "task", DIFFERENT, f"{benchmark}, {name}", None, said)


def check_signature(task: Subject) -> Iterator[Check]:
    """Yield the checks of a signature against this package, and of what tables show of it."""
    run, own = task.run, str(task.run.get("version"))
    ours = task.benchmark.task_version
    said = f"Another version of the task than this package's, {ours}, or a number of a user's own."
    yield compared("task version", "of this package", own, ours, said, NOT_CHECKABLE)
    if task.version is None:
        said = "The results state no version."
        yield Check("task version", "task version", NOT_CHECKABLE, meaning=said)
    else:
        data = str(run.get("data"))
        own = " ".join([own, *notes(task.definition)])
        if is_own(run.get("retrieval")):
            own += f" {OWN_RETRIEVAL}"
        if not OFFICIAL_DATA.fullmatch(data):
            own += f" data: {data}"
        said = "The version shown in the table does not belong to the signature."
        yield compared("task version", "task version", task.version, own, said)
    said = "Scored by other rules than this package's. Install the version that the signature "
    said += "names to verify its scores."
    metrics = "metrics version"
    yield compared(metrics, metrics, run.get("metrics"), task.benchmark.metrics, said)
    found, template = run.get("template_sha256"), task.own.prompt_sha256
    said = "The prompts were made from another version of the template."
    yield compared("template", "template", found, template, said)
    if task.rows:
        logged = [(row, row.prompt.get("template_sha256")) for row in task.rows]
        wrong = [at(row, f"has template {own}") for row, own in logged if own != found]
        said = "The prompts in the log are from another template than the signature says."
        number, what = len(task.rows), f"template {found}"
        yield from all_of("template in the log", number, wrong, what, said)
    here = package_versions()
    for name, version in task.packages.items():
        said = f"A note: recomputed with {name} {here.get(name)} instead of {version}."
        yield compared("packages", name, version, here.get(name), said, NOT_CHECKABLE)


def check_settings(task: Subject) -> Iterator[Check]:
    """Yield the checks of what the signature and the rest of the file both say."""
    run, config = task.run, task.config

    def same(key: str, found: Any, expected: Any) -> Check:
        return compared(KIND, key, found, expected, _EDITED)

    yield _dataset(task)
    yield same("version", str(task.metadata.get("version")), str(run.get("version")))
    yield same("generation", config.get("generation_kwargs"), task.generation)
    given = task.settings.get("config", {}).get("gen_kwargs")
    if isinstance(given, Mapping):
        own = task.generation or {}
        asked = {key: value for key, value in given.items() if key not in _BUDGET}
        if "seed" in asked:  # the harness states it as it was typed
            with contextlib.suppress(OptionError):
                asked["seed"] = read_seed(asked["seed"])
        yield same("gen_kwargs", asked, {key: own.get(key, _NOWHERE) for key in asked})
    yield same("filters", config.get("filter_list"), run.get("filters"))
    repeats = run.get("repeats")
    # A server gets a request for each of them.
    yield same("repeats", config.get("repeats") in (None, 1, repeats), True)
    yield same("truncation", run.get("truncation"), task.benchmark.rule.__name__)
    yield from _chat(task)
    yield from _options(task)


def _dataset(task: Subject) -> Check:
    """Check that a task asks the questions that its name in the file and the signature say."""
    dataset, named = task.config.get("dataset_name"), tasks().get(task.name)
    own, known = task.own, task.benchmark.tasks.values()
    wanted = [own, *(one for one in known if one.counted != one.name)]
    if named is not None:
        wanted = [named] if named.counted == own.name else []
    if task.benchmark.asked(own, dataset) in wanted:
        return Check(KIND, "dataset", CONFIRMED, dataset, dataset)
    said = "The task's name, its dataset and its signature are of different questions."
    names = " or ".join(one.name for one in wanted)
    return Check(KIND, "dataset", DIFFERENT, dataset, names or None, said)


def _chat(task: Subject) -> Iterator[Check]:
    """Check the chat policy against the template and the instruction that the harness states."""
    run = task.run
    chat, found = run.get("chat"), run.get("chat_sha256")
    is_raw = not task.own.chat
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
    own = text_sha256(system) if system and isinstance(system, str) and chat != "raw" else None
    yield compared(KIND, "system_sha256", run.get("system_sha256"), own, _CHAT)
    if chat == "off":
        expected = text_sha256(f"{system}?") if isinstance(system, str) else PLAIN
        yield compared(KIND, "chat_sha256", found, expected, _CHAT)


def _options(task: Subject) -> Iterator[Check]:
    """Check the signature against the options and the model arguments that the task was given."""
    run = task.run
    try:
        options = Options.from_metadata(task.metadata)
    except LongBenchError as error:
        here = package_versions()["lm_eval_longbench"]
        status = DIFFERENT if task.packages.get("lm_eval_longbench") == here else NOT_CHECKABLE
        said = f"This package takes no such options: {error}"
        yield Check(KIND, "options", status, str(task.metadata.get("longbench")), None, said)
        return
    own, label = task.own, task.label
    limit, source = run.get("limit"), str(run.get("limit_source"))
    official, cut = source.startswith(_OFFICIAL_LIMIT), options.truncate_to
    is_rag, retrieval = own.retrieved, run.get("retrieval")
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
            options.embedding_model if own.summary else None,
        ),
        "retrieved_context": (
            (retrieval is not None, retrieval is not None and not is_own(retrieval)),
            (is_rag, is_rag and options.retrieved_context is not None),
        ),
        "rag_top_n": (
            run.get("rag_top_n"),
            options.rag_top_n if is_rag and not own.every_part else None,
        ),
        "cot_samples": (run.get("reasoning_sha256") is not None, bool(task.first_pass)),
        "reasoning": (run.get("reasoning"), options.reasoning),
        "model_settings": (run.get("model_settings"), model_settings(task.metadata)),
    }
    if options.repeats is not None:
        expected["repeats"] = (run.get("repeats"), options.repeats)
    for key, (found, wanted) in expected.items():
        yield compared(KIND, f"option {key}", found, wanted, _EDITED)


def unconfirmed(task: Subject, checks: Sequence[Check]) -> Iterator[Check]:
    """Yield that nothing confirms an ingredient, for each that no other check speaks of."""
    confirmed = {(check.kind, check.name) for check in checks if check.status == CONFIRMED}
    run, own = task.run, task.own

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
    if run.get("decoding") is not None and not seen("decoding"):
        open_["decoding"] = "No answer in the log has spaces that were taken out."
    if own.summary:
        open_["embedding_model"] = "Similarities are as the log states them."
    if own.retrieved:
        open_ |= dict.fromkeys(("retrieval", "rag_top_n"), "Retrieved chunks are not in the log.")
    if task.first_pass and not seen("reasoning"):
        open_["reasoning_sha256"] = "Only the log of pass one tells."
    for name, said in open_.items():
        yield Check(UNCONFIRMED, name, NOT_CHECKABLE, run.get(name), None, said)


def check_reasoning(task: Subject) -> Iterator[Check]:
    """Yield the check of the reasoning's hash, where a task embeds one."""
    kind, stated, reasoning = "reasoning", task.run.get("reasoning_sha256"), task.reasoning
    if not task.first_pass:
        return
    if isinstance(reasoning, str):
        yield Check(kind, kind, NOT_CHECKABLE, stated, None, reasoning)
    else:
        found = text_sha256(json.dumps(dict(reasoning), sort_keys=True))
        said = f"The log of pass one has other reasoning. {EDITED}"
        yield compared(kind, kind, stated, found, said)
