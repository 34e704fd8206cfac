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
    compared,
)
from lm_eval_longbench.provenance.find_results import SAMPLES, SCORES
from lm_eval_longbench.provenance.read_results import ScoredFolder
from lm_eval_longbench.provenance.read_samples import read_samples
from lm_eval_longbench.provenance.scored_table import ScoredTable
from lm_eval_longbench.provenance.shapes import OBJECT, checked

_FORMAT = 1
_NOT_SCORED = "What was not scored is not in the samples; score the inputs again to count it."
_STATED = "It is as the inputs stated it: verify the inputs."
# What stands in known parts and follows from no sample: part, name, and why.
_NOT_IN_SAMPLES = {
    ("counts", "malformed"): _NOT_SCORED,
    ("counts", "duplicate"): _NOT_SCORED,
    ("tasks", "malformed"): _NOT_SCORED,
    ("tasks", "duplicate"): _NOT_SCORED,
    ("tasks", "copies"): "Samples hold no questions, so that nothing tells which are copies.",
    ("signature", "differences"): "Nothing here tells the runs apart that were merged.",
}
# Parts that follow from no sample at all; of the table, and of the whole report.
_PARTS = {"data": _STATED, "embedding_model": _STATED, "runs": _STATED}
_WHOLE = {
    "package": "Any version could have written it.",
    "inputs": "The inputs are not here: score them again to compare their hashes.",
    "problems": _NOT_SCORED,
}
_UNKNOWN = "This version does not know this part, so that it says nothing of it."


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
    yield from _whole(folder.report)
    yield from _scores(folder)


def _whole(report: Mapping[str, Any]) -> Iterator[Check]:
    """Yield the checks of what stands beside the tables."""
    meaning = f"`score` writes the format {_FORMAT}: it was edited, or another version wrote it."
    yield compared("format", "format", report.get("format"), _FORMAT, meaning)
    names = [name for name in report if name not in ("format", "tables", *_WHOLE)]
    for name in (*_WHOLE, *names):
        yield _not_checkable(name, report.get(name), _WHOLE.get(name, _UNKNOWN))


def _not_checkable(name: str, found: Any, meaning: str) -> Check:
    kind = "counts" if meaning == _NOT_SCORED else "stated"
    shown = f"{len(found)} entries" if isinstance(found, Mapping | list) else found
    return Check(kind, name, NOT_CHECKABLE, shown, None, meaning)


def _tables(folder: ScoredFolder) -> Mapping[str, Any]:
    return folder.report["tables"]


def _table(entry: Mapping[str, Any], expected: Mapping[str, Any], samples: int) -> Iterator[Check]:
    for part in ("strict", "signature"):  # what is there where it cannot be was added
        if part not in expected and entry.get(part) is not None:
            expected = {**expected, part: None}
    for part, own in expected.items():
        yield from _leaves(_kind(part), part, entry.get(part), own)
    yield from _sums(entry)
    for (part, name), said in _NOT_IN_SAMPLES.items():
        tasks = part == "tasks"
        found = None if tasks or not isinstance(entry.get(part), Mapping) else entry[part].get(name)
        yield _not_checkable(f"{part}.*.{name}" if tasks else f"{part}.{name}", found, said)
    names = [name for name in entry if name not in (*expected, "strict", *_PARTS)]
    for name in (*_PARTS, *names):
        yield _not_checkable(name, entry.get(name), _PARTS.get(name, _UNKNOWN))
    if not expected["reasoning"]["answers"]:
        said = "No answer holds reasoning, so that nothing tells what would have happened to it."
        yield _not_checkable("reasoning.policy", expected["reasoning"]["policy"], said)
    said = "Samples hold no answers, so their scores cannot be recomputed: score the inputs again."
    kind = "sample scores"
    yield Check(kind, kind, NOT_CHECKABLE, f"{samples} samples", None, said)
    yield Check(OFFICIAL, OFFICIAL, NOT_CHECKABLE, f"{samples} samples", None, said)
    said = "Signature, data and model are as the inputs stated them: verify the inputs."
    yield Check("signature", "signature", NOT_CHECKABLE, None, None, said)


def _kind(part: str) -> str:
    if part in ("benchmark", "signature"):
        return "signature"
    return "counts" if part in ("counts", "parts", "repeats") else "figures"


def _leaves(kind: str, name: str, found: Any, expected: Any) -> Iterator[Check]:
    """Yield a check of each leaf of a nested object, and of each that was added to it."""
    if isinstance(expected, Mapping):
        own = found if isinstance(found, Mapping) else {}
        for key, value in expected.items():
            yield from _leaves(kind, f"{name}.{key}", own.get(key), value)
        for key, value in own.items():
            said = "Nothing such follows from the samples: it was added."
            if key not in expected and (name.partition(".")[0], key) not in _NOT_IN_SAMPLES:
                yield Check(kind, f"{name}.{key}", DIFFERENT, value, None, said)
    elif same_number(found, expected):
        yield Check(kind, name, CONFIRMED, found, expected)
    else:
        said = "The report does not follow from the samples: one of them was edited."
        yield Check(kind, name, DIFFERENT, found, expected, said)


def _sums(entry: Mapping[str, Any]) -> Iterator[Check]:
    """Yield where counts that no sample tells contradict each other."""
    said = "The counts of the tasks and of the table contradict each other: one was edited."
    for name in ("malformed", "duplicate"):
        own = [task.get(name) for task in entry["tasks"].values()]
        found = [value if isinstance(value, int) else -1 for value in own]
        total = entry["counts"].get(name)
        # Lines of files that tell no task are malformed in the table alone.
        fits = isinstance(total, int) and min(found, default=0) >= 0 and sum(found) <= total
        if not fits or (name == "duplicate" and sum(found) != total):
            yield Check("counts", f"counts.{name}", DIFFERENT, total, sum(found), said)
    for task, own in entry["tasks"].items():
        copies = own.get("copies", 0)
        fits = isinstance(copies, int) and 0 <= copies <= max(0, own.get("questions", 0) - 1)
        if copies is not None and not fits:
            said = "There are not that many questions."
            yield Check("counts", f"tasks.{task}.copies", DIFFERENT, copies, None, said)


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
