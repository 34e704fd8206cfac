"""Render and cut the prompts of a log again, and compare their hashes."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lm_eval_longbench.check.task import LoggedTask
from lm_eval_longbench.check.verification import NOT_CHECKABLE, Check, all_of, some
from lm_eval_longbench.errors import LongBenchError
from lm_eval_longbench.logs.results_file import TaskResult
from lm_eval_longbench.logs.sample_log import LogRow, at
from lm_eval_longbench.prompts.render import text_sha256
from lm_eval_longbench.prompts.tokenizer import is_encoding, load_tokenizer
from lm_eval_longbench.prompts.tokens.fast import tokenizer_sha256
from lm_eval_longbench.prompts.truncation import truncate
from lm_eval_longbench.signature.signature import package_versions

if TYPE_CHECKING:
    from transformers import PreTrainedTokenizerBase

KIND, CUT = "prompts", "cut prompts"
_TOKENIZER_FILES = ("tokenizer_config.json", "tokenizer.json", "tokenizer.model", "vocab.json")
# Prompts that had to make room for a chat template were cut to fewer tokens than the limit.
_FURTHER = 128
# Tokens that the truncation rules keep at least.
_LEAST = 2
_WRONG = "Other prompts were sent than the log, the data and the options say."


def _is_here(name: str) -> bool:
    """Whether a tokenizer is a folder or in the hub's cache."""
    from huggingface_hub import try_to_load_from_cache
    from huggingface_hub.errors import HFValidationError

    if Path(name).is_dir():
        return True
    try:
        return any(isinstance(try_to_load_from_cache(name, file), str) for file in _TOKENIZER_FILES)
    except HFValidationError:  # a folder that is not here
        return False


def open_tokenizer(task: TaskResult, given: str | None) -> PreTrainedTokenizerBase | str:
    """Return the tokenizer that cut the prompts of a run; a text: why it is not here.

    The one that the user gives may be downloaded, others are not.
    """
    name, stated = given or str(task.run.get("tokenizer")), task.run.get("tokenizer_sha256")
    if given is None and not is_encoding(name) and not _is_here(name):
        return f"The tokenizer {name!r} is not on this machine: name it with the option tokenizer."
    # Never `trust_remote_code`: a results file must not make this machine run anything.
    named = ("revision", "pretrained", "model")
    wanted = {key: task.metadata[key] for key in named if key in task.metadata}
    try:
        tokenizer = load_tokenizer(name, wanted)
        found = tokenizer_sha256(tokenizer)
    except LongBenchError as error:
        return str(error)
    if found == stated:
        return tokenizer
    return (
        f"The tokenizer {name!r} here is another than the one that cut: sha256 {found} instead "
        f"of {stated}. Name the right one with the option tokenizer."
    )


def check_prompts(task: LoggedTask, tokenizer: str | None) -> Iterator[Check]:
    """Yield the check of the whole prompts and, if there are any, of the cut ones.

    `tokenizer` is the one that cut; None: the one that the signature names.
    """
    problem = ""
    if task.own.retrieved:
        problem = "They hold retrieved chunks, which the log does not keep."
    elif task.run.get("template_sha256") != task.own.prompt_sha256:
        problem = "They are from another version of the template."
    elif task.own.document and isinstance(task.documents, str):
        problem = task.documents
    elif task.first_pass and isinstance(task.reasoning, str):
        problem = task.reasoning
    if problem:
        yield Check(KIND, KIND, NOT_CHECKABLE, f"{len(task.rows)} rows", None, problem)
        return
    whole = [row for row in task.rows if not row.prompt["truncated"]]
    cut = [row for row in task.rows if row.prompt["truncated"]]
    if whole:
        wrong = list(_wrong_whole(task, whole))
        yield from all_of(KIND, len(whole), wrong, "the hash of the rendered prompt", _WRONG)
    if cut:
        yield from _cuts(task, cut, open_tokenizer(task, tokenizer))


def _rendered(task: LoggedTask, rows: Iterable[LogRow]) -> Iterator[tuple[LogRow, str, str]]:
    """Yield each row with its whole prompt, or with why it has none."""
    reasoning, documents = task.reasoning, task.documents
    for row in rows:
        document: Mapping[str, Any] | None = row.doc
        if task.first_pass:
            known = not isinstance(reasoning, str) and row.name in reasoning
            document = {**row.doc, "cot": reasoning[row.name]} if known else None  # type: ignore[index]
        elif not isinstance(documents, str):
            place = task.places.get(row.line)
            document = None if place is None else documents.rows[place]
            if document is not None and task.run.get("context") is not None:
                document = {**document, "context": ""}
        try:
            if document is None:
                yield row, "", at(row, "is not in the data")
            else:
                yield row, task.benchmark.render(task.own, document), ""
        except LongBenchError as error:
            yield row, "", at(row, f"has no prompt: {error}")


def _wrong_whole(task: LoggedTask, rows: Sequence[LogRow]) -> Iterator[str]:
    """Yield a sentence for each row whose whole prompt is not what its hash says."""
    for row, text, problem in _rendered(task, rows):
        if problem:
            yield problem
        elif text_sha256(text) != row.prompt["sha256"]:
            yield at(row, "had another prompt")


def _cuts(
    task: LoggedTask, rows: Sequence[LogRow], tokenizer: PreTrainedTokenizerBase | str
) -> Iterator[Check]:
    """Yield the checks of cut prompts; their limit is the official one, or the model's."""
    rule, limit = task.benchmark.rule, task.run.get("limit") or 0
    problem = tokenizer if isinstance(tokenizer, str) else ""
    if not problem and (rule.__name__ != task.run.get("truncation") or limit < _LEAST):
        problem = "The signature names no known truncation rule and limit."
    if isinstance(tokenizer, str) or problem:
        yield Check(CUT, CUT, NOT_CHECKABLE, f"{len(rows)} rows", None, problem)
        return
    official = str(task.run.get("limit_source")).startswith("truncate_to=")
    least = limit if official else max(_LEAST, limit - _FURTHER)
    # Rows without a prompt, and rows with another one than their hash says.
    wrong: list[str] = []
    unlike: list[str] = []
    waiting: deque[tuple[LogRow, str]] = deque()

    def known() -> Iterator[str]:
        for row, text, problem in _rendered(task, rows):
            if problem:
                wrong.append(problem)
            else:
                waiting.append((row, text))
                yield text

    for cut in truncate(known(), tokenizer, limit, rule):
        row, text = waiting.popleft()
        fewer = range(limit - 1, least - 1, -1)
        again = (next(truncate([text], tokenizer, tokens, rule)).text for tokens in fewer)
        if not any(text_sha256(own) == row.prompt["sha256"] for own in chain([cut.text], again)):
            unlike.append(at(row, "had another prompt"))
    recorded, ours = task.packages.get("tokenizers"), package_versions()["tokenizers"]
    excuse = ""
    if recorded != ours:
        excuse = f"They were cut again with tokenizers {ours} instead of {recorded}."
    elif not official:
        excuse = (
            f"They are not cut at the limit nor within {_FURTHER} tokens of it. A long system "
            "instruction or chat template may have taken more room."
        )
    if unlike and excuse:
        yield Check(CUT, CUT, NOT_CHECKABLE, some(unlike), None, excuse)
        rows, unlike = rows[len(unlike) :], []
    yield from all_of(CUT, len(rows), wrong + unlike, "the hash of the prompt, cut again", _WRONG)
