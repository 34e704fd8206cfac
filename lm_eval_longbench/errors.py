"""The exceptions this package raises. Each message says what went wrong, where, and what to do."""

from __future__ import annotations

import difflib
import traceback
from collections.abc import Iterable, Sequence

from lm_eval_longbench.version import __version__

# Exit statuses of the command line; docs/compare.md has all of them.
STOPPED, WRONG_USAGE = 1, 2


class LongBenchError(Exception):
    """Base of all errors of this package.

    Attributes:
        status: with which the command line exits after it has printed the error.
    """

    status = WRONG_USAGE


class OptionError(LongBenchError):
    """An option is unknown, has an impossible value, or contradicts another."""


# Valid names that an error lists; of more it names the nearest.
_LISTED = 25
_NEAREST = 3
# What lists names of a kind, by the first word of the kind.
_LISTERS = {
    "task": "lm-eval-longbench tasks",
    "preset": "lm-eval-longbench presets",
    "flag": "lm-eval-longbench run -h",
}


class UnknownNameError(LongBenchError):
    """A task, dataset or option name that does not exist; names the three nearest that do.

    Args:
        kind: of the name, such as "task".
        name: as given.
        valid: all that there are.
    """

    def __init__(self, kind: str, name: object, valid: Iterable[str]) -> None:
        valid = sorted(valid)
        near = difflib.get_close_matches(str(name), valid, n=_NEAREST, cutoff=0.0)
        hint = f" Did you mean {near[0]!r}?" if near else ""
        hint += f" Or {' or '.join(map(repr, near[1:]))}?" if near[1:] else ""
        if len(valid) <= _LISTED:
            every = f" Valid: {', '.join(valid)}."
        else:
            lister = _LISTERS.get(kind.split(" ")[0])
            every = f" There are {len(valid)}" + (f"; `{lister}` lists ours." if lister else ".")
        super().__init__(f"Unknown {kind} {name!r}.{hint}{every}")


class DataError(LongBenchError):
    """Data is missing, damaged, or not what the pinned source says it must be."""


class PromptError(LongBenchError):
    """A prompt cannot be built: a template was changed or a document lacks a field."""


class TokenizerError(LongBenchError):
    """A prompt must be cut, and the model's tokenizer cannot be loaded."""


class OverlengthError(LongBenchError):
    """A prompt is longer than allowed, and the run must not cut it silently."""

    status = STOPPED


class PredictionError(LongBenchError):
    """Prediction files are missing or hold lines that cannot be scored."""


class EmbeddingError(LongBenchError):
    """An embedding model or server cannot be used, or gives no usable vectors."""


class LinkError(LongBenchError):
    """The task folder cannot be linked into, or unlinked from, the installed harness."""


class LockError(LongBenchError):
    """A lock file cannot be used."""


class LockMismatch(LockError):
    """A run is not what its lock froze; every difference is named."""

    status = STOPPED


class MissingDependencyError(LongBenchError):
    """An optional package is not installed; the message has the line that installs it."""


class Interrupted(LongBenchError):
    """Stopped by a signal; the answers so far are kept."""

    def __init__(self, message: str = "", signal: int | None = None) -> None:
        super().__init__(message)
        self.signal = signal


class RunStopped(LongBenchError):
    """A run cannot go on; the answers so far are kept."""

    status = STOPPED


class NothingSent(LongBenchError):
    """A run has done all that it was to do without a request: its message says what."""

    status = 0


class HarnessError(LongBenchError):
    """What the harness, or a library that it calls, raised in a run.

    Args:
        message: what went wrong, and what to do.
        status: WRONG_USAGE before a model was asked, else STOPPED.
    """

    def __init__(self, message: str, status: int = WRONG_USAGE) -> None:
        super().__init__(message)
        self.status = status


def fault_text(error: BaseException) -> str:
    """Return the traceback of an error that is a fault of this package, and what to do about it."""
    whole = "".join(traceback.format_exception(error))
    return (
        f"{whole}\nThis is a fault of lm-eval-longbench {__version__}. Please report it to its "
        "authors, with the lines above and your command."
    )


def other_release(error: BaseException) -> str:
    """Return what to do where the installed lm_eval lacks a name that is imported from it."""
    return (
        f"{error}. The installed lm_eval is of another release than this package was made for: "
        'pip install "lm-eval>=0.4.13,<0.5"'
    )


def few(texts: Sequence[str], most: int, mark: str = ", ") -> str:
    """Return the first `most` texts with a mark between them, and how many more there are."""
    more = len(texts) - most
    return mark.join(texts[:most]) + (f"{mark.strip(' ,')} and {more} more" if more > 0 else "")
