"""Free space against an estimate of what a run writes."""

from __future__ import annotations

import shutil
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from lm_eval_longbench.doctor.keep import existing, output_folder
from lm_eval_longbench.doctor.line import ERROR, OK, WARNING, Line
from lm_eval_longbench.doctor.sources import CONVERTED, DOWNLOADED, stored
from lm_eval_longbench.harness.preflight_facts import Run, TaskFacts

TOPIC = "disk"
# Bytes. A log keeps of each answer the question, hashes and both ends of the prompt, and the text.
_EXCERPT, _TOKEN = 3_000, 4
_RESULTS = 1_000_000
# Free space below which a disk is as good as full.
RESERVE = 200_000_000
# Sizes of the pinned files, and of what they are converted to; about, for v1.
DOWNLOADS = {"v1": 114_000_000, "v2": 465_490_535, "pro": 531_535_940}
CONVERSIONS = {"v1": 400_000_000, "v2": 465_490_535, "pro": 531_535_940}


def log_bytes(answers: int, budget: int, prompt: int) -> int:
    """Return an upper bound of a sample log's size.

    Args:
        answers: number of them, repeats included.
        budget: tokens of an answer at most.
        prompt: characters of a prompt that is logged whole; 0: excerpts.
    """
    return _RESULTS + answers * (_EXCERPT + budget * _TOKEN + prompt)


def output_line(run: Run, answers: int, tasks: Sequence[TaskFacts]) -> Iterator[Line]:
    """Yield a line on the folder of the results, if there is one.

    Args:
        run: the arguments.
        answers: to all questions of all tasks.
        tasks: those that were looked at; their largest budget and prompt stand for all.
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


def cache_lines(benchmarks: Iterable[str]) -> Iterator[Line]:
    """Yield a line on the datasets cache and one on the hub's, for benchmarks' official data."""
    from datasets import config  # slow to import
    from huggingface_hub import constants

    states = {benchmark: stored(benchmark).state for benchmark in benchmarks}
    convert = [name for name, state in states.items() if state != CONVERTED]
    download = [name for name in convert if states[name] != DOWNLOADED]
    yield space_line(
        "datasets cache",
        Path(config.HF_DATASETS_CACHE),
        sum(CONVERSIONS[name] for name in convert),
        _of(convert, "to be converted"),
    )
    yield space_line(
        "hub cache",
        Path(constants.HF_HUB_CACHE),
        sum(DOWNLOADS[name] for name in download),
        _of(download, "to be downloaded"),
    )


def _of(names: Sequence[str], what: str) -> str:
    return f"{what}: {', '.join(names)}" if names else f"nothing {what}"


def space_line(what: str, folder: Path, need: int, how: str) -> Line:
    """Judge the free space of a folder, which need not exist yet.

    Args:
        what: what the folder is for.
        folder: where.
        need: bytes.
        how: how `need` was estimated.
    """
    free = shutil.disk_usage(existing(folder)).free
    found = f"{what}, {folder}: {_size(free)} free, about {_size(need)} needed ({how})"
    if free < need:
        return Line(ERROR, TOPIC, found, "Free some space, or name another folder.")
    if free < need + RESERVE:
        return Line(WARNING, TOPIC, f"{found}: that is tight", "Free some space.")
    return Line(OK, TOPIC, found)


def _size(number: int) -> str:
    return f"{number / 1e9:,.1f} GB" if number >= 1e8 else f"{number / 1e6:,.1f} MB"
