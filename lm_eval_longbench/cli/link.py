"""`lm-eval-longbench path` and `link`: the task definitions, and links to them in the harness."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import Annotated

import typer

from lm_eval_longbench.console import say_line
from lm_eval_longbench.errors import LinkError
from lm_eval_longbench.task_folder import task_folder

# Our folder inside the harness's; a name no built-in task has.
FOLDER = "lm_eval_longbench_links"


def harness_tasks() -> Path:
    """Return the task folder of the lm_eval that Python would import, editable or not.

    Raises:
        LinkError: lm_eval is not installed.
    """
    spec = importlib.util.find_spec("lm_eval")
    for place in spec.submodule_search_locations or () if spec else ():
        folder = Path(place) / "tasks"
        if folder.is_dir():
            return folder
    raise LinkError("lm_eval is not installed here. Install it: pip install lm-eval")


def link_tasks(source: Path, tasks: Path) -> tuple[Path, int]:
    """Link every task file of `source` into a folder of its own under `tasks`.

    Files that they include are found through the links. Links that are right already stay; links
    of an earlier installation are pointed anew.

    Returns:
        The folder, and the number of links made.

    Raises:
        LinkError: the place is not writable, or holds a file that is not a link.
    """
    target, made = tasks / FOLDER, 0
    try:
        for file in sorted(source.rglob("*.yaml")):
            link = target / file.relative_to(source)
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


def unlink_tasks(tasks: Path) -> tuple[Path, int, list[Path]]:
    """Remove the links in our folder under `tasks`, and the folders that they leave empty.

    Returns:
        The folder, the number of links removed, and what else is in it and was left alone.

    Raises:
        LinkError: the place is not writable.
    """
    target, removed, left = tasks / FOLDER, 0, list[Path]()
    try:
        # What is in a folder comes before it.
        for path in sorted([target, *target.rglob("*")], reverse=True):
            if path.is_symlink():
                path.unlink()
                removed += 1
            elif path.is_file():
                left.append(path)
            elif path.is_dir() and not any(path.iterdir()):
                path.rmdir()
    except OSError as error:
        raise LinkError(f"Cannot remove the links in {target}: {error}.") from error
    return target, removed, sorted(left)


def path() -> None:
    """Print the folder of the task definitions, for the harness's --include_path."""
    say_line(str(task_folder()))


def link(
    remove: Annotated[bool, typer.Option("--remove", help="Take the links away.")] = False,
) -> None:
    """Put links to our task definitions into the installed lm_eval's task folder."""
    if not remove:
        target, made = link_tasks(task_folder(), harness_tasks())
        say_line(f"{made} links made in {target}" if made else f"nothing to do: {target}")
        return
    target, removed, left = unlink_tasks(harness_tasks())
    say_line(f"{removed} links removed from {target}" if removed else f"no links in {target}")
    if left:
        say_line("left alone, not ours: " + ", ".join(map(str, left)))
