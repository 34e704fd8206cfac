"""Join files of answers: those of machines that each asked a part."""

from __future__ import annotations

import contextlib
import re
from collections import defaultdict
from collections.abc import Iterable
from pathlib import Path

from filelock import FileLock, Timeout

from lm_eval_longbench.errors import OptionError
from lm_eval_longbench.records.store import PUT, identity_of, made, naming, reading, rows_of
from lm_eval_longbench.records.summary import files_of


def lock(stack: contextlib.ExitStack, file: Path, done: str) -> None:
    """Keep runs from a file of answers as long as a stack is open.

    Raises:
        OptionError: a run writes it; says that nothing was `done`.
    """
    own = FileLock(f"{file}.lock")
    try:
        with contextlib.suppress(PermissionError):  # nobody writes in such a folder
            stack.enter_context(own.acquire(timeout=0))
    except Timeout:
        raise OptionError(
            f"A run writes its answers to {file}. Wait for it; nothing was {done}."
        ) from None


def _checked(file: Path) -> str:
    """Return whose answers a file has; OptionError if one of them is not as it was written."""
    with reading(file) as opened:
        damaged = sum(kept is None for kept in rows_of(opened))
        if damaged:
            raise OptionError(
                f"{file} is damaged ({damaged} answers): a run of its model mends it. Nothing was "
                "merged."
            )
        return identity_of(opened) or ""


def merge_answers(paths: Iterable[Path], folder: Path) -> list[Path]:
    """Put all answers of some files into one file a model; those files stay as they are.

    An answer is never replaced by the lack of one. Either all of it is done, or nothing.

    Args:
        paths: files of answers, and folders that are searched.
        folder: for the files, which may be there already.

    Returns:
        The files that were written.

    Raises:
        OptionError: there is no such file, one is damaged, or a run is writing one.
    """
    given = [Path(path) for path in paths]
    files = list(dict.fromkeys(file for path in given for file in files_of(path)))
    own: dict[Path, list[Path]] = defaultdict(list)
    for file in files:
        target = folder / re.sub(r"_rank\d+(?=\.sqlite$)", "", file.name)
        if target.resolve() != file.resolve():
            own[target].append(file)
    if not own:
        raise OptionError(f"No file of answers is in {', '.join(map(str, given))}.")
    with contextlib.ExitStack() as stack:
        folder.mkdir(parents=True, exist_ok=True)
        for file in dict.fromkeys((*own, *files)):
            lock(stack, file, "merged")
        whose = {file: _checked(file) for sources in own.values() for file in sources}
        writing = []
        for target, sources in own.items():
            identity = whose[sources[0]]
            with naming(target):
                connection = made(target, identity)
                stack.callback(connection.close)
                connection.execute("BEGIN IMMEDIATE")
                writing.append(connection)
                for source in sources:
                    with reading(source) as opened:
                        rows = (kept.row(identity) for kept in rows_of(opened) if kept is not None)
                        connection.executemany(PUT, rows)
        for connection in writing:
            connection.execute("COMMIT")
    return list(own)
