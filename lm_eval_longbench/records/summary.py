"""What is in files of answers, by task: states, reasons, tokens and times."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from lm_eval_longbench.records.answer import BATCH, STATES, Answer
from lm_eval_longbench.records.identity import shown
from lm_eval_longbench.records.store import answer_files, identity_of, reading, rows_of

TOKENS = ("prompt_tokens", "cached_tokens", "completion_tokens", "reasoning_tokens")


@dataclass
class TaskAnswers:
    """The answers to one task in one file.

    Attributes:
        answered, empty, filtered, failed: how many answers are in each state, see `answers.answer`.
        reasons: how often each reason was given, of all that is no answer.
        prompt_tokens, cached_tokens, completion_tokens, reasoning_tokens: sums over all that were
            counted; None: none was.
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

    def add(self, answer: Answer) -> None:
        """Count one answer."""
        setattr(self, answer.state, getattr(self, answer.state) + 1)
        if answer.reason:
            self.reasons[answer.reason] = self.reasons.get(answer.reason, 0) + 1
        self.batch += answer.via == BATCH
        for name in TOKENS:
            if (number := getattr(answer, name)) is not None:
                setattr(self, name, (getattr(self, name) or 0) + number)
        if answer.at is not None:
            self.first = min(answer.at, self.first or answer.at)
            self.last = max(answer.at, self.last or answer.at)

    def join(self, other: TaskAnswers) -> None:
        """Count all that another has counted."""
        for name in (*STATES, *TOKENS, "batch"):
            if (number := getattr(other, name)) is not None:
                setattr(self, name, (getattr(self, name) or 0) + number)
        for reason, number in other.reasons.items():
            self.reasons[reason] = self.reasons.get(reason, 0) + number
        for name, choose in (("first", min), ("last", max)):
            known = [own for own in (getattr(self, name), getattr(other, name)) if own is not None]
            setattr(self, name, choose(known, default=None))


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

    def document(self) -> dict[str, Any]:
        """Return it as JSON-like data."""
        tasks = {name: asdict(own) for name, own in self.tasks.items()}
        return {
            "path": str(self.path),
            "model": self.model,
            "tasks": tasks,
            "damaged": self.damaged,
        }


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
    tasks: dict[str, TaskAnswers] = {}
    damaged = 0
    with reading(file) as connection:
        for kept in rows_of(connection):
            if kept is None:
                damaged += 1
            else:
                tasks.setdefault(kept.task, TaskAnswers()).add(kept.answer)
        model = shown(identity_of(connection)) or "not known"
    return FileAnswers(file, model, dict(sorted(tasks.items())), damaged)
