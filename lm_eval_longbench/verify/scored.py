"""Check a scored folder: figures and counts of its reports against its samples."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from lm_eval_longbench.answers.answer import NOT_KNOWN
from lm_eval_longbench.benchmarks.base import MOST_REPEATS
from lm_eval_longbench.benchmarks.registry import benchmark_of_table
from lm_eval_longbench.errors import PredictionError, UnknownNameError
from lm_eval_longbench.figures.answers import BadRow
from lm_eval_longbench.input_files import read_json, read_json_lines
from lm_eval_longbench.logs.results_file import ScoredFolder
from lm_eval_longbench.logs.scored_files import FORMAT, SAMPLES, SCORES, SampleLine
from lm_eval_longbench.metrics.reasoning import OTHERWISE
from lm_eval_longbench.scoring.table_report import TableReport
from lm_eval_longbench.shapes import Object, checked
from lm_eval_longbench.signature.signature import INGREDIENTS, of_scored
from lm_eval_longbench.verify.check import (
    CONFIRMED,
    DIFFERENT,
    NOT_CHECKABLE,
    OFFICIAL,
    Check,
    compared,
    same_number,
)

_EDITED = "The report does not follow from the samples: one of them was edited."
_NOT_SCORED = "What was not scored is not in the samples; score the inputs again to count it."
_STATED = "It is as the inputs stated it: verify the inputs."
# What stands in known parts and follows from no sample: part, name, and why.
_NOT_IN_SAMPLES = {
    ("counts", "malformed"): _NOT_SCORED,
    ("counts", "duplicate"): _NOT_SCORED,
    ("tasks", "malformed"): _NOT_SCORED,
    ("tasks", "duplicate"): _NOT_SCORED,
    ("tasks", "copies"): "Samples hold no questions, so that nothing tells which are copies.",
}
# Parts that follow from no sample at all; of the table, and of the whole report.
_PARTS = {"data": _STATED, "embedding_model": _STATED, "runs": _STATED}
_WHOLE = {
    "package": "Any version could have written it.",
    "inputs": "The inputs are not here: score them again to compare their hashes.",
    "problems": _NOT_SCORED,
}
# Parts that not every report has.
_SOMETIMES = {"equal": _NOT_SCORED}
_UNKNOWN = "This version does not know this part, so that it says nothing of it."


def read_samples(path: Path) -> Iterator[tuple[int, Mapping[str, Any]]]:
    """Yield the number (from 1) and the sample of each line.

    Raises:
        PredictionError: the file is broken, or a line is no sample; names file, line and reason.
    """
    for number, sample in read_json_lines(path, PredictionError):
        yield number, checked(sample, SampleLine, f"{path}, line {number}, is no sample")


class _Table:
    """The samples of one table, and what of its part of the report, `entry`, follows from them."""

    def __init__(self, name: str, entry: Mapping[str, Any]) -> None:
        self._benchmark = benchmark_of_table(name)
        self._table, self._entry = self._benchmark.tables[name], entry
        # It is known which questions are missing only where the report knows.
        official = entry["counts"].get("missing") is not None
        self._report = TableReport(name, MOST_REPEATS, official=official, reasoned=True)
        for task in entry["tasks"]:
            if task in self._table.tasks:
                self._report.expect(task, 0)
        self.samples = 0
        self._repeats = 1
        # Policies for reasoning of the samples that tell one.
        self._policies: set[str] = set()

    def add(self, sample: Mapping[str, Any], where: str, line: int) -> None:
        """Add one sample.

        Args:
            sample: as it stands in the file.
            where, line: file and line, for the message, and the line's number.

        Raises:
            UnknownNameError: the table has no such task.
            PredictionError: the sample lacks what figures need.
        """
        if sample["task"] not in self._table.tasks:
            raise UnknownNameError("task", sample["task"], self._table.tasks)
        said = f"{where} is no sample of {self._table.name}"
        try:
            self._report.add([{**sample, "id": str(sample["id"])}], line)
        except BadRow as error:
            raise PredictionError(f"{said}: {error}.") from error
        except KeyError as error:
            raise PredictionError(f"{said}: it has no {error}.") from error
        self._policies |= {policy for policy, name in OTHERWISE.items() if name in sample}
        self._repeats = max(self._repeats, sample["repeat"])
        self.samples += 1

    def result(self) -> dict[str, Any]:
        """Return the parts of the report that follow from the samples, in its shape.

        Raises BadRow for samples that contradict each other.
        """
        # The policy is as stated where no sample tells one.
        stated = self._entry.get("reasoning") if not self._policies else None
        policy = stated.get("policy") if isinstance(stated, Mapping) else None
        if len(self._policies) == 1:
            (policy,) = self._policies
        self._report.settle(self._repeats, policy, reasoned=bool(self._policies))
        part: dict[str, Any] = {**self._report.as_json(data=(), embedding_model=None, runs=())}
        sections = {"counts": [part["counts"]], "tasks": part["tasks"].values()}
        for section, name in _NOT_IN_SAMPLES:
            for one in sections.get(section, ()):
                del one[name]
        if "failures" not in self._entry and not part["failures"].keys() - {NOT_KNOWN}:
            del part["failures"]  # reports of earlier versions have none
        own = ("benchmark", "repeats", "reasoning", "counts", "failures", "tasks")
        more = sorted(part.keys() - {"official", "data", "embedding_model", "runs", *own})
        result = {
            "official": part["official"],
            **{name: part[name] for name in more if part[name] is not None},
            **{name: part[name] for name in own if name in part},
        }
        return result | self._signature(result)

    def _signature(self, result: Mapping[str, Any]) -> dict[str, Any]:
        """Return the part about the signature: its counts, its line, and tasks that agree with it.

        Nothing where the report has no signature that could be one.
        """
        stated = self._entry.get("signature")
        tasks = stated.get("tasks") if isinstance(stated, Mapping) else None
        if not isinstance(tasks, Mapping):
            return {}
        here = {
            "benchmark": self._benchmark.name,
            "repeats": self._repeats,
            "reasoning": result["reasoning"]["policy"],
            "embedding_model": self._entry.get("embedding_model"),
        }
        own = {
            task: {name: tasks.get(task, {}).get(name) for name in INGREDIENTS}
            | here
            | {"task": task}
            for task in result["tasks"]
        }
        return {"signature": of_scored(own, result)}


def check_scored(folder: ScoredFolder) -> Iterator[Check]:
    """Yield the checks of a scored folder, each with its table as the place.

    Raises:
        PredictionError: samples.jsonl is broken, or has samples of a table that is not reported.
        UnknownNameError: there is no such table or task.
    """
    tables = {name: _Table(name, entry) for name, entry in _tables(folder).items()}
    path = folder.path / SAMPLES
    for line, sample in read_samples(path):
        if sample["table"] not in tables:
            raise PredictionError(
                f"{path}, line {line}, is of the table {sample['table']!r}, which the report does "
                "not have."
            )
        tables[sample["table"]].add(sample, f"{path}, line {line},", line)
    for name, table in tables.items():
        try:
            expected = table.result()
        except BadRow as error:
            said = f"line {error.line}: {error}"
            yield Check("counts", "samples", DIFFERENT, said, None, _EDITED, place=name)
            continue
        for check in _table(_tables(folder)[name], expected, table.samples):
            yield replace(check, place=name)
    yield from _whole(folder.report)
    yield from _scores(folder)


def _whole(report: Mapping[str, Any]) -> Iterator[Check]:
    """Yield the checks of what stands beside the tables."""
    meaning = f"`score` writes the format {FORMAT}: it was edited, or another version wrote it."
    yield compared("format", "format", report.get("format"), FORMAT, meaning)
    names = [name for name in report if name not in ("format", "tables", *_WHOLE)]
    for name in (*_WHOLE, *names):
        yield _not_checkable(name, report.get(name), (_WHOLE | _SOMETIMES).get(name, _UNKNOWN))


def _not_checkable(name: str, found: Any, meaning: str) -> Check:
    kind = "counts" if meaning == _NOT_SCORED else "stated"
    shown = f"{len(found)} entries" if isinstance(found, Mapping | list) else found
    return Check(kind, name, NOT_CHECKABLE, shown, None, meaning)


def _tables(folder: ScoredFolder) -> Mapping[str, Any]:
    tables: Mapping[str, Any] = folder.report["tables"]
    return tables


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
    return "counts" if part in ("counts", "failures", "parts", "repeats") else "figures"


def _leaves(kind: str, name: str, found: Any, expected: Any) -> Iterator[Check]:
    """Yield a check of each leaf of a nested object, and of each that was added to it."""
    if isinstance(expected, Mapping):
        own = found if isinstance(found, Mapping) else {}
        if not expected and own is not found and found is not None:
            yield Check(kind, name, DIFFERENT, found, expected, _EDITED)
        for key, value in expected.items():
            yield from _leaves(kind, f"{name}.{key}", own.get(key), value)
        for key, value in own.items():
            said = "Nothing such follows from the samples: it was added."
            if key not in expected and (name.partition(".")[0], key) not in _NOT_IN_SAMPLES:
                yield Check(kind, f"{name}.{key}", DIFFERENT, value, None, said)
    elif same_number(found, expected):
        yield Check(kind, name, CONFIRMED, found, expected)
    else:
        yield Check(kind, name, DIFFERENT, found, expected, _EDITED)


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
    found = checked(read_json(path, PredictionError), Object, f"{path} has no figures")
    if found == expected:
        yield Check(SCORES, SCORES, CONFIRMED, "figures of the report")
    else:
        said = "It has other figures than the report: one of them was edited."
        yield Check(SCORES, SCORES, DIFFERENT, found, expected, said)
