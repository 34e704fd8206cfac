"""Find results files and scored folders; results that are there twice count once."""

from __future__ import annotations

import contextlib
import filecmp
import glob
import json
import os
import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from lm_eval_longbench.errors import PredictionError, few
from lm_eval_longbench.files import read_json, user_path
from lm_eval_longbench.records.identity import NAMING, model_identity
from lm_eval_longbench.records.log import BYPASS, answers_in
from lm_eval_longbench.records.scored import REPORT, SAMPLES

# The harness writes <stem>_<moment>.json, and beside it samples_<task>_<moment>.jsonl.
RESULTS_NAME = re.compile(r"(?P<stem>.+)_(?P<moment>\d{4}-\d{2}-\d{2}T[^_]+)\.json(\.gz)?")
LOG_NAME = re.compile(r"samples_(?P<task>.+)_(?P<moment>\d{4}-\d{2}-\d{2}T[^_]+)\.jsonl(\.gz)?")
# What of a results file is a figure or a setting; the rest tells when and where it was made.
_TOLD = (
    *("results", "groups", "group_subtasks", "configs", "versions", "n-shot", "n-samples"),
    *("higher_is_better", "model_name"),
)
# Dated files that are named where a name without a date is given.
_NAMED_FILES = 3
_STARTED = ("limit", "gen_kwargs", "random_seed", "numpy_seed", "torch_seed", "fewshot_seed")


def _told(whole: Mapping[str, Any]) -> str:
    """Return the figures and settings of a decoded results file as JSON."""
    config = whole.get("config")
    own = {name: whole.get(name) for name in _TOLD}
    if isinstance(config, Mapping):
        model, arguments = str(config.get("model")), config.get("model_args")
        own |= {name: config.get(name) for name in _STARTED}
        own["model"] = [model, arguments]
        if isinstance(arguments, Mapping):
            own["model"] = model_identity(model, arguments)
            own["configs"] = _without(own["configs"], arguments)
    return json.dumps(own, sort_keys=True, default=str)


def _without(configs: Any, arguments: Mapping[str, Any]) -> Any:
    """Return the settings of tasks without the model's, some of which say where it answered."""
    found = {}
    for task, config in configs.items() if isinstance(configs, Mapping) else ():
        metadata = config.get("metadata") if isinstance(config, Mapping) else None
        if isinstance(metadata, Mapping):
            own = {name: value for name, value in metadata.items() if name not in arguments}
            config = {**config, "metadata": own}
        found[task] = config
    return found


def _of_its_moment(
    path: Path, own: re.Pattern[str], other: re.Pattern[str]
) -> list[tuple[re.Match[str], Path]]:
    """Return the files beside one, sorted, whose names have its moment; [] of another name."""
    found = own.fullmatch(path.name)
    try:
        names = sorted(os.listdir(path.parent)) if found else []
    except OSError:
        return []
    matches = ((other.fullmatch(name), path.parent / name) for name in names)
    return [
        (match, file)
        for match, file in matches
        if found and match and match["moment"] == found["moment"]
    ]


def _logs_of(path: Path) -> dict[str, Path]:
    """Return by task the sample logs of a results file's moment."""
    return {match["task"]: log for match, log in _of_its_moment(path, RESULTS_NAME, LOG_NAME)}


def logs_of(path: Path) -> list[Path]:
    """Return the sample logs beside a results file of the harness; [] for another file."""
    return list(_logs_of(path).values())


def same_results(paths: Sequence[Path]) -> dict[Path, Path]:
    """Return by its path each results file that adds nothing to another one, and that other one.

    Figures, settings and sample logs are the same: the command was started again with nothing to
    ask. Or it has no figures, of --predict_only, and answers that another one has. A file that
    cannot be read is like no other.
    """
    by_text: dict[str, list[Path]] = {}
    read: dict[Path, Mapping[str, Any]] = {}
    for path in paths if len(paths) > 1 else ():
        with contextlib.suppress(PredictionError):
            whole = read_json(path, PredictionError)
            if isinstance(whole, Mapping):
                read[path] = whole
                by_text.setdefault(_told(whole), []).append(path)
    found = {}
    for alike in by_text.values():
        logs = {path: _logs_of(path) for path in alike}
        first: list[Path] = []
        for path in sorted(alike, key=lambda path: -len(logs[path])):
            own = next((own for own in first if _is_in(logs[path], logs[own])), None)
            if own is None:
                first.append(path)
            else:
                found[path] = own
    predicted = [path for path, whole in read.items() if path not in found and _is_bare(whole)]
    for path in predicted:
        others = [one for one in read if one not in found and one not in predicted]
        same = (one for one in others if model_of(read[one]) == model_of(read[path]))
        if own := next((one for one in same if _has_answers(_logs_of(path), _logs_of(one))), None):
            found[path] = own
    return found


