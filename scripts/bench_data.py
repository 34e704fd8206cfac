#!/usr/bin/env python3
"""Measure converting LongBench Pro or v2, opening it and building a run, beside json.load.

Usage: bench_data.py [FILE] [--benchmark pro|v2] [--rounds 3]

FILE has the official schema. Without one, v2 is measured on a synthetic file of the official size
(465 MB) that make_synthetic_v2.py beside this makes; a synthetic Pro file (555 MB) is made by
`python make_synthetic_pro.py pro.json`, from the tools shared beside this repository. Each
measurement runs in a process of its own, the sides in turn, with an empty cache for each
conversion; times are medians without imports, peaks are the largest resident set of a process,
imports included. A file that is not the pinned one is hashed once in each process, and that time is
part of ours. Exit status 1 if a target is missed.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

# Bytes of a megabyte and of a gigabyte.
MB = 10**6
GB = 10**9
CONVERT_PEAK = 1.0 * GB
CONVERT_RATIO = 2.0
OPEN_SECONDS = 5.0
OPEN_PEAK = 500 * MB
REQUESTS_PEAK = 2.0 * GB
SIDES = ("json.load", "convert", "open", "requests")
TASKS = {"pro": "all 25 tasks", "v2": "all questions and each of the 6 domains"}


def peak() -> int:
    """Return the largest resident set of this process so far, in bytes."""
    size = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return size if sys.platform == "darwin" else size * 1024


def measure(benchmark: str, side: str, file: str) -> dict[str, float]:
    """Do one side's work in this process; return its seconds, its peak and what it found."""
    if side == "json.load":
        start = time.perf_counter()
        with open(file, encoding="utf-8") as handle:
            documents = len(json.load(handle))
        return {"seconds": time.perf_counter() - start, "peak": peak(), "documents": documents}

    if side == "requests":
        return build_requests(benchmark, file)

    from lm_eval_longbench.data.hashing import sha256_of

    load, parts, name = opener(benchmark)
    start = time.perf_counter()
    sha256_of(Path(file))
    hashed = time.perf_counter() - start
    # Loading one task converts the file for all of them.
    opened = [load(part, file) for part in (parts[:1] if side == "convert" else parts)]
    seconds, highest = time.perf_counter() - start, peak()
    ids = {own for documents in opened for own in documents.rows[name]}
    return {"seconds": seconds, "peak": highest, "documents": len(ids), "hashed": hashed}


def opener(benchmark: str) -> tuple[Callable[..., Any], list[Any], str]:
    """Return a benchmark's load function, all that it can load, and the name of its ids."""
    if benchmark == "pro":
        from lm_eval_longbench.catalog_pro import SECONDARY_TASKS
        from lm_eval_longbench.data.longbench_pro import load

        return load, list(SECONDARY_TASKS.values()), "id"

    from lm_eval_longbench.catalog_v2 import DOMAINS
    from lm_eval_longbench.data.longbench_v2 import load

    return load, [None, *DOMAINS], "_id"


def build_requests(benchmark: str, file: str) -> dict[str, float]:
    """Build every request of a full run, prompts whole, and keep them all, as a run does."""
    from lm_eval.tasks import TaskManager

    from lm_eval_longbench.data.hashing import sha256_of
    from lm_eval_longbench.task_folder import task_folder

    manager = TaskManager(
        include_path=str(task_folder()),
        include_defaults=False,
        metadata={"longbench": {"data_dir": file}, "base_url": "http://127.0.0.1:1"},
    )
    start = time.perf_counter()
    sha256_of(Path(file))
    hashed = time.perf_counter() - start
    tasks = manager.load([f"longbench_{benchmark}"])["tasks"]
    for task in tasks.values():
        task.build_all_requests()
    questions = {(r.task_name, r.doc_id) for task in tasks.values() for r in task.instances}
    return {
        "seconds": time.perf_counter() - start,
        "peak": peak(),
        "documents": len(questions),
        "hashed": hashed,
    }


