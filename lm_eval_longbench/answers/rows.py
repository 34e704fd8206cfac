"""Rows of a file of answers: written with a hash of all that they hold, and read by it.

This is the one reader. What SQLite or a row says that no run wrote is `DamagedStore`.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import math
import sqlite3
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

from lm_eval_longbench.answers.answer import Answer
from lm_eval_longbench.errors import OptionError

VERSION = 2
_REQUEST = ("request", "repeat", "task", "question", "prompt_sha256", "generation")
_ANSWER = tuple(one.name for one in fields(Answer))
# The last one is of the model and of all others.
COLUMNS = (*_REQUEST, *_ANSWER, "sha256")
_ALL = ", ".join(COLUMNS)
_NUMBERS = {"repeat", *(name for name in _ANSWER if name.endswith("_tokens"))}
_REALS = {"seconds", "at"}
_MAIN = "*** in database main *** "
# No row takes fewer bytes: two hashes alone have so many.
_LEAST = 128


class DamagedStore(OptionError):
    """A file of answers holds what no run wrote."""


def type_of(column: str) -> str:
    """Return the type of a column in SQLite's words."""
    return "INTEGER" if column in _NUMBERS else "REAL" if column in _REALS else "TEXT"


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
    if column in _NUMBERS or column in _REALS:
        real = column in _REALS
        if not isinstance(value, int | float) or not math.isfinite(value) or abs(value) >= 2**63:
            return None
        return float(value) if real else int(value)
    text = str(value)
    try:
        text.encode()
    except UnicodeEncodeError:  # half a surrogate pair
        return text.encode("utf-8", "surrogatepass")
    return text


def _sha256(identity: str, values: Sequence[Any]) -> str:
    whole = repr((identity, *values)).encode("utf-8", "backslashreplace")
    return hashlib.sha256(whole).hexdigest()


def _kept(identity: str | None, values: Sequence[Any]) -> Kept | None:
    """Return what a row holds; None: it is not as this model's run wrote it."""
    *own, digest = values
    if identity is None or digest != _sha256(identity, own):
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


def _text(raw: bytes) -> str:
    return raw.decode("utf-8", "surrogateescape")


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
    connection.text_factory = _text
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


def check(connection: sqlite3.Connection) -> None:
    """Read a whole file.

    Raises:
        sqlite3.DatabaseError: something in it is not as it was written.
    """
    (said,) = connection.execute("PRAGMA integrity_check(1)").fetchone()
    if said != "ok":
        raise sqlite3.DatabaseError(" ".join(str(said).split()).removeprefix(_MAIN))
    if any(kept is None for kept in rows_of(connection)):
        raise sqlite3.DatabaseError("answers do not match their hash")


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
