"""The folder of the task YAML files, in the package or beside it, and links to it."""

from __future__ import annotations

import importlib.util
import logging
import re
from collections.abc import Iterator
from pathlib import Path

from lm_eval_longbench.errors import LinkError, LongBenchError

# ---------------------------------------------------------------------- where it is

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


# ---------------------------------------------------------------------- links

# Our folder inside the harness's; a name no built-in task has.
FOLDER = "lm_eval_longbench_links"


def harness_tasks() -> Path:
    """Return the task folder of the lm_eval that Python would import, editable or not.

    Raises:
        LinkError: lm_eval is not installed.
    """
    spec = importlib.util.find_spec("lm_eval")
    places = list(spec.submodule_search_locations or ()) if spec else []
    for place in places:
        folder = Path(place) / "tasks"
        if folder.is_dir():
            return folder
    raise LinkError("lm_eval is not installed here. Install it: pip install lm-eval")


def _wanted(source: Path, target: Path) -> Iterator[tuple[Path, Path]]:
    """Yield (link, file) for each task file; files they include are found through the links."""
    for file in sorted(source.rglob("*.yaml")):
        yield target / file.relative_to(source), file


def are_linked(source: Path, tasks: Path) -> bool:
    """Return whether every task file of `source` is linked into `tasks` already."""
    return all(
        link.is_symlink() and link.readlink() == file
        for link, file in _wanted(source, tasks / FOLDER)
    )


def _remove_empty(folder: Path) -> None:
    for inner in sorted((path for path in folder.rglob("*") if path.is_dir()), reverse=True):
        if not any(inner.iterdir()):
            inner.rmdir()
    if folder.is_dir() and not any(folder.iterdir()):
        folder.rmdir()


def link_tasks(source: Path, tasks: Path) -> tuple[Path, int]:
    """Link every task file of `source` into a folder of its own under `tasks`.

    Links that are right already stay; links of an earlier installation are pointed anew.

    Returns:
        The folder, and the number of links made.

    Raises:
        LinkError: the place is not writable, or holds a file that is not a link.
    """
    target = tasks / FOLDER
    made = 0
    try:
        for link, file in _wanted(source, target):
            if link.is_symlink():
                if link.readlink() == file:
                    continue
                link.unlink()
            elif link.exists():
                raise LinkError(f"{link} is a file, not a link of ours. Move it away, then link.")
            link.parent.mkdir(parents=True, exist_ok=True)
            link.symlink_to(file)
            made += 1
    except OSError as error:
        raise LinkError(
            f"Cannot write to {target}: {error}. Use `lm-eval-longbench run` or "
            f"`lm_eval run --include_path {source}` instead, which write nothing."
        ) from error
    return target, made


def unlink_tasks(source: Path, tasks: Path) -> tuple[Path, int, list[Path]]:
    """Remove the links that `link_tasks` made, and folders they leave empty.

    A link is ours if it points to a task file of ours, or stands where one of ours would.

    Returns:
        The folder, the number of links removed, and what else is in it and was left alone.

    Raises:
        LinkError: the place is not writable.
    """
    target = tasks / FOLDER
    ours = {link for link, _ in _wanted(source, target)}
    removed = 0
    left: list[Path] = []
    try:
        for path in sorted(target.rglob("*")):
            if path.is_symlink() and (path in ours or path.readlink().is_relative_to(source)):
                path.unlink()
                removed += 1
            elif path.is_symlink() or path.is_file():
                left.append(path)
        _remove_empty(target)
    except OSError as error:
        raise LinkError(f"Cannot remove the links in {target}: {error}.") from error
    return target, removed, left
