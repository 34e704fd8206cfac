"""Figures of one run as records that others read: Every Eval Ever, and a model card's model-index.

A figure has its official value, its interval and its signature where a format has a place.
"""

from __future__ import annotations

import itertools
import json
from collections.abc import Mapping
from typing import Any

import yaml

from lm_eval_longbench.benchmarks.registry import benchmarks, tasks
from lm_eval_longbench.catalog.model import Source
from lm_eval_longbench.errors import OptionError
from lm_eval_longbench.reporting.notes import Column
from lm_eval_longbench.reporting.render import figure_json
from lm_eval_longbench.reporting.report import Report, ReportRow
from lm_eval_longbench.reporting.run_end import official_protocol
from lm_eval_longbench.statistics.intervals import LEVEL, RESAMPLES
from lm_eval_longbench.version import __version__

EEE = "eee"
RECORDS = (EEE, "model-index")
_PACKAGE = "lm-eval-longbench"
_URL = f"https://pypi.org/project/{_PACKAGE}/"
_UNITS = {"percent": "percent", "share": "proportion"}
# Generation arguments as Every Eval Ever calls them.
_GENERATION = {"temperature": "temperature", "top_p": "top_p", "max_gen_toks": "max_tokens"}
# What was asked, the figure's place, and the figure as JSON has it; under "told" what both records
# say of it in words.
_Figure = tuple[Column, ReportRow, dict[str, Any]]


def _figures(report: Report) -> list[_Figure]:
    """Return the figures that tables show, none that is a difference of others.

    Raises:
        OptionError: there is none.
    """
    found = []
    for one in report.benchmarks:
        departs, unknown = official_protocol(one.columns)
        protocol = f"not known: {unknown}" if unknown else "yes"
        if departs:
            protocol = f"no, because: {departs}"
        rows = [row for row in one.rows if not row.detail and row.unit.name in _UNITS]
        for row, (number, column) in itertools.product(rows, enumerate(one.columns)):
            figure = figure_json(row.figures[number], row.unit)
            if figure is not None and figure["value"] is not None:
                line = str(column.table.facts.signature.get("line") or "not known")
                told = {"signature": line, "official_protocol": protocol}
                found.append((column, row, {**figure, "told": told}))
    if not found:
        raise OptionError("The run has no figure with a value, so that there is no record of it.")
    return found


def _title(column: Column) -> str:
    """Return the title of a table, with the mode."""
    info = column.table.info
    return f"{info.title} ({info.mode})" if info.mode else info.title


def _source(column: Column) -> Source | None:
    """Return the official data that was asked; None: it was other data."""
    source = benchmarks()[column.table.info.benchmark].source
    return source if list(column.table.facts.data) == [source.label] else None


def _source_data(column: Column, questions: int) -> dict[str, Any]:
    source = _source(column)
    if source is None:
        return {"dataset_name": column.table.facts.data_text, "source_type": "other"}
    asked = {"source_type": "hf_dataset", "hf_repo": source.repo, "samples_number": questions}
    place = {"revision": source.revision, "file": source.file, "sha256": source.sha256}
    return {"dataset_name": column.table.info.title, **asked, "additional_details": place}


def _eee_result(column: Column, row: ReportRow, figure: Mapping[str, Any]) -> dict[str, Any]:
    table, name = column.table.info.name, f"{row.section}: {row.name}"
    details = {**figure["told"], "failed": str(figure["failed"])}
    if figure["official"] is not None:
        details["official_value"] = str(figure["official"])
    uncertainty: dict[str, Any] = {"num_samples": figure["n"]}
    if figure["low"] is not None:
        ends = {"lower": figure["low"], "upper": figure["high"]}
        made = {"confidence_level": LEVEL, "method": figure["interval"]}
        uncertainty["confidence_interval"] = ends | made
        if figure["interval"] == "bootstrap":
            uncertainty["num_bootstrap_samples"] = RESAMPLES
    metric = {"metric_id": f"{_PACKAGE}/{table}", "metric_name": name}
    scale = {"score_type": "continuous", "min_score": 0.0, "max_score": float(row.unit.factor)}
    unit = {"metric_unit": _UNITS[row.unit.name], "lower_is_better": False}
    result = {
        "evaluation_result_id": f"{table}/{row.section}/{row.name}",
        "evaluation_name": f"{_title(column)}, {name}",
        "source_data": _source_data(column, figure["n"]),
        "metric_config": {**metric, **unit, **scale},
        "score_details": {"score": figure["value"], "details": details, "uncertainty": uncertainty},
    }
    given = column.table.facts.ingredients.get("generation")
    if isinstance(given, Mapping):  # else the tasks of the table differ in it
        known = {name: given[own] for own, name in _GENERATION.items() if own in given}
        whole = {"generation": json.dumps(given, sort_keys=True)}
        result["generation_config"] = {"generation_args": known, "additional_details": whole}
    return result


