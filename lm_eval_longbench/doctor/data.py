"""The data that the tasks of a run read: where it is, which, and complete; none is downloaded."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from lm_eval_longbench.benchmarks.base import Task
from lm_eval_longbench.benchmarks.registry import benchmark_of, families, find_task, title_of
from lm_eval_longbench.data.hub import CONVERTED, DAMAGED, DOWNLOADED, MISSING, Stored, stored
from lm_eval_longbench.doctor.line import ERROR, OK, WARNING, Line
from lm_eval_longbench.errors import LongBenchError, UnknownNameError
from lm_eval_longbench.harness.preflight_facts import is_offline

if TYPE_CHECKING:
    from lm_eval_longbench.data.documents import Documents

TOPIC = "data"
# The value of the option data_dir that stands for the embedded sample.
SAMPLE = "sample"

# ---------------------------------------------------------------------- what a run reads


@dataclass(frozen=True)
class WantedData:
    """One dataset that a task reads.

    Attributes:
        name: of the task in the run.
        task: that it is, in the registry.
        data_dir: the option; None: the pinned official data.
    """

    name: str
    task: str
    data_dir: str | None


@dataclass(frozen=True)
class FoundData:
    """What became of the wanted datasets.

    Attributes:
        lines: of the report.
        rows: documents of each task whose data is here.
        expected: documents of each task; official numbers where its data is not here.
        pinned: families whose official data is wanted.
    """

    lines: list[Line]
    rows: dict[str, int]
    expected: dict[str, int]
    pinned: set[str]


def look(wanted: Sequence[WantedData]) -> FoundData:
    """Look at the datasets of a run, without a download."""
    found = FoundData([], {}, {}, set())
    places: dict[tuple[str, str | None], list[tuple[str, Task]]] = {}
    for one in wanted:
        try:
            task = find_task(one.task)
        except UnknownNameError as error:
            found.lines.append(Line(ERROR, TOPIC, str(error), "Correct the task.", (one.name,)))
            continue
        found.expected[one.name] = task.questions
        place = (benchmark_of(task).prepared_as, one.data_dir)
        places.setdefault(place, []).append((one.name, task))
    for (family, data_dir), own in places.items():
        if data_dir is None:
            found.pinned.add(family)
            state = stored(family, sorted({task.dataset for _, task in own}))
            if state.state in (DAMAGED, MISSING):
                found.lines.append(absent_line(family, state, tuple(name for name, _ in own)))
                continue
        found.lines.extend(_opened(family, data_dir, own, found.rows))
    found.expected.update(found.rows)
    return found


def absent_line(family: str, state: Stored, tasks: tuple[str, ...] = ()) -> Line:
    """Say that pinned data is missing or damaged."""
    source = families()[family][0].source
    prepare = f"lm-eval-longbench prepare {family}"
    if state.state == DAMAGED:
        what = f"{state.place} is damaged: sha256 {state.sha256}, pinned {source.sha256}"
        todo = f"{prepare} removes it, and a second time downloads it anew."
        return Line(ERROR, TOPIC, what, todo, tasks)
    what = f"{title_of(family)}: {source.label}, {source.file}, is not downloaded yet"
    if is_offline():
        todo = (
            f"{prepare}, with network and without HF_HUB_OFFLINE; or --data-dir with a copy, or "
            f'"{SAMPLE}" to try things out.'
        )
        return Line(ERROR, TOPIC, f"{what}, and HF_HUB_OFFLINE is set", todo, tasks)
    todo = (
        f"{prepare} fetches it, {source.size / 1e6:,.0f} MB, or else the run does. Prompts are "
        "looked at once it is here."
    )
    return Line(WARNING, TOPIC, what, todo, tasks)


def _opened(
    family: str, data_dir: str | None, wanted: Sequence[tuple[str, Task]], rows: dict[str, int]
) -> Iterator[Line]:
    """Open datasets of one place; a line for the place, and one for each that cannot be had."""
    opened: dict[str, Documents] = {}
    official: dict[str, int] = {}
    for name, task in wanted:
        try:
            if task.dataset not in opened:
                opened[task.dataset] = benchmark_of(task).load(task, data_dir)
                official[task.dataset] = task.questions
        except (LongBenchError, OSError, ValueError) as error:
            todo = f"Correct the data, or lm-eval-longbench prepare {family}."
            yield Line(ERROR, TOPIC, str(error), todo, (name,))
            continue
        rows[name] = len(opened[task.dataset].rows)
    if opened:
        yield _summary(family, opened, sum(official.values()))


def _summary(family: str, opened: dict[str, Documents], official: int) -> Line:
    found = sum(len(documents.rows) for documents in opened.values())
    labels = sorted({documents.label for documents in opened.values()})
    digests = sorted({documents.sha256 for documents in opened.values()})
    several = f" and {len(labels) - 1} more" if len(labels) > 1 else ""
    number = f"{len(opened)} dataset{'s' if len(opened) > 1 else ''}"
    what = (
        f"{title_of(family)}: {labels[0]}{several}, sha256 {digests[0]}{several}; "
        f"{number}, {found:,} of officially {official:,} documents"
    )
    if all(documents.official for documents in opened.values()):
        return Line(OK, TOPIC, what)
    if labels[0].startswith(SAMPLE):
        todo = "Good for trying things out; for real scores leave out data_dir."
        return Line(WARNING, TOPIC, f"{what}. This is the embedded sample", todo)
    what = f"{what}. This is not the pinned official data"
    todo = "Results will be marked with its hash; leave out data_dir for the official data."
    return Line(WARNING, TOPIC, what, todo)


def general_lines() -> Iterator[Line]:
    """Yield a line for each family's official data; none of it is wanted yet."""
    for family, members in families().items():
        source, state = members[0].source, stored(family)
        what = f"{title_of(family)}: {source.label}, sha256 {state.sha256}"
        if state.state == CONVERTED:
            yield Line(OK, TOPIC, f"{what}, converted")
        elif state.state == DOWNLOADED:
            yield Line(OK, TOPIC, f"{what}, downloaded; its first use converts it")
        else:  # no run lacks it yet
            line = absent_line(family, state)
            yield replace(line, status=WARNING) if state.state == MISSING else line
