"""Figures of one run as records that others read: Every Eval Ever, and a model card's model-index.

A figure has its official value, its interval and its signature where a format has a place.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
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


@dataclass(frozen=True)
class _Known:
    """A figure that has a value, and where it stands.

    Attributes:
        column, row, cell: of the report.
        value: unrounded, in the unit of the benchmark.
        protocol: whether it is of the official protocol, in words.
    """

    column: Column
    row: ReportRow
    cell: Cell
    value: float
    protocol: str

    @property
    def source(self) -> Source:
        """The official data of its benchmark."""
        return benchmarks()[self.column.table.info.benchmark].source

    @property
    def is_official_data(self) -> bool:
        """Whether the answers are to the official data, at the pinned revision."""
        return list(self.column.table.facts.data) == [self.source.label]

    @property
    def title(self) -> str:
        """Name of its table, with the mode."""
        info = self.column.table.info
        return f"{info.title} ({info.mode})" if info.mode else info.title

    @property
    def name(self) -> str:
        """Its name within the table."""
        return f"{self.row.section}: {self.row.name}"

    @property
    def signature(self) -> str:
        """What it depends on, in one line."""
        return str(self.column.table.facts.signature.get("line") or "not known")

    @property
    def ends(self) -> tuple[float, float] | None:
        """The ends of its interval; None: it has none."""
        low, high = map(self.row.unit.scaled, (self.cell.low, self.cell.high))
        return None if low is None or high is None else (low, high)


def _protocol(report: Report) -> Iterator[tuple[str, str]]:
    for one in report.benchmarks:
        departs, unknown = official_protocol(one.columns)
        text = f"not known: {unknown}" if unknown else "yes"
        yield one.benchmark, f"no, because: {departs}" if departs else text


def _figures(report: Report) -> list[_Known]:
    """Return the figures that tables show; none that is a difference of others.

    Raises:
        OptionError: there are several runs, or no figure.
    """
    runs = {column.run.name for one in report.benchmarks for column in one.columns}
    if len(runs) > 1:
        raise OptionError(f"A record is of one run, and these are {len(runs)}. Give one of them.")
    protocol = dict(_protocol(report))
    found = [
        _Known(column, row, cell, value, protocol[one.benchmark])
        for one in report.benchmarks
        for row in one.rows
        if not row.detail and row.unit.name in _UNITS
        for column, cell in zip(one.columns, row.figures, strict=True)
        if cell is not None and (value := row.unit.scaled(cell.value)) is not None
    ]
    if not found:
        raise OptionError("The run has no figure with a value, so that there is no record of it.")
    return found


# ---------------------------------------------------------------------- Every Eval Ever


def _source_data(known: _Known) -> dict[str, Any]:
    facts, source = known.column.table.facts, known.source
    if not known.is_official_data:
        return {"dataset_name": facts.data_text, "source_type": "other"}
    return {
        "dataset_name": known.column.table.info.title,
        "source_type": "hf_dataset",
        "hf_repo": source.repo,
        "samples_number": known.cell.n,
        "additional_details": {
            "revision": source.revision,
            "file": source.file,
            "sha256": source.sha256,
        },
    }


def _uncertainty(known: _Known) -> dict[str, Any]:
    found: dict[str, Any] = {"num_samples": known.cell.n}
    if known.ends is not None:
        low, high = known.ends
        found["confidence_interval"] = {
            "lower": low,
            "upper": high,
            "confidence_level": LEVEL,
            "method": known.cell.method,
        }
        if known.cell.method == "bootstrap":
            found["num_bootstrap_samples"] = RESAMPLES
    return found


def _generation(ingredients: Mapping[str, Any]) -> dict[str, Any]:
    """Return generation arguments, those that all tasks of a table share."""
    given = ingredients.get("generation")
    if not isinstance(given, Mapping):
        return {}
    names = {"temperature": "temperature", "top_p": "top_p", "max_gen_toks": "max_tokens"}
    return {
        "generation_args": {new: given[own] for own, new in names.items() if own in given},
        "additional_details": {"generation": json.dumps(given, sort_keys=True)},
    }


def _eee_result(known: _Known) -> dict[str, Any]:
    table, unit = known.column.table, known.row.unit
    details = {
        "signature": known.signature,
        "official_protocol": known.protocol,
        "failed": str(known.cell.failed),
    }
    if known.cell.official is not None:
        details["official_value"] = str(known.cell.official)
    generation = _generation(table.facts.ingredients)
    return {
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
        "score_details": {
            "score": known.value,
            "details": details,
            "uncertainty": _uncertainty(known),
        },
        **({"generation_config": generation} if generation else {}),
    }


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
    run = found[0].column.run
    packages = found[0].column.table.facts.ingredients.get("packages")
    known = packages if isinstance(packages, Mapping) else {}
    unknown = dict.fromkeys(("deployment_type", "model_availability"), "unknown")
    value = {
        "schema_version": SCHEMA,
        "evaluation_id": f"longbench/{run.name}/{now:.0f}",
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
        "model_info": {"name": run.name, "id": run.name, "additional_details": unknown},
        "evaluation_results": list(map(_eee_result, found)),
    }
    return json.dumps(value, ensure_ascii=False, indent=1, allow_nan=False) + "\n"


# ---------------------------------------------------------------------- model-index


def _dataset(known: _Known) -> dict[str, Any]:
    own, source = known.column.table.facts, known.source
    if not known.is_official_data:
        return {"name": f"{known.title}, other data: {own.data_text}", "type": own.data_text}
    place = {"type": source.repo, "revision": source.revision}
    return {"name": known.title, **place, "args": {"file": source.file, "sha256": source.sha256}}


def _metric(known: _Known) -> dict[str, Any]:
    cell, unit = known.cell, known.row.unit
    metrics = {tasks()[task].metric for task in known.column.table.info.tasks}
    metric: dict[str, Any] = {
        "type": "accuracy" if metrics == {"letter"} else "score",
        "name": known.name,
        "value": known.value if cell.official is None else cell.official,
        "args": {"unit": _UNITS[unit.name], "questions": cell.n, "failed": cell.failed},
    }
    if known.ends is not None:
        metric["args"]["interval"] = {"level": LEVEL, "ends": list(known.ends)}
    return metric


def model_index(report: Report) -> str:
    """Return a run's figures as YAML for the head of a model card: one result a table.

    The official data are named by repository and revision, other data by their label.

    Raises:
        OptionError: there are several runs, or no figure.
    """
    tables: dict[str, list[_Known]] = {}
    for known in _figures(report):
        tables.setdefault(known.column.table.info.name, []).append(known)
    results = []
    for own in tables.values():
        first, metrics = own[0], list(map(_metric, own))
        for metric in metrics:
            metric["args"] |= {"signature": first.signature, "official_protocol": first.protocol}
        results.append(
            {
                "task": {"type": "text-generation", "name": "Text Generation"},
                "dataset": _dataset(first),
                "metrics": metrics,
                "source": {"name": f"{_PACKAGE} {__version__}", "url": _URL},
            }
        )
    value = {"model-index": [{"name": own[0].column.run.name, "results": results}]}
    return yaml.safe_dump(value, allow_unicode=True, sort_keys=False, width=1000)
