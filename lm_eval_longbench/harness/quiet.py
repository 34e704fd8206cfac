"""Keep a run's screen for what its user must see: all else goes into a log file.

On the screen are this package's warnings, everybody's errors, and one bar for building prompts.
`run --verbose` does without this module.
"""

from __future__ import annotations

import contextlib
import logging
import os
import sys
import tempfile
import time
from collections.abc import Iterable, Iterator
from datetime import datetime
from pathlib import Path
from typing import Any

from tqdm import tqdm

from lm_eval_longbench.console import LogFormatter
from lm_eval_longbench.secrets import hide_keys

_OURS = "lm_eval_longbench"
# Libraries with handlers of their own, which keep their records from the root logger.
_LIBRARIES = ("lm_eval", "transformers", "datasets", "huggingface_hub", "sentence_transformers")
# Seconds of building prompts before a bar shows it.
_SHOWN_AFTER = 3.0


def log_file(folder: Path | None) -> Path:
    """Return a new file for a run's log: in the folder of its output, or else a temporary one."""
    moment = datetime.now().strftime("%Y-%m-%dT%H-%M-%S.%f")
    if folder is not None:
        with contextlib.suppress(OSError):
            folder.mkdir(parents=True, exist_ok=True)
            file = folder / f"run_{moment}.log"
            file.touch()
            return file
    return Path(tempfile.gettempdir()) / f"lm-eval-longbench_{moment}.log"


class _ForTheScreen(logging.Filter):
    def filter(self, record: logging.LogRecord) -> bool:
        ours = record.name == _OURS or record.name.startswith(f"{_OURS}.")
        return record.levelno >= (logging.WARNING if ours else logging.ERROR)


@contextlib.contextmanager
def logged(file: Path) -> Iterator[None]:
    """While open, log records go to a file; those that a user must see to the screen, too."""
    to_file = logging.FileHandler(file, encoding="utf-8", errors="backslashreplace")
    to_file.setFormatter(LogFormatter("%(asctime)s %(levelname)s %(name)s: %(message)s"))
    screen = logging.StreamHandler()
    screen.setFormatter(LogFormatter("%(levelname)s %(name)s: %(message)s"))
    screen.addFilter(_ForTheScreen())
    loggers = [logging.getLogger(), *map(logging.getLogger, _LIBRARIES)]
    before = [(own, own.handlers[:], own.propagate) for own in loggers]
    root, *libraries = loggers
    root.handlers[:] = [to_file, screen]
    logging.captureWarnings(True)

    for own in libraries:
        own.handlers.clear()
        own.propagate = True
    hide_keys()
    # Models that need torch say that it is missing; to all others it does not matter.
    os.environ.setdefault("TRANSFORMERS_NO_ADVISORY_WARNINGS", "1")
    try:
        yield
    finally:
        logging.captureWarnings(False)
        for own, handlers, propagate in before:
            own.handlers[:], own.propagate = handlers, propagate
        to_file.close()


class _OneBar:
    """Stands in for tqdm where the harness builds prompts: one bar for all tasks, if it is slow."""

    def __init__(self) -> None:
        self._bar: tqdm[Any] | None = None
        self._began = 0.0
        self._done = self._total = 0

    def __call__(self, iterable: Iterable[Any], total: int | None = None, **_: Any) -> Any:
        self._began = self._began or time.monotonic()
        self._total += total or 0
        for item in iterable:
            yield item
            self._done += 1
            if self._bar is not None:
                self._bar.update(1)
            elif time.monotonic() - self._began > _SHOWN_AFTER:
                own = {"total": self._total, "initial": self._done, "file": sys.stderr}
                self._bar = tqdm(desc="prompts", unit="", leave=False, **own)
        # Between tasks there is none: one that is open would move the bar of answers down.
        self.close()

    def close(self) -> None:
        """End the bar."""
        if self._bar is not None:
            self._bar.close()
            self._bar = None


@contextlib.contextmanager
def _stderr_into(file: Path) -> Iterator[None]:
    """While open, what this process and its children write to standard error goes into a file."""
    if sys.stderr is None:  # closed by whoever started the run
        yield
        return
    sys.stderr.flush()
    screen = os.dup(2)
    taken = os.open(file, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
    os.dup2(taken, 2)
    os.close(taken)
    try:
        yield
    finally:
        os.dup2(screen, 2)
        os.close(screen)


@contextlib.contextmanager
def git_unheard() -> Iterator[None]:
    """While open, nobody sees what git says of a folder that is no repository.

    The harness asks it for the folder's commit.
    """
    import lm_eval.evaluator

    commit = lm_eval.evaluator.get_git_commit_hash

    def unheard() -> Any:
        with _stderr_into(Path(os.devnull)):
            return commit()

    lm_eval.evaluator.get_git_commit_hash = unheard
    try:
        yield
    finally:
        lm_eval.evaluator.get_git_commit_hash = commit


@contextlib.contextmanager
def one_bar() -> Iterator[None]:
    """While open, the harness builds prompts in silence, but for one bar for all tasks."""
    import lm_eval.api.task

    bar, before = _OneBar(), lm_eval.api.task.tqdm
    lm_eval.api.task.tqdm = bar
    try:
        yield
    finally:
        bar.close()
        lm_eval.api.task.tqdm = before
