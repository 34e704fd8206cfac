"""The file of answers: every answer of a run the moment it arrives, by what it depends on.

Two runs share answers where the model and the request as sent are the same. No host, port or key
is part of either.

One process writes a file. A killed one leaves all answers that were committed, one commit each.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import logging
import re
import shutil
import sqlite3
import tempfile
from collections.abc import Iterator, Mapping
from itertools import count
from pathlib import Path
from typing import Any

from filelock import FileLock, Timeout

from lm_eval_longbench.answers.answer import ANSWERED, Answer
from lm_eval_longbench.answers.rows import (
    COLUMNS,
    VERSION,
    DamagedStore,
    Kept,
    check,
    connected,
    identity_of,
    naming,
    parts,
    readable,
    row_of,
    type_of,
)
from lm_eval_longbench.errors import OptionError
from lm_eval_longbench.options import REPEAT
from lm_eval_longbench.secrets import masked

# ---------------------------------------------------------------------- what an answer depends on

# Arguments of models that do not change what is answered to a prompt: where and how fast it is
# answered, and what makes the prompt, which is part of a request.
_NO_ANSWERS = frozenset(
    {
        *("base_url", "num_concurrent", "max_retries", "timeout", "verify_certificate"),
        *("ca_cert_path", "auth_token", "token", "header", "batch_size", "max_batch_size"),
        *("device", "tokenizer_backend", "tokenized_requests", "max_length"),
        *("max_model_len", "context_length", "gpu_memory_utilization", "tensor_parallel_size"),
        *("data_parallel_size", "swap_space", "trust_remote_code", "parallelize", "device_map"),
        *("patience", "max_failed", "tries"),
        *("max_memory_per_gpu", "max_cpu_memory", "offload_folder", "truncation"),
    }
)
# Of those, what cuts prompts inside the model. Prompts of our tasks fit; others may not.
_CUTS = ("max_length", "max_model_len", "context_length", "truncation", "truncate")
# A model in this process is fed the ids of its tokenizer; a server is sent texts.
_TOKENIZER = "tokenizer"
_SERVERS = re.compile(
    r"(local|openai|anthropic)-|litellm|gg[mu][lf]|textsynth|watsonx|longbench-api"
)
# The arguments that the harness takes a model's name from, the first one first.
_NAMES = ("peft", "delta", "pretrained", "model", "path", "engine")
_LONGEST_NAME = 100


def asks_server(model: str, arguments: Mapping[str, Any]) -> bool:
    """Return whether a backend of the harness sends its requests to a server."""
    return bool(arguments.get("base_url")) or _SERVERS.match(model) is not None


def model_identity(model: str, arguments: Mapping[str, Any]) -> str:
    """Return as JSON which model answers: its backend, and the arguments that change an answer.

    Args:
        model: the harness's name of the backend.
        arguments: --model_args.
    """
    own = {name: value for name, value in arguments.items() if name not in _NO_ANSWERS}
    if asks_server(model, arguments):
        own.pop(_TOKENIZER, None)
    return json.dumps({"model": model, "model_args": masked(own)}, sort_keys=True, default=str)


def shown(identity: Any) -> str | None:
    """Return an identity in print; None: it is none."""
    try:
        told = json.loads(identity)
        parts = [f"{name}={value}" for name, value in told["model_args"].items()]
        return " ".join([f"model {told['model']}", *parts])
    except (ValueError, TypeError, KeyError, AttributeError):
        return None


def model_name(model: str, arguments: Mapping[str, Any]) -> str:
    """Return the name of a model: of its weights, or else of its backend."""
    return next((str(arguments[name]) for name in _NAMES if arguments.get(name)), model)


def file_stem(name: str, identity: str) -> str:
    """Return how the names of all files begin that keep a model's answers.

    Args:
        name: of the model, fit for a file name.
        identity: of the model.
    """
    digest = hashlib.sha256(identity.encode()).hexdigest()[:8]
    return f"answers_{name[-_LONGEST_NAME:]}_{digest}"


def cuts(arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Return the arguments of a model that may cut a prompt inside it."""
    return {name: arguments[name] for name in _CUTS if name in arguments}


def sent_generation(generation: Mapping[str, Any]) -> dict[str, Any]:
    """Return generation arguments without our own mark of a repeat."""
    return {name: value for name, value in generation.items() if name != REPEAT}


def answer_key(prompt: str, generation: Mapping[str, Any], more: Mapping[str, Any]) -> str:
    """Return the sha256, in hex, of all that changes the answer to a request but the model.

    Args:
        prompt: as it is sent, chat messages as their JSON.
        generation: generation arguments; our own mark of a repeat does not count.
        more: what else counts, {} for nothing.
    """
    whole = json.dumps(
        [prompt, sent_generation(generation), dict(more)], sort_keys=True, default=str
    )
    return hashlib.sha256(whole.encode()).hexdigest()


# ---------------------------------------------------------------------- the file

logger = logging.getLogger(__name__)

