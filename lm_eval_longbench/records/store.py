"""The file of answers: every answer of a run the moment it arrives, by what it depends on.

One process writes a file. A killed one leaves all answers that were committed, one commit each. A
row has a hash of all that it holds; what SQLite or a row says that no run wrote is `DamagedStore`.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import logging
import math
import shutil
import sqlite3
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields
from itertools import count
from pathlib import Path
from typing import Any

from filelock import FileLock, Timeout

from lm_eval_longbench.errors import OptionError
from lm_eval_longbench.records.answer import ANSWERED, Answer
from lm_eval_longbench.records.identity import shown

VERSION = 3
_REQUEST = ("request", "repeat", "task", "question", "prompt_sha256", "generation")
_ANSWER = tuple(one.name for one in fields(Answer))
# The last one is of the model and of all others.
COLUMNS = (*_REQUEST, *_ANSWER, "sha256")
_ALL = ", ".join(COLUMNS)
# Columns of numbers; the others hold texts.
_NUMBERS: dict[str, type[int | float]] = {"repeat": int, "seconds": float, "at": float}
_NUMBERS |= {name: int for name in _ANSWER if name.endswith("_tokens")}
_MAIN = "*** in database main *** "
# No row takes fewer bytes: two hashes alone have so many.
_LEAST = 128


class DamagedStore(OptionError):
    """A file of answers holds what no run wrote."""


@dataclass(frozen=True)
class Kept:
    """An answer with the request that it answers.

    Attributes:
        request: sha256 of all that changes the answer, see `answer_key`.
        repeat: which of several answers to equal requests, from 0.
        task: name of the task that asked; a task that asks the same later shares the answer.
        question: id of the question.
        prompt_sha256: of the prompt as sent.
        generation: generation arguments as sent, JSON.
        answer: the answer.
    """

    request: str
    repeat: int
    task: str
    question: str
    prompt_sha256: str
    generation: str
    answer: Answer

    def row(self, identity: str) -> tuple[Any, ...]:
        """Return its values in the order of the columns; `identity` is of the model."""
        own = {name: getattr(self, name) for name in _REQUEST}
        own |= {name: getattr(self.answer, name) for name in _ANSWER}
        own["left_out"] = json.dumps(self.answer.left_out)
        values = [_storable(name, value) for name, value in own.items()]
        return (*values, _sha256(identity, values))


def _storable(column: str, value: Any) -> Any:
    """Return a value as SQLite gives it back; a number that it cannot hold is not known."""
    if value is None:
        return None
    if column in _NUMBERS:
        known = isinstance(value, int | float) and math.isfinite(value) and abs(value) < 2**63
        return _NUMBERS[column](value) if known else None
    raw = str(value).encode("utf-8", "surrogatepass")
    try:
        return raw.decode()
    except UnicodeDecodeError:  # half a surrogate pair
        return raw


def _sha256(identity: str | None, values: Sequence[Any]) -> str:
    whole = repr((identity, *values)).encode("utf-8", "backslashreplace")
    return hashlib.sha256(whole).hexdigest()


def _kept(identity: str | None, values: Sequence[Any]) -> Kept | None:
    """Return what a row holds; None: it is not as this model's run wrote it."""
    *own, digest = values
    if digest != _sha256(identity, own):
        return None
    known: dict[str, Any] = {
        name: value.decode("utf-8", "surrogatepass") if isinstance(value, bytes) else value
        for name, value in zip(COLUMNS[:-1], own, strict=True)
    }
    known["left_out"] = tuple(json.loads(known["left_out"]))
    answer = Answer(**{name: known.pop(name) for name in _ANSWER})
    return Kept(**known, answer=answer)


# ---------------------------------------------------------------------- files


@contextlib.contextmanager
def naming(path: Path) -> Iterator[None]:
    """While open, what SQLite and the system raise is one exception that names the file.

    Raises:
        DamagedStore: it holds what no run wrote.
        OptionError: it cannot be opened, or not in its folder.
    """
    try:
        yield
    except sqlite3.Error as error:
        what = str(error)
        place = isinstance(error, sqlite3.OperationalError)
        if place and not what.startswith(("no such", "unsupported", "table ")):
            raise OptionError(
                f"The file of answers {path} cannot be used: {what}. If its folder cannot be "
                "written, give another output_path."
            ) from error
        raise DamagedStore(
            f"{path} is no file of answers, or damaged: {what}. A run of its model keeps what can "
            "be read of it; if it is another file, move it away."
        ) from error
    except OSError as error:
        raise OptionError(
            f"The file of answers {path} cannot be made: {error}. Give another output_path."
        ) from error


