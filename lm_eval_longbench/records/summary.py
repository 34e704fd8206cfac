"""Files of answers: what is in them, by task; and several that become one."""

from __future__ import annotations

import contextlib
import re
import sqlite3
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from filelock import FileLock, Timeout

from lm_eval_longbench.errors import OptionError
from lm_eval_longbench.records.answer import BATCH, STATES, Answer
from lm_eval_longbench.records.identity import shown
from lm_eval_longbench.records.store import (
    answer_files,
    identity_of,
    made,
    naming,
    reading,
    rows_of,
    take,
)

TOKENS = ("prompt_tokens", "cached_tokens", "completion_tokens", "reasoning_tokens")
# How two values that are known become one.
_JOINS: Any = {**dict.fromkeys((*STATES, *TOKENS, "batch"), sum), "first": min, "last": max}


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

    def __iadd__(self, other: TaskAnswers) -> TaskAnswers:
        for name, join in _JOINS.items():
            known = [own for own in (getattr(self, name), getattr(other, name)) if own is not None]
            setattr(self, name, join(known) if known else None)
        for reason, number in other.reasons.items():
            self.reasons[reason] = self.reasons.get(reason, 0) + number
        return self

    def __add__(self, other: TaskAnswers) -> TaskAnswers:
        own = replace(self, reasons=dict(self.reasons))
        own += other
        return own

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


# ---------------------------------------------------------------------- several files


@contextlib.contextmanager
def opened_together(
    identities: Mapping[Path, str], done: str, others: Sequence[Path] = ()
) -> Iterator[dict[Path, sqlite3.Connection]]:
    """Open files, each of the model with an identity; all is written to all, or nothing.

    While open, no run writes to them, nor to the others, and the others are whole. OptionError if
    that cannot be: nothing was `done`.
    """
    found: dict[Path, sqlite3.Connection] = {}
    with contextlib.ExitStack() as stack:
        for file in dict.fromkeys((*identities, *others)):
            try:
                with contextlib.suppress(PermissionError):  # nobody writes in such a folder
                    stack.enter_context(FileLock(f"{file}.lock").acquire(timeout=0))
            except Timeout:
                raise OptionError(
                    f"A run writes its answers to {file}. Wait for it; nothing was {done}."
                ) from None
        for file in others:
            if damaged := summary(file).damaged:
                raise OptionError(
                    f"{file} is damaged ({damaged} answers): a run of its model mends it. Nothing "
                    f"was {done}."
                )
        for file, identity in identities.items():
            with naming(file):
                found[file] = made(file, identity)
                stack.callback(found[file].close)
                found[file].execute("BEGIN IMMEDIATE")
        yield found
        for connection in found.values():
            connection.execute("COMMIT")


def merge_answers(paths: Sequence[Path], folder: Path) -> dict[Path, int]:
    """Put all answers of some files into one file a model; those files stay as they are.

    An answer is never replaced by the lack of one. Either all of it is done, or nothing.

    Args:
        paths: files of answers, and folders that are searched.
        folder: for the files, which may be there already.

    Returns:
        The files that were written, each with how many answers it had already.

    Raises:
        OptionError: there is no such file, one is damaged, or a run is writing one.
    """
    targets: dict[Path, Path] = {}
    whose: dict[Path, str] = {}
    for file in (one for path in paths for one in files_of(path)):
        target = folder / re.sub(r"_rank\d+(?=\.sqlite$)", "", file.name)
        if target.resolve() != file.resolve():
            targets[file] = target
            with reading(file) as opened:
                whose[target] = identity_of(opened) or ""
    if not targets:
        raise OptionError(f"No file of answers is in {', '.join(map(str, paths))}.")
    folder.mkdir(parents=True, exist_ok=True)
    double = dict.fromkeys(whose, 0)
    with opened_together(whose, "merged", list(targets)) as opened_files:
        for file, target in targets.items():
            with naming(target):
                double[target] += take(opened_files[target], whose[target], file)
    return double
