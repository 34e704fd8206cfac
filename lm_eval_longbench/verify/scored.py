"""Check a scored folder: the figures and counts of its report follow from its samples.

Samples hold scores and no answers, so that the scores themselves are verified from the logs.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from lm_eval_longbench.benchmarks.registry import benchmark_of_table
from lm_eval_longbench.errors import PredictionError, UnknownNameError
from lm_eval_longbench.figures.answers import BadRow
from lm_eval_longbench.input_files import read_json_lines
from lm_eval_longbench.logs.results_file import ScoredFolder
from lm_eval_longbench.logs.scored_files import SAMPLES, SampleLine
from lm_eval_longbench.metrics.reasoning import OTHERWISE
from lm_eval_longbench.scoring.report import columns_of, table_report
from lm_eval_longbench.shapes import checked
from lm_eval_longbench.verify.check import (
    DIFFERENT,
    NOT_CHECKABLE,
    OFFICIAL,
    Check,
    compared,
    same_number,
)

# Counts of what was not scored, which is in no sample.
_NOT_IN_SAMPLES = {"malformed", "duplicate", "copies"}
# Parts that are as the inputs stated them.
_STATED_PARTS = ("benchmark", "data", "embedding_model", "runs")
_OTHER = "The report does not follow from the samples."
_STATED = (
    "Samples hold no answers, so their scores cannot be recomputed: verify the logs that they "
    "were made from, or score the inputs again."
)

Numbered = tuple[int, Mapping[str, Any]]


def read_samples(path: Path) -> Iterator[Numbered]:
    """Yield the number (from 1) and the sample of each line.

    Raises:
        PredictionError: the file is broken, or a line is no sample; names file, line and reason.
    """
    for number, sample in read_json_lines(path, PredictionError):
        yield number, checked(sample, SampleLine, f"{path}, line {number}, is no sample")


def check_scored(folder: ScoredFolder) -> Iterator[Check]:
    """Yield the checks of a scored folder, each with its table as the place.

    Raises:
        PredictionError: samples.jsonl is broken, or has samples of a table that is not reported.
        UnknownNameError: there is no such table or task.
    """
    path, tables = folder.path / SAMPLES, folder.report["tables"]
    for name in tables:
        benchmark_of_table(name)
    samples: dict[str, list[Numbered]] = defaultdict(list)
    for number, sample in read_samples(path):
        samples[sample["table"]].append((number, sample))
    if not samples.keys() <= tables.keys():
        other = min(samples.keys() - tables.keys())
        raise PredictionError(
            f"{path}, line {samples[other][0][0]}, is of the table {other!r}, which the report "
            "does not have."
        )
    for name, entry in tables.items():
        try:
            expected = _recomputed(name, entry, samples[name], path)
        except BadRow as error:
            said = f"line {error.line}: {error}"
            yield Check("counts", "samples", DIFFERENT, said, None, _OTHER, place=name)
            continue
        for part in (part for part in expected if part not in _STATED_PARTS):
            kind = "counts" if part in ("counts", "failures", "repeats") else "figures"
            for check in _leaves(kind, part, entry.get(part), expected[part]):
                yield replace(check, place=name)
        found = f"{len(samples[name])} samples"
        yield Check(OFFICIAL, OFFICIAL, NOT_CHECKABLE, found, None, _STATED, place=name)


def _recomputed(
    name: str, entry: Mapping[str, Any], samples: Sequence[Numbered], path: Path
) -> dict[str, Any]:
    """Return a table's part of the report, made from its samples.

    Raises BadRow for samples that contradict each other.
    """
    table = benchmark_of_table(name).tables[name]
    # It is known which questions are missing only where the report knows.
    official = entry["counts"].get("missing") is not None
    policies = {
        policy for _, sample in samples for policy, other in OTHERWISE.items() if other in sample
    }
    repeats = max((sample["repeat"] for _, sample in samples), default=1)
    expected = [task for task in entry["tasks"] if task in table.tasks]
    ways = columns_of(name, repeats, official=official, reasoned=bool(policies), expected=expected)
    for line, sample in samples:
        if sample["task"] not in table.tasks:
            raise UnknownNameError("task", sample["task"], table.tasks)
        said = f"{path}, line {line}, is no sample of {name}"
        try:
            for columns in ways:
                columns.add({**sample, "id": str(sample["id"])}, line)
        except BadRow as error:
            raise PredictionError(f"{said}: {error}.") from error
        except KeyError as error:
            raise PredictionError(f"{said}: it has no {error}.") from error
    # The policy is as stated where no sample tells one.
    stated = (entry.get("reasoning") or {}).get("policy")
    policy = stated if len(policies) != 1 else min(policies)
    return {**table_report(ways, policy)}


def _leaves(kind: str, name: str, found: Any, expected: Any) -> Iterator[Check]:
    """Yield a check of each leaf of a nested object."""
    if isinstance(expected, Mapping):
        own = found if isinstance(found, Mapping) else {}
        for key in (key for key in expected if key not in _NOT_IN_SAMPLES):
            yield from _leaves(kind, f"{name}.{key}", own.get(key), expected[key])
    elif same_number(found, expected):
        yield compared(kind, name, expected, expected, "")
    else:
        yield Check(kind, name, DIFFERENT, found, expected, _OTHER)
