"""A small code repository as a text, and what its programs print when they are run."""

import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from tempfile import TemporaryDirectory

from sample_text.pro_row import check
from sample_text.source_code import file_block


def as_text(files: Mapping[str, str]) -> str:
    """Return the files of a repository by path as one text."""
    return "\n".join(file_block(path, text) for path, text in files.items())


def replaced(files: Mapping[str, str], path: str, old: str, new: str) -> dict[str, str]:
    """Return the files with a text of one of them, where it occurs once, replaced."""
    check(files[path].count(old) == 1, f"{old!r} occurs once in {path}")
    return {**files, path: files[path].replace(old, new)}


def output_of(files: Mapping[str, str], *arguments: str) -> str:
    """Return what Python prints when it is run with these arguments in the repository's root.

    Raises:
        ValueError: the program fails.
    """
    with TemporaryDirectory() as folder:
        for path, text in files.items():
            (Path(folder) / path).parent.mkdir(parents=True, exist_ok=True)
            (Path(folder) / path).write_text(text, encoding="utf-8")
        done = subprocess.run(
            [sys.executable, "-B", "-X", "utf8", *arguments],
            cwd=folder,
            env={name: value for name, value in os.environ.items() if name[:6] != "PYTHON"},
            capture_output=True,
            encoding="utf-8",
            timeout=60,
            check=False,
        )
    check(done.returncode == 0, f"a program of the sample fails: {done.stderr}")
    return done.stdout.rstrip("\n")
