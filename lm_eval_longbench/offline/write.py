"""Write result files so that a crash or a full disk never leaves half of one."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, TextIO

from lm_eval_longbench.errors import LongBenchError


@contextlib.contextmanager
def _replacing(path: Path) -> Iterator[TextIO]:
    """Yield a file to write to; it takes the name `path` when the block has ended."""
    partial = path.with_name(f"{path.name}.partial")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with partial.open("w", encoding="utf-8", newline="\n") as handle:
            yield handle
        partial.replace(path)
    except OSError as error:
        raise LongBenchError(f"{path} cannot be written: {error}") from error
    finally:
        with contextlib.suppress(OSError):
            partial.unlink(missing_ok=True)


@contextlib.contextmanager
def json_lines(path: Path) -> Iterator[Callable[[dict[str, Any]], None]]:
    """Yield a function that adds one object a line; the file appears when the block has ended.

    Raises:
        LongBenchError: the file cannot be written; an earlier file of that name is untouched.
    """
    with _replacing(path) as handle:

        def emit(row: dict[str, Any]) -> None:
            handle.write(json.dumps(row, ensure_ascii=False) + "\n")

        yield emit


def json_file(path: Path, value: Any) -> None:
    """Write one JSON document, indented.

    Raises:
        LongBenchError: the file cannot be written; an earlier file of that name is untouched.
    """
    text = json.dumps(value, ensure_ascii=False, indent=1, allow_nan=False)
    with _replacing(path) as handle:
        handle.write(text + "\n")