_TABLES = (
    "BEGIN IMMEDIATE",
    f"CREATE TABLE answers ({', '.join(f'{one} {type_of(one)}' for one in COLUMNS)},"
    " PRIMARY KEY (request, repeat))",
    "CREATE TABLE model (identity TEXT)",
)
# An answer is never replaced by the lack of one.
_INSERT = (
    f"INSERT INTO {{into}} ({', '.join(COLUMNS)}) {{values}} ON CONFLICT (request, repeat) DO"
    f" UPDATE SET {', '.join(f'{one} = excluded.{one}' for one in COLUMNS[2:])}"
    f" WHERE answers.state != '{ANSWERED}'"
)
_PUT = _INSERT.format(into="answers", values=f"VALUES ({', '.join('?' * len(COLUMNS))})")
# "WHERE true": otherwise SQLite reads ON as that of a join.
_TAKE = _INSERT.format(
    into="main.answers", values=f"SELECT {', '.join(COLUMNS)} FROM other.answers WHERE true"
)


def _made(path: Path, identity: str) -> sqlite3.Connection:
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
    other = shown(found) if found != identity else None
    if other is not None:
        raise OptionError(
            f"{path} holds answers of {other}, and this run is {shown(identity)}. Give another "
            "output_path."
        )
    check(connection)
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


def _has_answers(connection: sqlite3.Connection) -> bool:
    tables = {name for (name,) in connection.execute("SELECT name FROM sqlite_master")}
    return {"answers", "model"} <= tables


class AnswerStore:
    """The answers of one model: those of earlier runs and ranks, and the file of this process.

    Attributes:
        path: the file of this process.
        is_first: whether the answers of all ranks come together in it.
        fault: why an answer could not be written; None: all were.
    """

    def __init__(self, folder: Path, stem: str, identity: str, rank: int = 0) -> None:
        """Open the file of this process, and look at all files of the same model.

        Args:
            folder: of the output.
            stem: how the names of the model's files begin.
            identity: of the model.
            rank: of this process.

        Raises:
            OptionError: another process writes the file, or a file cannot be used.
        """
        self._folder, self._stem, self._identity = folder, stem, identity
        self.is_first = rank == 0
        self.path = folder / f"{stem}{f'_rank{rank}' if rank else ''}.sqlite"
        self.fault: str | None = None
        self._others = contextlib.ExitStack()
        self._lock = FileLock(f"{self.path}.lock")
        self._readers: list[sqlite3.Connection] = []
        with naming(self.path):
            folder.mkdir(parents=True, exist_ok=True)
            self._take_lock()
            try:
                try:
                    with naming(self.path):
                        self._own = _made(self.path, identity)
                except DamagedStore as error:
                    aside = _set_aside(self.path)
                    self._own = _made(self.path, identity)
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
                if _has_answers(other):
                    _check(file, other, self._identity)
                    self._readers.append(other)
                self._others.push(stack.pop_all())
        except DamagedStore as error:
            with contextlib.suppress(Timeout), FileLock(f"{file}.lock").acquire(timeout=0):
                if file.exists():  # no other rank was faster
                    self._recover(file, _set_aside(file), error)

    def _recover(self, file: Path, aside: Path, error: DamagedStore) -> None:
        """Take what can be read of a damaged file that was moved aside."""
        found, lost = readable(aside, self._identity)
        self._own.execute("BEGIN")
        self._own.executemany(_PUT, (kept.row(self._identity) for kept in found))
        self._own.execute("COMMIT")
        logger.warning(
            f"{file} is damaged: {error.__cause__}. It is kept as {aside.name}. Of its answers "
            f"{len(found)} can be read and count; {'all others' if lost is None else lost} are "
            "asked again."
        )

    def _take_lock(self) -> None:
        try:
            self._lock.acquire(timeout=0)
        except Timeout:
            raise OptionError(
                f"Another run writes its answers to {self.path}. Wait for it, or give this run "
                "another output_path."
            ) from None

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
                kept = row_of(connection, self._identity, request, repeat)
            if kept and (found is None or kept.answer.state == ANSWERED):
                found = kept.answer
        return found

    def keep(self, kept: Kept) -> None:
        """Write an answer down; see `fault`."""
        try:
            self._own.execute(_PUT, kept.row(self._identity))
        except sqlite3.Error as error:
            self.fault = self.fault or str(error)

    def number(self) -> int:
        """Return how many answers the file of this process has."""
        (number,) = self._own.execute("SELECT COUNT(*) FROM answers").fetchone()
        return int(number)

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
            except (Timeout, sqlite3.Error, OSError) as error:
                logger.warning(f"{file} stays beside {self.path.name}: {error}")
                continue
            Path(lock.lock_file).unlink(missing_ok=True)

    def _take(self, file: Path) -> None:
        self._own.execute("ATTACH ? AS other", (str(file),))
        try:
            self._own.execute(_TAKE)
        finally:
            self._own.execute("DETACH other")
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
