"""A line of the report of `doctor`, the report, and its lines on data, results and disk."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from huggingface_hub import constants
from rich.box import SIMPLE_HEAD
from rich.table import Column, Table
from rich.text import Text

from lm_eval_longbench.benchmarks.registry import families, title_of
from lm_eval_longbench.data.fetch import downloads_folder
from lm_eval_longbench.data.open import CONVERTED, DAMAGED, MISSING, Stored, stored
from lm_eval_longbench.errors import few
from lm_eval_longbench.files import datasets_cache
from lm_eval_longbench.result_files import output_folder

# ---------------------------------------------------------------------- the report

OK, WARNING, ERROR = "ok", "warning", "error"
_STYLES = {OK: "green", WARNING: "yellow", ERROR: "bold red"}
# Names of tasks that are shown in a line of the table.
_TASKS_SHOWN = 3


@dataclass(frozen=True)
class Line:
    """What one check found.

    Attributes:
        status: OK, WARNING (the run works, and is not what it could be) or ERROR (it stops, or its
            result is worthless).
        topic: what was looked at, in one or two words.
        found: what was found.
        todo: what to do about it; "" where all is well.
        tasks: the tasks it is about; empty: the whole run.
    """

    status: str
    topic: str
    found: str
    todo: str = ""
    tasks: tuple[str, ...] = ()


def merged(lines: Iterable[Line]) -> list[Line]:
    """Return the lines in order, those that differ by their tasks alone as one."""
    tasks: dict[Line, list[str]] = {}
    for line in lines:
        tasks.setdefault(replace(line, tasks=()), []).extend(line.tasks)
    return [replace(line, tasks=tuple(dict.fromkeys(names))) for line, names in tasks.items()]


def counts(lines: Iterable[Line]) -> dict[str, int]:
    """Return how many lines have each status."""
    found = [line.status for line in lines]
    return {status: found.count(status) for status in _STYLES}


def as_table(lines: Sequence[Line]) -> Table:
    """Lay the lines out; texts are shown as they are, never as markup."""
    table = Table(
        Column("", no_wrap=True),
        Column("topic", no_wrap=True),
        Column("found, and what to do", overflow="fold"),
        box=SIMPLE_HEAD,
    )
    for number, line in enumerate(lines):
        if number and lines[number - 1].topic != line.topic:
            table.add_section()
        names = f"{few(line.tasks, _TASKS_SHOWN)}: " if line.tasks else ""
        todo = f"\n-> {line.todo}" if line.todo else ""
        text = Text.assemble((names, "dim"), line.found, (todo, "bold"))
        table.add_row(Text(line.status, style=_STYLES[line.status]), Text(line.topic), text)
    return table


def summary(lines: Sequence[Line]) -> str:
    """Return the sum of a report in one sentence."""
    found = counts(lines)
    texts = {name: f"{n} {name}{'' if n == 1 else 's'}" for name, n in found.items()}
    if not found[ERROR]:
        return f"No errors, {texts[WARNING]}."
    return f"{texts[ERROR]}, {texts[WARNING]}: a run would stop, or not do what is wanted."


def as_json(lines: Sequence[Line]) -> str:
    """Return the lines and their counts as one JSON object, in ASCII: any terminal takes it."""
    return json.dumps(
        {"lines": [asdict(line) for line in lines], "counts": counts(lines)}, indent=1
    )


# ---------------------------------------------------------------------- data, results and disk


def is_offline() -> bool:
    """Whether the hub may not be asked (HF_HUB_OFFLINE)."""
    return bool(constants.HF_HUB_OFFLINE)


def absent_line(
    family: str, state: Stored, tasks: tuple[str, ...] = (), *, sampled: bool = False
) -> Line:
    """Say that pinned data is missing or damaged, and what fetches it.

    Args:
        family: of benchmarks, whose data it is.
        state: of its file.
        tasks: of a run that want it; none: no run was given.
        sampled: whether the embedded sample stands for it in what is said of them.
    """
    benchmark = families()[family][0]
    source, prepare = benchmark.source, f"lm-eval-longbench prepare {family}"
    fetcher = prepare if benchmark.is_prepared else "The run"
    if state.state == DAMAGED:
        what = f"{state.place} is damaged: sha256 {state.sha256}, pinned {source.sha256}"
        todo = f"{fetcher} removes it, and a second time downloads it anew."
        return Line(ERROR, "data", what, todo, tasks)
    what = f"{title_of(family)}: {source.label}, {source.file}, is not downloaded yet"
    size = f", {source.size / 1e6:,.0f} MB" if source.size else ""
    or_run = ", or the run does" if benchmark.is_prepared else ""
    status, todo = WARNING, f"{fetcher} fetches it{size}{or_run}."
    if tasks and is_offline():
        status, what = ERROR, f"{what}, and HF_HUB_OFFLINE is set"
        todo = f"{fetcher}, with network and without HF_HUB_OFFLINE; or --data-dir with a copy."
    if sampled:
        what += "; the embedded sample stands for it here"
    return Line(status, "data", what, todo, tasks)


# Free bytes below which a disk is as good as full.
RESERVE = 200_000_000


def _existing(folder: Path) -> Path:
    """Return the folder, or the nearest above it that exists."""
    whole = folder.absolute()
    return next(path for path in (whole, *whole.parents) if path.exists())


def output_line(output_path: str | None, *, log_samples: bool) -> Line:
    """Say where results, log and answers of a run go."""
    if not output_path:
        what = "no --output_path: figures are printed, and no file keeps them or the answers"
        todo = "Add --output_path FOLDER --log_samples: a stopped run then goes on where it was."
        return Line(WARNING, "output", what, todo)
    folder = _existing(output_folder(output_path))
    if not folder.is_dir() or not os.access(folder, os.W_OK):
        what = f"{folder} cannot be written, so the results of the whole run would be lost"
        return Line(ERROR, "output", what, "Give another --output_path.")
    if not log_samples:
        what = f"results and answers go to {output_path}, without a sample log"
        todo = "Add --log_samples: without a log nothing can be scored again or verified."
        return Line(WARNING, "output", what, todo)
    return Line(OK, "output", f"results, sample log and answers go to {output_path}")


def space_line(what: str, folder: Path, need: int) -> Line:
    """Judge the free space of a folder, which need not exist yet; `need` is in bytes."""
    free = shutil.disk_usage(_existing(folder)).free
    found = f"{what}, {folder}: {_size(free)} free, about {_size(need)} needed"
    if free < need:
        return Line(ERROR, "disk", found, "Free some space, or name another folder.")
    if free < need + RESERVE:
        return Line(WARNING, "disk", f"{found}: that is tight", "Free some space.")
    return Line(OK, "disk", found)


def _size(number: int) -> str:
    return f"{number / 1e9:,.1f} GB" if number >= 1e8 else f"{number / 1e6:,.1f} MB"


def cache_lines(wanted: Iterable[str]) -> Iterator[Line]:
    """Yield a line on the space of converted and one of downloaded files of families' data."""
    found = [(families()[name][0].source, stored(families()[name]).state) for name in wanted]
    converted = sum(source.converted for source, state in found if state != CONVERTED)
    downloads = sum(source.size for source, state in found if state in (MISSING, DAMAGED))
    yield space_line("datasets cache", datasets_cache(), converted)
    yield space_line("downloads", downloads_folder(), downloads)
