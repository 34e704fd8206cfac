"""Find the files under the paths that a user names."""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from lm_eval_longbench.errors import PredictionError

_ENDINGS = (".jsonl", ".jsonl.gz")
# Kept by `run` between the two passes of LongBench v2 with chain of thought; the log has it all.
_PASSED_OVER = "reasoning_longbench_v2_cot_"


@dataclass(frozen=True, order=True, slots=True)
class FoundFile:
    """A file to look at.

    Attributes:
        name: relative to the parent of the path that was named, with "/".
        path: where it is.
        named: whether the user named the file itself, not a folder above it.
    """

    name: str
    path: Path
    named: bool


def stem_of(path: Path) -> str:
    """Return a file's name without its ending."""
    name = path.name
    for ending in (*_ENDINGS[::-1], ".gz"):
        if name.endswith(ending):
            return name.removesuffix(ending)
    return path.stem


def _under(folder: Path) -> list[Path]:
    """Return the JSON Lines files at any depth; links are followed, each folder is seen once."""
    found, seen = [], set()

    def stop(error: OSError) -> None:
        raise PredictionError(f"{error.filename} cannot be read: {error.strerror}.") from error

    for place, folders, files in os.walk(folder, onerror=stop, followlinks=True):
        seen.add(os.path.realpath(place))
        folders[:] = sorted(
            name for name in folders if os.path.realpath(os.path.join(place, name)) not in seen
        )
        found += [
            Path(place, name)
            for name in files
            if name.endswith(_ENDINGS) and not name.startswith(_PASSED_OVER)
        ]
    return found


def find_files(paths: Iterable[Path]) -> list[FoundFile]:
    """Return the files named, and all JSON Lines files in the folders named, sorted by name.

    Raises:
        PredictionError: a path does not exist, or there is no path.
    """
    found = []
    for given in paths:
        # Not resolved: a link keeps the name it was given under.
        path = Path(os.path.abspath(given.expanduser()))
        if path.is_dir():
            own = [(file, False) for file in _under(path)]
        elif path.is_file():
            own = [(path, True)]
        else:
            raise PredictionError(f"{given} is not a folder or a file with predictions.")
        found += [
            FoundFile(file.relative_to(path.parent).as_posix(), file, named) for file, named in own
        ]
    # A file under two of the paths is one file.
    by_path: dict[Path, FoundFile] = {}
    named = {file.path for file in found if file.named}
    for file in sorted(found):
        by_path.setdefault(file.path, FoundFile(file.name, file.path, file.path in named))
    return sorted(by_path.values())
