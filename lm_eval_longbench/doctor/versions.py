"""Python and the packages that scores depend on, against the tested ranges."""

from __future__ import annotations

import platform
from collections.abc import Iterator

from packaging.specifiers import SpecifierSet

from lm_eval_longbench.doctor.line import ERROR, OK, Line
from lm_eval_longbench.doctor.requirements import accepted_range, installed, python_range
from lm_eval_longbench.version import __version__

TOPIC = "versions"
PACKAGES = ("lm_eval", "jieba", "tokenizers", "transformers", "datasets")


def version_lines() -> Iterator[Line]:
    """Yield a line for Python and for each package of PACKAGES."""
    yield python_line(platform.python_version(), str(python_range()))
    for name in PACKAGES:
        yield package_line(name, installed(name), str(accepted_range(name)))


def python_line(found: str, wanted: str) -> Line:
    """Judge the running Python against a range such as ">=3.10"."""
    what = f"lm-eval-longbench {__version__} on Python {found}"
    if _within(found, wanted):
        return Line(OK, TOPIC, what)
    return Line(ERROR, TOPIC, f"{what}, which needs {wanted}", "Use such a Python.")


def package_line(name: str, found: str | None, wanted: str) -> Line:
    """Judge a package's version, None if it is not installed, against a range; "" takes any."""
    todo = f'pip install "{name.replace("_", "-")}{wanted}"'
    if found is None:
        return Line(ERROR, TOPIC, f"{name} is not installed", todo)
    if _within(found, wanted):
        return Line(OK, TOPIC, f"{name} {found}" + (f" (tested: {wanted})" if wanted else ""))
    return Line(ERROR, TOPIC, f"{name} {found} is outside the tested range {wanted}", todo)


def _within(found: str, wanted: str) -> bool:
    return SpecifierSet(wanted).contains(found, prereleases=True)
