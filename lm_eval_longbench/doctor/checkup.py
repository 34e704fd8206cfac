"""The whole preflight: every check, in the order of the report."""

from __future__ import annotations

import contextlib
import logging
import math
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from logging.handlers import BufferingHandler

from lm_eval_longbench.benchmarks.registry import families
from lm_eval_longbench.doctor.data import WantedData, general_lines, look
from lm_eval_longbench.doctor.environment import (
    cache_lines,
    extra_lines,
    kept_answers_lines,
    output_line,
    output_lines,
    version_lines,
)
from lm_eval_longbench.doctor.line import ERROR, OK, WARNING, Line, merged
from lm_eval_longbench.doctor.model import (
    budget_lines,
    embedding_lines,
    lengths,
    limit_lines,
    model_lines,
    tokenizer_lines,
)
from lm_eval_longbench.doctor.prompt import (
    chat_lines,
    end_lines,
    problem_lines,
    prompt_lines,
    sampling_lines,
    stop_lines,
    template_lines,
)
from lm_eval_longbench.doctor.server import server_lines
from lm_eval_longbench.errors import LongBenchError
from lm_eval_longbench.harness.preflight_facts import Backend, PlannedRun, PlannedTask, TaskFacts
from lm_eval_longbench.options import Options
from lm_eval_longbench.version import installed

# ---------------------------------------------------------------------- warnings

# What these modules warn of, the report says in its own lines.
_TOLD = tuple(f"lm_eval_longbench.{name}" for name in ("harness.task", "harness.prompts", "data."))


@contextlib.contextmanager
def overheard() -> Iterator[list[logging.LogRecord]]:
    """Yield a list that gets this package's warnings and errors while open; none is shown."""
    logger = logging.getLogger("lm_eval_longbench")
    keeper, before = BufferingHandler(sys.maxsize), logger.propagate
    keeper.setLevel(logging.WARNING)
    logger.addHandler(keeper)
    logger.propagate = False
    try:
        yield keeper.buffer
    finally:
        logger.removeHandler(keeper)
        logger.propagate = before


def warning_lines(records: list[logging.LogRecord], task: str) -> Iterator[Line]:
    """Yield a line for each warning that the report does not put in its own words."""
    for record in records:
        if not record.name.startswith(_TOLD):
            todo = "The run will warn of it too."
            yield Line(WARNING, "warning", record.getMessage(), todo, (task,))


# ---------------------------------------------------------------------- the lines on one run

_CORRECT = "Correct the arguments."


def run_lines(run: PlannedRun, first: int | None, defaults: bool | None) -> Iterator[Line]:
    """Yield the report on a run; `first` and `defaults` as for `examine`."""
    from lm_eval_longbench.harness.preflight import (
        ask_task,  # these import the harness
        open_tasks,
    )
    from lm_eval_longbench.harness.preflight_model import describe

    if run.said:
        yield Line(OK, "preset", run.said)
    try:
        options = Options.from_metadata(run.metadata)
        backend = describe(run)
    except LongBenchError as error:
        yield Line(ERROR, "arguments", str(error), _CORRECT)
        return
    yield from extra_lines(backend, options)
    yield from model_lines(run, backend)
    yield from end_lines(backend)
    yield from template_lines(run, backend)
    if not run.tasks:
        yield Line(ERROR, "tasks", "no --tasks: the run would stop", "Add --tasks NAMES.")
        yield from server_lines(run, backend, [])
        return
    try:
        manager, leaves = open_tasks(run, include_defaults=defaults)
    except LongBenchError as error:
        yield Line(ERROR, "tasks", str(error), _CORRECT)
        yield from server_lines(run, backend, [])
        return
    ours = [leaf for leaf in leaves if leaf.task is not None]
    yield from _foreign_lines(leaves)
    with overheard():  # the lines on data say it
        wanted, refused = _wanted(ours)
        found = look(wanted)
    yield from refused
    yield from found.lines
    ready = [leaf for leaf in ours if leaf.name in found.rows]
    names = [leaf.name for leaf in leaves]
    tasks = []
    for leaf in ready[:first]:
        with overheard() as records:
            tasks.append(ask_task(run, leaf, backend, manager, names))
        yield from warning_lines(records, leaf.name)
    yield from task_lines(run, backend, tasks)
    if len(ready) > len(tasks):
        what = f"{len(ready) - len(tasks)} of {len(ready)} tasks were not looked at closely"
        yield Line(OK, "tasks", what, "--all looks at all of them.")
    yield from server_lines(run, backend, tasks)
    yield from embedding_lines(options, ours)
    yield from output_lines(run)
    yield from kept_answers_lines(run)
    yield from output_line(run, answers(run, ours, found.expected), tasks)
    yield from cache_lines(sorted(found.pinned))


