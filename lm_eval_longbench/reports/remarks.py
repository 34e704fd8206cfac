"""What makes the runs of a report incomparable."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from lm_eval_longbench.provenance.compare import incomparable
from lm_eval_longbench.reports.scored import Facts, Run
from lm_eval_longbench.reports.tables import TABLES

# What must be the same for two runs of a table to be comparable.
_CONDITIONS: tuple[tuple[str, Callable[[Facts], object]], ...] = (
    ("data", lambda facts: facts.data_text),
    ("repeats", lambda facts: facts.repeats),
    ("embedding model", lambda facts: facts.embedding_model or "none"),
)
_SHOWN = ("data", "repeats", "embedding_model", "answered")


def remarks(runs: Sequence[Run]) -> list[str]:
    """Return one sentence for each condition in which runs of one table differ."""
    found = []
    for name in TABLES:
        facts = {run.name: run.tables[name].facts for run in runs if name in run.tables}
        for condition, value_of in _CONDITIONS:
            values = {run: value_of(own) for run, own in facts.items()}
            if len(set(values.values())) > 1:
                each = "; ".join(f"{run}: {value}" for run, value in values.items())
                found.append(f"{name}: the runs differ in {condition} ({each}).")
        for run, own in facts.items():
            for reason in own.signature.get("differences", ()):
                found.append(f"{name}, {run} is made of runs that are not comparable: {reason}")
        # What the table shows beside the figures is said above or there.
        signatures = [
            {key: value for key, value in own.ingredients.items() if key not in _SHOWN}
            for own in facts.values()
        ]
        found += [f"{name}, not comparable: {reason}" for reason in incomparable(signatures)]
    return found
