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
    """Yield the checks of kept, answered, failed and truncated; for asked see `check_data`."""
    run = task.run
    last = rows[-1].filter if rows else ""  # counts are those of the last filter
    number = sum(row.filter == last for row in rows)
    yield compared(_KIND, "kept", run.get("kept"), number, _LOST)
    cut = [row for row in rows if row.prompt["truncated"]]
    if run.get("overlength") != "truncate":
        said = "Prompts were cut, though the signature says that none was."
        yield compared(_KIND, "cut", len(cut), 0, said)
    if run.get("overlength") == "skip":
        fewer = isinstance(run.get("asked"), int) and number <= run["asked"]
        yield compared(_KIND, "kept of asked", fewer, True, _LOST)
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
