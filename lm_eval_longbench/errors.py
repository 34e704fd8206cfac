"""The exceptions this package raises. Each message says what went wrong, where, and what to do."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Sequence


class LongBenchError(Exception):
    """Base of all errors of this package; the command line prints it and exits with 1."""


class OptionError(LongBenchError):
    """An option of `--metadata '{"longbench": {...}}'` is unknown or has an impossible value."""


class UnknownNameError(LongBenchError):
    """A task, dataset or option name that does not exist; names the nearest one that does."""

    def __init__(self, kind: str, name: object, valid: Iterable[str]) -> None:
        valid = sorted(valid)
        near = difflib.get_close_matches(str(name), valid, n=1, cutoff=0.0)
        hint = f" Did you mean {near[0]!r}?" if near else ""
        super().__init__(f"Unknown {kind} {name!r}.{hint} Valid: {', '.join(valid)}.")


class DataError(LongBenchError):
    """Data is missing, damaged, or not what the pinned source says it must be."""


class PromptError(LongBenchError):
    """A prompt cannot be built: a template was changed or a document lacks a field."""


class TokenizerError(LongBenchError):
    """A prompt must be cut, and the model's tokenizer cannot be loaded."""


class OverlengthError(LongBenchError):
    """A prompt is longer than allowed, and the run must not cut it silently."""


class PredictionError(LongBenchError):
    """Prediction files are missing or hold lines that cannot be scored."""


class EmbeddingError(LongBenchError):
    """An embedding model or server cannot be used, or gives no usable vectors."""


class LinkError(LongBenchError):
    """The task folder cannot be linked into, or unlinked from, the installed harness."""


class LockError(LongBenchError):
    """A lock file cannot be used, or a run is not what it froze; every difference is named."""


class MissingDependencyError(LongBenchError):
    """An optional package is not installed; the message has the line that installs it."""


class Interrupted(LongBenchError):
    """Stopped by a signal; the answers so far are kept."""

    def __init__(self, message: str = "", signal: int | None = None) -> None:
        super().__init__(message)
        self.signal = signal


class RunStopped(LongBenchError):
    """A run cannot go on; the answers so far are kept."""


def few(texts: Sequence[str], most: int, mark: str = ", ") -> str:
    """Return the first `most` texts with a mark between them, and how many more there are."""
    more = len(texts) - most
    return mark.join(texts[:most]) + (f"{mark.strip(' ,')} and {more} more" if more > 0 else "")
