"""The package's version, read by the build and shown by the command line, and those of others."""

from __future__ import annotations

import functools
from importlib import metadata

__version__ = "0.1.0"


@functools.cache
def installed(name: str) -> str | None:
    """Return the version of an installed package; None if it is not installed."""
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return None