def _is_bare(whole: Mapping[str, Any]) -> bool:
    """Whether a decoded results file is of --predict_only: it states no figure."""
    results = whole.get("results")
    stated = results.values() if isinstance(results, Mapping) else ()
    return any(f"{BYPASS},none" in own for own in stated if isinstance(own, Mapping))


def _has_answers(logs: Mapping[str, Path], others: Mapping[str, Path]) -> bool:
    """Whether the answers of each log are there among others."""
    return (
        bool(logs)
        and logs.keys() <= others.keys()
        and all(answers_in(log) <= answers_in(others[task]) for task, log in logs.items())
    )


def _is_in(logs: Mapping[str, Path], others: Mapping[str, Path]) -> bool:
    """Whether each log is there among others, byte for byte."""
    try:
        return logs.keys() <= others.keys() and all(
            filecmp.cmp(log, others[task], shallow=False) for task, log in logs.items()
        )
    except OSError:
        return False


def is_scored(folder: Path) -> bool:
    """Return whether a folder holds the files of a scored run."""
    return os.path.isfile(folder / REPORT) and os.path.isfile(folder / SAMPLES)


def _under(folder: Path) -> list[Path]:
    """Return the results files and scored folders at any depth, sorted."""
    found = []
    for place, folders, files in os.walk(folder):
        folders.sort()
        if is_scored(Path(place)):
            found.append(Path(place))
        found += [Path(place, name) for name in sorted(files) if RESULTS_NAME.fullmatch(name)]
    return sorted(found)


def _named(given: Path) -> list[Path]:
    """Return what a path names, [] of another file; PredictionError if it does not exist."""
    path = user_path(given)
    # Raises nothing for folders that may not be entered.
    if os.path.isdir(path):
        return _under(path)
    if not os.path.isfile(path):
        dated = sorted(path.parent.glob(f"{glob.escape(path.stem)}_*{glob.escape(path.suffix)}"))
        near = [str(one) for one in dated if RESULTS_NAME.fullmatch(one.name)]
        told = f" The harness dates its files: name {few(near, _NAMED_FILES)}." if near else ""
        raise PredictionError(f"{given} does not exist, or is neither a file nor a folder.{told}")
    if path.name == REPORT and is_scored(path.parent):
        return [path.parent]
    return [path] if RESULTS_NAME.fullmatch(path.name) else []


def _distinct(found: Iterable[Path]) -> list[Path]:
    """Return paths each once, and of equal results the first."""
    paths = list(dict.fromkeys(found))
    again = same_results([path for path in paths if not path.is_dir()])
    return [path for path in paths if path not in again]


def results_under(path: Path) -> list[Path]:
    """Return the results files and scored folders that a path names; [] without any.

    Raises:
        PredictionError: the path does not exist.
    """
    return _distinct(_named(path))


def find_results(paths: Iterable[Path]) -> list[Path]:
    """Return the results files and scored folders that some paths name, each once, in order.

    Args:
        paths: results files, report.json files, and folders to search at any depth.

    Raises:
        PredictionError: a path does not exist, or there are no results under it.
    """
    found: list[Path] = []
    for path in paths:
        own, file = _named(path), user_path(path)
        if not own and os.path.isdir(file):
            raise PredictionError(
                f"{path} holds no results: neither results_<date>.json of the harness nor a "
                f"folder with {REPORT} and {SAMPLES} of `lm-eval-longbench score`."
            )
        found += own or [file]
    return _distinct(found)


# ---------------------------------------------------------------------- a log and its results


def task_of_log(log: Path) -> str | None:
    """Return the task in the name of a sample log; None for another name."""
    found = LOG_NAME.fullmatch(log.name)
    return found["task"] if found else None


def results_beside(log: Path) -> list[Path]:
    """Return the results files of a sample log's run, sorted: files of its moment, by any name.

    With `--output_path X.json` the harness calls them X_<moment>.json.
    """
    return [file for _, file in _of_its_moment(log, LOG_NAME, RESULTS_NAME)]


def backend_of(whole: Mapping[str, Any]) -> tuple[str, dict[str, Any]]:
    """Return the backend of a decoded results file and the model arguments, "" if it has none."""
    config = whole.get("config")
    found = config if isinstance(config, Mapping) else {}
    given = found.get("model_args") or {}
    if isinstance(given, str):
        given = dict(part.strip().split("=", 1) for part in given.split(",") if "=" in part)
    model = found.get("model")
    return model if isinstance(model, str) else "", dict(given) if hasattr(given, "keys") else {}


def model_of(whole: Mapping[str, Any]) -> str | None:
    """Return the model that a decoded results file names; None: it names none.

    Without a name in the model arguments the harness files a run under a random name, which is
    another one in the next run: then the backend's name stands.
    """
    backend, arguments = backend_of(whole)
    named = whole.get("config") is None or any(name in arguments for name in NAMING)
    name = (whole.get("model_name") if named else None) or backend
    return name if isinstance(name, str) and name else None
