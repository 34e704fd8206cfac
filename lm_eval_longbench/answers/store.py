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
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

from filelock import FileLock, Timeout

from lm_eval_longbench.answers.answer import ANSWERED, Answer
from lm_eval_longbench.errors import OptionError
from lm_eval_longbench.options import REPEAT
from lm_eval_longbench.result_files import other_folders
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


def shown(identity: str) -> str:
    """Return an identity in print."""
    told = json.loads(identity)
    parts = [f"{name}={value}" for name, value in told["model_args"].items()]
    return " ".join([f"model {told['model']}", *parts])


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

_VERSION = 1
_REQUEST = ("key", "repeat", "task", "question", "prompt_sha256", "generation")
_ANSWER = tuple(one.name for one in fields(Answer))
_COLUMNS = (*_REQUEST, *_ANSWER)
COLUMNS_BUT_TEXT = tuple(name for name in _COLUMNS if name != "text")
_NUMBERS = {"repeat", *(name for name in _ANSWER if name.endswith("_tokens"))}
_REALS = {"seconds", "at"}


def _type(column: str) -> str:
    return "INTEGER" if column in _NUMBERS else "REAL" if column in _REALS else "TEXT"


_TABLES = (
    f"CREATE TABLE IF NOT EXISTS answers ({', '.join(f'{one} {_type(one)}' for one in _COLUMNS)},"
    " PRIMARY KEY (key, repeat))",
    "CREATE TABLE IF NOT EXISTS model (identity TEXT)",
)
# An answer is never replaced by the lack of one.
_INSERT = (
    f"INSERT INTO {{into}} ({', '.join(_COLUMNS)}) {{values}} ON CONFLICT (key, repeat) DO UPDATE"
    f" SET {', '.join(f'{one} = excluded.{one}' for one in _COLUMNS[2:])}"
    f" WHERE answers.state != '{ANSWERED}'"
)
_PUT = _INSERT.format(into="answers", values=f"VALUES ({', '.join('?' * len(_COLUMNS))})")
# "WHERE true": otherwise SQLite reads ON as that of a join.
_TAKE = _INSERT.format(
    into="main.answers", values=f"SELECT {', '.join(_COLUMNS)} FROM other.answers WHERE true"
)


@dataclass(frozen=True)
class Kept:
    """An answer with the request that it answers.

    Attributes:
        key: sha256 of all that changes the answer, see `answer_key`.
        repeat: which of several answers to equal requests, from 0.
        task: name of the task that asked; a task that asks the same later shares the answer.
        question: id of the question.
        prompt_sha256: of the prompt as sent.
        generation: generation arguments as sent, JSON.
        answer: the answer.
    """

    key: str
    repeat: int
    task: str
    question: str
    prompt_sha256: str
    generation: str
    answer: Answer

    def row(self) -> tuple[Any, ...]:
        """Return its values in the order of the columns."""
        answer = {name: getattr(self.answer, name) for name in _ANSWER}
        answer["left_out"] = json.dumps(self.answer.left_out)
        return (*(getattr(self, name) for name in _REQUEST), *map(_storable, answer.values()))


def _storable(value: Any) -> Any:
    """Return a value as SQLite takes it: a text with half a surrogate pair as bytes."""
    if isinstance(value, str):
        try:
            value.encode()
        except UnicodeEncodeError:
            return value.encode("utf-8", "surrogatepass")
    return value


def _answer(values: Sequence[Any]) -> Answer:
    known: dict[str, Any] = {
        name: value.decode("utf-8", "surrogatepass") if isinstance(value, bytes) else value
        for name, value in zip(_ANSWER, values, strict=True)
    }
    return Answer(**{**known, "left_out": tuple(json.loads(known["left_out"]))})


def _connected(path: Path) -> sqlite3.Connection:
    """Open a file for writing; one statement is one commit."""
    connection = sqlite3.connect(path, timeout=60, isolation_level=None, check_same_thread=False)
    try:
        connection.execute("PRAGMA journal_mode=WAL")
        connection.execute("PRAGMA synchronous=NORMAL")
        _check_version(connection, path)
        for table in _TABLES:
            connection.execute(table)
        connection.execute(f"PRAGMA user_version={_VERSION}")
    except BaseException:
        connection.close()
        raise
    return connection


def _check_version(connection: sqlite3.Connection, path: Path) -> None:
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    if version not in (0, _VERSION):
        raise OptionError(
            f"{path} is a file of answers of another version of lm-eval-longbench ({version}; this "
            f"one writes {_VERSION}). Go on with that version, or give another output folder."
        )


@contextlib.contextmanager
def _naming(path: Path) -> Iterator[None]:
    try:
        yield
    except sqlite3.DatabaseError as error:
        raise OptionError(
            f"The file of answers {path} cannot be used: {error}. If it is damaged, move it away; "
            "if its folder cannot be written, give another output_path."
        ) from error
    except OSError as error:
        raise OptionError(
            f"The file of answers {path} cannot be made: {error}. Give another output_path."
        ) from error


@contextlib.contextmanager
def reading(path: Path) -> Iterator[sqlite3.Connection]:
    """Open a file of answers to read it, also while a run writes it.

    Raises:
        OptionError: it is no file of answers, or damaged.
    """
    with contextlib.ExitStack() as stack, _naming(path):
        try:
            connection = _opened(path)
        except sqlite3.OperationalError:
            # In a folder that cannot be written, SQLite cannot read what a killed run left.
            folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
            for part in _parts(path):
                if part.exists():
                    shutil.copyfile(part, folder / part.name)
            connection = _opened(folder / path.name)
        stack.callback(connection.close)
        yield connection


