"""Batch APIs: files of requests, which of them are out, and the results that come back.

The forms are those of OpenAI's Batch API, which vLLM and SGLang read too, and of Anthropic's
Message Batches.
"""

from __future__ import annotations

import hashlib
import json
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from lm_eval_longbench.errors import DataError, OptionError
from lm_eval_longbench.files import json_rows, read_json_lines
from lm_eval_longbench.records.answer import ANSWERED, BATCH, Answer
from lm_eval_longbench.records.joined_stores import locked, opened_together
from lm_eval_longbench.records.store import PUT, Kept, naming, row_of
from lm_eval_longbench.result_files import json_lines
from lm_eval_longbench.server.client import Request, Taken
from lm_eval_longbench.server.faults import Fault, shortened
from lm_eval_longbench.server.reply import Reply, as_answer, tokens_of
from lm_eval_longbench.server.server import CHAT, PATHS, Server

OPENAI, ANTHROPIC, VLLM = "openai", "anthropic", "vllm"


# Rows and bytes that a file may hold: of OpenAI's Batch and Anthropic's Message Batches, November
# 2026.
LIMITS = {
    OPENAI: (50_000, 200_000_000),
    ANTHROPIC: (100_000, 256_000_000),
    VLLM: (50_000, 200_000_000),
}
FORMATS = tuple(LIMITS)
# Generation arguments as Anthropic calls them.
_ANTHROPIC = {"max_tokens": "max_tokens", "temperature": "temperature", "top_p": "top_p"}
_ANTHROPIC |= {"top_k": "top_k", "stop": "stop_sequences", "seed": ""}
_ENDS = {"end_turn": "stop", "stop_sequence": "stop", "max_tokens": "length"}
_ENDS |= {"refusal": "content_filter", "model_context_window_exceeded": "length"}


def custom_id(identity: str, key: str, repeat: int) -> str:
    """Return the name of a request, of 52 letters, digits and hyphens at most.

    Args:
        identity: of the model, so that results of another one are foreign.
        key: of all else that changes the answer, see `answer_key`.
        repeat: which of several answers, from 0.
    """
    return f"{hashlib.sha256(f'{identity} {key}'.encode()).hexdigest()[:48]}-{repeat}"


# ---------------------------------------------------------------------- requests


def request_row(form: str, name: str, server: Server, request: Request) -> dict[str, Any]:
    """Return a request as a row of a file.

    Raises:
        OptionError: the provider does not take it.
    """
    taken = Taken()
    taken.left_out |= {"stream"}
    if "api.openai.com" in server.base:
        taken.left_out |= {"max_tokens"}  # newer models of OpenAI take max_completion_tokens alone
    body = taken.body(server, request, 1)
    if form != ANTHROPIC:
        url = f"/v1{PATHS[server.endpoint]}"
        return {"custom_id": name, "method": "POST", "url": url, "body": body}
    if server.endpoint != CHAT:
        raise OptionError("Anthropic's batches take chat messages: give endpoint=chat.")
    messages = body.pop("messages")
    own = {"model": body.pop("model")}
    for parameter, value in body.items():
        if parameter not in _ANTHROPIC and parameter in request.parameters:
            raise OptionError(
                f"Anthropic's batches do not take {parameter}: leave it out of gen_kwargs."
            )
        own[_ANTHROPIC.get(parameter, parameter)] = value
    own.pop("", None)  # the seed
    system = "\n\n".join(one["content"] for one in messages if one["role"] == "system")
    own |= {"system": system} if system else {}
    own["messages"] = [one for one in messages if one["role"] != "system"]
    return {"custom_id": name, "params": own}


def files_of_rows(form: str, rows: Iterator[Mapping[str, Any]]) -> Iterator[Iterator[bytes]]:
    """Yield the files that some requests need, each as its pieces; read one before the next."""
    most_rows, most_bytes = LIMITS[form]
    first, between, last = (
        (b'{"requests": [', b",\n", b"]}\n") if form == ANTHROPIC else (b"", b"\n", b"\n")
    )
    coming = (
        json.dumps(row, ensure_ascii=False).encode("utf-8", "backslashreplace") for row in rows
    )
    row = next(coming, None)

    def one_file() -> Iterator[bytes]:
        nonlocal row
        before, number, size = first, 0, len(last)
        while row is not None:
            number, size = number + 1, size + len(before) + len(row)
            if number > 1 and (number > most_rows or size > most_bytes):
                break
            yield before + row
            before, row = between, next(coming, None)
        yield last

    while row is not None:
        yield one_file()


