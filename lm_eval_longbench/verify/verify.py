"""Verify results: recompute from the sample logs what can be recomputed, and say what differs."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from lm_eval_longbench.errors import LongBenchError
from lm_eval_longbench.logs.results_file import (
    ResultsFile,
    ScoredFolder,
    TaskResult,
    find_results,
    read_results,
)
from lm_eval_longbench.logs.sample_log import LogRow, read_log
from lm_eval_longbench.verify.check import (
    CONFIRMED,
    DIFFERENT,
    NOT_CHECKABLE,
    Absent,
    Check,
    Report,
)
from lm_eval_longbench.verify.data import (
    check_asked,
    check_data,
    check_label,
    check_questions,
    open_documents,
    places_of,
    selected,
)
from lm_eval_longbench.verify.figures import (
    check_figures,
    check_official,
    recompute_rows,
    recomputed,
)
from lm_eval_longbench.verify.groups import check_groups
from lm_eval_longbench.verify.log import check_answers, check_counts, check_log
from lm_eval_longbench.verify.prompts import check_prompts, open_tokenizer
from lm_eval_longbench.verify.results import check_results
from lm_eval_longbench.verify.scored import check_scored
from lm_eval_longbench.verify.settings import (
    check_line,
    check_reasoning,
    check_settings,
    check_signature,
    find_reasoning,
    is_known,
    unconfirmed,
)

if TYPE_CHECKING:
    from transformers import PreTrainedTokenizerBase

    from lm_eval_longbench.data.documents import Documents

# Called with the name of each task before it is verified.
Progress = Callable[[str], None]
_LOG = "sample log"


class Verification:
    """Verify results files and scored folders, one after the other.

    Args:
        data_dir: where local data is; None: nobody says.
        tokenizer: name or folder of the tokenizer that cut; None: the one that the signature
            names, if it is on this machine.
        progress: told of each task.
    """

    def __init__(
        self,
        data_dir: str | None = None,
        tokenizer: str | None = None,
        progress: Progress | None = None,
    ) -> None:
        self.report = Report()
        self._data_dir = data_dir
        self._tokenizer = tokenizer
        self._progress = progress or (lambda task: None)

    def add(self, path: Path) -> None:
        """Verify one results file or scored folder; a broken one is noted in the report."""
        try:
            results = read_results(path)
            if isinstance(results, ScoredFolder):
                found = list(check_scored(results))
            else:
                self.report.foreign += len(results.others)
                found = list(self._results(results))
        except LongBenchError as error:
            self.report.unreadable.append(str(error))
            return
        self.report.checks += [replace(check, file=str(path)) for check in found]

    def _results(self, results: ResultsFile) -> Iterator[Check]:
        verified: dict[str, Mapping[str, float]] = {}
        for place, check in check_results(results):
            yield replace(check, place=place)
        for task in results.tasks:
            self._progress(task.name)
            for check in self._task(task, results, verified):
                yield replace(check, place=task.name)
        for group, check in check_groups(results, verified):
            yield replace(check, place=group)

    def _task(
        self, task: TaskResult, results: ResultsFile, verified: dict[str, Mapping[str, float]]
    ) -> list[Check]:
        """Return the checks of a task, the last ones being about the others."""
        found = [check_line(task), is_known(task)]
        if found[-1].status == DIFFERENT:
            return found
        rows, check = read_rows(task)
        found += [check, *check_signature(task, rows), *check_settings(task)]
        found.append(check_label(task))
        documents = self._documents(task)
        found.append(check_data(task, documents, named=self._data_dir is not None))
        if rows:
            found += self._log(task, results, rows, selected(task, documents), verified)
        found += unconfirmed(task, found)
        found.append(check_official(task, found))
        return found

    def _log(
        self,
        task: TaskResult,
        results: ResultsFile,
        rows: Sequence[LogRow],
        documents: Documents | str,
        verified: dict[str, Mapping[str, float]],
    ) -> Iterator[Check]:
        """Yield the checks of a task's sample log."""
        yield from check_log(task, rows)
        yield from check_answers(task, rows)
        figures = recompute_rows(task, rows)
        yield from figures.checks
        yield from check_figures(task, figures)
        verified[task.name] = recomputed(task, figures)
        yield from check_counts(task, rows, figures)
        places = {} if isinstance(documents, str) else places_of(rows, documents)
        yield from check_questions(task, rows, documents, places)
        yield from check_asked(task, rows, documents)
        reasoning = find_reasoning(task, results)
        yield from check_reasoning(task, reasoning)

        def tokenizer() -> PreTrainedTokenizerBase | str:
            try:
                return open_tokenizer(task.run, task.metadata, self._tokenizer)
            except Absent as absent:
                return str(absent)

        yield from check_prompts(task, rows, documents, places, reasoning, tokenizer)

    def _documents(self, task: TaskResult) -> Documents | str:
        try:
            return open_documents(task, self._data_dir)
        except Absent as absent:
            return str(absent)


def read_rows(task: TaskResult) -> tuple[list[LogRow], Check]:
    """Return the rows of a task's sample log, none if it is missing or broken, and the check."""
    if task.log is None:
        logged = task.log_hash is not None
        said = (
            f"{task.log_name} is not beside {task.file.name}: its figures cannot be recomputed. "
            + ("Put it there." if logged else "Run with --log_samples to have one.")
        )
        return [], Check(_LOG, _LOG, NOT_CHECKABLE, None, task.log_name, said)
    try:
        rows = list(read_log(task.log))
    except LongBenchError as error:
        said = "The log was damaged or cut short after the run; its figures cannot be recomputed."
        return [], Check(_LOG, _LOG, DIFFERENT, str(error), None, said)
    if not rows:
        said = "The log is empty: its rows were lost after the run."
        return [], Check(_LOG, _LOG, DIFFERENT, "0 rows", None, said)
    return rows, Check(_LOG, _LOG, CONFIRMED, f"{len(rows)} rows", None)


def verify(
    paths: Iterable[Path],
    data_dir: str | None = None,
    tokenizer: str | None = None,
    progress: Progress | None = None,
) -> Report:
    """Verify results files, run folders and scored folders.

    Args:
        paths: what to verify; folders are searched at any depth.
        data_dir: folder or file of local data, or a copy of pinned data.
        tokenizer: name or folder of the tokenizer that cut prompts.
        progress: told of each task before it is verified.

    Raises:
        PredictionError: a path does not exist or holds no results. A file that is broken is noted
            in the report instead.
    """
    verification = Verification(data_dir, tokenizer, progress)
    for path in find_results(paths):
        verification.add(path)
    return verification.report