def apart(benchmark: str, side: str, file: Path, cache: str) -> dict[str, float]:
    """Run one side in a fresh process."""
    done = subprocess.run(
        [sys.executable, __file__, str(file), "--benchmark", benchmark, "--side", side],
        env={**os.environ, "HF_DATASETS_CACHE": cache},
        stdout=subprocess.PIPE,
        check=True,
    )
    return json.loads(done.stdout)


def bench(benchmark: str, file: Path, rounds: int) -> bool:
    """Run all sides in turn, print the figures and the targets; return whether all hold."""
    runs: dict[str, list[dict[str, float]]] = {side: [] for side in SIDES}
    for _ in range(rounds):
        with tempfile.TemporaryDirectory(prefix="bench_data.") as cache:
            for side in SIDES:
                runs[side].append(apart(benchmark, side, file, cache))

    def median(side: str, name: str) -> float:
        return statistics.median(run[name] for run in runs[side])

    def highest(side: str) -> float:
        return max(run["peak"] for run in runs[side])

    documents = {run["documents"] for side in SIDES if side != "convert" for run in runs[side]}
    print(f"{file.stat().st_size / MB:.0f} MB, {rounds} rounds, medians in seconds, highest peaks")
    print(f"{'':<12}{'seconds':>10}{'of which sha256':>18}{'peak in MB':>13}")
    for side in SIDES:
        hashed = f"{median(side, 'hashed'):.2f}" if side != "json.load" else "-"
        print(f"{side:<12}{median(side, 'seconds'):>10.2f}{hashed:>18}{highest(side) / MB:>13.0f}")
    ratio = median("convert", "seconds") / median("json.load", "seconds")
    opening = median("open", "seconds")
    targets = {
        f"conversion peak {highest('convert') / GB:.2f} GB, under {CONVERT_PEAK / GB:.1f} GB": (
            highest("convert") < CONVERT_PEAK
        ),
        f"conversion {ratio:.2f} times json.load, at most {CONVERT_RATIO}": ratio <= CONVERT_RATIO,
        f"opening {TASKS[benchmark]} {opening:.2f} s, under {OPEN_SECONDS} s": (
            opening < OPEN_SECONDS
        ),
        f"opening peak {highest('open') / MB:.0f} MB, under {OPEN_PEAK / MB:.0f} MB": (
            highest("open") < OPEN_PEAK
        ),
        f"all requests peak {highest('requests') / GB:.2f} GB, under {REQUESTS_PEAK / GB:.1f} GB": (
            highest("requests") < REQUESTS_PEAK
        ),
        f"documents {sorted(documents)}, the same on all sides": len(documents) == 1,
    }
    for text, holds in targets.items():
        print(f"{'holds ' if holds else 'MISSED'}  {text}")
    return all(targets.values())


def main() -> int:
    """Read the arguments; the bench starts this script again for each measurement."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("file", type=Path, nargs="?")
    parser.add_argument("--benchmark", choices=TASKS, default="pro")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--side", choices=SIDES, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.side:
        print(json.dumps(measure(arguments.benchmark, arguments.side, str(arguments.file))))
        return 0
    if arguments.file is not None:
        if not arguments.file.is_file():
            parser.error(f"{arguments.file} is not a file")
        return 0 if bench(arguments.benchmark, arguments.file, arguments.rounds) else 1
    if arguments.benchmark != "v2":
        parser.error("a file is needed: only that of v2 is made here")
    with tempfile.TemporaryDirectory(prefix="bench_data.") as folder:
        file = Path(folder) / "data.json"
        # In a process of its own: a child's peak is never below what its parent had in memory.
        maker = Path(__file__).with_name("make_synthetic_v2.py")
        subprocess.run([sys.executable, maker, file], check=True)
        return 0 if bench(arguments.benchmark, file, arguments.rounds) else 1


if __name__ == "__main__":
    sys.exit(main())