# ---------------------------------------------------------------------- what is out

# Beside the file for the answers.
_PREFIX = "requests_"


@dataclass(frozen=True)
class Awaited:
    """A request that is out.

    Attributes:
        identity: of the model that is to answer.
        answers: the file for its answer.
        kept: all that is kept beside the answer, which is empty so far.
        stops: stop strings, where the answer ends.
        left_out: parameters that the provider does not take.
    """

    identity: str
    answers: Path
    kept: Kept
    stops: tuple[str, ...] = ()
    left_out: tuple[str, ...] = ()


def _rows_out(file: Path) -> Iterator[tuple[str, Awaited]]:
    rows = [row for _, row in read_json_lines(file, DataError)]
    for row in rows[1:]:  # the first is of all
        name, stops, left_out = (row.pop(key) for key in ("custom_id", "stops", "left_out"))
        kept, place = Kept(**row, answer=Answer("")), file.with_name(rows[0]["answers"])
        yield name, Awaited(rows[0]["identity"], place, kept, tuple(stops), tuple(left_out))


def add_awaited(answers: Path, identity: str, out: Mapping[str, Awaited]) -> None:
    """Note that requests are out, beside those that are already."""
    file = answers.with_name(f"{_PREFIX}{answers.stem}.jsonl")
    known = {**(dict(_rows_out(file)) if file.exists() else {}), **out}
    with json_lines(file) as write:
        write({"identity": identity, "answers": answers.name})
        for name, one in known.items():
            own = {key: value for key, value in vars(one.kept).items() if key != "answer"}
            write({"custom_id": name, **own, "stops": one.stops, "left_out": one.left_out})


def awaited_in(folder: Path) -> dict[str, Awaited]:
    """Return the requests that are out by their `custom_id`, of all models in a folder.

    Raises:
        DataError: a file of requests cannot be read.
    """
    found: dict[str, Awaited] = {}
    for file in sorted(folder.glob(f"{_PREFIX}*.jsonl")):
        try:
            found |= dict(_rows_out(file))
        except (KeyError, TypeError, AttributeError) as error:
            raise DataError(f"{file} is no file of requests that are out: {error!r}.") from error
    return found


# ---------------------------------------------------------------------- results


def result_of(row: Any) -> tuple[str, Mapping[str, Any] | None, str] | None:
    """Return what a row of a result file says; None: it is none of a batch.

    Returns:
        Its `custom_id`; the reply, None: the request failed; and why it failed, in the provider's
        words.
    """
    if not isinstance(row, Mapping) or not isinstance(row.get("custom_id"), str):
        return None
    name, own = row["custom_id"], row.get("result")
    if isinstance(own, Mapping):
        message = own.get("message")
        if own.get("type") == "succeeded" and isinstance(message, Mapping):
            return name, _of_anthropic(message), ""
        return name, None, _reason(own.get("type"), own.get("error"))
    response = row.get("response")
    if not isinstance(response, Mapping):
        return (name, None, _reason(None, row.get("error"))) if "error" in row else None
    body, status = response.get("body"), response.get("status_code")
    if row.get("error") or status != 200 or not isinstance(body, Mapping):
        told = body.get("error") if isinstance(body, Mapping) else None
        return name, None, _reason(f"HTTP {status}", row.get("error") or told or body)
    return name, body, ""


def _answer(body: Mapping[str, Any], asked: Awaited) -> Answer:
    """Return the answer in a reply; Fault: there is none."""
    choices = body.get("choices")
    first = choices[0] if isinstance(choices, list) and choices else None
    reply = Reply(chat=not isinstance(first, Mapping) or "message" in first)
    if not reply.add(body):
        raise Fault("", "no choices in the reply")
    answer = as_answer(reply.choices[min(reply.choices)], asked.stops, streamed=False)
    return replace(
        answer,
        **tokens_of(reply.usage),
        server_model=reply.model,
        fingerprint=reply.fingerprint,
        left_out=asked.left_out,
        via=BATCH,
        at=time.time(),
    )


