"""Hear what the package warns of while a task is built, in place of printing it."""

from __future__ import annotations

import contextlib
import logging
from collections.abc import Iterator

from lm_eval_longbench.doctor.line import WARNING, Line

# What these modules warn of, the report says in its own lines.
_TOLD = ("lm_eval_longbench.harness.task", "lm_eval_longbench.data.")


class _Keeper(logging.Handler):
    def __init__(self) -> None:
        super().__init__(logging.WARNING)
        self.records: list[logging.LogRecord] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.records.append(record)


@contextlib.contextmanager
def overheard() -> Iterator[list[logging.LogRecord]]:
    """Yield a list that gets this package's warnings and errors while open; none is shown."""
    logger = logging.getLogger("lm_eval_longbench")
    keeper, before = _Keeper(), logger.propagate
    logger.addHandler(keeper)
    logger.propagate = False
    try:
        yield keeper.records
    finally:
        logger.removeHandler(keeper)
        logger.propagate = before


def warning_lines(records: list[logging.LogRecord], task: str) -> Iterator[Line]:
    """Yield a line for each warning that the report does not put in its own words."""
    for record in records:
        if not record.name.startswith(_TOLD):
            todo = "The run will warn of it too."
            yield Line(WARNING, "warning", record.getMessage(), todo, (task,))
