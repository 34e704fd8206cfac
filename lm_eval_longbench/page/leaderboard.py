"""A leaderboard of runs: all that could be scored, and which of them `verify` confirms."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from typing_extensions import TypedDict

from lm_eval_longbench.benchmarks.results import ScoredFolder, read_results
from lm_eval_longbench.check.verification import outcome_lines
from lm_eval_longbench.check.verify import verify
from lm_eval_longbench.errors import DataError, LongBenchError, OptionError, PredictionError
from lm_eval_longbench.files import read_json
from lm_eval_longbench.page.data import page_data
from lm_eval_longbench.page.samples import Lengths, lengths_of
from lm_eval_longbench.records.results import find_results
from lm_eval_longbench.reporting.scored_run import ScoredRun, read_run, unique_names
from lm_eval_longbench.scoring.score import score_paths
from lm_eval_longbench.shapes import checked

# ---------------------------------------------------------------------- about.json

ABOUT = "about.json"


class About(TypedDict, total=False):
    """about.json."""

    model: str
    link: str
    type: str
    context: str
    organization: str


def about_of(folder: Path) -> tuple[str, dict[str, str]]:
    """Return the model that a folder's about.json names, and what else it says; "" for nothing.

    Raises:
        PredictionError: it is no description, or says what no page shows.
    """
    path = folder / ABOUT
    if not path.is_file():
        return "", {}
    about: dict[str, str] = read_json(path, PredictionError)
    checked(about, About, f"{ABOUT} is no description of a run")
    unknown = sorted(about.keys() - About.__annotations__.keys())
    if unknown:
        known = ", ".join(About.__annotations__)
        raise PredictionError(f"{ABOUT} has {', '.join(unknown)}; it may have {known}.")
    return about.pop("model", ""), about


# ---------------------------------------------------------------------- the leaderboard

# Marks of runs that the page knows.
CONFIRMED, UNCONFIRMED = "confirmed", "unconfirmed"
# Called with the name of each run before it is recomputed.
Progress = Callable[[str], None]


@dataclass(frozen=True)
class Collected:
    """One run folder.

    Attributes:
        name: in print.
        run: what was scored of it; None: nothing could be.
        about: what it says of itself besides the model.
        reasons: why `verify` does not confirm it; () where it does.
        lengths: of its prompts, as its logs tell.
    """

    name: str
    run: ScoredRun | None
    about: Mapping[str, str] = field(default_factory=dict)
    reasons: tuple[str, ...] = ()
    lengths: Lengths = field(default_factory=dict)


def _logs(folder: Path) -> list[Path]:
    """Return the sample logs that the results files of a folder belong to, and that `verify` reads.

    Other prediction files in the folder do not count.
    """
    found: dict[Path, None] = {}
    for path in find_results([folder]):
        results = read_results(path)
        if isinstance(results, ScoredFolder):
            raise PredictionError(
                f"{path.name} holds scores and no answers, so that nothing can be recomputed. "
                "Give the folder that the run wrote, with --log_samples."
            )
        found |= {task.log: None for task in results.tasks if task.log is not None}
    return list(found)


def collected(
    folder: Path,
    name: str,
    scratch: Path,
    data_dir: str | None = None,
    tokenizer: str | None = None,
) -> Collected:
    """Verify one run, and score its answers.

    Args:
        folder: as a run with sample logs wrote it.
        name: of the run.
        scratch: empty folder for its scores.
        data_dir, tokenizer: see `verify.verify`.
    """
    reasons: list[str] = []
    try:
        (model, about), report = about_of(folder), verify([folder], data_dir, tokenizer)
        if report.exit_status != 0:
            reasons = [*outcome_lines(report, verbose=False), *report.unreadable]
        logs = _logs(folder)
        score_paths(logs, scratch)
        run = read_run(scratch, model or name)
        return Collected(name, run, about, tuple(reasons), lengths_of(logs))
    except LongBenchError as error:
        return Collected(name, None, reasons=(*reasons, str(error)))


def leaderboard_data(
    folders: Sequence[Path],
    scratch: Path,
    *,
    published: bool = True,
    data_dir: str | None = None,
    tokenizer: str | None = None,
    progress: Progress | None = None,
) -> tuple[dict[str, Any], list[Collected]]:
    """Return the data of a leaderboard's page, and the runs in the order of their names.

    The same folders give the same data, whatever their order and wherever they are.

    Args:
        folders: one a run.
        scratch: empty folder for scores.
        published: whether published rows stand beside them.
        data_dir, tokenizer: see `verify.verify`.
        progress: told of each run before it is recomputed.

    Raises:
        OptionError: no folder is given, or one twice.
        DataError: a folder does not exist.
    """
    if not folders:
        raise OptionError("A leaderboard needs one or more result folders.")
    whole = [folder.resolve() for folder in folders]
    for folder, path in zip(folders, whole, strict=True):
        if not path.is_dir():
            raise DataError(f"{folder} is no folder. Give the folders that runs wrote.")
        if whole.count(path) > 1:
            raise OptionError(f"{folder} is given twice. Name each run once.")
    found, unconfirmed = [], []
    for number, (name, folder) in enumerate(sorted(zip(unique_names(whole), whole, strict=True))):
        if progress is not None:
            progress(name)
        one = collected(folder, name, scratch / str(number), data_dir, tokenizer)
        found.append(one)
        if one.reasons:
            near = [text.replace(f"{folder}/", "") for text in one.reasons]
            near = [text.replace(f"{os.path.relpath(folder)}/", "") for text in near]
            near = [text.replace(str(folder), folder.name) for text in near]
            unconfirmed.append({"name": name, "reasons": near, "shown": one.run is not None})
    models = Counter(one.run.name for one in found if one.run is not None)
    runs, about, lengths = [], {}, {}
    for one in found:
        if one.run is not None:
            model = one.run.name  # with the folder's name beside it where several have it
            run = replace(one.run, name=model if models[model] == 1 else f"{model} ({one.name})")
            mark = UNCONFIRMED if one.reasons else CONFIRMED
            about[run.name] = {**one.about, "mark": mark}
            lengths[run.name] = one.lengths
            runs.append(run)
    more = {"about": about, "unconfirmed": unconfirmed, "lengths": lengths}
    return page_data(runs, published=published and bool(runs), **more), found
