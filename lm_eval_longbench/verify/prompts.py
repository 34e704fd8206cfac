"""Render and cut the prompts of a log again, and compare their hashes."""

from __future__ import annotations

import json
from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lm_eval_longbench.errors import LongBenchError
from lm_eval_longbench.logs.results_file import TaskResult
from lm_eval_longbench.logs.sample_log import LogRow, at
from lm_eval_longbench.prompts.prepare import EXCERPT
from lm_eval_longbench.prompts.render import text_sha256
from lm_eval_longbench.prompts.truncation import truncate
from lm_eval_longbench.signature.signature import package_versions
from lm_eval_longbench.verify.check import (
    CONFIRMED,
    DIFFERENT,
    EDITED,
    NOT_CHECKABLE,
    Check,
    all_of,
)
from lm_eval_longbench.verify.log import PLAIN
from lm_eval_longbench.verify.subject import Subject

if TYPE_CHECKING:
    from transformers import PreTrainedTokenizerBase

KIND, CUT, LIMIT, AROUND = "prompts", "cut prompts", "limit of the cut", "around the prompts"
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
    from lm_eval_longbench.prompts.tokenizer import is_encoding, load_tokenizer
    from lm_eval_longbench.prompts.tokens.fast import tokenizer_sha256

    name, stated = given or str(task.run.get("tokenizer")), task.run.get("tokenizer_sha256")
    if given is None and not is_encoding(name) and not _is_here(name):
        return f"The tokenizer {name!r} is not on this machine: name it with --tokenizer."
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
        f"of {stated}. Name the right one with --tokenizer."
    )


def check_prompts(task: Subject, tokenizer: str | None) -> Iterator[Check]:
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
    sent = _Sent(task)
    whole = [row for row in task.rows if not row.prompt["truncated"]]
    cut = [row for row in task.rows if row.prompt["truncated"]]
    if whole:
        wrong = list(_wrong_whole(task, whole, sent))
        yield from all_of(KIND, len(whole), wrong, "the hash of the rendered prompt", _WRONG)
    if cut:
        yield from _cuts(task, cut, open_tokenizer(task, tokenizer), sent)
    yield from sent.checks()


def _rendered(task: Subject, rows: Iterable[LogRow]) -> Iterator[tuple[LogRow, str, str]]:
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
        try:
            if document is None:
                yield row, "", at(row, "is not in the data")
            else:
                yield row, task.benchmark.render(task.own, document), ""
        except LongBenchError as error:
            yield row, "", at(row, f"has no prompt: {error}")


def _wrong_whole(task: Subject, rows: Sequence[LogRow], sent: _Sent) -> Iterator[str]:
    """Yield a sentence for each row whose whole prompt is not what its hash says."""
    limit = task.run.get("limit")
    for row, text, problem in _rendered(task, rows):
        tokens = row.prompt.get("tokens_before_cut")
        if problem:
            yield problem
        elif text_sha256(text) != row.prompt["sha256"]:
            yield at(row, "had another prompt")
        elif tokens is not None and (limit is None or tokens > limit):
            yield at(row, f"was not cut though it has {tokens} tokens, and the limit is {limit}")
        else:
            sent.add(row, text)


