"""What is kept of the answers, and what an interruption would cost."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from pathlib import Path

from lm_eval_longbench.doctor.line import ERROR, OK, WARNING, Line
from lm_eval_longbench.harness.preflight_facts import MESSAGES, TEXT, Backend, Run, TaskFacts


def output_folder(output_path: str) -> Path:
    """Return the folder that results go to; the path may name a file in it."""
    path = Path(output_path)
    return path.parent if path.suffix == ".json" else path


def existing(folder: Path) -> Path:
    """Return the folder, or the nearest above it that exists."""
    whole = folder.absolute()
    return next(path for path in (whole, *whole.parents) if path.exists())


def output_lines(run: Run) -> Iterator[Line]:
    """Yield the lines on results and sample log."""
    if not run.output_path:
        what = "no --output_path: scores are printed, and answers are lost"
        yield Line(WARNING, "output", what, "Add --output_path FOLDER --log_samples.")
        return
    folder = existing(output_folder(run.output_path))
    if not folder.is_dir() or not os.access(folder, os.W_OK):
        what = f"{folder} cannot be written, so the results of the whole run would be lost"
        yield Line(ERROR, "output", what, "Give another --output_path.")
    elif not run.log_samples:
        what = f"results go to {run.output_path}, and the answers are not kept"
        todo = "Add --log_samples: without it nothing can be scored again or verified."
        yield Line(WARNING, "output", what, todo)
    else:
        yield Line(OK, "output", f"results and sample log go to {run.output_path}")


def cache_lines(run: Run, backend: Backend, tasks: Sequence[TaskFacts]) -> Iterator[Line]:
    """Yield the lines on the harness's response cache."""
    if not run.use_cache:
        if backend.kind in (TEXT, MESSAGES):
            what = "no --use_cache: one request that fails ends the run, and all answers are lost"
            todo = "Add --use_cache PATH: the same command then goes on where it was."
            yield Line(WARNING, "cache", what, todo)
        return
    sampled = tuple(facts.name for facts in tasks if (facts.sent_generation or {}).get("do_sample"))
    yield Line(OK, "cache", f"answers are cached in {run.use_cache}")
    if sampled:
        yield Line(
            WARNING,
            "cache",
            "do_sample=True switches the cache off: an interrupted run begins these tasks anew",
            "Nothing where answers are repeated in this process; else leave do_sample out, a "
            "temperature above 0 samples by itself.",
            sampled,
        )
