"""The folder of the task files, in the package or beside it."""

from __future__ import annotations

import logging
import re
from pathlib import Path

from lm_eval_longbench.errors import LongBenchError

_OVERRIDES = re.compile(r"Task '.+' from (.+) overrides existing task from (.+)")


def _is_news(record: logging.LogRecord) -> bool:
    """Whether a warning of the harness's index is about two files, and not about one twice."""
    paths = _OVERRIDES.fullmatch(record.getMessage())
    return paths is None or Path(paths[1]).resolve() != Path(paths[2]).resolve()


def task_folder() -> Path:
    """Return the folder of the task definitions, for the harness's `--include_path`.

    The package has it, in a clone as a link to the folder beside it. Whoever has linked it into the
    harness and names it too gives the harness one file twice: from here on that is no warning a
    task.

    Raises:
        LongBenchError: neither place has it; the installation is damaged.
    """
    logging.getLogger("lm_eval.tasks._index").addFilter(_is_news)
    package = Path(__file__).resolve().parent
    for folder in (package / "tasks", package.parent / "tasks"):
        if any(path.is_dir() for path in folder.glob("*")):
            return folder.resolve()
    raise LongBenchError(
        f"No task definitions beside {package}. Install again: pip install --force-reinstall "
        "lm-eval-longbench"
    )
