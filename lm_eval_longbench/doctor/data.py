"""The data that the tasks of a run read: present, which, and complete."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from lm_eval_longbench.doctor.line import ERROR, OK, WARNING, Line
from lm_eval_longbench.doctor.sources import (
    CONVERTED,
    DAMAGED,
    DOWNLOADED,
    MISSING,
    SOURCES,
    TITLES,
    Stored,
    stored,
)
from lm_eval_longbench.doctor.wanted_data import SAMPLE, Wanted, load, official_rows
from lm_eval_longbench.errors import LongBenchError, UnknownNameError

if TYPE_CHECKING:
    from lm_eval_longbench.data.documents import Documents

TOPIC = "data"


@dataclass(frozen=True)
class Found:
    """What became of the wanted datasets.

    Attributes:
        lines: of the report.
        rows: documents of each task whose data is here.
        expected: documents of each task; official numbers where its data is not here.
    """

    lines: list[Line]
    rows: dict[str, int]
    expected: dict[str, int]


def look(wanted: Sequence[Wanted]) -> Found:
    """Look at the datasets of a run, without a download."""
    found = Found([], {}, {})
    places: dict[tuple[str, str | None], list[Wanted]] = {}
    for one in wanted:
        places.setdefault((one.benchmark, one.data_dir), []).append(one)
    for (benchmark, data_dir), own in places.items():
        if data_dir is None:
            state = stored(benchmark, sorted({one.dataset for one in own}))
            if state.state in (DAMAGED, MISSING):
                found.lines.append(absent_line(benchmark, state, tuple(one.task for one in own)))
                continue
        found.lines.extend(_opened(benchmark, own, found.rows))
    for one in wanted:
        with contextlib.suppress(UnknownNameError):  # said when it was opened
            official = official_rows(one.benchmark, one.dataset)
            found.expected[one.task] = found.rows.get(one.task, official)
    return found


def absent_line(benchmark: str, state: Stored, tasks: tuple[str, ...] = ()) -> Line:
    """Say that pinned data is missing or damaged."""
    source = SOURCES[benchmark]
    prepare = f"lm-eval-longbench prepare {benchmark}"
    if state.state == DAMAGED:
        what = f"{state.place} is damaged: sha256 {state.sha256}, pinned {source.sha256}"
        todo = f"{prepare} removes it, and a second time downloads it anew."
        return Line(ERROR, TOPIC, what, todo, tasks)
    what = f"{TITLES[benchmark]}: {source.label}, {source.file}, is not on this machine"
    todo = (
        f"{prepare}, with network and without HF_HUB_OFFLINE; or the option data_dir with a copy, "
        f'or "{SAMPLE}" to try things out.'
    )
    return Line(ERROR, TOPIC, what, todo, tasks)


def _opened(benchmark: str, wanted: Sequence[Wanted], rows: dict[str, int]) -> Iterator[Line]:
    """Open datasets of one place; a line for the place, and one for each that cannot be had."""
    opened: dict[str, Documents] = {}
    for one in wanted:
        try:
            if one.dataset not in opened:
                opened[one.dataset] = load(one)
        except (LongBenchError, OSError, ValueError) as error:
            yield Line(
                ERROR,
                TOPIC,
                str(error),
                f"Correct the data, or lm-eval-longbench prepare {benchmark}.",
                (one.task,),
            )
            continue
        rows[one.task] = len(opened[one.dataset].rows)
    if opened:
        yield _summary(benchmark, opened)


def _summary(benchmark: str, opened: dict[str, Documents]) -> Line:
    found = sum(len(documents.rows) for documents in opened.values())
    official = sum(official_rows(benchmark, dataset) for dataset in opened)
    labels = sorted({documents.label for documents in opened.values()})
    digests = sorted({documents.sha256 for documents in opened.values()})
    several = f" and {len(labels) - 1} more" if len(labels) > 1 else ""
    number = f"{len(opened)} dataset{'s' if len(opened) > 1 else ''}"
    what = (
        f"{TITLES[benchmark]}: {labels[0]}{several}, sha256 {digests[0]}{several}; "
        f"{number}, {found:,} of officially {official:,} documents"
    )
    if all(documents.official for documents in opened.values()):
        return Line(OK, TOPIC, what)
    if labels[0].startswith(SAMPLE):
        return Line(
            WARNING,
            TOPIC,
            f"{what}. This is the embedded sample",
            "Good for trying things out; for real scores leave out data_dir.",
        )
    return Line(
        WARNING,
        TOPIC,
        f"{what}. This is not the pinned official data",
        "Results will be marked with its hash; leave out data_dir for the official data.",
    )


def general_lines() -> Iterator[Line]:
    """Yield a line for each benchmark's official data; none of it is wanted yet."""
    for benchmark, source in SOURCES.items():
        state = stored(benchmark)
        what = f"{TITLES[benchmark]}: {source.label}, sha256 {state.sha256}"
        if state.state == CONVERTED:
            yield Line(OK, TOPIC, f"{what}, converted")
        elif state.state == DOWNLOADED:
            yield Line(OK, TOPIC, f"{what}, downloaded; its first use converts it")
        elif state.state == MISSING:
            yield Line(
                WARNING,
                TOPIC,
                f"{TITLES[benchmark]}: {source.label} is not on this machine",
                f"lm-eval-longbench prepare {benchmark}, before a run that needs it.",
            )
        else:
            yield absent_line(benchmark, state)
