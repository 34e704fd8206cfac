"""Figures of one run as records that others read: Every Eval Ever, and a model card's model-index.

A figure has its official value, its interval and its signature where a format has a place.
"""

from __future__ import annotations

import itertools
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import yaml

from lm_eval_longbench.benchmarks.registry import benchmarks, tasks
from lm_eval_longbench.catalog.model import Source
from lm_eval_longbench.errors import OptionError
from lm_eval_longbench.reporting.notes import Column
from lm_eval_longbench.reporting.report import Cell, Report, ReportRow
from lm_eval_longbench.reporting.run_end import official_protocol
from lm_eval_longbench.statistics.intervals import LEVEL, RESAMPLES
from lm_eval_longbench.version import __version__

EEE, MODEL_INDEX = "eee", "model-index"
RECORDS = (EEE, MODEL_INDEX)
# Of Every Eval Ever's schema.
SCHEMA = "0.3.0"
_PACKAGE = "lm-eval-longbench"
_URL = f"https://pypi.org/project/{_PACKAGE}/"
_UNITS = {"percent": "percent", "share": "proportion"}
# Generation arguments as Every Eval Ever calls them.
_GENERATION = {"temperature": "temperature", "top_p": "top_p", "max_gen_toks": "max_tokens"}


@dataclass(frozen=True)
class _Known:
    """A figure that has a value, and where it stands.

    Attributes:
        column, row, cell: of the report.
        value: unrounded, in the unit of the benchmark.
        title: of its table, with the mode.
        name: its own within the table.
        signature: what it depends on, in one line.
        protocol: whether it is of the official protocol, in words.
        data: the official data that was asked; None: it was other data.
        interval: its ends; None: it has none.
    """

    column: Column
    row: ReportRow
    cell: Cell
    value: float
    title: str
    name: str
    signature: str
    protocol: str
    data: Source | None
    interval: tuple[float, float] | None


def _figures(report: Report) -> list[_Known]:
    """Return the figures that tables show; none that is a difference of others.

    Raises:
        OptionError: there are several runs, or no figure.
    """
    runs = {column.run.name for one in report.benchmarks for column in one.columns}
    if len(runs) > 1:
        raise OptionError(f"A record is of one run, and these are {len(runs)}. Give one of them.")
    found = []
    for one in report.benchmarks:
        departs, unknown = official_protocol(one.columns)
        protocol = f"not known: {unknown}" if unknown else "yes"
        rows = [row for row in one.rows if not row.detail and row.unit.name in _UNITS]
        for row, (number, column) in itertools.product(rows, enumerate(one.columns)):
            cell, info, facts = row.figures[number], column.table.info, column.table.facts
            if cell is None or (value := row.unit.scaled(cell.value)) is None:
                continue
            data = benchmarks()[info.benchmark].source
            low, high = map(row.unit.scaled, (cell.low, cell.high))
            known = _Known(
                column,
                row,
                cell,
                value=value,
                title=f"{info.title} ({info.mode})" if info.mode else info.title,
                name=f"{row.section}: {row.name}",
                signature=str(facts.signature.get("line") or "not known"),
                protocol=f"no, because: {departs}" if departs else protocol,
                data=data if list(facts.data) == [data.label] else None,
                interval=None if low is None or high is None else (low, high),
            )
            found.append(known)
    if not found:
        raise OptionError("The run has no figure with a value, so that there is no record of it.")
    return found


# ---------------------------------------------------------------------- Every Eval Ever


def _source_data(known: _Known) -> dict[str, Any]:
    source = known.data
    if source is None:
        return {"dataset_name": known.column.table.facts.data_text, "source_type": "other"}
    place = {"revision": source.revision, "file": source.file, "sha256": source.sha256}
    return {
        "dataset_name": known.column.table.info.title,
        "source_type": "hf_dataset",
        "hf_repo": source.repo,
        "samples_number": known.cell.n,
        "additional_details": place,
    }