def connected(path: Path, mode: str) -> sqlite3.Connection:
    """Open a file, "ro" or "rwc"; one statement is one commit.

    Raises:
        OptionError: it is of another version.
    """
    connection = sqlite3.connect(
        f"{path.absolute().as_uri()}?mode={mode}",
        uri=True,
        timeout=60,
        isolation_level=None,
        check_same_thread=False,
    )
    connection.text_factory = lambda raw: raw.decode("utf-8", "surrogateescape")
    try:
        (version,) = connection.execute("PRAGMA user_version").fetchone()
        if version not in (0, VERSION):
            raise OptionError(
                f"{path} is a file of answers of another version of lm-eval-longbench ({version}; "
                f"this one writes {VERSION}). Go on with that version, or give another output "
                "folder."
            )
    except BaseException:
        connection.close()
        raise
    return connection


def parts(path: Path) -> list[Path]:
    """Return the files that SQLite keeps of one."""
    return [path, *(path.with_name(f"{path.name}{end}") for end in ("-wal", "-shm"))]


def identity_of(connection: sqlite3.Connection) -> str | None:
    """Return whose answers a file holds; None: it does not say."""
    row = connection.execute("SELECT identity FROM model").fetchone()
    return row[0] if row and isinstance(row[0], str) else None


def rows_of(connection: sqlite3.Connection) -> Iterator[Kept | None]:
    """Yield all answers of a file; None for a row that is not as it was written."""
    identity = identity_of(connection)
    for values in connection.execute(f"SELECT {_ALL} FROM answers"):
        yield _kept(identity, values)


def row_of(connection: sqlite3.Connection, identity: str, request: str, repeat: int) -> Kept | None:
    """Return the answer to a request; None: there is none, or it is not as it was written."""
    values = connection.execute(
        f"SELECT {_ALL} FROM answers WHERE request = ? AND repeat = ?", (request, repeat)
    ).fetchone()
    return _kept(identity, values) if values else None


def readable(path: Path, identity: str) -> tuple[list[Kept], int | None]:
    """Return the answers of a model that a damaged file still has, and how many others it had.

    None: nobody knows how many.
    """
    found: list[Kept] = []
    size = sum(part.stat().st_size for part in parts(path) if part.exists())
    with contextlib.suppress(sqlite3.Error), contextlib.closing(connected(path, "ro")) as opened:
        most, there = size // _LEAST + 1, 0
        with contextlib.suppress(sqlite3.Error):  # both by the damaged trees
            (last,) = opened.execute("SELECT MAX(rowid) FROM answers").fetchone()
            (there,) = opened.execute("SELECT COUNT(*) FROM answers").fetchone()
            most = last if (last or 0) >= there else most
        opened.execute(f"SELECT {_ALL} FROM answers LIMIT 0")
        for row in range(1, most + 1):
            with contextlib.suppress(sqlite3.Error):  # of its page
                asked = opened.execute(f"SELECT {_ALL} FROM answers WHERE rowid = ?", (row,))
                values = asked.fetchone()
                kept = _kept(identity, values) if values else None
                found += [kept] if kept else []
        return found, max(0, there - len(found)) if there else None
    return found, None


# ---------------------------------------------------------------------- the file

logger = logging.getLogger(__name__)

_TYPES = {int: "INTEGER", float: "REAL", None: "TEXT"}
_TABLES = (
    "BEGIN IMMEDIATE",
    f"CREATE TABLE answers ({', '.join(f'{one} {_TYPES[_NUMBERS.get(one)]}' for one in COLUMNS)},"
    " PRIMARY KEY (request, repeat))",
    "CREATE TABLE model (identity TEXT)",
)
_IS_MADE = "SELECT COUNT(*) FROM sqlite_master WHERE name IN ('answers', 'model')"
# An answer is never replaced by the lack of one.
PUT = (
    f"INSERT INTO answers ({_ALL}) VALUES ({', '.join('?' * len(COLUMNS))})"
    f" ON CONFLICT (request, repeat) DO"
    f" UPDATE SET {', '.join(f'{one} = excluded.{one}' for one in COLUMNS[2:])}"
    f" WHERE answers.state != '{ANSWERED}'"
)


