"""Read results: the harness's results files, and folders that `score` wrote."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from typing_extensions import Required, TypedDict

from lm_eval_longbench.benchmarks.registry import learn_carried
from lm_eval_longbench.errors import PredictionError
from lm_eval_longbench.files import read_json
from lm_eval_longbench.records.identity import model_identity
from lm_eval_longbench.records.results import (
    RESULTS_NAME,
    backend_of,
    model_of,
    results_beside,
    task_of_log,
)
from lm_eval_longbench.records.scored import REPORT
from lm_eval_longbench.shapes import Count, Object, Positive, checked
from lm_eval_longbench.signature.ingredients import INGREDIENTS
from lm_eval_longbench.signature.signature import completed

_RUN = "longbench_run"


class DumpedMetric(TypedDict, total=False):
    """What the harness dumps of a metric of a task."""

    metric: Required[str]
    aggregation: str


# What a task of this package writes of its run: the ingredients; "signature", their line;
# "limit_source", what told the limit; and "left_out", parameters that servers refused.
_typed_dict: Any = TypedDict  # mypy knows no fields that are computed
TaskRun: Any = _typed_dict(
    "TaskRun",
    {
        **{name: own.kind | None for name, own in INGREDIENTS.items()},
        "signature": str | None,
        "limit_source": str | None,
        "left_out": list[str] | None,
    },
    total=False,
)


class Definition(TypedDict, total=False):
    """What a user's task file changes of one of ours, see `catalog.users`."""

    doc_to_text: str
    template: str
    metric: str
    chat_template: bool
    generation_kwargs: Object
    dataset_name: str


class _TaskMetadata(TypedDict, total=False):
    longbench_run: Required[TaskRun]
    longbench: Object | None
    longbench_definition: Definition


class TaskConfig(TypedDict, total=False):
    """The configuration of a task of this package, as the harness dumps it."""

    metadata: Required[_TaskMetadata]
    metric_list: list[DumpedMetric] | None
    generation_kwargs: Object | None
    filter_list: list[Object] | None
    repeats: Positive | None


class Numbers(TypedDict, total=False):
    """How many documents of a task were evaluated."""

    effective: Count | None


# A results file of the harness; it has more, which nothing is read of.
Whole = TypedDict(
    "Whole",
    {
        "results": Required[dict[str, Object]],
        "configs": Required[dict[str, Object]],
        "group_subtasks": dict[str, list[str]],
        "n-samples": dict[str, Numbers],
    },
    total=False,
)


# Of report.json what is read to check it against samples; `report` needs more of it.
class _Table(TypedDict, total=False):
    official: Required[Object]
    counts: Required[dict[str, Count | None]]
    tasks: Required[dict[str, Object]]
    reasoning: Object | None


class _Tables(TypedDict):
    tables: dict[str, _Table]


@dataclass(frozen=True)
class TaskResult:
    """What a results file says of one task of this package.

    Attributes:
        file: the results file.
        name: of the task in it, which a user may have chosen.
        run: what the task wrote of its run: the ingredients, and "signature", the line.
        figures: by the harness's names: figures, counts and what else stands there; empty if the
            file has none.
        config: the task's configuration as the harness dumped it.
        log: its sample log; None: there is none beside the file.
        log_name: name that its sample log has or should have.
        n_samples: the harness's count of documents evaluated; None: not stated.
    """

    file: Path
    name: str
    run: Mapping[str, Any]
    figures: Mapping[str, Any]
    config: TaskConfig
    log: Path | None
    log_name: str
    n_samples: int | None

    @property
    def signature(self) -> dict[str, Any]:
        """The ingredients that the file states, in their order."""
        return {key: self.run[key] for key in INGREDIENTS if key in self.run}

    @property
    def metadata(self) -> Mapping[str, Any]:
        """What the task was built with: the model's arguments, and options under "longbench"."""
        return self.config["metadata"]


@dataclass(frozen=True)
class ResultsFile:
    """A results file of the harness.

    Attributes:
        path: where it is.
        tasks: those of this package, in the order of the file.
        others: names of the other tasks.
        whole: the decoded file; its parts have the shapes that the harness gives them.
    """

    path: Path
    tasks: Sequence[TaskResult]
    others: Sequence[str]
    whole: Whole

    @property
    def results(self) -> Mapping[str, Mapping[str, Any]]:
        """Figures by task and group."""
        found: Mapping[str, Mapping[str, Any]] = self.whole["results"]
        return found

    @property
    def members(self) -> Mapping[str, Sequence[str]]:
        """Tasks and groups in each group."""
        found: Mapping[str, Sequence[str]] = self.whole.get("group_subtasks", {})
        return found

    def log_of(self, task: str) -> tuple[Path | None, str]:
        """Return the sample log of a task, if there is one, and its name."""
        match = RESULTS_NAME.fullmatch(self.path.name)
        name = f"samples_{task}_{match['moment'] if match else '<date>'}.jsonl"
        places = [] if "/" in name else [self.path.parent / name, self.path.parent / f"{name}.gz"]
        return next((place for place in places if _is_file(place)), None), name


