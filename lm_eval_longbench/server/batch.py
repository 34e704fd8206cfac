"""Batch APIs: files of requests, sent or not, and the results that come back.

The forms are those of OpenAI's Batch API, which vLLM and SGLang read too, and of Anthropic's
Message Batches.
"""

from __future__ import annotations

import importlib
import json
import os
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from lm_eval_longbench.errors import DataError, MissingDependencyError, OptionError, RunStopped
from lm_eval_longbench.files import json_rows, read_json, read_json_lines
from lm_eval_longbench.records.answer import ANSWERED, BATCH, Answer
from lm_eval_longbench.records.store import PUT, Kept, naming, row_of
from lm_eval_longbench.records.summary import opened_together
from lm_eval_longbench.result_files import json_lines, written_together
from lm_eval_longbench.server.client import Request, Taken
from lm_eval_longbench.server.faults import Fault, shortened, told_by
from lm_eval_longbench.server.reply import Reply, as_answer, tokens_of
from lm_eval_longbench.server.server import CHAT, PATHS, Server

OPENAI, ANTHROPIC, VLLM = "openai", "anthropic", "vllm"
# Rows and bytes that a file may hold: of OpenAI's Batch and Anthropic's Message Batches, November
# 2026.
LIMITS = {OPENAI: (50_000, 200_000_000), ANTHROPIC: (100_000, 256_000_000)}
LIMITS[VLLM] = LIMITS[OPENAI]
FORMATS = tuple(LIMITS)
# Generation arguments that Anthropic takes, the last one by another name.
_ANTHROPIC = {"max_tokens", "temperature", "top_p", "top_k", "stop"}
_ENDS = {"end_turn": "stop", "stop_sequence": "stop", "max_tokens": "length"}
_ENDS |= {"refusal": "content_filter", "model_context_window_exceeded": "length"}


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
    if odd := sorted(request.parameters.keys() - _ANTHROPIC):
        raise OptionError(f"Anthropic's batches do not take {odd[0]}: leave it out of gen_kwargs.")
    body.pop("seed", None)
    if "stop" in body:
        body["stop_sequences"] = body.pop("stop")
    system = [one["content"] for one in body["messages"] if one["role"] == "system"]
    if system:
        body["system"] = "\n\n".join(system)
    body["messages"] = [one for one in body["messages"] if one["role"] != "system"]
    return {"custom_id": name, "params": body}


def files_of_rows(form: str, rows: Iterable[Mapping[str, Any]]) -> Iterator[bytes]:
    """Yield the files that some requests need, one at a time: all prompts are gigabytes."""
    most_rows, most_bytes = LIMITS[form]
    first, between, last = (
        (b'{"requests": [', b",\n", b"]}\n") if form == ANTHROPIC else (b"", b"\n", b"\n")
    )
    held: list[bytes] = []
    size = len(first + last)
    for row in rows:
        line = json.dumps(row, ensure_ascii=False).encode("utf-8", "backslashreplace")
        if held and (len(held) == most_rows or size + len(line) > most_bytes):
            yield first + between.join(held) + last
            held, size = [], len(first + last)
        held.append(line)
        size += len(line) + len(between)
    if held:
        yield first + between.join(held) + last


# ---------------------------------------------------------------------- what is out


@dataclass(frozen=True)
class Awaited:
    """A request that is out.

    Attributes:
        custom_id: its name in files of requests and results.
        identity: of the model that is to answer.
        answers: name of the file for its answer.
        kept: all that is kept beside the answer, which is empty so far.
        stops: stop strings, where the answer ends.
        left_out: parameters that the provider does not take.
    """

    custom_id: str
    identity: str
    answers: str
    kept: Kept
    stops: Sequence[str] = ()
    left_out: Sequence[str] = ()


def add_awaited(answers: Path, out: Iterable[Awaited]) -> None:
    """Note that requests to a model are out, beside those that are already."""
    known = awaited_in(answers.parent, answers.stem) | {one.custom_id: one for one in out}
    with json_lines(answers.with_name(f"requests_{answers.stem}.jsonl")) as write:
        for one in known.values():
            row = asdict(one)
            del row["kept"]["answer"]
            write(row)