def made(path: Path, identity: str) -> sqlite3.Connection:
    """Open a file for writing: a model's own, read from end to end, or a new one."""
    connection = connected(path, "rwc")
    try:
        is_new = connection.execute("PRAGMA user_version").fetchone() == (0,)
        if not is_new:
            _check(path, connection, identity)
        connection.execute("PRAGMA journal_mode=WAL")
        connection.execute("PRAGMA synchronous=NORMAL")
        if is_new:
            for statement in _TABLES:
                connection.execute(statement)
            connection.execute("INSERT INTO model VALUES (?)", (identity,))
            connection.execute(f"PRAGMA user_version={VERSION}")
            connection.execute("COMMIT")
    except BaseException:
        connection.close()
        raise
    return connection


def _check(path: Path, connection: sqlite3.Connection, identity: str) -> None:
    """Read a whole file of a model.

    Raises:
        OptionError: it is another model's.
        sqlite3.DatabaseError: it is damaged.
    """
    found = identity_of(connection)
    if found != identity and shown(found):
        raise OptionError(
            f"{path} holds answers of {shown(found)}, and this run is {shown(identity)}. Give "
            "another output_path."
        )
    (said,) = connection.execute("PRAGMA integrity_check(1)").fetchone()
    if said != "ok":
        raise sqlite3.DatabaseError(" ".join(str(said).split()).removeprefix(_MAIN))
    if any(kept is None for kept in rows_of(connection)):
        raise sqlite3.DatabaseError("answers do not match their hash")
    if found != identity:
        raise sqlite3.DatabaseError("it does not say whose answers it holds")


@contextlib.contextmanager
def reading(path: Path) -> Iterator[sqlite3.Connection]:
    """Open a file of answers to read it, also while a run writes it.

    Raises:
        OptionError: it is no file of answers, or damaged.
    """
    with contextlib.ExitStack() as stack, naming(path):
        try:
            connection = connected(path, "ro")
        except sqlite3.OperationalError:
            # In a folder that cannot be written, SQLite cannot read what a killed run left.
            folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
            for part in parts(path):
                if part.exists():
                    shutil.copyfile(part, folder / part.name)
            connection = connected(folder / path.name, "ro")
        stack.callback(connection.close)
        yield connection


def take(own: sqlite3.Connection, identity: str, file: Path) -> int:
    """Put the sound answers of a file into another of its model; return how many are not new."""
    with reading(file) as other:
        kept = (one.row(identity) for one in rows_of(other) if one is not None)
        new = own.executemany(PUT, kept).rowcount
        (number,) = other.execute("SELECT COUNT(*) FROM answers").fetchone()
    return int(number) - new