@dataclass(frozen=True)
class ScoredFolder:
    """A folder that `lm-eval-longbench score` wrote.

    Attributes:
        path: the folder.
        report: its report.json.
    """

    path: Path
    report: Mapping[str, Any]


def _is_file(path: Path) -> bool:
    try:
        return path.is_file()
    except (OSError, ValueError):  # a name too long, or with a NUL: no task was called that
        return False


def _task(file: ResultsFile, name: str, config: TaskConfig) -> TaskResult:
    log, log_name = file.log_of(name)
    numbers = file.whole.get("n-samples", {}).get(name) or Numbers()
    return TaskResult(
        file=file.path,
        name=name,
        run=config["metadata"]["longbench_run"],
        figures=file.results.get(name, {}),
        config=config,
        log=log,
        log_name=log_name,
        n_samples=numbers.get("effective"),
    )


def _run_of(config: Mapping[str, Any]) -> Any:
    """Return what a task of this package wrote into its configuration; None: it is another's."""
    metadata = config.get("metadata")
    return metadata.get(_RUN) if isinstance(metadata, Mapping) else None


def read_results_file(path: Path) -> ResultsFile:
    """Read a results file of the harness.

    Raises:
        PredictionError: it is broken or something else; the message names file and reason.
    """
    whole: Any = read_json(path, PredictionError)
    if not isinstance(whole, dict) or not {"results", "configs"} <= whole.keys():
        raise PredictionError(
            f"{path} is no results file of the harness: it has no 'results' and 'configs'. Name a "
            "results_*.json, a run folder, or a folder that `lm-eval-longbench score` wrote."
        )
    said = f"{path} is no sound results file"
    whole = checked(whole, Whole, said)
    configs = {
        name: checked(config, TaskConfig, said, f"configs.{name}")
        for name, config in whole["configs"].items()
        if _run_of(config) is not None
    }
    for config in configs.values():
        learn_carried(config["metadata"], path)
    others = [name for name in whole["configs"] if name not in configs]
    file = ResultsFile(path, (), others, whole)
    tasks = [_task(file, name, config) for name, config in configs.items()]
    return ResultsFile(path, tasks, others, whole)


@dataclass(frozen=True)
class Recorded:
    """What the results file beside a sample log says of the log's run.

    Attributes:
        model: whose answers they are; None: it is not said.
        backend: that gave them, and the model arguments.
        signature: of the log's task, complete; None: it is not said.
        file: the results file that says it.
    """

    model: str | None = None
    backend: tuple[str, Mapping[str, Any]] = ("", {})
    signature: Mapping[str, Any] | None = None
    file: Path | None = None


def _is_sound(run: Mapping[str, Any]) -> bool:
    """Return whether what a task wrote of its run has its shape, and can be written again."""
    try:
        checked(run, TaskRun, _RUN)
        json.dumps(run, allow_nan=False)
    except (PredictionError, ValueError):
        return False
    return True


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
        """Return what is recorded of a sample log's run; a misshapen signature is none."""
        task, found = task_of_log(log), Recorded()
        for path in results_beside(log):
            whole = self._whole(path)
            configs = whole.get("configs")
            config = configs.get(task) if isinstance(configs, Mapping) else None
            run = _run_of(config) if isinstance(config, Mapping) else None
            found = Recorded(found.model or model_of(whole))
            if isinstance(run, Mapping) and _is_sound(run):
                own = {key: run[key] for key in INGREDIENTS if key in run}
                return Recorded(model_of(whole), backend_of(whole), completed(own), path)
        return found


def read_scored_folder(path: Path) -> ScoredFolder:
    """Read the report of a scored folder.

    Raises:
        PredictionError: it is broken; the message names file and reason.
    """
    file = path / REPORT
    report = checked(read_json(file, PredictionError), _Tables, f"{file} is no report of `score`")
    learn_carried(report, file)
    return ScoredFolder(path, report)


def read_results(path: Path) -> ResultsFile | ScoredFolder:
    """Read one of what `found_results.find_results` returned; PredictionError if it is broken."""
    return read_scored_folder(path) if path.is_dir() else read_results_file(path)


def answering(recorded: Recorded) -> Mapping[str, Any]:
    """Return the arguments of a model that change answers, but for the seed of repeats."""
    own: dict[str, Any] = json.loads(model_identity(*recorded.backend))["model_args"]
    return {name: value for name, value in own.items() if name != "seed"}
