"""This machine: Python and packages against the tested ranges, results, caches and disk."""

from __future__ import annotations

import importlib.util
import os
import platform
import shutil
from collections.abc import Iterable, Iterator, Sequence
from importlib.metadata import metadata, requires
from pathlib import Path

from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet
from packaging.utils import canonicalize_name

from lm_eval_longbench.benchmarks.registry import families
from lm_eval_longbench.data.hub import CONVERTED, DOWNLOADED, downloads_folder, stored
from lm_eval_longbench.datasets_cache import datasets_cache
from lm_eval_longbench.doctor.line import ERROR, OK, WARNING, Line
from lm_eval_longbench.harness.preflight_facts import (
    LOCAL,
    MESSAGES,
    TEXT,
    Backend,
    PlannedRun,
    TaskFacts,
)
from lm_eval_longbench.options import Options
from lm_eval_longbench.result_files import output_folder
from lm_eval_longbench.version import __version__, installed

# ---------------------------------------------------------------------- what we require

PACKAGE = "lm-eval-longbench"


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


# ---------------------------------------------------------------------- versions

VERSIONS = "versions"
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
        return Line(OK, VERSIONS, what)
    return Line(ERROR, VERSIONS, f"{what}, which needs {wanted}", "Use such a Python.")


def package_line(name: str, found: str | None, wanted: str) -> Line:
    """Judge a package's version, None if it is not installed, against a range; "" takes any."""
    todo = f'pip install "{name.replace("_", "-")}{wanted}"'
    if found is None:
        return Line(ERROR, VERSIONS, f"{name} is not installed", todo)
    if _within(found, wanted):
        return Line(OK, VERSIONS, f"{name} {found}" + (f" (tested: {wanted})" if wanted else ""))
    return Line(ERROR, VERSIONS, f"{name} {found} is outside the tested range {wanted}", todo)


def _within(found: str, wanted: str) -> bool:
    return SpecifierSet(wanted).contains(found, prereleases=True)


# ---------------------------------------------------------------------- further packages

EXTRAS = "packages"
_API = ("requests", "aiohttp", "tenacity", "tqdm")
_OURS = 'pip install "lm-eval-longbench[{}]"'
# Backends whose own library is no part of `hf` or `api`: what to import, and how to install it.
_OWN_LIBRARIES = {
    "vllm": (("vllm",), 'pip install "lm-eval[vllm]"'),
    "sglang": (("sglang",), "Install sglang as its documentation says: https://docs.sglang.ai"),
    "litellm": (("litellm",), 'pip install "lm-eval[litellm]"'),
    "azure": (("openai",), "pip install openai"),
}


def needed(backend: Backend, options: Options) -> Iterator[tuple[str, tuple[str, ...], str]]:
    """Yield what a run needs: for what, the modules, and the line that installs them."""
    # sglang-generate, a client of a server, needs no sglang.
    names = ("vllm", "sglang") if backend.kind == LOCAL else ("litellm", "azure")
    own = next((name for name in names if backend.name.startswith(name)), None)
    if own is not None:
        yield (f"the model {backend.name}", *_OWN_LIBRARIES[own])
    if backend.kind == LOCAL and own is None:
        modules = ("torch", "transformers", "accelerate", "peft")
        yield f"the model {backend.name}", modules, _OURS.format("hf")
    if backend.kind in (TEXT, MESSAGES):
        own_client = ("openai",) if backend.name == "longbench-api" else ()
        yield "servers", (*_API, *own_client), _OURS.format("api")
    if options.embedding_url:
        yield "the embedding server", ("requests", "tenacity"), _OURS.format("semantic")
    elif options.embedding_model:
        yield "the embedding model", ("sentence_transformers",), _OURS.format("semantic")


def extra_lines(backend: Backend, options: Options) -> Iterator[Line]:
    """Yield a line for each kind of packages that the run needs."""
    for what, modules, todo in needed(backend, options):
        missing = [name for name in modules if importlib.util.find_spec(name) is None]
        if missing:
            yield Line(ERROR, EXTRAS, f"{what}: not installed: {', '.join(missing)}", todo)
        else:
            yield Line(OK, EXTRAS, f"{what}: {_listed(modules)}")


def _listed(modules: Iterable[str]) -> str:
    return ", ".join(f"{name} {installed(name) or ''}".rstrip() for name in modules)


# ---------------------------------------------------------------------- what is kept


def existing(folder: Path) -> Path:
    """Return the folder, or the nearest above it that exists."""
    whole = folder.absolute()
    return next(path for path in (whole, *whole.parents) if path.exists())


