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
            raise PredictionError(f"{given} does not exist.")
        if not own:
            raise PredictionError(
                f"{given} holds no results: neither results_<date>.json of the harness nor a "
                f"folder with {REPORT} and {SAMPLES} of `lm-eval-longbench score`."
            )
        found += own
    return list(dict.fromkeys(found))
