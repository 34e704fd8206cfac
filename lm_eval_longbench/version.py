"""The package's version, read by the build and shown by the command line, and those of others."""

from __future__ import annotations

import functools

__version__ = "0.1.0"


@functools.cache
def installed(name: str) -> str | None:
    """Return the version of an installed package; None if it is not installed."""
    from importlib import metadata  # slow to import, and --help needs none of it

    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return None
