"""Requests that were written to files, beside the file for their answers, until results come."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from lm_eval_longbench.errors import DataError
from lm_eval_longbench.files import read_json_lines
from lm_eval_longbench.records.answer import Answer
from lm_eval_longbench.records.store import Kept
from lm_eval_longbench.result_files import json_lines

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


def _file(answers: Path) -> Path:
    return answers.with_name(f"{_PREFIX}{answers.stem}.jsonl")


def _read(file: Path) -> Iterator[tuple[str, Awaited]]:
    rows = [row for _, row in read_json_lines(file, DataError)]
    for row in rows[1:]:  # the first is of all
        name, stops, left_out = (row.pop(key) for key in ("custom_id", "stops", "left_out"))
        kept, place = Kept(**row, answer=Answer("")), file.with_name(rows[0]["answers"])
        yield name, Awaited(rows[0]["identity"], place, kept, tuple(stops), tuple(left_out))


def add_awaited(answers: Path, identity: str, out: Iterable[tuple[str, Awaited]]) -> None:
    """Note that requests are out, beside those that are already."""
    file = _file(answers)
    known = {**(dict(_read(file)) if file.exists() else {}), **dict(out)}
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
            found |= dict(_read(file))
        except (KeyError, TypeError, AttributeError) as error:
            raise DataError(f"{file} is no file of requests that are out: {error!r}.") from error
    return found
