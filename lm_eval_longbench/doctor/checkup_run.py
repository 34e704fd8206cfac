"""The part of the preflight that looks at one run."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence

from lm_eval_longbench.doctor import disk
from lm_eval_longbench.doctor.budget import budget_lines
from lm_eval_longbench.doctor.chat import backend_lines, chat_lines
from lm_eval_longbench.doctor.data import look
from lm_eval_longbench.doctor.embeddings import embedding_lines
from lm_eval_longbench.doctor.extras import extra_lines
from lm_eval_longbench.doctor.hear import overheard, warning_lines
from lm_eval_longbench.doctor.keep import cache_lines, output_lines
from lm_eval_longbench.doctor.limit import limit_lines
from lm_eval_longbench.doctor.line import ERROR, OK, Line
from lm_eval_longbench.doctor.local_model import model_lines, tokenizer_lines
from lm_eval_longbench.doctor.prompt import problem_lines, prompt_lines
from lm_eval_longbench.doctor.sampling import sampling_lines
from lm_eval_longbench.doctor.server import server_lines
from lm_eval_longbench.doctor.stops import end_lines, stop_lines
from lm_eval_longbench.doctor.tokens import lengths
from lm_eval_longbench.doctor.wanted_data import Wanted
from lm_eval_longbench.errors import LongBenchError
from lm_eval_longbench.harness.preflight import ask_task
from lm_eval_longbench.harness.preflight_facts import Backend, Leaf, Run, TaskFacts
from lm_eval_longbench.harness.preflight_leaves import open_tasks
from lm_eval_longbench.harness.preflight_model import describe
from lm_eval_longbench.options import Options

_CORRECT = "Correct the arguments."


def run_lines(run: Run, first: int | None, defaults: bool | None) -> Iterator[Line]:
    """Yield the report on a run.

    Args:
        run: its arguments.
        first: tasks that are looked at closely; None: all.
        defaults: whether the harness's own tasks are indexed; None: if they are needed.
    """
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
    yield from backend_lines(run, backend)
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
    ours = [leaf for leaf in leaves if leaf.benchmark is not None]
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
    yield from cache_lines(run, backend, tasks)
    yield from disk.output_line(run, answers(run, ours, found.expected), tasks)
    yield from disk.cache_lines(sorted({one.benchmark for one in wanted if one.data_dir is None}))


def task_lines(run: Run, backend: Backend, tasks: Sequence[TaskFacts]) -> Iterator[Line]:
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
            yield from check(facts)


def answers(run: Run, leaves: Sequence[Leaf], rows: Mapping[str, int]) -> int:
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


def _foreign_lines(leaves: Sequence[Leaf]) -> Iterator[Line]:
    foreign = tuple(leaf.name for leaf in leaves if leaf.benchmark is None)
    if foreign:
        what = "not tasks of this package, and not looked at"
        yield Line(OK, "tasks", what, "", foreign)


def _wanted(leaves: Sequence[Leaf]) -> tuple[list[Wanted], list[Line]]:
    """Return the data that tasks read, and a line for each task whose options are refused."""
    wanted, refused = [], []
    for leaf in leaves:
        try:
            data_dir = Options.from_metadata(leaf.metadata).data_dir
        except LongBenchError as error:
            refused.append(Line(ERROR, "options", str(error), _CORRECT, (leaf.name,)))
            continue
        wanted.append(Wanted(leaf.name, str(leaf.benchmark), leaf.dataset, data_dir))
    return wanted, refused
