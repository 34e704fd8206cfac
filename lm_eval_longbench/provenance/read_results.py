"""Read results: the harness's results files, and folders that `score` wrote."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lm_eval_longbench.errors import PredictionError
from lm_eval_longbench.input_files import read_json
from lm_eval_longbench.provenance.find_results import (
    REPORT,
    RESULTS_NAME,
    results_beside,
    task_of_log,
)
from lm_eval_longbench.provenance.signature import INGREDIENTS, completed

_RUN = "longbench_run"


@dataclass(frozen=True)
class TaskResult:
    """What a results file says of one task of this package.

    Attributes:
        file: the results file.
        name: of the task in it, which a user may have chosen.
        run: what the task wrote of its run: the ingredients, and "signature", the line.
        figures: by the harness's names: figures, counts and what else stands there.
        config: the task's configuration as the harness dumped it.
        version: as shown in the harness's table; None: not stated.
        log: its sample log; None: there is none beside the file.
        log_name: name that its sample log has or should have.
        log_hash: the harness's hash of all its logged rows; None: nothing was logged.
        n_samples: the harness's count of documents evaluated; None: not stated.
    """

    file: Path
    name: str
    run: Mapping[str, Any]
    figures: Mapping[str, Any]
    config: Mapping[str, Any]
    version: str | None
    log: Path | None
    log_name: str
    log_hash: str | None
    n_samples: int | None

    @property
    def signature(self) -> dict[str, Any]:
        """The ingredients that the file states, in their order."""
        return {key: self.run[key] for key in INGREDIENTS if key in self.run}


@dataclass(frozen=True)
class ResultsFile:
    """A results file of the harness.

    Attributes:
        path: where it is.
        tasks: those of this package, in the order of the file.
        foreign: number of other tasks, which were passed over.
        results: figures by task and group, as they stand there.
        groups: the harness's second copy of the groups' figures.
        members: tasks and groups in each group.
    """

    path: Path
    tasks: Sequence[TaskResult]
    foreign: int
    results: Mapping[str, Mapping[str, Any]]
    groups: Mapping[str, Mapping[str, Any]]
    members: Mapping[str, Sequence[str]]


@dataclass(frozen=True)
class ScoredFolder:
    """A folder that `lm-eval-longbench score` wrote.

    Attributes:
        path: the folder.
        report: its report.json.
    """

    path: Path
    report: Mapping[str, Any]


def _mapping(value: Any, path: Path, what: str) -> Mapping[str, Any]:
    if not isinstance(value, Mapping):
        raise PredictionError(f"{path}: {what} is not a JSON object.")
    return value


def _log(path: Path, task: str) -> tuple[Path | None, str]:
    """Return the sample log of a task, if there is one, and its name."""
    match = RESULTS_NAME.fullmatch(path.name)
    name = f"samples_{task}_{match['moment'] if match else '<date>'}.jsonl"
    places = (path.with_name(name), path.with_name(f"{name}.gz"))
    return next((place for place in places if place.is_file()), None), name


def _task(path: Path, whole: Mapping[str, Any], name: str, run: Mapping[str, Any]) -> TaskResult:
    def stated(key: str) -> Any:
        part = whole.get(key)
        return part.get(name) if isinstance(part, Mapping) else None

    log, log_name = _log(path, name)
    number = stated("n-samples")
    version = stated("versions")
    return TaskResult(
        file=path,
        name=name,
        run=run,
        figures=_mapping(whole["results"].get(name), path, f"what it says of {name!r}"),
        config=whole["configs"][name],
        version=None if version is None else str(version),
        log=log,
        log_name=log_name,
        log_hash=stated("task_hashes"),
        n_samples=number.get("effective") if isinstance(number, Mapping) else None,
    )


def _run_of(config: Any) -> Mapping[str, Any] | None:
    """Return what a task of this package wrote into its configuration; None: it is another's."""
    metadata = config.get("metadata") if isinstance(config, Mapping) else None
    run = metadata.get(_RUN) if isinstance(metadata, Mapping) else None
    return run if isinstance(run, Mapping) else None


def _looks_like_results(value: Any) -> bool:
    return isinstance(value, Mapping) and "results" in value and "configs" in value