def eee(report: Report, now: float) -> str:
    """Return a record of Every Eval Ever, as JSON.

    Who ran the model, whose it is and how it was served are not known here: the record says so,
    and its sender fills that in.

    Args:
        report: of one run.
        now: when the record is made, in seconds since 1970.

    Raises:
        OptionError: there is no figure.
    """
    found = _figures(report)
    column = found[0][0]
    name, packages = column.run.name, column.table.facts.ingredients.get("packages")
    known = packages if isinstance(packages, Mapping) else {}
    versions = {package: str(version) for package, version in known.items()}
    sender = {"source_organization_name": "unknown", "evaluator_relationship": "other"}
    served = {"deployment_type": "unknown", "model_availability": "unknown"}
    value = {
        "schema_version": "0.3.0",
        "evaluation_id": f"longbench/{name}/{now:.0f}",
        "retrieved_timestamp": f"{now:.0f}",
        "source_metadata": {"source_name": _PACKAGE, "source_type": "evaluation_run", **sender},
        "eval_library": {"name": _PACKAGE, "version": __version__, "additional_details": versions},
        "model_info": {"name": name, "id": name, "additional_details": served},
        "evaluation_results": [_eee_result(*own) for own in found],
    }
    return json.dumps(value, ensure_ascii=False, indent=1, allow_nan=False) + "\n"


def _dataset(column: Column) -> dict[str, Any]:
    source, label = _source(column), column.table.facts.data_text
    if source is None:
        return {"name": f"{_title(column)}, other data: {label}", "type": label}
    place = {"type": source.repo, "revision": source.revision}
    return {"name": _title(column), **place, "args": {"file": source.file, "sha256": source.sha256}}


def _metric(column: Column, row: ReportRow, figure: Mapping[str, Any]) -> dict[str, Any]:
    metrics = {tasks()[task].metric for task in column.table.info.tasks}
    facts = {"unit": _UNITS[row.unit.name], "questions": figure["n"], "failed": figure["failed"]}
    if figure["low"] is not None:
        facts["interval"] = {"level": LEVEL, "ends": [figure["low"], figure["high"]]}
    return {
        "type": "accuracy" if metrics == {"letter"} else "score",
        "name": f"{row.section}: {row.name}",
        "value": figure["value"] if figure["official"] is None else figure["official"],
        "args": facts | figure["told"],
    }


def model_index(report: Report) -> str:
    """Return the figures of one run as YAML for the head of a model card: one result a table.

    The official data are named by repository and revision, other data by their label.

    Raises:
        OptionError: there is no figure.
    """
    tables: dict[str, list[_Figure]] = {}
    for found in _figures(report):
        tables.setdefault(found[0].table.info.name, []).append(found)
    results = [
        {
            "task": {"type": "text-generation", "name": "Text Generation"},
            "dataset": _dataset(own[0][0]),
            "metrics": [_metric(*one) for one in own],
            "source": {"name": f"{_PACKAGE} {__version__}", "url": _URL},
        }
        for own in tables.values()
    ]
    value = {"model-index": [{"name": found[0].run.name, "results": results}]}
    return yaml.safe_dump(value, allow_unicode=True, sort_keys=False, width=1000)
