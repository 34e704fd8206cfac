"""Find results: the harness's results files, and folders that `score` wrote."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from pathlib import Path

from lm_eval_longbench.errors import PredictionError

REPORT, SAMPLES, SCORES = "report.json", "samples.jsonl", "scores.json"
# The harness writes <stem>_<moment>.json, and beside it samples_<task>_<moment>.jsonl.
RESULTS_NAME = re.compile(r"(?P<stem>.+)_(?P<moment>\d{4}-\d{2}-\d{2}T[^_]+)\.json(\.gz)?")
_LOG_NAME = re.compile(r"samples_(?P<task>.+)_(?P<moment>\d{4}-\d{2}-\d{2}T[^_]+)\.jsonl(\.gz)?")


def task_of_log(log: Path) -> str | None:
    """Return the task in the name of a sample log; None for another name."""
    found = _LOG_NAME.fullmatch(log.name)
    return found["task"] if found else None


def results_beside(log: Path) -> list[Path]:
    """Return the results files of a sample log's run, sorted: files of its moment, by any name.

    With `--output_path X.json` the harness calls them X_<moment>.json.
    """
    found = _LOG_NAME.fullmatch(log.name)
    if found is None:
        return []
    try:
        names = sorted(os.listdir(log.parent))
    except OSError:
        return []
    matches = ((name, RESULTS_NAME.fullmatch(name)) for name in names)
    return [
        log.parent / name for name, match in matches if match and match["moment"] == found["moment"]
    ]


def _is_scored(folder: Path) -> bool:
    return os.path.isfile(folder / REPORT) and os.path.isfile(folder / SAMPLES)


def _under(folder: Path) -> list[Path]:
    """Return the results files and scored folders at any depth, sorted."""
    found = []
    for place, folders, files in os.walk(folder):
        folders.sort()
        if _is_scored(Path(place)):
            found.append(Path(place))
        found += [Path(place, name) for name in sorted(files) if RESULTS_NAME.fullmatch(name)]
    return sorted(found)


def find_results(paths: Iterable[Path]) -> list[Path]:
    """Return the results files and scored folders that some paths name, each once, in order.

    Args:
        paths: results files, report.json files, and folders to search at any depth.

    Raises:
        PredictionError: a path does not exist, or there are no results under it.
    """
    found: list[Path] = []
    for given in paths:
        # These raise nothing for folders that may not be entered, and for unknown users.
        path = Path(os.path.expanduser(given))
        if os.path.isdir(path):
            own = _under(path)
        elif os.path.isfile(path):
            own = [path.parent if path.name == REPORT and _is_scored(path.parent) else path]
        else:
            raise PredictionError(f"{given} does not exist, or is neither a file nor a folder.")
        if not own:
            raise PredictionError(
                f"{given} holds no results: neither results_<date>.json of the harness nor a "
                f"folder with {REPORT} and {SAMPLES} of `lm-eval-longbench score`."
            )
        found += own
    return list(dict.fromkeys(found))