def _reason(what: Any, error: Any) -> str:
    """Return why a request failed: a status, and the innermost message or code."""
    while isinstance(error, Mapping):
        inner = error.get("error")
        error = inner if isinstance(inner, Mapping) else error.get("message") or error.get("code")
    parts = [str(part) for part in (what, error) if part]
    return shortened(": ".join(parts)) or "no reason is given"


def _of_anthropic(message: Mapping[str, Any]) -> dict[str, Any]:
    """Return a message of Anthropic as the reply of a chat server."""
    usage = message.get("usage") if isinstance(message.get("usage"), Mapping) else {}
    counts = {name: usage.get(name) or 0 for name in usage}  # type: ignore[union-attr]
    cached = counts.get("cache_read_input_tokens", 0)
    prompt = counts.get("input_tokens", 0) + cached + counts.get("cache_creation_input_tokens", 0)
    end = message.get("stop_reason")
    content = message.get("content")
    texts = content if isinstance(content, list) else []
    return {
        "model": message.get("model"),
        "choices": [
            {
                "message": {"content": [one for one in texts if one.get("type") == "text"]},
                "finish_reason": _ENDS.get(str(end), end),
            }
        ],
        "usage": {
            "prompt_tokens": prompt,
            "completion_tokens": counts.get("output_tokens"),
            "prompt_tokens_details": {"cached_tokens": cached},
        }
        if counts
        else {},
    }


# ---------------------------------------------------------------------- into the file of answers


@dataclass
class Imported:
    """What became of the rows of some result files.

    Attributes:
        answers: that are new, by the file of answers.
        empty: of those, texts that are empty or were withheld; a later run asks them again.
        known: answers that were there already, from another import or a run.
        double: rows for an answer that an earlier row gave.
        foreign: rows of other requests: another model, prompt version or folder.
        broken: lines that are no row of a result file, such as one that is cut off.
        failed: by reason, rows of requests that failed, expired or were canceled.
        missing: requests that are out and have no answer yet.
    """

    answers: Counter[Path] = field(default_factory=Counter)
    empty: int = 0
    known: int = 0
    double: int = 0
    foreign: int = 0
    broken: int = 0
    failed: Counter[str] = field(default_factory=Counter)
    missing: int = 0


def import_results(paths: Sequence[Path], folder: Path) -> Imported:
    """Put the answers of result files into the files of answers in a folder.

    Every answer that a row has goes in, whatever else is wrong with its file. An answer is never
    replaced by another. Either all of it is done, or nothing.

    Args:
        paths: files, in any order.
        folder: the `--output_path` of the run that wrote the requests.

    Raises:
        OptionError: no requests of this folder are out, a file cannot be read, or a run writes its
            answers.
    """
    out = awaited_in(folder)
    if not out:
        raise OptionError(
            f"{folder} has no requests that are out: give the --output_path of the run with "
            "--write-requests."
        )
    found = Imported()
    answers: dict[str, Kept] = {}
    for path in paths:
        for _, row in json_rows(path, OptionError):
            _read(row, out, answers, found)
    identities = {asked.answers: asked.identity for asked in out.values()}
    with locked(identities, "imported"), opened_together(identities) as files:
        for name, asked in out.items():
            with naming(asked.answers):
                file, kept = files[asked.answers], answers.get(name)
                there = row_of(file, asked.identity, asked.kept.request, asked.kept.repeat)
                is_there = there is not None and there.answer.state == ANSWERED
                if kept is not None and is_there:
                    found.known += 1
                elif kept is not None:
                    file.execute(PUT, kept.row(asked.identity))
                    found.answers[asked.answers] += 1
                    is_there = kept.answer.state == ANSWERED
                    found.empty += not is_there
                found.missing += not is_there
    return found


def _read(row: Any, out: dict[str, Awaited], answers: dict[str, Kept], found: Imported) -> None:
    """Take the answer of a row, or count why there is none."""
    result = result_of(row)
    if result is None:
        found.broken += 1
        return
    name, reply, reason = result
    asked = out.get(name)
    if asked is None:
        found.foreign += 1
        return
    try:
        answer = None if reply is None else _answer(reply, asked)
    except Fault as fault:
        answer, reason = None, fault.reason
    if answer is None:
        found.failed[reason] += 1
        return
    earlier = answers.get(name)
    found.double += earlier is not None
    if earlier is None or earlier.answer.state != ANSWERED:
        answers[name] = replace(asked.kept, answer=answer)
