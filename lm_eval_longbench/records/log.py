"""Read the harness's sample logs, and keep of each row what checks need."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from typing_extensions import Required, TypedDict

from lm_eval_longbench.errors import PredictionError
from lm_eval_longbench.files import read_json_lines
from lm_eval_longbench.prompts.prepare import EXCERPT
from lm_eval_longbench.prompts.render import text_sha256
from lm_eval_longbench.shapes import Count, Object, checked

# What rows of `--predict_only` hold in place of figures.
BYPASS = "bypass"
_NAME = re.compile(r"samples_(.+?)(?:_\d{4}-\d\d-\d\dT[\d.-]+)?")


class PromptSummary(TypedDict, total=False):
    """What a row says of its prompt before any chat template.

    Attributes:
        sha256, template_sha256, document_sha256: of prompt, template and document.
        tokens_before_cut: null where nothing needed the count.
        truncated: whether it was cut.
        question_at: characters before its question; null: not known.
    """

    sha256: Required[str]
    truncated: Required[bool]
    template_sha256: str | None
    tokens_before_cut: Count | None
    question_at: Count | None
    document_sha256: str | None


class LoggedDoc(TypedDict, total=False):
    """A question without its long text; a benchmark adds fields of its own.

    Attributes:
        index: its number among those that the task could ask for.
        _id, id: its name, in one of them.
        replies: what is known of each answer.
    """

    prompt: Required[PromptSummary]
    index: Required[Count]
    _id: str | int
    id: str | int
    replies: list[Object]


class RawRow(TypedDict):
    """What checks need of a line of a sample log; figures stand under their names, too."""

    doc: LoggedDoc
    resps: list[list[str]]
    filtered_resps: list[Any]
    filter: str
    metrics: list[str]


@dataclass(frozen=True)
class LogRow:
    """One question of a sample log.

    Attributes:
        line: in the file, from 1.
        doc: the question without its long text.
        filter: name of the harness filter whose answers were scored.
        responses: the answers that were scored, one a repeat.
        generated: of each request the texts that the model gave.
        logged: figures by name; empty with `--predict_only`.
    """

    line: int
    doc: Mapping[str, Any]
    filter: str
    responses: Sequence[str]
    generated: Sequence[Sequence[str]]
    logged: Mapping[str, Any]

    @property
    def name(self) -> str:
        """The question's id."""
        return str(self.doc.get("_id", self.doc.get("id")))

    @property
    def index(self) -> int:
        """The question's number among those that the task could ask for."""
        return int(self.doc["index"])

    @property
    def prompt(self) -> Mapping[str, Any]:
        """What the row says of its prompt: hash, template hash, whether it was cut."""
        prompt: Mapping[str, Any] = self.doc["prompt"]
        return prompt


def at(row: LogRow, what: str) -> str:
    """Return a sentence about a row that says where it is."""
    return f"line {row.line} ({row.name}) {what}"


def task_in_name(stem: str) -> str | None:
    """Return the task in the name, without its ending, of a sample log; None for another name."""
    found = _NAME.fullmatch(stem)
    return found[1] if found else None


def is_log_row(row: Any) -> bool:
    """Whether a decoded row is of a sample log, of any task."""
    return (
        isinstance(row, dict)
        and isinstance(row.get("doc"), dict)
        and ("resps" in row or "filtered_resps" in row)
    )


def answers_in(log: Path) -> set[str]:
    """Return the requests of a log with their answers, without the figures.

    Raises:
        PredictionError: the log cannot be read.
    """
    rows = (row for _, row in read_json_lines(log, PredictionError))
    return {json.dumps([row.get(name) for name in ("doc", "arguments", "resps")]) for row in rows}


def data_label(row: Mapping[str, Any]) -> str | None:
    """Return the label of the data that a row's question is of; None: the row does not say."""
    label = row["doc"].get("data")
    return label if isinstance(label, str) else None


def prompt_of(row: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return what a row says of its prompt, if it says anything."""
    prompt = row["doc"].get("prompt")
    return prompt if isinstance(prompt, dict) else {}


def responses_of(row: Mapping[str, Any]) -> list[str] | None:
    """Return all answers of a row, as the harness scored them; None if there is none.

    A failed call, null, is "". What a user's filters made of the answers goes before what the model
    wrote. A question has one request or several, and each of them a text or a list of texts.
    """
    filtered = row.get("filtered_resps")
    if isinstance(filtered, list) and filtered:
        texts = [text for own in filtered for text in (own if isinstance(own, list) else [own])]
    else:
        requests = row.get("resps")
        if not isinstance(requests, list) or not all(isinstance(own, list) for own in requests):
            return None
        texts = [text for own in requests for text in own]
    if not texts or not all(isinstance(text, str | None) for text in texts):
        return None
    return [text or "" for text in texts]


def requests_of(
    row: Mapping[str, Any],
) -> tuple[list[Mapping[str, Any]], list[Mapping[str, Any]]]:
    """Return of each request the generation arguments, and the excerpt of its prompt."""
    given = row.get("arguments")
    given = given.values() if isinstance(given, Mapping) else ()
    requests = [request for request in given if isinstance(request, Mapping)]
    generation = [own for request in requests if isinstance(own := request.get("arg_1"), Mapping)]
    prompts = [request.get("arg_0") for request in requests]
    # Chat messages are logged as their JSON text in a list.
    prompts = [own[0] if isinstance(own, list) and len(own) == 1 else own for own in prompts]
    excerpts: list[Mapping[str, Any]] = []
    for own in prompts:
        if isinstance(own, Mapping):
            excerpts.append(own)
        elif isinstance(own, str) and excerpts and own == prompts[0]:
            excerpts.append(excerpts[0])  # repeats send one prompt
        elif isinstance(own, str):
            ends = {"head": own[:EXCERPT], "tail": own[-EXCERPT:]}
            excerpts.append({"sha256": text_sha256(own), "characters": len(own), **ends})
    return generation, excerpts


def _row(row: Any, line: int, where: str) -> LogRow:
    said = f"{where} is no row of a sample log"
    checked(row, RawRow, said)
    responses = responses_of(row)
    if responses is None or not row["filtered_resps"]:
        raise PredictionError(f"{said}: 'filtered_resps' has no answers, or some are no texts.")
    names = [name for name in row["metrics"] if name != BYPASS]
    for name in names:
        checked(row.get(name), float | None, said, name)
    return LogRow(
        line=line,
        doc=row["doc"],
        filter=row["filter"],
        responses=responses,
        generated=row["resps"],
        logged={name: row.get(name) for name in names},
    )


def read_log(path: Path) -> Iterator[LogRow]:
    """Yield the rows of a sample log in order, without its long prompts.

    Raises:
        PredictionError: the file cannot be read, or a line is no row of a sample log; the message
            names file, line and reason.
    """
    for number, value in read_json_lines(path, PredictionError):
        yield _row(value, number, f"{path}, line {number},")
