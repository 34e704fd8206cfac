"""Files that hold answers to a benchmark's questions: other programs', and the official ones.

A layout is the form of the files of one other program. Each benchmark lists those that it reads.
They were learnt from the programs' public sources, at the commits that each layout names.
"""

from __future__ import annotations

import abc
import ast
import codecs
import contextlib
import csv
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lm_eval_longbench.errors import PredictionError
from lm_eval_longbench.files import blocks, json_rows, lines, read_json
from lm_eval_longbench.metrics.reasoning import answer_of
from lm_eval_longbench.records.sample import Unusable

if TYPE_CHECKING:
    from lm_eval_longbench.catalog.model import Table, Task
    from lm_eval_longbench.records.sample import Sample


# ---------------------------------------------------------------------- files of other programs

# How a file holds its rows: one JSON object a line; a table with a header; one JSON object whose
# values are the rows; one object a line, with its question in a file that its name leads to.
LINES = "lines"
TABLE = "table"
OBJECT = "object"
REQUESTS = "requests"
# A text as Python prints it.
_TEXT = re.compile(r"""'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*\"""", re.DOTALL)


@dataclass(frozen=True)
class Found:
    """What a file of a layout holds.

    Attributes:
        table: name of the table that its answers belong to.
        task: official name of the data set that all its rows are of; "": the table's one task.
    """

    table: str
    task: str = ""


@dataclass(frozen=True)
class AnsweredQuestion:
    """A question and its answers in a row of another program's file.

    Attributes:
        doc: the question.
        answers: one a repeat; None: only the letter that the program read is known.
        place: of the question in its file.
        document: short hash of the document it is about; None: not told.
        letter: that the program read, where the answer is None; None: none.
    """

    doc: Mapping[str, Any]
    answers: Sequence[str | None]
    place: int = 0
    document: str | None = None
    letter: str | None = None


class Layout(abc.ABC):
    """One program's files.

    Attributes:
        name: of the program.
        title: of such a file, in sentences.
        notes: how numbers of these files are made otherwise than officially.
        form: how a file holds its rows.
        pattern: of the names of such files, which `score` looks for in folders.
    """

    name: str
    title: str
    notes: tuple[str, ...] = ()
    form = LINES
    pattern: re.Pattern[str]

    def may_be(self, path: Path, *, named: bool) -> bool:
        """Whether a file may be one, by its name; `named`: the user named it."""
        ends = {LINES: (".jsonl", ".gz"), TABLE: (".csv",), OBJECT: (".json",)}.get(self.form, ())
        return bool(self.pattern.fullmatch(path.name)) or (named and path.suffix in ends)

    @abc.abstractmethod
    def find(self, row: Mapping[str, Any], path: Path) -> Found | str | None:
        """Return what a file is by its first row; a text: why it is not scored; None: no such."""

    def read(self, row: Mapping[str, Any], index: int, task: Task) -> AnsweredQuestion | Unusable:
        """Return what a row of a file of answers to a task says; `index` is its place there.

        No row is read of files that are only named: `find` says why, and never finds one.
        """
        return Unusable("is of a file that cannot be scored")

    def subject(self, path: Path) -> str:
        """Return whose answers a file has: the model, and what was done with it."""
        return path.parent.name

    def remarks(self, rows: Iterator[Mapping[str, Any]]) -> list[str]:
        """Return what must be said of exactly this file, from its rows."""
        return []


def pieces_of(form: str, path: Path) -> Iterator[bytes]:
    """Yield a file's rows as JSON Lines, in pieces.

    Where lines are expected, the file may also be one JSON array of the rows: the official script
    of LongBench v2 (result.py at commit 2e00731) tries that first.

    Raises:
        PredictionError: the file is of another form.
        OSError: it cannot be read.
    """
    if form == LINES:
        pieces = blocks(path)
        first = next(pieces, b"")
        begins = first.removeprefix(codecs.BOM_UTF8).lstrip()
        if begins.startswith(b"[") and (rows := _array(path)):
            yield from map(_line, rows)
        else:
            yield first
            yield from pieces
    elif form == TABLE:
        yield from map(_line, _table_rows(path))
    elif form == REQUESTS:
        yield from _rows_with_requests(path)
    else:
        whole = read_json(path, PredictionError)
        if not isinstance(whole, dict):
            raise PredictionError(f"{path} is not a JSON object.")
        for key, row in whole.items():
            own = row if isinstance(row, dict) else {"value": row}
            yield _line({"key": key, **own})


def _array(path: Path) -> list[Any]:
    """Return the rows of the JSON array that a whole file is; empty: it is something else."""
    with contextlib.suppress(PredictionError):
        rows = read_json(path, PredictionError)
        if isinstance(rows, list) and any(isinstance(row, dict) for row in rows):
            return rows
    return []


def _line(row: Any) -> bytes:
    return json.dumps(row).encode() + b"\n"


def _table_rows(path: Path) -> Iterator[dict[str, Any]]:
    texts = (line.decode("utf-8", "replace") + "\n" for line in lines(blocks(path)))
    try:
        yield from csv.DictReader(texts, restkey="more", strict=True)
    except csv.Error as error:  # a row that no reader takes; what is before it counts
        yield {"the rest of the table cannot be read": str(error)}