class AnswerStore:
    """The answers of one model: those of earlier runs and ranks, and the file of this process.

    Attributes:
        path: the file of this process.
        identity: of the model.
        is_first: whether the answers of all ranks come together in it.
        fault: why an answer could not be written; None: all were.
    """

    def __init__(self, folder: Path, stem: str, identity: str, rank: int = 0) -> None:
        """Open this process's file, and look at all files of the model: `stem` begins their names.

        Raises:
            OptionError: another process writes the file, or a file cannot be used.
        """
        self._folder, self._stem, self.identity = folder, stem, identity
        self.is_first = rank == 0
        self.path = folder / f"{stem}{f'_rank{rank}' if rank else ''}.sqlite"
        self.fault: str | None = None
        self._others = contextlib.ExitStack()
        self._lock = FileLock(f"{self.path}.lock")
        self._readers: list[sqlite3.Connection] = []
        with naming(self.path):
            folder.mkdir(parents=True, exist_ok=True)
            try:
                self._lock.acquire(timeout=0)
            except Timeout:
                raise OptionError(
                    f"Another run writes its answers to {self.path}. Wait for it, or give this run "
                    "another output_path."
                ) from None
            try:
                try:
                    with naming(self.path):
                        self._own = made(self.path, identity)
                except DamagedStore as error:
                    aside = _set_aside(self.path)
                    self._own = made(self.path, identity)
                    self._recover(self.path, aside, error)
                for file in self._other_files():
                    self._read(file)
            except BaseException:
                self.close()
                raise

    def _read(self, file: Path) -> None:
        """Have the answers of another file of this model; what is damaged is moved aside."""
        try:
            with contextlib.ExitStack() as stack:
                other = stack.enter_context(reading(file))
                # Another rank may be making its file in this moment.
                if other.execute(_IS_MADE).fetchone() == (2,):
                    _check(file, other, self.identity)
                    self._readers.append(other)
                self._others.push(stack.pop_all())
        except DamagedStore as error:
            with contextlib.suppress(Timeout), FileLock(f"{file}.lock").acquire(timeout=0):
                if file.exists():  # no other rank was faster
                    self._recover(file, _set_aside(file), error)

    def _recover(self, file: Path, aside: Path, error: DamagedStore) -> None:
        """Take what can be read of a damaged file that was moved aside."""
        found, lost = readable(aside, self.identity)
        self._own.execute("BEGIN")
        self._own.executemany(PUT, (kept.row(self.identity) for kept in found))
        self._own.execute("COMMIT")
        logger.warning(
            f"{file} is damaged: {error.__cause__}. It is kept as {aside.name}. Of its answers "
            f"{len(found)} can be read and count; {'all others' if lost is None else lost} are "
            "asked again."
        )

    def _other_files(self) -> list[Path]:
        return [file for file in answer_files(self._folder, self._stem) if file != self.path]

    def find(self, request: str, repeat: int) -> Answer | None:
        """Return what is known of a request; an answer where any file has one; None: nothing.

        Raises:
            OptionError: a file can no longer be read.
        """
        found: Answer | None = None
        for connection in (self._own, *self._readers):
            with naming(self.path):
                kept = row_of(connection, self.identity, request, repeat)
            if kept and (found is None or kept.answer.state == ANSWERED):
                found = kept.answer
        return found

    def keep(self, kept: Kept) -> None:
        """Write an answer down; see `fault`."""
        try:
            self._own.execute(PUT, kept.row(self.identity))
        except sqlite3.Error as error:
            self.fault = self.fault or str(error)

    def number(self) -> int:
        """Return how many answers the file of this process has."""
        return int(self._own.execute("SELECT COUNT(*) FROM answers").fetchone()[0])

    def merge(self) -> None:
        """Take the answers of the model's other files into this one, and remove those files.

        A file that another process writes is left alone, and so is one that there is no room for.
        """
        self._others.close()
        self._readers = []
        for file in self._other_files():
            lock = FileLock(f"{file}.lock")
            try:
                with lock.acquire(timeout=0):
                    self._take(file)
            except (Timeout, sqlite3.Error, OSError, OptionError) as error:
                logger.warning(f"{file} stays beside {self.path.name}: {error}")
                continue
            Path(lock.lock_file).unlink(missing_ok=True)

    def _take(self, file: Path) -> None:
        with self._own:  # all of it, or nothing
            self._own.execute("BEGIN")
            take(self._own, self.identity, file)
        # What is removed must be on the disk first.
        self._own.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        for part in parts(file):
            part.unlink(missing_ok=True)

    def close(self) -> None:
        """Close all files; SQLite leaves one a file."""
        self._others.close()
        if hasattr(self, "_own"):
            self._own.close()
        self._lock.release()


def answer_files(folder: Path, stem: str = "answers_") -> list[Path]:
    """Return the files of answers in a folder whose names begin with a stem."""
    return sorted(file for file in folder.glob("answers_*.sqlite") if file.name.startswith(stem))


def _set_aside(path: Path) -> Path:
    """Give a damaged file another name; it is never removed."""
    names = (f"{path.name}.damaged{number}" for number in count(1))
    aside = next(path.with_name(name) for name in names if not path.with_name(name).exists())
    for part, other in zip(parts(path), parts(aside), strict=True):
        if part.exists():
            part.rename(other)
    return aside
