"""Where the task YAML files are: beside the package when installed, beside it in a checkout."""

from __future__ import annotations

from pathlib import Path

from lm_eval_longbench.errors import LongBenchError


def task_folder() -> Path:
    """Return the folder of the task definitions, for the harness's `--include_path`.

    Raises:
        LongBenchError: neither place has it; the installation is damaged.
    """
    package = Path(__file__).resolve().parent
    for folder in (package / "tasks", package.parent / "tasks"):
        if any(path.is_dir() for path in folder.glob("*")):
            return folder
    raise LongBenchError(
        f"No task definitions beside {package}. Install again: pip install --force-reinstall "
        "lm-eval-longbench"
    )