def task_lines(run: PlannedRun, backend: Backend, tasks: Sequence[TaskFacts]) -> Iterator[Line]:
    """Yield the lines on the tasks that were looked at closely, check by check."""
    counted = {facts.name: lengths(facts) for facts in tasks}
    checks: tuple[Callable[[TaskFacts], Iterator[Line]], ...] = (
        problem_lines,
        lambda facts: tokenizer_lines(backend, facts),
        lambda facts: prompt_lines(facts, counted[facts.name]),
        lambda facts: limit_lines(backend, facts, counted[facts.name]),
        lambda facts: chat_lines(run, backend, facts),
        lambda facts: stop_lines(run, facts),
        lambda facts: budget_lines(facts, counted[facts.name]),
        lambda facts: sampling_lines(backend, facts),
    )
    for check in checks:
        for facts in tasks:
            yield from (replace(line, tasks=(facts.name,)) for line in check(facts))


def answers(run: PlannedRun, leaves: Sequence[PlannedTask], rows: Mapping[str, int]) -> int:
    """Return how many answers a run asks for, repeats included; `rows` is by task."""
    total = 0
    for leaf in leaves:
        if leaf.name not in rows:
            continue
        asked = rows[leaf.name]
        if run.limit is not None:
            wanted = math.ceil(asked * run.limit) if run.limit < 1 else int(run.limit)
            asked = min(asked, wanted)
        chosen = (run.samples or {}).get(leaf.name)
        asked = asked if chosen is None else len(chosen)
        total += asked * (Options.from_metadata(leaf.metadata).repeats or leaf.repeats)
    return total


def _foreign_lines(leaves: Sequence[PlannedTask]) -> Iterator[Line]:
    foreign = tuple(leaf.name for leaf in leaves if leaf.task is None)
    if foreign:
        what = "not tasks of this package, and not looked at"
        yield Line(OK, "tasks", what, "", foreign)


def _wanted(leaves: Sequence[PlannedTask]) -> tuple[list[WantedData], list[Line]]:
    """Return the data that tasks read, and a line for each task whose options are refused."""
    wanted, refused = [], []
    for leaf in leaves:
        try:
            data_dir = Options.from_metadata(leaf.metadata).data_dir
        except LongBenchError as error:
            refused.append(Line(ERROR, "options", str(error), _CORRECT, (leaf.name,)))
            continue
        wanted.append(WantedData(leaf.name, str(leaf.task), data_dir))
    return wanted, refused


# ---------------------------------------------------------------------- the whole

# Tasks whose first prompt is built unless all are asked for.
FIRST = 5


def examine(
    arguments: Sequence[str],
    preset: str | None = None,
    *,
    first: int | None = FIRST,
    include_defaults: bool | None = None,
    thinking: bool = False,
) -> list[Line]:
    """Return the report on a run; nothing is generated, and nothing is downloaded.

    Args:
        arguments: those of `lm-eval-longbench run`; none: what does not depend on a run.
        preset: published model whose settings are used where the arguments leave them open.
        first: tasks that are looked at closely; None: all.
        include_defaults: whether the harness's own tasks are indexed; None: if they are needed.
        thinking: the preset's settings for thinking scores.

    Raises:
        SystemExit: the harness's own, on arguments it does not take.
    """
    return merged(_lines(arguments, preset, first, include_defaults, thinking=thinking))


def _lines(
    arguments: Sequence[str],
    preset: str | None,
    first: int | None,
    defaults: bool | None,
    *,
    thinking: bool,
) -> Iterator[Line]:
    yield from version_lines()
    if not arguments and preset is None:
        yield from general_lines()
        yield from cache_lines(families())
        return
    if installed("lm_eval") is None:  # said already
        return
    from lm_eval_longbench.harness.preflight import read_run  # slow to import

    try:
        run = read_run(arguments, preset, thinking=thinking)
    except LongBenchError as error:
        yield Line(ERROR, "arguments", str(error), "Correct the arguments.")
        return
    yield from run_lines(run, first, defaults)
