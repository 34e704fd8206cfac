"""Check that the results and logs of a run were written.

The harness logs that it could not write a file, and goes on. Then no file of the run stays: half of
them would be taken for its results.
"""

from __future__ import annotations

import contextlib
import json
import os
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from lm_eval_longbench.logs.found_results import logs_of, same_results
from lm_eval_longbench.logs.results_file import RESULTS_NAME


@dataclass
class Unwritten:
    """What could not be written.

    Attributes:
        belongs: the folder where the run's files belong.
        files: the names of those that could not be written.
    """

    belongs: Path | None = None
    files: list[str] = field(default_factory=list)

    def line(self) -> str:
        """Return in one line what could not be written, and what to do; "" for nothing."""
        if not self.files:
            return ""
        return (
            f"Not written to {self.belongs}: {', '.join(self.files)}. No file of this run stays "
            "there. Make room and start again: answers that are kept are not asked again."
        )


def _names(tracker: Any) -> tuple[Path, str]:
    """Return the folder of a tracker's files and the name of its results file."""
    path, moment = Path(tracker.output_path), getattr(tracker, "date_id", "")
    if path.suffix == ".json":
        return path.parent, f"{path.stem}_{moment}.json"
    model = str(tracker.general_config_tracker.model_name_sanitized)
    return path / model, f"results_{moment}.json"


def taken_back(tracker: Any) -> Path | None:
    """Remove a run's files if they add nothing to earlier ones beside them.

    Returns:
        The results file that has all of it already; None: there is something new.
    """
    if not tracker.output_path:
        return None
    folder, name = _names(tracker)
    own = folder / name
    try:
        others = [path for path in sorted(folder.iterdir()) if RESULTS_NAME.fullmatch(path.name)]
        earlier = same_results([*(path for path in others if path != own), own]).get(own)
        for path in (*logs_of(own), own) if earlier else ():
            path.unlink()
    except OSError:  # then there are two of them, which count once
        return None
    return earlier


def _is_whole(file: Path, rows: int | None) -> bool:
    """Whether a file of results, or of so many rows, is all on the disk."""
    try:
        with file.open("rb") as handle:
            os.fsync(handle.fileno())
            if rows is None:
                return bool(json.load(handle)["results"])
            return sum(bool(json.loads(line)) for line in handle) == rows
    except (OSError, ValueError, KeyError):
        return False


def _escaping(path: Any, mode: str = "r", **how: Any) -> Any:
    """Open a file of texts; halves of surrogate pairs are written as JSON spells them.

    Broken servers send them, and UTF-8 cannot hold them: the harness would lose the whole log.
    """
    return open(path, mode, **{**how, "errors": "backslashreplace"})


@contextlib.contextmanager
def written() -> Iterator[Unwritten]:
    """While open, what the harness writes is checked; yields what could not be written."""
    unwritten = Unwritten()
    from lm_eval.loggers import EvaluationTracker

    save_results = EvaluationTracker.save_results_aggregated
    save_samples = EvaluationTracker.save_results_samples

    done: list[Path] = []

    def check(tracker: Any, task: str | None, rows: int | None) -> None:
        if not tracker.output_path:
            return
        folder, name = _names(tracker)
        file = folder / (
            name if task is None else f"samples_{task}_{getattr(tracker, 'date_id', '')}.jsonl"
        )
        unwritten.belongs = folder
        done.append(file)
        if not _is_whole(file, rows):
            unwritten.files.append(file.name)

    def results_saved(self: Any, results: dict[str, Any], samples: Any = None) -> None:
        save_results(self, results=results, samples=samples)
        check(self, None, None)

    def samples_saved(self: Any, task_name: str, samples: Any) -> None:
        save_samples(self, task_name=task_name, samples=samples)
        check(self, task_name, len(samples))

    EvaluationTracker.save_results_aggregated = results_saved  # type: ignore[method-assign]
    EvaluationTracker.save_results_samples = samples_saved  # type: ignore[method-assign]
    names = vars(sys.modules[EvaluationTracker.__module__])
    names["open"] = _escaping
    try:
        yield unwritten
    finally:
        EvaluationTracker.save_results_aggregated = save_results  # type: ignore[method-assign]
        EvaluationTracker.save_results_samples = save_samples  # type: ignore[method-assign]
        names.pop("open", None)
        for file in done if unwritten.files else ():
            with contextlib.suppress(OSError):
                file.unlink()
