"""A leaderboard of result folders: what does not recompute is refused, with its reason."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, TypedDict

from lm_eval_longbench.errors import DataError, LongBenchError, OptionError, PredictionError
from lm_eval_longbench.input_files import read_json
from lm_eval_longbench.lock.check import disagreements, lock_files
from lm_eval_longbench.logs.found_results import find_results
from lm_eval_longbench.logs.results_file import (
    ResultsFile,
    ScoredFolder,
    read_results,
)
from lm_eval_longbench.page.data import page_data
from lm_eval_longbench.page.samples import Lengths, lengths_of
from lm_eval_longbench.reports.scored_run import ScoredRun, read_run, unique_names
from lm_eval_longbench.scoring.score import score_paths
from lm_eval_longbench.shapes import checked
from lm_eval_longbench.verify.check import (
    OFFICIAL,
    Verification,
    different_lines,
    not_checkable_lines,
)
from lm_eval_longbench.verify.verify import verify

# ---------------------------------------------------------------------- about.json

ABOUT = "about.json"


class About(TypedDict, total=False):
    """about.json."""

    model: str
    link: str
    type: str
    context: str
    organization: str


def about_of(folder: Path) -> Mapping[str, str]:
    """Return what a folder's about.json says; nothing where there is none.

    Raises:
        PredictionError: it is no description, or says what no page shows.
    """
    path = folder / ABOUT
    if not path.is_file():
        return {}
    about: Mapping[str, str] = read_json(path, PredictionError)
    checked(about, About, f"{ABOUT} is no description of a run")
    unknown = sorted(about.keys() - About.__annotations__.keys())
    if unknown:
        known = ", ".join(About.__annotations__)
        raise PredictionError(f"{ABOUT} has {', '.join(unknown)}; it may have {known}.")
    return about


def facts_of(about: Mapping[str, str]) -> dict[str, str]:
    """Return what it says besides the model's name."""
    return {name: value for name, value in about.items() if name != "model"}


# ---------------------------------------------------------------------- the leaderboard

# Reasons of a refusal that a page shows.
_MOST_REASONS = 20
# Called with the name of each submission before it is recomputed.
Progress = Callable[[str], None]


@dataclass(frozen=True)
class Submission:
    """One result folder.

    Attributes:
        name: in print.
        run: what was scored of it; None: it is refused.
        about: what it says of itself.
        reasons: why it is refused; () where it is not.
        is_mixed: whether that is because it holds several models or settings.
        lengths: of its prompts, as its logs tell.
    """

    name: str
    run: ScoredRun | None
    about: Mapping[str, str] = field(default_factory=dict)
    reasons: tuple[str, ...] = ()
    lengths: Lengths = field(default_factory=dict)
    is_mixed: bool = False


def _refusal(report: Verification, folder: Path) -> list[str]:
    """Return why a verification does not stand for its numbers; nothing where it does."""
    if report.exit_status == 0:
        return []
    place = f"{folder}/"
    checks = []
    for check in report.checks:
        found = check.found.replace(place, "") if isinstance(check.found, str) else check.found
        checks.append(replace(check, file=check.file.replace(place, ""), found=found))
    report = replace(report, checks=checks)
    reasons = [*different_lines(report), *(line.replace(place, "") for line in report.unreadable)]
    if not reasons:
        open_ = [check for check in report.checks if check.kind == OFFICIAL]
        reasons = list(not_checkable_lines(replace(report, checks=open_)))
    return reasons or ["no results of tasks of this package were found in it"]


def _unlocked(folder: Path) -> list[str]:
    """Return in what lock files of a submission disagree with its runs."""
    runs = [
        own for own in map(read_results, find_results([folder])) if isinstance(own, ResultsFile)
    ]
    return [
        f"{path.relative_to(folder)} is not of this run: {line.replace(f'{path}', path.name)}"
        for path in lock_files(folder)
        for run in runs
        for line in disagreements(path, run.tasks)
    ]