def read_results_file(path: Path) -> ResultsFile:
    """Read a results file of the harness.

    Raises:
        PredictionError: it is broken or something else; the message names file and reason.
    """
    whole = read_json(path, PredictionError)
    if not _looks_like_results(whole):
        raise PredictionError(
            f"{path} is no results file of the harness: it has no 'results' and 'configs'. Name a "
            "results_*.json, a run folder, or a folder that `lm-eval-longbench score` wrote."
        )
    results = _mapping(whole["results"], path, "'results'")
    configs = _mapping(whole["configs"], path, "'configs'")
    for name, figures in results.items():
        _mapping(figures, path, f"what it says of {name!r}")
    runs = {name: _run_of(config) for name, config in configs.items()}
    tasks = [_task(path, whole, name, run) for name, run in runs.items() if run is not None]
    return ResultsFile(
        path,
        tasks,
        foreign=len(runs) - len(tasks),
        results=results,
        groups=_mapping(whole.get("groups", {}), path, "'groups'"),
        members=_mapping(whole.get("group_subtasks", {}), path, "'group_subtasks'"),
    )


# Model arguments that the harness takes a model's name from; without one it makes a name up.
_NAMING = ("peft", "delta", "pretrained", "model", "path", "engine")


def model_of(whole: Mapping[str, Any]) -> str | None:
    """Return the model that a decoded results file names; None: it names none.

    Without a name in the model arguments the harness files a run under a random name, which is
    another one in the next run: then the backend's name stands.
    """
    config = whole.get("config")
    arguments = config.get("model_args") if isinstance(config, Mapping) else None
    if isinstance(arguments, str):
        named = any(part.partition("=")[0].strip() in _NAMING for part in arguments.split(","))
    else:
        named = isinstance(arguments, Mapping) and any(name in arguments for name in _NAMING)
    told = whole.get("model_name") if named or config is None else None
    name = told or (config.get("model") if isinstance(config, Mapping) else None)
    return name if isinstance(name, str) and name else None


@dataclass(frozen=True)
class Recorded:
    """What the results file beside a sample log says of the log's run.

    Attributes:
        model: whose answers they are; None: it is not said.
        signature: of the log's task, complete; None: it is not said.
    """

    model: str | None = None
    signature: Mapping[str, Any] | None = None


class RecordedRuns:
    """The results files beside sample logs, each read once."""

    def __init__(self) -> None:
        self._read: dict[Path, Mapping[str, Any]] = {}

    def _whole(self, path: Path) -> Mapping[str, Any]:
        """Return what a results file holds; nothing where it cannot be read: scoring needs none."""
        if path not in self._read:
            try:
                whole = read_json(path, PredictionError)
            except PredictionError:
                whole = None
            self._read[path] = whole if isinstance(whole, Mapping) else {}
        return self._read[path]

    def of(self, log: Path) -> Recorded:
        """Return what is recorded of a sample log's run."""
        task, found = task_of_log(log), Recorded()
        for path in results_beside(log):
            whole = self._whole(path)
            configs = whole.get("configs")
            config = configs.get(task) if isinstance(configs, Mapping) else None
            run = _run_of(config)
            found = Recorded(found.model or model_of(whole), found.signature)
            if run is not None:
                own = {key: run[key] for key in INGREDIENTS if key in run}
                return Recorded(model_of(whole), completed(own))
        return found


def read_scored_folder(path: Path) -> ScoredFolder:
    """Read the report of a scored folder.

    Raises:
        PredictionError: it is broken; the message names file and reason.
    """
    report = _mapping(read_json(path / REPORT, PredictionError), path / REPORT, "it")
    tables = _mapping(report.get("tables"), path / REPORT, "'tables'")
    for name, entry in tables.items():
        entry = _mapping(entry, path / REPORT, f"table {name!r}")
        for part in ("official", "counts", "tasks"):
            _mapping(entry.get(part), path / REPORT, f"{part!r} of table {name!r}")
    return ScoredFolder(path, report)


def read_results(path: Path) -> ResultsFile | ScoredFolder:
    """Read one of what `find_results.find_results` returned; PredictionError if it is broken."""
    return read_scored_folder(path) if path.is_dir() else read_results_file(path)