def _eee_result(known: _Known) -> dict[str, Any]:
    table, cell, unit = known.column.table, known.cell, known.row.unit
    details = {
        "signature": known.signature,
        "official_protocol": known.protocol,
        "failed": str(cell.failed),
    }
    if cell.official is not None:
        details["official_value"] = str(cell.official)
    uncertainty: dict[str, Any] = {"num_samples": cell.n}
    if known.interval is not None:
        ends = dict(zip(("lower", "upper"), known.interval, strict=True))
        level = {"confidence_level": LEVEL, "method": cell.method}
        uncertainty["confidence_interval"] = {**ends, **level}
        if cell.method == "bootstrap":
            uncertainty["num_bootstrap_samples"] = RESAMPLES
    result = {
        "evaluation_result_id": f"{table.info.name}/{known.row.section}/{known.row.name}",
        "evaluation_name": f"{known.title}, {known.name}",
        "source_data": _source_data(known),
        "metric_config": {
            "metric_id": f"{_PACKAGE}/{table.info.name}",
            "metric_name": known.name,
            "metric_unit": _UNITS[unit.name],
            "lower_is_better": False,
            "score_type": "continuous",
            "min_score": 0.0,
            "max_score": float(unit.factor),
        },
        "score_details": {"score": known.value, "details": details, "uncertainty": uncertainty},
    }
    given = table.facts.ingredients.get("generation")
    if isinstance(given, Mapping):  # else the tasks of the table differ in it
        result["generation_config"] = {
            "generation_args": {
                _GENERATION[name]: given[name] for name in _GENERATION if name in given
            },
            "additional_details": {"generation": json.dumps(given, sort_keys=True)},
        }
    return result


def eee(report: Report, now: float) -> str:
    """Return a run's record of Every Eval Ever, as JSON.

    Who ran the model, whose it is and how it was served are not known here: the record says so,
    and its sender fills that in.

    Args:
        report: of one run.
        now: when the record is made, in seconds since 1970.

    Raises:
        OptionError: there are several runs, or no figure.
    """
    found = _figures(report)
    name, facts = found[0].column.run.name, found[0].column.table.facts
    packages = facts.ingredients.get("packages")
    known = packages if isinstance(packages, Mapping) else {}
    unknown = dict.fromkeys(("deployment_type", "model_availability"), "unknown")
    value = {
        "schema_version": SCHEMA,
        "evaluation_id": f"longbench/{name}/{now:.0f}",
        "retrieved_timestamp": f"{now:.0f}",
        "source_metadata": {
            "source_name": _PACKAGE,
            "source_type": "evaluation_run",
            "source_organization_name": "unknown",
            "evaluator_relationship": "other",
        },
        "eval_library": {
            "name": _PACKAGE,
            "version": __version__,
            "additional_details": {name: str(own) for name, own in known.items()},
        },
        "model_info": {"name": name, "id": name, "additional_details": unknown},
        "evaluation_results": list(map(_eee_result, found)),
    }
    return json.dumps(value, ensure_ascii=False, indent=1, allow_nan=False) + "\n"


# ---------------------------------------------------------------------- model-index


def _dataset(known: _Known) -> dict[str, Any]:
    source, label = known.data, known.column.table.facts.data_text
    if source is None:
        return {"name": f"{known.title}, other data: {label}", "type": label}
    place = {"type": source.repo, "revision": source.revision}
    return {"name": known.title, **place, "args": {"file": source.file, "sha256": source.sha256}}


def _metric(known: _Known) -> dict[str, Any]:
    cell = known.cell
    metrics = {tasks()[task].metric for task in known.column.table.info.tasks}
    told: dict[str, Any] = {"unit": _UNITS[known.row.unit.name], "questions": cell.n}
    told["failed"] = cell.failed
    if known.interval is not None:
        told["interval"] = {"level": LEVEL, "ends": list(known.interval)}
    return {
        "type": "accuracy" if metrics == {"letter"} else "score",
        "name": known.name,
        "value": known.value if cell.official is None else cell.official,
        "args": {**told, "signature": known.signature, "official_protocol": known.protocol},
    }


def model_index(report: Report) -> str:
    """Return a run's figures as YAML for the head of a model card: one result a table.

    The official data are named by repository and revision, other data by their label.

    Raises:
        OptionError: there are several runs, or no figure.
    """
    tables: dict[str, list[_Known]] = {}
    for known in _figures(report):
        tables.setdefault(known.column.table.info.name, []).append(known)
    results = [
        {
            "task": {"type": "text-generation", "name": "Text Generation"},
            "dataset": _dataset(own[0]),
            "metrics": list(map(_metric, own)),
            "source": {"name": f"{_PACKAGE} {__version__}", "url": _URL},
        }
        for own in tables.values()
    ]
    value = {"model-index": [{"name": known.column.run.name, "results": results}]}
    return yaml.safe_dump(value, allow_unicode=True, sort_keys=False, width=1000)
