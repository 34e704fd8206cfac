"""What is in files of answers, by task: states, reasons, tokens and times."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from lm_eval_longbench.records.answer import BATCH, STATES, Answer
from lm_eval_longbench.records.identity import shown
from lm_eval_longbench.records.store import answer_files, identity_of, reading, rows_of

TOKENS = ("prompt_tokens", "cached_tokens", "completion_tokens", "reasoning_tokens")


@dataclass
class TaskAnswers:
    """The answers to one task: those that are kept, or those that a run would ask for.

    Attributes:
        answered, empty, filtered, failed: how many answers are in each state, see `answers.answer`.
        reasons: how often each reason was given, of all that is no answer.
        prompt_tokens, cached_tokens, completion_tokens, reasoning_tokens: sums over all that were
            counted; None: none was. Cached ones are a part of those of prompts.
        first, last: when the first and the last of them came, seconds since 1970.
        batch: how many came in result files of a batch API, all at one time.
    """

    answered: int = 0
    empty: int = 0
    filtered: int = 0
    failed: int = 0
    reasons: dict[str, int] = field(default_factory=dict)
    prompt_tokens: int | None = None
    cached_tokens: int | None = None
    completion_tokens: int | None = None
    reasoning_tokens: int | None = None
    first: float | None = None
    last: float | None = None
    batch: int = 0

    @classmethod
    def of(cls, answer: Answer) -> TaskAnswers:
        """Count one answer."""
        counts: dict[str, Any] = {name: getattr(answer, name) for name in TOKENS}
        counts |= {answer.state: 1, "batch": int(answer.via == BATCH)}
        reasons = {answer.reason: 1} if answer.reason else {}
        return cls(**counts, reasons=reasons, first=answer.at, last=answer.at)

    def __add__(self, other: TaskAnswers) -> TaskAnswers:
        def joined(name: str, join: Callable[[list[Any]], Any]) -> Any:
            known = [own for own in (getattr(self, name), getattr(other, name)) if own is not None]
            return join(known) if known else None

        sums = {name: joined(name, sum) for name in (*STATES, *TOKENS, "batch")}
        reasons = dict(Counter(self.reasons) + Counter(other.reasons))
        times = {"first": joined("first", min), "last": joined("last", max)}
        return TaskAnswers(**sums, **times, reasons=reasons)

    def shown(self, titles: Mapping[str, str]) -> dict[str, str]:
        """Return counts in print, by their titles; "" for one that is not known."""
        known = {title: getattr(self, name) for name, title in titles.items()}
        return {title: "" if own is None else f"{own:,}" for title, own in known.items()}


def with_sum(tasks: Mapping[str, TaskAnswers]) -> dict[str, TaskAnswers]:
    """Return the answers by task, and below them those to all tasks."""
    return {**tasks, "all": sum(tasks.values(), TaskAnswers())}


@dataclass
class FileAnswers:
    """The answers in one file.

    Attributes:
        path: of the file.
        model: whose answers they are, as arguments of a command line.
        tasks: by name, in the order of the names.
        damaged: answers that are not as they were written; a run asks them again.
    """

    path: Path
    model: str
    tasks: dict[str, TaskAnswers]
    damaged: int = 0


def files_of(path: Path) -> list[Path]:
    """Return a file of answers, or all of them in a folder and below."""
    if path.is_file():
        return [path]
    folders = [path, *sorted(one for one in path.rglob("*") if one.is_dir())]
    return [file for folder in folders for file in answer_files(folder)]


def kept_answers(path: Path | str) -> list[FileAnswers]:
    """Return what is in a file of answers, or in each of a folder, as `answers` prints it.

    Raises:
        OptionError: a file is none of answers, or damaged.
    """
    return [summary(file) for file in files_of(Path(path))]


def summary(file: Path) -> FileAnswers:
    """Count what is in a file; a run may be writing it.

    Raises:
        OptionError: it is no file of answers, or damaged.
    """
    tasks: defaultdict[str, TaskAnswers] = defaultdict(TaskAnswers)
    damaged = 0
    with reading(file) as connection:
        for kept in rows_of(connection):
            if kept is None:
                damaged += 1
            else:
                tasks[kept.task] += TaskAnswers.of(kept.answer)
        model = shown(identity_of(connection)) or "not known"
    return FileAnswers(file, model, dict(sorted(tasks.items())), damaged)