def output_lines(run: PlannedRun) -> Iterator[Line]:
    """Yield the lines on results and sample log."""
    if not run.output_path:
        what = "no --output_path: figures are printed, and no file keeps them or the answers"
        todo = "Add --output_path FOLDER --log_samples: a stopped run then goes on where it was."
        yield Line(WARNING, "output", what, todo)
        return
    folder = existing(output_folder(run.output_path))
    if not folder.is_dir() or not os.access(folder, os.W_OK):
        what = f"{folder} cannot be written, so the results of the whole run would be lost"
        yield Line(ERROR, "output", what, "Give another --output_path.")
    elif not run.log_samples:
        what = f"results go to {run.output_path}, without a sample log"
        todo = "Add --log_samples: without a log nothing can be scored again or verified."
        yield Line(WARNING, "output", what, todo)
    else:
        yield Line(OK, "output", f"results and sample log go to {run.output_path}")


def kept_answers_lines(run: PlannedRun) -> Iterator[Line]:
    """Yield the line on the answers that are kept."""
    if run.use_cache:
        todo = "Leave --use_cache out: answers are kept in the output_path as they come."
        yield Line(ERROR, "cache", "run refuses --use_cache", todo)
    elif run.output_path:
        what = f"answers are kept in {output_folder(run.output_path)} as they arrive"
        yield Line(OK, "cache", what)


# ---------------------------------------------------------------------- free space

DISK = "disk"
# Bytes. A log keeps of each answer the question, hashes and both ends of the prompt, and the text.
_EXCERPT, _TOKEN = 3_000, 4
_RESULTS = 1_000_000
# Free space below which a disk is as good as full.
RESERVE = 200_000_000


def log_bytes(answers: int, budget: int, prompt: int) -> int:
    """Return an upper bound of a sample log's size in bytes.

    `budget` is in tokens an answer; `prompt` in characters of one that is logged whole, else 0.
    """
    return _RESULTS + answers * (_EXCERPT + budget * _TOKEN + prompt)


def output_line(run: PlannedRun, answers: int, tasks: Sequence[TaskFacts]) -> Iterator[Line]:
    """Yield a line on the folder of the results, if there is one.

    The largest budget and prompt of `tasks`, those that were looked at, stand for all.
    """
    if not run.output_path:
        return
    given = (facts.generation.get("max_gen_toks") for facts in tasks)
    budget = max((value for value in given if isinstance(value, int)), default=0)
    full = [len(facts.whole or "") for facts in tasks if facts.log_prompts == "full"]
    prompt = max(full, default=0)
    need = log_bytes(answers, int(budget), prompt) if run.log_samples else _RESULTS
    how = (
        f"{answers:,} answers x ({_EXCERPT:,} bytes + {budget:,} tokens x {_TOKEN}"
        + (f" + a whole prompt of {prompt:,} characters)" if prompt else ")")
        if run.log_samples
        else "no sample log"
    )
    yield space_line("results", output_folder(run.output_path), need, how)


def cache_lines(names: Iterable[str]) -> Iterator[Line]:
    """Yield a line on converted and one on downloaded files, for official data of families."""
    states = {name: stored(name).state for name in names}
    convert = [name for name, state in states.items() if state != CONVERTED]
    download = [name for name in convert if states[name] != DOWNLOADED]
    yield space_line(
        "datasets cache",
        datasets_cache(),
        sum(families()[name][0].source.converted for name in convert),
        _of(convert, "to be converted"),
    )
    yield space_line(
        "downloads",
        downloads_folder(),
        sum(families()[name][0].source.size for name in download),
        _of(download, "to be downloaded"),
    )


def _of(names: Sequence[str], what: str) -> str:
    return f"{what}: {', '.join(names)}" if names else f"nothing {what}"


def space_line(what: str, folder: Path, need: int, how: str) -> Line:
    """Judge the free space of a folder, which need not exist yet; `need` is in bytes."""
    free = shutil.disk_usage(existing(folder)).free
    found = f"{what}, {folder}: {_size(free)} free, about {_size(need)} needed ({how})"
    if free < need:
        return Line(ERROR, DISK, found, "Free some space, or name another folder.")
    if free < need + RESERVE:
        return Line(WARNING, DISK, f"{found}: that is tight", "Free some space.")
    return Line(OK, DISK, found)


def _size(number: int) -> str:
    return f"{number / 1e9:,.1f} GB" if number >= 1e8 else f"{number / 1e6:,.1f} MB"