def awaited_in(folder: Path, stem: str = "*") -> dict[str, Awaited]:
    """Return the requests that are out by their `custom_id`, of one model or all in a folder.

    Raises:
        DataError: a file of requests cannot be read.
    """
    found: dict[str, Awaited] = {}
    for file in folder.glob(f"requests_{stem}.jsonl"):
        for number, row in read_json_lines(file, DataError):
            try:
                row["kept"] = Kept(**row["kept"], answer=Answer(""))
                found[row["custom_id"]] = Awaited(**row)
            except (KeyError, TypeError) as error:
                what = "is no request that is out"
                raise DataError(f"{file}, line {number}, {what}: {error!r}.") from error
    return found


# ---------------------------------------------------------------------- results


def _answer_in(row: Any, asked: Awaited) -> Answer:
    """Return the answer to a request in a row of any provider's result file.

    Raises:
        Fault: the request failed; has the reason in the provider's words.
        LookupError, TypeError, AttributeError: it is no such row.
    """
    if "result" in row:
        own = row["result"]
        if own["type"] != "succeeded":
            raise _fault(own["type"], own.get("error"))
        body = _of_anthropic(own["message"])
    elif row.get("response") is None:
        raise _fault("", row["error"])
    else:
        body, status = row["response"]["body"], row["response"]["status_code"]
        if row.get("error") or status != 200:
            raise _fault(f"HTTP {status}", row.get("error") or body)
    choices = body.get("choices")
    reply = Reply(chat=not choices or "text" not in choices[0])
    if not reply.add(body):
        raise Fault("", "no choices in the reply")
    return replace(
        as_answer(reply.choices[min(reply.choices)], asked.stops, streamed=False),
        **tokens_of(reply.usage),
        server_model=reply.model,
        fingerprint=reply.fingerprint,
        left_out=tuple(asked.left_out),
        via=BATCH,
    )


def _fault(what: str, error: Any) -> Fault:
    """Return why a request failed: a status, and the provider's message or code."""
    message, code, _ = told_by(error)
    parts = [part for part in (what, message or code) if part]
    return Fault("", shortened(": ".join(parts)) or "no reason is given")


def _of_anthropic(message: Mapping[str, Any]) -> dict[str, Any]:
    """Return a message of Anthropic as the reply of a chat server."""
    usage = {name: number or 0 for name, number in message["usage"].items()}
    cached = usage.get("cache_read_input_tokens", 0)
    written = usage.get("cache_creation_input_tokens", 0)
    end = _ENDS.get(message["stop_reason"], message["stop_reason"])
    return {
        "model": message["model"],
        "choices": [{"message": {"content": message["content"]}, "finish_reason": end}],
        "usage": {
            "prompt_tokens": usage["input_tokens"] + cached + written,
            "completion_tokens": usage["output_tokens"],
            "prompt_tokens_details": {"cached_tokens": cached},
        },
    }


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
    answers: dict[str, Answer] = {}
    for path in paths:
        for line, row in json_rows(path, OptionError):
            try:
                name = row["custom_id"]
                if name not in out:
                    found.foreign += 1
                    continue
                answer = _answer_in(row, out[name])
            except Fault as fault:
                found.failed[fault.reason] += 1
            except (LookupError, TypeError, AttributeError):
                found.broken += bool(line.strip())
            else:
                found.double += name in answers
                if name not in answers or answers[name].state != ANSWERED:
                    answers[name] = replace(answer, at=time.time())
    identities = {folder / asked.answers: asked.identity for asked in out.values()}
    with opened_together(identities, "imported") as files:
        for name, asked in out.items():
            path = folder / asked.answers
            with naming(path):
                if name in answers:
                    row = replace(asked.kept, answer=answers[name]).row(asked.identity)
                    if files[path].execute(PUT, row).rowcount:
                        found.answers[path] += 1
                        found.empty += answers[name].state != ANSWERED
                    else:
                        found.known += 1
                there = row_of(files[path], asked.identity, asked.kept.request, asked.kept.repeat)
            found.missing += there is None or there.answer.state != ANSWERED
    return found


# ---------------------------------------------------------------------- sent by their packages

