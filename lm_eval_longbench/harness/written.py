"""Check that the results and logs of a run were written, and write them elsewhere if they were not.

The harness logs that it could not write a file, and goes on.
"""

from __future__ import annotations

import contextlib
import json
import os
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from lm_eval_longbench.harness.private_names import WRITTEN, can_have
from lm_eval_longbench.logs.found_results import logs_of, same_results
from lm_eval_longbench.logs.results_file import RESULTS_NAME
from lm_eval_longbench.result_files import other_folders


@dataclass
class Unwritten:
    """What could not be written where it belongs.

    Attributes:
        belongs: the folder where it belongs.
        files: the names of the files.
        places: the folders that they are in instead.
        lost: the names of files for which there was no folder.
    """

    belongs: Path | None = None
    files: list[str] = field(default_factory=list)
    places: list[Path] = field(default_factory=list)
    lost: list[str] = field(default_factory=list)

    def line(self) -> str:
        """Return in one line what is where, and what to do."""
        said = f"Not written to {self.belongs}: {', '.join([*self.files, *self.lost])}."
        if self.files:
            places = dict.fromkeys(map(str, self.places))
            said += f" {', '.join(self.files)} can be found in {', '.join(places)}: make room, and"
            said += " move everything there back."
        if self.lost:
            said += f" No folder could be written for {', '.join(self.lost)}: start again, the"
            said += " answers that are kept are not asked again."
        return said


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


def _holds_results(file: Path, results: dict[str, Any]) -> bool:
    with file.open("rb") as handle:
        os.fsync(handle.fileno())
        found = json.loads(handle.read())
    return found.keys() >= results.keys() - {"samples"} and bool(found["results"])


def _holds_rows(file: Path, rows: Sequence[dict[str, Any]]) -> bool:
    with file.open("rb") as handle:
        os.fsync(handle.fileno())
        found = (json.loads(line) for line in handle)
        hashes = [(row["doc_id"], row["doc_hash"]) for row in found]
    return hashes == [(row["doc_id"], row["doc_hash"]) for row in rows]


def _is_good(check: Callable[[], bool]) -> bool:
    try:
        return check()
    except (OSError, ValueError, KeyError, TypeError):
        return False


def _as_before(rows: Sequence[dict[str, Any]]) -> None:
    """Undo what the harness did to the rows of a log that it could not write to the end."""
    for row in rows:
        if isinstance(row["arguments"], dict):
            row["arguments"] = [tuple(one.values()) for one in row["arguments"].values()]


def _escaping(path: Any, mode: str = "r", **how: Any) -> Any:
    """Open a file of texts; halves of surrogate pairs are written as JSON spells them.

    Broken servers send them, and UTF-8 cannot hold them: the harness would lose the whole log.
    """
    return open(path, mode, **{**how, "errors": "backslashreplace"})


@contextlib.contextmanager
def written() -> Iterator[Unwritten]:
    """While open, what the harness writes is checked; yields what could not be written."""
    unwritten = Unwritten()
    if not can_have(WRITTEN):
        yield unwritten
        return
    from lm_eval.loggers import EvaluationTracker

    save_results = EvaluationTracker.save_results_aggregated
    save_samples = EvaluationTracker.save_results_samples

    def results_saved(self: Any, results: dict[str, Any], samples: Any = None) -> None:
        def save() -> None:
            save_results(self, results=results, samples=samples)

        _save(self, unwritten, save, None, lambda file: _holds_results(file, results))

    def samples_saved(self: Any, task_name: str, samples: Any) -> None:
        def save() -> None:
            _as_before(samples)
            save_samples(self, task_name=task_name, samples=samples)

        _save(self, unwritten, save, task_name, lambda file: _holds_rows(file, samples))

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


def _save(
    tracker: Any,
    unwritten: Unwritten,
    save: Callable[[], None],
    task: str | None,
    holds: Callable[[Path], bool],
) -> None:
    """Save a file, elsewhere if it must be; all that comes after it goes there too."""
    save()
    if not tracker.output_path:
        return

    def file() -> Path:
        folder, name = _names(tracker)
        return folder / (name if task is None else f"samples_{task}_{tracker.date_id}.jsonl")

    own = file()
    unwritten.belongs = unwritten.belongs or own.parent
    if _is_good(lambda: holds(own)):
        if unwritten.places:
            unwritten.files.append(own.name)
        return
    for folder in other_folders():
        tracker.output_path = str(folder)
        save()
        if _is_good(lambda: holds(file())):
            unwritten.files.append(file().name)
            unwritten.places.append(folder)
            break
    else:
        unwritten.lost.append(own.name)
    with contextlib.suppress(OSError):  # half a file would be taken for a whole one
        own.unlink()