def _cuts(
    task: Subject, rows: Sequence[LogRow], tokenizer: PreTrainedTokenizerBase | str, sent: _Sent
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
    # Rows without a prompt, and with another one than their hash says; those cut at the limit.
    wrong: list[str] = []
    unlike: list[str] = []
    exact = 0
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
        found: str | None = cut.text
        if text_sha256(cut.text) == row.prompt["sha256"]:
            exact += cut.truncated
        else:
            fewer = range(limit - 1, least - 1, -1)
            again = (next(truncate([text], tokenizer, tokens, rule)).text for tokens in fewer)
            found = next((own for own in again if text_sha256(own) == row.prompt["sha256"]), None)
        if found is None:
            unlike.append(at(row, "had another prompt"))
        else:
            sent.add(row, found)
    recorded, ours = task.packages.get("tokenizers"), package_versions()["tokenizers"]
    excuse = ""
    if recorded != ours:
        excuse = f"They were cut again with tokenizers {ours} instead of {recorded}."
    elif not official:
        excuse = (
            f"They are not cut at the limit nor within {_FURTHER} tokens of it. A long system "
            "instruction or chat template may have taken more room."
        )
    if not excuse:
        wrong += unlike
    sure = len(rows) - (len(unlike) if excuse else 0)
    if sure:
        yield from all_of(CUT, sure, wrong, "the hash of the prompt, cut again", _WRONG)
    if unlike and excuse:
        yield Check(CUT, CUT, NOT_CHECKABLE, f"{len(unlike)} rows", None, excuse)
    if exact:
        yield Check(LIMIT, LIMIT, CONFIRMED, limit, limit)
    else:
        said = "No prompt was cut at just this limit."
        yield Check(LIMIT, LIMIT, NOT_CHECKABLE, limit, None, said)


# A backend gets the prompt as it is, trimmed, or as the content of a message in JSON.
_FORMS: Sequence[Callable[[str], str]] = (
    lambda text: text,
    str.strip,
    lambda text: json.dumps(text, ensure_ascii=False)[1:-1],
    lambda text: json.dumps(text)[1:-1],
)
_AS_JSON = _FORMS[2:]
# Prompts after which it is sure what stands around the others.
_SURE = 16
# Characters of a prompt's ends that are looked for in what was sent.
_ENDS = 64


# Text before and after a prompt when it is sent, and the form of the prompt between.
_Around = tuple[str, str, int]
_BARE: _Around = ("", "", 0)
# Prompts that are kept until it is known from others what stands around them.
_KEPT = 8


def _put(text: str, around: _Around) -> str:
    before, after, form = around
    return before + _FORMS[form](text) + after


def _ends(text: str, around: _Around) -> dict[str, Any]:
    """Return what the log keeps in short of a prompt as it was sent."""
    before, after, form = around
    inner = _FORMS[form](text)
    # The ends of a long prompt hide its middle: the whole need not be put together.
    short = len(inner) <= EXCERPT
    head = before + (inner + after if short else inner[:EXCERPT])
    tail = (before + inner if short else inner[-EXCERPT:]) + after
    number = len(before) + len(inner) + len(after)
    return {"characters": number, "head": head[:EXCERPT], "tail": tail[-EXCERPT:]}


def _has_ends(row: LogRow, ends: Mapping[str, Any]) -> bool:
    return bool(row.excerpts) and all(
        own.get(name) == value for own in row.excerpts for name, value in ends.items()
    )


def _around(row: LogRow, text: str) -> _Around | None:
    """Return what stood around a prompt when it was sent; None: the row does not tell."""
    for own in row.excerpts[:1]:
        head, tail = str(own.get("head")), str(own.get("tail"))
        for form, formed in enumerate(_FORMS):
            inner = formed(text)
            first, last = head.find(inner[:_ENDS]), tail.rfind(inner[-_ENDS:])
            if first >= 0 and last >= 0:
                found = head[:first], tail[last + len(inner[-_ENDS:]) :], form
                if text_sha256(_put(text, found)) == row.hashes["prompt"]:
                    return found
    return None


class _Sent:
    """Compares what was sent with the prompts, and finds what stands around them."""

    def __init__(self, task: TaskResult) -> None:
        self._stated = task.run.get("chat_sha256")
        self._plain = self._stated == PLAIN
        self._met: Counter[_Around] = Counter()
        self._unlike: list[str] = []
        # Rows that do not tell by themselves, and the prompts of the first ones.
        self._unknown: list[tuple[LogRow, str | None]] = []

    def add(self, row: LogRow, text: str) -> None:
        """Look at a row whose prompt is known.

        Once it is sure what stands around prompts, others are compared by their ends alone: to
        hash each of them as it was sent takes as long as all the rest.
        """
        around: _Around | None = None
        if self._plain:  # its hash was compared with that of the prompt
            around = _BARE if row.excerpts else None
        elif len(self._met) == 1 and self._met.total() >= _SURE:
            (usual,) = self._met
            if _FORMS[usual[2]] in _AS_JSON:
                return
            around = usual if _has_ends(row, _ends(text, usual)) else None
        if around is None and not self._plain:
            wanted = row.hashes["prompt"]
            known = (one for one in self._met if text_sha256(_put(text, one)) == wanted)
            around = next(known, None) or _around(row, text)
        if around is None:
            self._unknown.append((row, text if len(self._unknown) < _KEPT else None))
        else:
            self._add(row, text, around)

    def _add(self, row: LogRow, text: str, around: _Around) -> None:
        self._met[around] += 1
        if row.excerpts and not _has_ends(row, _ends(text, around)):
            self._unlike.append(at(row, "has another beginning, end or length"))

    def checks(self) -> Iterator[Check]:
        """Yield what the rows told."""
        for row, text in tuple(self._unknown):
            if text is None or not row.excerpts:
                continue
            for around in list(self._met):
                if text_sha256(_put(text, around)) == row.hashes["prompt"]:
                    self._unknown.remove((row, text))
                    self._add(row, text, around)
                    break
        rows = self._met.total()
        if rows:
            said = f"The log shows other prompts than were sent. {EDITED}"
            yield from all_of(AROUND, rows, self._unlike, "the ends of what was sent", said)
        if self._unknown:
            said = "The log does not show where the prompt stands in what was sent."
            yield Check(AROUND, AROUND, NOT_CHECKABLE, f"{len(self._unknown)} rows", None, said)
        probes = {text_sha256(_put("?", around)) for around in self._met}
        if self._stated in probes:
            yield Check(AROUND, "chat_sha256", CONFIRMED, self._stated, self._stated)
        elif len(self._met) == 1 and rows > 1:
            said = "Around the prompts stands something else than the signature says."
            yield Check(AROUND, "chat_sha256", DIFFERENT, self._stated, min(probes), said)
