"""Versions of the packages that a score depends on."""

from __future__ import annotations

import functools
from importlib.metadata import PackageNotFoundError, version

from lm_eval_longbench.version import __version__

_PACKAGES = ("lm_eval", "jieba", "tokenizers")


def package_versions() -> dict[str, str | None]:
    """Return the version of each package by name; None where it is not installed."""
    return dict(_versions())


@functools.cache
def _versions() -> dict[str, str | None]:
    """Return them; they do not change while a program runs."""
    found: dict[str, str | None] = {"lm_eval_longbench": __version__}
    for name in _PACKAGES:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            found[name] = None
    return found
