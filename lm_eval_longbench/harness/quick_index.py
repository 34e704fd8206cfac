"""Spare a run of our tasks alone the ten seconds in which the harness reads all of its own."""

from __future__ import annotations

import contextlib
from collections.abc import Collection, Iterator, Sequence
from functools import partial

import lm_eval.tasks

from lm_eval_longbench.task_folder import task_folder


@contextlib.contextmanager
def quick_index(
    wanted: Sequence[str], include_paths: Sequence[str], ours: Collection[str]
) -> Iterator[None]:
    """While open, the harness's command line indexes our folder only, where that is enough.

    Args:
        wanted: the tasks asked for.
        include_paths: folders that the run includes; one of the user's own may name any task.
        ours: names of our tasks and groups, none of which is a built-in task's.
    """
    if list(include_paths) != [str(task_folder())] or not set(wanted) <= set(ours):
        yield
        return
    manager = lm_eval.tasks.TaskManager
    lm_eval.tasks.TaskManager = partial(manager, include_defaults=False)
    try:
        yield
    finally:
        lm_eval.tasks.TaskManager = manager
