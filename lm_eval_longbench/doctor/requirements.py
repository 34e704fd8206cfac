"""What this package's own metadata requires of others."""

from __future__ import annotations

from importlib.metadata import PackageNotFoundError, metadata, requires, version

from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet
from packaging.utils import canonicalize_name

PACKAGE = "lm-eval-longbench"


def installed(name: str) -> str | None:
    """Return the version of an installed package; None if it is not installed."""
    try:
        return version(name)
    except PackageNotFoundError:
        return None


def accepted_range(name: str) -> SpecifierSet:
    """Return the versions of a core dependency that this package accepts; any if it names none."""
    for text in requires(PACKAGE) or ():
        requirement = Requirement(text)
        if requirement.marker is None and same(requirement.name, name):
            return requirement.specifier
    return SpecifierSet()


def python_range() -> SpecifierSet:
    """Return the versions of Python that this package accepts."""
    return SpecifierSet(metadata(PACKAGE)["Requires-Python"] or "")


def same(one: str, other: str) -> bool:
    """Whether two names are of the same package, however they are spelled."""
    return canonicalize_name(one) == canonicalize_name(other)
