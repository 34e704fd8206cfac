"""Join files of answers: those of machines that each asked a part."""

from __future__ import annotations

import contextlib
import re
import sqlite3
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from filelock import FileLock, Timeout

from lm_eval_longbench.errors import OptionError
from lm_eval_longbench.records.store import identity_of, made, naming, reading, rows_of, take
from lm_eval_longbench.records.summary import files_of


@contextlib.contextmanager
def locked(files: Iterable[Path], done: str) -> Iterator[None]:
    """Keep runs from files of answers; OptionError if one writes there: nothing was `done`."""
    with contextlib.ExitStack() as stack:
        for file in files:
            try:
                with contextlib.suppress(PermissionError):  # nobody writes in such a folder
                    stack.enter_context(FileLock(f"{file}.lock").acquire(timeout=0))
            except Timeout:
                raise OptionError(
                    f"A run writes its answers to {file}. Wait for it; nothing was {done}."
                ) from None
        yield


@contextlib.contextmanager
def opened_together(identities: Mapping[Path, str]) -> Iterator[dict[Path, sqlite3.Connection]]:
    """Open locked files, each of the model with an identity; all is written to all, or nothing."""
    found: dict[Path, sqlite3.Connection] = {}
    with contextlib.ExitStack() as stack:
        for file, identity in identities.items():
            with naming(file):
                found[file] = made(file, identity)
                stack.callback(found[file].close)
                found[file].execute("BEGIN IMMEDIATE")
        yield found
        for connection in found.values():
            connection.execute("COMMIT")


def _checked(files: Sequence[Path]) -> str:
    """Return whose answers some files have; OptionError if one is not as it was written."""
    for file in files:
        with reading(file) as opened:
            damaged = sum(kept is None for kept in rows_of(opened))
            identity = identity_of(opened) or ""
        if damaged:
            raise OptionError(
                f"{file} is damaged ({damaged} answers): a run of its model mends it. Nothing was "
                "merged."
            )
    return identity


def merge_answers(paths: Iterable[Path], folder: Path) -> dict[Path, int]:
    """Put all answers of some files into one file a model; those files stay as they are.

    An answer is never replaced by the lack of one. Either all of it is done, or nothing.

    Args:
        paths: files of answers, and folders that are searched.
        folder: for the files, which may be there already.

    Returns:
        The files that were written, each with how many answers it had already.

    Raises:
        OptionError: there is no such file, one is damaged, or a run is writing one.
    """
    given = list(paths)
    files = list(dict.fromkeys(file for path in given for file in files_of(path)))
    own: dict[Path, list[Path]] = defaultdict(list)
    for file in files:
        target = folder / re.sub(r"_rank\d+(?=\.sqlite$)", "", file.name)
        if target.resolve() != file.resolve():
            own[target].append(file)
    if not own:
        raise OptionError(f"No file of answers is in {', '.join(map(str, given))}.")
    folder.mkdir(parents=True, exist_ok=True)
    double = {}
    with locked(dict.fromkeys((*own, *files)), "merged"):
        whose = {target: _checked(sources) for target, sources in own.items()}
        with opened_together(whose) as opened:
            for target, sources in own.items():
                with naming(target):
                    again = (take(opened[target], whose[target], source) for source in sources)
                    double[target] = sum(again)
    return double
