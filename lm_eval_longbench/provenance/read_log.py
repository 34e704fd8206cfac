"""Read the harness's sample logs, and keep of each row what checks need."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lm_eval_longbench.errors import PredictionError
from lm_eval_longbench.input_files import read_json_lines
from lm_eval_longbench.prompts.text_hash import text_sha256

# What rows of `--predict_only` hold in place of figures.
_BYPASS = "bypass"


@dataclass(frozen=True)
class LogRow:
    """One question of a sample log.

    Attributes:
        line: in the file, from 1.
        doc: the question without its long text.
        filter: name of the harness filter whose answers were scored.
        target: the gold answers, as the harness prints them.
        responses: the answers that were scored, one a repeat.
        generated: of each request the texts that the model gave.
        filtered: of each request the text, or the texts of its repeats, that were scored.
        logged: figures by name; empty with `--predict_only`.
        generation: generation arguments of each request.
        sent_sha256: of the first prompt as it was sent; None: the row does not tell.
        hashes: the harness's own of document, prompt and target, by name.
        doc_sha256: of the document as it stands in the row.
    """

    line: int
    doc: Mapping[str, Any]
    filter: str
    target: str
    responses: Sequence[str]
    generated: Sequence[Sequence[str]]
    filtered: Sequence[Any]
    logged: Mapping[str, Any]
    generation: Sequence[Mapping[str, Any]]
    sent_sha256: str | None
    hashes: Mapping[str, str | None]
    doc_sha256: str

    @property
    def name(self) -> str:
        """The question's id."""
        return str(self.doc.get("_id", self.doc.get("id")))

    @property
    def prompt(self) -> Mapping[str, Any]:
        """What the row says of its prompt: hash, template hash, whether it was cut."""
        return self.doc["prompt"]


def at(row: LogRow, what: str) -> str:
    """Return a sentence about a row that says where it is."""
    return f"line {row.line} ({row.name}) {what}"


def doc_sha256(doc: Any) -> str:
    """Return the harness's hash of a document."""
    return text_sha256(json.dumps(doc, indent=2, ensure_ascii=False))


def _sent(argument: Any) -> str | None:
    """Return the hash of a prompt from what the log keeps of it."""
    if isinstance(argument, Mapping):  # hash, head and tail
        return argument.get("sha256")
    if isinstance(argument, list) and len(argument) == 1:  # chat messages as JSON text
        argument = argument[0]
    return text_sha256(argument) if isinstance(argument, str) else None


def _arguments(row: Mapping[str, Any]) -> tuple[str | None, list[Mapping[str, Any]]]:
    """Return the hash of the first prompt, and each request's generation arguments."""
    given = row.get("arguments")
    requests = list(given.values()) if isinstance(given, Mapping) else []
    requests = [request for request in requests if isinstance(request, Mapping)]
    generation = [request.get("arg_1") for request in requests]
    sent = _sent(requests[0].get("arg_0")) if requests else None
    return sent, [own for own in generation if isinstance(own, Mapping)]


def _texts(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(text, str) for text in value)


def _row(row: Any, line: int, where: str) -> LogRow:
    doc = row.get("doc") if isinstance(row, Mapping) else None
    if not isinstance(doc, Mapping) or not isinstance(doc.get("prompt"), Mapping):
        raise PredictionError(f"{where} is no row of a sample log: it has no 'doc' with 'prompt'.")
    filtered, generated = row.get("filtered_resps"), row.get("resps")
    if not isinstance(filtered, list) or not filtered:
        raise PredictionError(f"{where} has no answers in 'filtered_resps'.")
    responses = filtered[0] if isinstance(filtered[0], list) else filtered
    if not responses or not _texts(responses):
        raise PredictionError(f"{where} has answers in 'filtered_resps' that are no texts.")
    if not isinstance(generated, list) or not all(map(_texts, generated)):
        raise PredictionError(f"{where} has no lists of texts in 'resps'.")
    names = [name for name in row.get("metrics") or () if name != _BYPASS]
    sent, generation = _arguments(row)
    return LogRow(
        line=line,
        doc=doc,
        filter=str(row.get("filter")),
        target=str(row.get("target")),
        responses=responses,
        generated=generated,
        filtered=filtered,
        logged={name: row.get(name) for name in names},
        generation=generation,
        sent_sha256=sent,
        hashes={name: row.get(f"{name}_hash") for name in ("doc", "prompt", "target")},
        doc_sha256=doc_sha256(doc),
    )


def read_log(path: Path) -> Iterator[LogRow]:
    """Yield the rows of a sample log in order, without its long prompts.

    Raises:
        PredictionError: the file cannot be read, or a line is no row of a sample log; the message
            names file, line and reason.
    """
    for number, value in read_json_lines(path, PredictionError):
        yield _row(value, number, f"{path}, line {number},")


def rows_sha256(rows: Sequence[LogRow]) -> str:
    """Return the harness's hash of all rows of a task, in the order of its log."""
    parts = (f"{row.hashes['doc']}{row.hashes['prompt']}{row.hashes['target']}" for row in rows)
    return hashlib.sha256("".join(parts).encode()).hexdigest()