def _opened(path: Path) -> sqlite3.Connection:
    connection = sqlite3.connect(
        f"{path.absolute().as_uri()}?mode=ro", uri=True, timeout=60, check_same_thread=False
    )
    try:
        _check_version(connection, path)
    except BaseException:
        connection.close()
        raise
    return connection


def _has_answers(connection: sqlite3.Connection) -> bool:
    tables = {name for (name,) in connection.execute("SELECT name FROM sqlite_master")}
    return {"answers", "model"} <= tables


def _parts(path: Path) -> list[Path]:
    return [path, *(path.with_name(f"{path.name}{end}") for end in ("-wal", "-shm"))]


def identity_of(connection: sqlite3.Connection) -> str | None:
    """Return whose answers a file holds; None: it does not say."""
    row = connection.execute("SELECT identity FROM model").fetchone()
    return row[0] if row else None


class AnswerStore:
    """The answers of one model: those of earlier runs and ranks, and the file of this process.

    Attributes:
        path: the file of this process.
        is_first: whether the answers of all ranks come together in it.
        fault: why answers go to another file than this one; None: they do not.
        elsewhere: that other file; None: there is none.
        unwritten: answers that no file took; they are in this process alone.
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
        self.elsewhere: Path | None = None
        self.unwritten: list[Kept] = []
        self._others = contextlib.ExitStack()
        self._lock = FileLock(f"{self.path}.lock")
        with _naming(self.path):
            folder.mkdir(parents=True, exist_ok=True)
            self._take_lock()
            try:
                self._own = _connected(self.path)
                self._own_identity(self._own)
                self._readers = []
                for file in self._other_files():
                    other = self._others.enter_context(reading(file))
                    # Another rank may be making its file in this moment.
                    if _has_answers(other):
                        self._check(file, identity_of(other))
                        self._readers.append(other)
            except BaseException:
                self.close()
                raise
        self._into = self._own

    def _take_lock(self) -> None:
        try:
            self._lock.acquire(timeout=0)
        except Timeout:
            raise OptionError(
                f"Another run writes its answers to {self.path}. Wait for it, or give this run "
                "another output_path."
            ) from None

    def _own_identity(self, connection: sqlite3.Connection) -> None:
        found = identity_of(connection)
        if found is None:
            connection.execute("INSERT INTO model VALUES (?)", (self._identity,))
        else:
            self._check(self.path, found)

    def _check(self, file: Path, found: str | None) -> None:
        if found not in (None, self._identity):
            raise OptionError(
                f"{file} holds answers of {shown(found)}, and this run is {shown(self._identity)}. "
                "Give another output_path."
            )

    def _other_files(self) -> list[Path]:
        return [file for file in answer_files(self._folder, self._stem) if file != self.path]

    def find(self, key: str, repeat: int) -> Answer | None:
        """Return what is known of a request; an answer where any file has one; None: nothing."""
        found = None
        for connection in (self._own, *self._readers):
            row = connection.execute(
                f"SELECT {', '.join(_ANSWER)} FROM answers WHERE key = ? AND repeat = ?",
                (key, repeat),
            ).fetchone()
            if row:
                answer = _answer(row)
                if answer.state == ANSWERED:
                    return answer
                found = found or answer
        return found

    def keep(self, kept: Kept) -> None:
        """Write an answer down, in a folder that can be written if it must be; see `fault`."""
        try:
            self._into.execute(_PUT, kept.row())
        except sqlite3.Error as error:
            self.fault = self.fault or str(error)
            self._keep_elsewhere(kept)

    def _keep_elsewhere(self, kept: Kept) -> None:
        for folder in other_folders():
            with contextlib.suppress(sqlite3.Error, OSError):
                file = folder / f"{self._stem}_{folder.name}.sqlite"
                other = _connected(file)
                self._others.callback(other.close)
                other.execute("INSERT INTO model VALUES (?)", (self._identity,))
                other.execute(_PUT, kept.row())
                self._into, self.elsewhere = other, file
                return
        self.unwritten.append(kept)

    def size(self) -> tuple[int, int]:
        """Return how many bytes the answers of this process take, and how many answers there are.

        Without what is written to `elsewhere`.
        """
        (number,) = self._own.execute("SELECT COUNT(*) FROM answers").fetchone()
        (taken,) = self._own.execute(
            "SELECT page_count * page_size FROM pragma_page_count(), pragma_page_size()"
        ).fetchone()
        return taken, number

    def is_whole(self) -> bool:
        """Return whether the file of this process is there with all that it was given."""
        try:
            with reading(self.path) as found:
                (there,) = found.execute("SELECT COUNT(*) FROM answers").fetchone()
        except (OptionError, sqlite3.Error):
            return False
        return there == self.size()[1]

    def copy(self) -> Path | None:
        """Write all answers of this process to another folder; None: there is none."""
        for folder in other_folders():
            with contextlib.suppress(sqlite3.Error):
                file = folder / f"{self._stem}_{folder.name}.sqlite"
                self._own.execute("VACUUM INTO ?", (str(file),))
                return file
        return None

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
        for part in _parts(file):
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


def rows_of(connection: sqlite3.Connection, path: Path) -> Iterator[tuple[Any, ...]]:
    """Yield all columns of an opened file but the text, as `COLUMNS_BUT_TEXT` names them.

    Raises:
        OptionError: it is no file of answers.
    """
    if not _has_answers(connection):
        raise OptionError(f"{path} is no file of answers.")
    yield from connection.execute(f"SELECT {', '.join(COLUMNS_BUT_TEXT)} FROM answers")
