"""Check the counts of a signature against the sample log."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from lm_eval_longbench.provenance.check import NOT_CHECKABLE, Check, compared
from lm_eval_longbench.provenance.check_figures import Figures, number_of
from lm_eval_longbench.provenance.read_log import LogRow
from lm_eval_longbench.provenance.read_results import TaskResult

_KIND = "counts"
_LOST = "The signature counts other questions than the log has."


def check_counts(task: TaskResult, rows: Sequence[LogRow], figures: Figures) -> Iterator[Check]:
    """Yield the checks of asked, kept, answered, failed and truncated."""
    run = task.run
    last = rows[-1].filter if rows else ""  # counts are those of the last filter
    number = sum(row.filter == last for row in rows)
    yield compared(_KIND, "kept", run.get("kept"), number, _LOST)
    if run.get("overlength") == "skip":
        said = "Skipped questions are not in the log: how many were asked for cannot be told."
        yield Check(_KIND, "asked", NOT_CHECKABLE, run.get("asked"), None, said)
    else:
        yield compared(_KIND, "asked", run.get("asked"), number, _LOST)
    if not figures.columns:
        for name in ("answered", "failed", "reasoned", "truncated"):
            said = "Nothing was scored, so nothing was counted."
            yield Check(_KIND, name, NOT_CHECKABLE, run.get(name), None, said)
        return
    yield compared(_KIND, "answered", run.get("answered"), number, _LOST)
    repeats = run.get("repeats")
    for name, times in (("failed", repeats), ("reasoned", repeats), ("truncated", 1)):
        total = number_of(figures.columns.get(f"{name},{last}"))
        if run.get(name) is None:
            said = f"The task's metric_list has no {name}, so that nobody counted."
            yield Check(_KIND, name, NOT_CHECKABLE, None, None, said)
        elif total is None or not figures.complete or not isinstance(times, int):
            said = "It does not follow from the log alone."
            yield Check(_KIND, name, NOT_CHECKABLE, run.get(name), None, said)
        else:
            said = f"The signature counts other {name} answers than the log has."
            yield compared(_KIND, name, run.get(name), round(total * times), said)