MANIFEST = "manifest.json"
# Seconds between two looks at a batch.
WAIT = 60.0
_KEYS = {OPENAI: "OPENAI_API_KEY", ANTHROPIC: "ANTHROPIC_API_KEY"}
_ENDED = ("completed", "failed", "expired", "cancelled")


def _client(form: str) -> Any:
    """Return the provider's own client, with the key of the environment."""
    if form not in _KEYS:
        raise OptionError(f"--submit is for --format {OPENAI} and {ANTHROPIC}, not {form}.")
    if not os.environ.get(_KEYS[form]):
        raise OptionError(f"--submit needs the key in {_KEYS[form]}.")
    try:
        package = importlib.import_module(form)
    except ImportError as error:
        pip = f"pip install {form}"
        raise MissingDependencyError(f"--submit needs the package {form}: {pip}") from error
    return package.OpenAI() if form == OPENAI else package.Anthropic()


def submit(folder: Path, say: Callable[[str], None], wait: float = WAIT) -> list[Path]:
    """Send the request files of a folder, wait for all of them, and fetch their results.

    What was sent is in the manifest at once: after an interruption the same call goes on waiting,
    and sends nothing twice.

    Args:
        folder: with the manifest of `--write-requests`.
        say: gets a line whenever something has changed.
        wait: seconds between two looks.

    Returns:
        The result files, in the folder.

    Raises:
        OptionError: there is no manifest, no key, or no such provider.
        MissingDependencyError: the provider's package is missing.
        RunStopped: a batch ended without results.
    """
    manifest = read_json(folder / MANIFEST, OptionError)
    form, files = manifest["format"], manifest["files"]
    client = _client(form)
    for own in files:
        if not own.get("batch"):
            own["batch"] = _sent(form, client, folder / own["file"])
            with written_together([folder / MANIFEST]) as (file,):
                file.document(manifest)
            say(f"{own['file']}: sent as {own['batch']}")
    told: dict[str, str] = {}
    found: dict[str, Path] = {}
    while True:
        for own in files:
            name = own["file"]
            if name in found:
                continue
            state, lines = _state(form, client, own["batch"])
            if told.get(name) != state:
                told[name] = state
                say(f"{name}: {state}")
            if lines is None:
                continue
            if not lines:
                raise RunStopped(
                    f"The batch {own['batch']} of {name} has no results: {state}. To send it "
                    f'again, take its "batch" out of {folder / MANIFEST}.'
                )
            found[name] = (folder / name.replace("requests", "results")).with_suffix(".jsonl")
            with written_together([found[name]]) as (file,):
                file.write(b"\n".join([*lines, b""]))
        if len(found) == len(files):
            return list(found.values())
        time.sleep(wait)


def _sent(form: str, client: Any, path: Path) -> str:
    """Send a file of requests; return the name of its batch."""
    if form == ANTHROPIC:
        return str(client.messages.batches.create(**json.loads(path.read_bytes())).id)
    with path.open("rb") as file:
        endpoint = json.loads(file.readline())["url"]
        file.seek(0)
        sent = client.files.create(file=file, purpose="batch")
    made = client.batches.create(input_file_id=sent.id, endpoint=endpoint, completion_window="24h")
    return str(made.id)


def _state(form: str, client: Any, batch: str) -> tuple[str, list[bytes] | None]:
    """Return in print how far a batch is, and at its end the rows of its results."""
    if form == ANTHROPIC:
        found = client.messages.batches.retrieve(batch)
        counts = [f"{number} {name}" for name, number in found.request_counts if number]
        state = f"{found.processing_status}, {', '.join(counts)}"
        if found.processing_status != "ended":
            return state, None
        rows = client.messages.batches.results(batch)
        return state, [own.model_dump_json().encode() for own in rows]
    found = client.batches.retrieve(batch)
    counts, state = found.request_counts, found.status
    if counts is not None:
        state += f", {counts.completed} of {counts.total} done, {counts.failed} failed"
    problems = [one.message for one in getattr(found.errors, "data", None) or ()]
    state = ": ".join([state, *problems[:1]])
    if found.status not in _ENDED:
        return state, None
    names = filter(None, (found.output_file_id, found.error_file_id))
    return state, [row for name in names for row in client.files.content(name).content.splitlines()]