def _logs(folder: Path) -> list[Path]:
    """Return the sample logs that the results files of a folder belong to.

    Other prediction files in the folder were not verified, and do not count.
    """
    found: dict[Path, None] = {}
    for path in find_results([folder]):
        results = read_results(path)
        if isinstance(results, ScoredFolder):
            raise PredictionError(
                f"{path.name} holds scores and no answers, so that nothing can be recomputed. "
                "Submit the folder that the run wrote, with --log_samples."
            )
        found |= {task.log: None for task in results.tasks if task.log is not None}
    return list(found)


def judged(
    folder: Path,
    name: str,
    scratch: Path,
    data_dir: str | None = None,
    tokenizer: str | None = None,
) -> Submission:
    """Recompute one submission, and score the answers that were recomputed.

    Args:
        folder: as a run with sample logs wrote it.
        name: of the submission.
        scratch: empty folder for its scores.
        data_dir, tokenizer: see `verify.verify`.
    """
    is_mixed = False
    try:
        about = about_of(folder)
        reasons = _refusal(verify([folder], data_dir, tokenizer), folder)
        reasons += _unlocked(folder)
        if not reasons:
            logs = _logs(folder)
            is_mixed = True  # what verified is refused for this alone
            score_paths(logs, scratch)
            is_mixed = False
            run = read_run(scratch, about.get("model") or name)
            return Submission(name, run, about, lengths=lengths_of(logs))
    except LongBenchError as error:
        text = str(error).replace(f"{os.path.relpath(folder)}/", "")
        about, reasons = {}, [text.replace(f"{folder}/", "").replace(str(folder), name)]
    return Submission(name, None, about, tuple(reasons), is_mixed=is_mixed)


def _distinct(found: Sequence[Submission]) -> list[Submission]:
    """Return the submissions with the folder's name beside a model's that several have."""
    names = Counter(one.run.name for one in found if one.run is not None)
    distinct = []
    for one in found:
        if one.run is not None and names[one.run.name] > 1:
            one = replace(one, run=replace(one.run, name=f"{one.run.name} ({one.name})"))
        distinct.append(one)
    return distinct


def leaderboard_data(
    folders: Sequence[Path],
    scratch: Path,
    *,
    published: bool = True,
    data_dir: str | None = None,
    tokenizer: str | None = None,
    progress: Progress | None = None,
) -> tuple[dict[str, Any], list[Submission]]:
    """Return the data of a leaderboard's page, and the submissions in the order of their names.

    The same folders give the same data, whatever their order and wherever they are.

    Args:
        folders: one a submission.
        scratch: empty folder for scores.
        published: whether published rows stand beside them.
        data_dir, tokenizer: see `verify.verify`.
        progress: told of each submission before it is recomputed.

    Raises:
        OptionError: no folder is given, or one twice.
        DataError: a folder does not exist.
    """
    if not folders:
        raise OptionError("A leaderboard needs one or more result folders.")
    whole = [folder.resolve() for folder in folders]
    times = Counter(whole)
    for folder, path in zip(folders, whole, strict=True):
        if not path.is_dir():
            raise DataError(f"{folder} is no folder. Give the folders that runs wrote.")
        if times[path] > 1:
            raise OptionError(f"{folder} is given twice. Name each submission once.")
    named = sorted(zip(unique_names(whole), whole, strict=True))
    found = []
    for number, (name, folder) in enumerate(named):
        if progress is not None:
            progress(name)
        found.append(judged(folder, name, scratch / str(number), data_dir, tokenizer))
    found = _distinct(found)
    runs = [one.run for one in found if one.run is not None]
    about = {one.run.name: facts_of(one.about) for one in found if one.run is not None}
    refused = [
        {
            "name": one.name,
            "reasons": [*one.reasons[:_MOST_REASONS], *_more(len(one.reasons) - _MOST_REASONS)],
        }
        for one in found
        if one.run is None
    ]
    lengths = {one.run.name: one.lengths for one in found if one.run is not None}
    data = page_data(
        runs, published=published and bool(runs), about=about, refused=refused, lengths=lengths
    )
    return data, found


def _more(number: int) -> list[str]:
    return [f"and {number} more"] if number > 0 else []