def _rows_with_requests(path: Path) -> Iterator[bytes]:
    """Yield the rows of `predictions/MODEL/NAME-predictions.jsonl` with what is told of questions.

    That is the `doc` in `requests/MODEL/NAME-requests.jsonl`, less the prompt; where that file is
    not there, nothing. A line that is no row stays as it is.
    """
    name = path.name.replace("-predictions.", "-requests.")
    file, known = path.parents[1].parent / "requests" / path.parent.name / name, {}
    for _, row in json_rows(file, PredictionError) if file.is_file() else ():
        if isinstance(row, dict) and isinstance(row.get("doc"), dict):
            known[str(row.get("native_id"))] = {**row["doc"], "query": None}
    for line, row in json_rows(path, PredictionError):
        doc = known.get(str(row.get("native_id"))) if isinstance(row, dict) else None
        yield _line({**row, "doc": doc}) if isinstance(row, dict) else line + b"\n"


def texts_of(cell: Any) -> list[str] | None:
    """Return the texts in a table's cell that held a list or an array; None: there is none.

    Python prints a list with commas, numpy an array without; the texts are printed alike.
    """
    if isinstance(cell, list):
        return cell
    if not isinstance(cell, str) or not cell.startswith("[") or not cell.endswith("]"):
        return None
    inner = cell[1:-1]
    if _TEXT.sub("", inner).strip(", \t\n"):
        return None
    try:
        # A line feed in an array is printed as it is.
        return [
            str(ast.literal_eval(found[0].replace("\n", "\\n"))) for found in _TEXT.finditer(inner)
        ]
    except (SyntaxError, ValueError):  # such as a NUL in it
        return None


# ---------------------------------------------------------------------- official files


# What we and others put behind a model's name for a further repeat, or for a part of the answers.
_REPEAT = re.compile(r"([-_.](repeat|run|rep|trial|shard|part)|_seed)[-_.]?\d+$", re.IGNORECASE)


@dataclass(frozen=True)
class WrittenRun:
    """What official file names say of a run.

    Attributes:
        model: its name, without a folder.
        limit: longest prompt in tokens; 0: not known.
        repeats: answers to each question.
    """

    model: str
    limit: int
    repeats: int

    def named(self, repeat: int) -> str:
        """Return the model's name in files of a repeat; officially a question has one answer."""
        return self.model if repeat == 1 else f"{self.model}_repeat-{repeat}"


class OfficialFiles(abc.ABC):
    """One benchmark's official files.

    Attributes:
        homes: names of the folders that the official scripts write into.
        above: how many folders above a file its home is.
    """

    homes: tuple[str, ...] = ()
    above = 2

    @abc.abstractmethod
    def path(self, table: Table, task: Task, run: WrittenRun, repeat: int) -> str:
        """Return the file that an answer belongs into, relative, with "/"."""

    @abc.abstractmethod
    def row(self, sample: Sample) -> dict[str, Any] | None:
        """Return an answer's row; None: the official scripts would not have written it.

        `sample` is scored and has the question as it was read.
        """

    def numbered(self, row: dict[str, Any], repeat: int) -> dict[str, Any]:
        """Return a row that says which answer to its question it is, where official ones do."""
        return row

    def figures_path(self, table: Table, run: WrittenRun) -> str:
        """Return the file for the official figures of a table; "": there is none."""
        return ""

    def figures(self, official: dict[str, Any]) -> dict[str, Any]:
        """Return official figures as the official scripts write them into that file."""
        return official

    def figures_beside(self, path: Path) -> Path | None:
        """Return where the official scripts put the figures of a file's answers; None: nowhere."""
        return None

    def model_of(self, path: Path) -> str:
        """Return the name of the model in the path of an official file."""
        return path.parent.name

    def stated_model(self, path: Path) -> str | None:
        """Return whose answers a file has that lies where the official scripts write; else None.

        What tells one repeat or part from another at the end of the name is left out. Links are
        not followed: a name is what somebody gave.
        """
        whole = path.absolute()
        if len(whole.parts) <= self.above or whole.parents[self.above - 1].name not in self.homes:
            return None
        name, shorter = "", self.model_of(whole)
        while shorter != name:
            name, shorter = shorter, self.without_mode(_REPEAT.sub("", shorter))
        return name

    def without_mode(self, name: str) -> str:
        """Return a model's name without what the official scripts add for a mode."""
        return name


def scored_text(sample: Sample) -> str:
    """Return the text of an answer that was scored: without its reasoning, where that is dropped.

    The official evaluations take nothing out, so that they must not find what was not scored.
    """
    return answer_of(sample.response or "", sample.policy)


def known_fields(sample: Sample, names: tuple[str, ...]) -> dict[str, Any]:
    """Return those fields of the question as it was read that the official files have."""
    doc: Mapping[str, Any] = sample.doc or {}
    return {name: doc[name] for name in names if doc.get(name) is not None}
