"""The report of `doctor`: packages, data and disk of this machine, or what a run would do.

The harness is imported by `doctor_lines`, so that a harness of the wrong version is one line.
"""

from __future__ import annotations

import contextlib
import functools
import logging
import platform
from collections.abc import Iterator, Sequence
from importlib.metadata import requires

from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet
from packaging.utils import canonicalize_name

from lm_eval_longbench.benchmarks.registry import families, title_of
from lm_eval_longbench.data.open import CONVERTED, DOWNLOADED, stored
from lm_eval_longbench.harness.doctor_report import (
    ERROR,
    OK,
    Line,
    absent_line,
    cache_lines,
    merged,
)
from lm_eval_longbench.version import __version__, installed

# ---------------------------------------------------------------------- versions

PACKAGES = ("lm_eval", "jieba", "tokenizers", "transformers", "datasets")


@functools.cache
def accepted_range(name: str) -> SpecifierSet:
    """Return the versions of a core dependency that this package accepts; any if it names none."""
    known = map(Requirement, requires("lm-eval-longbench") or ())
    wanted = (one.specifier for one in known if one.marker is None and _same(one.name, name))
    return next(wanted, SpecifierSet())


def _same(one: str, other: str) -> bool:
    return canonicalize_name(one) == canonicalize_name(other)


def package_line(name: str, found: str | None) -> Line:
    """Judge the version of a core dependency, None if it is not installed."""
    wanted = accepted_range(name)
    todo = f'pip install "{name.replace("_", "-")}{wanted}"'
    if found is None:
        return Line(ERROR, "versions", f"{name} is not installed", todo)
    if not wanted.contains(found, prereleases=True):
        what = f"{name} {found} is outside the tested range {wanted}"
        return Line(ERROR, "versions", what, todo)
    return Line(OK, "versions", f"{name} {found}" + (f" (tested: {wanted})" if wanted else ""))


def _version_lines() -> Iterator[Line]:
    what = f"lm-eval-longbench {__version__} on Python {platform.python_version()}"
    yield Line(OK, "versions", what)
    yield from (package_line(name, installed(name)) for name in PACKAGES)


def _data_lines() -> Iterator[Line]:
    """Yield a line for each family's official data; no run wants it yet."""
    said = {CONVERTED: "converted", DOWNLOADED: "downloaded; its first use converts it"}
    for family, members in families().items():
        state = stored(members)
        what = f"{title_of(family)}: {members[0].source.label}, sha256 {state.sha256}"
        if state.state in said:
            yield Line(OK, "data", f"{what}, {said[state.state]}")
        else:
            yield absent_line(family, state)


# ---------------------------------------------------------------------- the whole

# Tasks whose first prompt is built unless all are asked for.
FIRST = 5


@contextlib.contextmanager
def _unheard() -> Iterator[None]:
    """While open, nothing is logged but errors: the report says it in its own lines."""
    before = logging.root.manager.disable
    logging.disable(max(before, logging.WARNING))
    try:
        yield
    finally:
        logging.disable(before)


def examine(
    arguments: Sequence[str],
    preset: str | None = None,
    *,
    first: int | None = FIRST,
    thinking: bool = False,
) -> list[Line]:
    """Return the report on a run; nothing is generated, and nothing is downloaded.

    Args:
        arguments: those of `lm-eval-longbench run`; none: what does not depend on a run.
        preset: published model whose settings are used where the arguments leave them open.
        first: tasks that are looked at closely; None: all.
        thinking: the preset's settings for thinking scores.

    Raises:
        SystemExit: the harness's own, after its help.
    """
    lines = list(_version_lines())
    if not arguments and preset is None:
        return [*lines, *_data_lines(), *cache_lines(families())]
    if package_line("lm_eval", installed("lm_eval")).status == ERROR:
        return lines
    from lm_eval_longbench.harness.doctor_lines import run_lines  # imports the harness

    with _unheard():
        return [*lines, *merged(run_lines(arguments, preset, first=first, thinking=thinking))]
