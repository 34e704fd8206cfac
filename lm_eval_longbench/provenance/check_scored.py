"""Check a scored folder: figures and counts of its reports against its samples."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from lm_eval_longbench.errors import PredictionError
from lm_eval_longbench.input_files import read_json
from lm_eval_longbench.provenance.aggregate import same_number
from lm_eval_longbench.provenance.check import (
    CONFIRMED,
    DIFFERENT,
    NOT_CHECKABLE,
    OFFICIAL,
    Check,
)
from lm_eval_longbench.provenance.find_results import SAMPLES, SCORES
from lm_eval_longbench.provenance.read_results import ScoredFolder
from lm_eval_longbench.provenance.read_samples import read_samples
from lm_eval_longbench.provenance.scored_table import ScoredTable
from lm_eval_longbench.provenance.shapes import OBJECT, checked

# Counts of what was not scored: no sample tells them.
_NOT_IN_SAMPLES = ("malformed", "duplicate")


def check_scored(folder: ScoredFolder) -> Iterator[Check]:
    """Yield the checks of a scored folder, each with its table as the place.

    Raises:
        PredictionError: samples.jsonl is broken, or has samples of a table that is not reported.
        UnknownNameError: there is no such table or task.
    """
    tables = {name: ScoredTable(name, entry) for name, entry in _tables(folder).items()}
    path = folder.path / SAMPLES
    for line, sample in read_samples(path):
        if sample["table"] not in tables:
            raise PredictionError(
                f"{path}, line {line}, is of the table {sample['table']!r}, which the report does "
                "not have."
            )
        tables[sample["table"]].add(sample, f"{path}, line {line},")
    for name, table in tables.items():
        for check in _table(_tables(folder)[name], table.result(), table.samples):
            yield replace(check, place=name)
    yield from _scores(folder)


def _tables(folder: ScoredFolder) -> Mapping[str, Any]:
    return folder.report["tables"]


def _table(entry: Mapping[str, Any], expected: Mapping[str, Any], samples: int) -> Iterator[Check]:
    for part in ("official", "accuracy", "strict", "parts", "counts", "tasks", "repeats"):
        if part in expected:
            kind = "counts" if part in ("counts", "parts", "repeats") else "figures"
            yield from _leaves(kind, part, entry.get(part), expected[part])
    added = [f"tasks.{name}" for name in entry["tasks"] if name not in expected["tasks"]]
    for part in ("official", "official_dropped", "strict"):
        added += _added(part, entry.get(part), expected.get(part))
    for name in added:
        said = "No such figure follows from the samples: it was added."
        yield Check("figures", name, DIFFERENT, name, None, said)
    for name in _NOT_IN_SAMPLES:
        said = "What was not scored is not in the samples; score the inputs again to count it."
        found = entry["counts"].get(name)
        yield Check("counts", f"counts.{name}", NOT_CHECKABLE, found, None, said)
    said = "Samples hold no answers, so their scores cannot be recomputed: score the inputs again."
    kind = "sample scores"
    yield Check(kind, kind, NOT_CHECKABLE, f"{samples} samples", None, said)
    yield Check(OFFICIAL, OFFICIAL, NOT_CHECKABLE, f"{samples} samples", None, said)
    said = "Signature, data and model are as the inputs stated them: verify the inputs."
    yield Check("signature", "signature", NOT_CHECKABLE, None, None, said)


def _added(name: str, found: Any, expected: Any) -> Iterator[str]:
    """Yield the names of what stands in a nested object and follows from nothing."""
    if isinstance(found, Mapping) and isinstance(expected, Mapping):
        for key, value in found.items():
            yield from _added(f"{name}.{key}", value, expected.get(key))
    elif expected is None and found is not None:
        yield name


def _leaves(kind: str, name: str, found: Any, expected: Any) -> Iterator[Check]:
    """Yield a check of each figure of a nested object; what is not expected is not looked at."""
    if isinstance(expected, Mapping):
        for key, value in expected.items():
            own = found.get(key) if isinstance(found, Mapping) else None
            yield from _leaves(kind, f"{name}.{key}", own, value)
    elif same_number(found, expected):
        yield Check(kind, name, CONFIRMED, found, expected)
    else:
        said = "The report does not follow from the samples: one of them was edited."
        yield Check(kind, name, DIFFERENT, found, expected, said)


def _scores(folder: ScoredFolder) -> Iterator[Check]:
    """Check that scores.json has the official figures of the report."""
    path = folder.path / SCORES
    if not path.is_file():
        said = f"{SCORES} is not there; the report has the same figures."
        yield Check(SCORES, SCORES, NOT_CHECKABLE, meaning=said)
        return
    official = {name: entry["official"] for name, entry in _tables(folder).items()}
    expected = next(iter(official.values())) if len(official) == 1 else official
    found = checked(read_json(path, PredictionError), OBJECT, f"{path} has no figures")
    if found == expected:
        yield Check(SCORES, SCORES, CONFIRMED, "figures of the report")
    else:
        said = "It has other figures than the report: one of them was edited."
        yield Check(SCORES, SCORES, DIFFERENT, found, expected, said)
