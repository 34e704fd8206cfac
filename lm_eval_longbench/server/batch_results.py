"""Put the result files of a batch into the file of answers."""

from __future__ import annotations

import json
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from lm_eval_longbench.errors import OptionError
from lm_eval_longbench.files import Unreadable, blocks, lines, reading
from lm_eval_longbench.records.answer import ANSWERED
from lm_eval_longbench.records.awaited import Awaited, awaited_in
from lm_eval_longbench.records.joined_stores import locked, opened_together
from lm_eval_longbench.records.store import PUT, Kept, naming, row_of
from lm_eval_longbench.server.batch import result_of
from lm_eval_longbench.server.faults import Fault


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


def _rows(path: Path) -> Iterator[Any]:
    """Yield the rows of a result file, packed or not; None for what is none."""
    with reading(path, OptionError):
        try:
            for line in lines(blocks(path)):
                if line.strip():
                    try:
                        yield json.loads(line)
                    except (ValueError, RecursionError):
                        yield None
        except Unreadable:  # what stands before the damage is paid for
            yield None


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
        for row in _rows(path):
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
    result = None if row is None else result_of(row)
    if result is None:
        found.broken += 1
        return
    asked = out.get(result.name)
    if asked is None:
        found.foreign += 1
        return
    try:
        answer = result.answer(asked.stops, asked.left_out)
    except Fault as fault:
        found.failed[fault.reason] += 1
        return
    earlier = answers.get(result.name)
    if earlier is not None:
        found.double += 1
        if earlier.answer.state == ANSWERED:
            return
    answers[result.name] = replace(asked.kept, answer=replace(answer, at=time.time()))
