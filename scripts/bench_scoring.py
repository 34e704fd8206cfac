#!/usr/bin/env python3
"""Measure our scoring against the packages the official scorer uses, or at scale.

Usage: bench_scoring.py FOLDER [--rounds 3]
       bench_scoring.py FOLDER --million [SAMPLES] [--workers N] [--scratch DIR]

FOLDER holds official LongBench v1 prediction files (<dataset>.jsonl). The reference is the official
arithmetic on the PyPI packages `rouge` and `fuzzywuzzy` (extra `test`) and on jieba's module-wide
tokenizer, with its RecursionError turned to 0 as officially. Each side runs in processes of its
own, in turn, loading of jieba's dictionary included; the medians are compared. Exit status 1 if
any score differs by more than 1e-9.

With --million the predictions are repeated to a million samples (or SAMPLES) in a temporary folder
of --scratch and scored as `lm-eval-longbench score` does, files written and all; a quarter of them
first. Printed are the samples a second and the highest memory of the first process, of the largest
other one and of all together (pages that they share are counted again for each; Linux only), so
that memory is seen not to grow. Exit status 1 if any dataset's figure is not the expected one: the
same as that of the repeated file.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import os
import re
import statistics
import string
import sys
import tempfile
import threading
import time
import warnings
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any

from lm_eval_longbench.benchmarks.longbench_v1_facts import DATASETS

Row = dict[str, Any]
Rows = dict[str, list[Row]]
Times = dict[str, float]
Scores = dict[str, list[float]]
ROUGE = ("gov_report", "qmsum", "multi_news", "samsum", "dureader", "vcsum")
FIRST_LINE = ("trec", "triviaqa", "samsum", "lsht")


def reference_metrics() -> dict[str, Callable[[str, str, Row], float]]:
    """The official metrics on the packages that the official scorer imports."""
    import jieba
    from rouge import Rouge

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from fuzzywuzzy import fuzz

    sys.path.append(str(Path(__file__).resolve().parents[1] / "tests"))
    from oracles.qa_f1_zh import DROPPED as zh_drop

    rouge = Rouge()

    def f1(pred: list[str], gold: list[str]) -> float:
        same = sum((Counter(pred) & Counter(gold)).values())
        if not same:
            return 0.0
        precision, recall = same / len(pred), same / len(gold)
        return 2 * precision * recall / (precision + recall)

    def english(text: str) -> list[str]:
        bare = "".join(letter for letter in text.lower() if letter not in string.punctuation)
        return re.sub(r"\b(a|an|the)\b", " ", bare).split()

    def chinese(text: str) -> list[str]:
        tokens = (
            "".join("".join(c for c in token.lower() if c not in zh_drop).split())
            for token in jieba.cut(text, cut_all=False)
        )
        return [token for token in tokens if token]

    def rouge_l(pred: str, gold: str) -> float:
        try:
            return rouge.get_scores([pred], [gold], avg=True)["rouge-l"]["f"]
        except (ValueError, RecursionError):
            return 0.0

    def cut(text: str) -> str:
        return " ".join(jieba.cut(text, cut_all=False))

    def numbers(pred: str, gold: str) -> float:
        found = re.findall(r"\d+", pred)
        return sum(number == gold for number in found) / len(found) if found else 0.0

    def paragraph(pattern: str) -> Callable[[str, str, Row], float]:
        return lambda pred, gold, row: numbers(pred, re.findall(pattern, gold)[0])

    def classes(pred: str, gold: str, row: Row) -> float:
        found = [name for name in row["all_classes"] if name in pred]
        for name in found:
            if name in gold and name != gold:
                found.remove(name)  # while walking it: that is the official loop
        return 1.0 / len(found) if gold in found else 0.0

    def code(pred: str, gold: str, row: Row) -> float:
        lines = pred.lstrip("\n").split("\n")
        kept = (line for line in lines if not any(mark in line for mark in ("`", "#", "//")))
        return fuzz.ratio(next(kept, ""), gold) / 100

    table: dict[str, Callable[[str, str, Row], float]] = {}
    for name in DATASETS:
        table[name] = lambda pred, gold, row: f1(english(pred), english(gold))
    table["multifieldqa_zh"] = lambda pred, gold, row: f1(chinese(pred), chinese(gold))
    for name in ("gov_report", "qmsum", "multi_news", "samsum"):
        table[name] = lambda pred, gold, row: rouge_l(pred, gold)
    for name in ("dureader", "vcsum"):
        table[name] = lambda pred, gold, row: rouge_l(cut(pred), cut(gold))
    table["trec"] = table["lsht"] = classes
    table["passage_count"] = lambda pred, gold, row: numbers(pred, gold)
    table["passage_retrieval_en"] = paragraph(r"Paragraph (\d+)")
    table["passage_retrieval_zh"] = paragraph(r"段落(\d+)")
    table["lcc"] = table["repobench-p"] = code
    return table


def score_reference(rows: Rows) -> tuple[Times, Scores]:
    """Score all rows the official way; return seconds and scores by dataset."""
    metrics = reference_metrics()

    def sample(name: str, row: Row) -> float:
        pred = row["pred"]
        if name in FIRST_LINE:
            pred = pred.lstrip("\n").split("\n")[0]
        return max(metrics[name](pred, gold, row) for gold in row["answers"])

    return timed(rows, sample)


def score_ours(rows: Rows) -> tuple[Times, Scores]:
    """Score all rows with this package; return seconds and scores by dataset."""
    from lm_eval_longbench.metrics.longbench_v1 import score_sample

    return timed(
        rows, lambda name, row: score_sample(name, row["pred"], row["answers"], row["all_classes"])
    )


def timed(rows: Rows, sample: Callable[[str, Row], float]) -> tuple[Times, Scores]:
    """Apply `sample` to every row and take the time by dataset."""
    times: Times = {}
    scores: Scores = {}
    for name, dataset in rows.items():
        start = time.perf_counter()
        scores[name] = [sample(name, row) for row in dataset]
        times[name] = time.perf_counter() - start
    return times, scores


def load_dictionary(_: Rows) -> tuple[Times, Scores]:
    """Load jieba's dictionary and nothing else: the part both sides share."""
    from lm_eval_longbench.metrics.segment import words

    start = time.perf_counter()
    words("段落")
    return {"jieba": time.perf_counter() - start}, {}


def apart(function: Callable[[Rows], tuple[Times, Scores]], rows: Rows) -> tuple[Times, Scores]:
    """Run one side in a fresh process."""
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        return pool.apply(function, (rows,))


def resident(process: str) -> int:
    """Return the memory of a process in bytes; 0 if it has ended."""
    try:
        pages = int(Path(f"/proc/{process}/statm").read_text().split()[1])
    except (OSError, IndexError):
        return 0
    return pages * os.sysconf("SC_PAGE_SIZE")


class Memory:
    """The highest memory of this process, of its largest child, and of all, in bytes."""

    def __init__(self) -> None:
        self.own = self.child = self.all = 0
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)

    def _watch(self) -> None:
        while not self._over.wait(0.1):
            own = resident("self")
            children = [
                resident(child)
                for file in Path("/proc/self/task").glob("*/children")
                for child in file.read_text().split()
            ]
            self.own = max(self.own, own)
            self.child = max(self.child, *children, 0)
            self.all = max(self.all, own + sum(children))

    def __enter__(self) -> Memory:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        self._thread.join()


def score_folder(
    folder: Path, output: Path, workers: int | None
) -> tuple[float, float, tuple[int, ...]]:
    """Score a folder as the command does; return seconds, seconds of all cores, and memory."""
    from lm_eval_longbench.scoring.score import score_paths

    with Memory() as memory:
        start = time.perf_counter()
        score_paths([folder], output, benchmark="v1", workers=workers)
        seconds = time.perf_counter() - start
    spent = os.times()
    cores = spent.user + spent.system + spent.children_user + spent.children_system
    return seconds, cores, (memory.own, memory.child, memory.all)


def repeat_to(samples: int, source: Path, folder: Path) -> int:
    """Write the prediction files repeated to about so many samples; return how many exactly."""
    files = {name: source / f"{name}.jsonl" for name in DATASETS}
    rows = {name: file.read_bytes() for name, file in files.items() if file.is_file()}
    each = sum(map(len, (data.splitlines() for data in rows.values())))
    times = max(1, round(samples / each))
    folder.mkdir()
    for name, data in rows.items():
        with (folder / f"{name}.jsonl").open("wb") as handle:
            for _ in range(times):
                handle.write(data if data.endswith(b"\n") else data + b"\n")
    return times * each


def at_scale(source: Path, samples: int, workers: int | None, scratch: Path | None) -> int:
    """Score a quarter of the samples, then all of them; print speed and memory."""
    status = 0
    with tempfile.TemporaryDirectory(dir=scratch) as place:
        once = Path(place, "once")
        score_folder(source, once, 1)
        expected = json.loads((once / "scores.json").read_bytes())
        titles = ("samples", "seconds", "a second", "core s", "first", "other", "all MiB")
        print("".join(f"{title:>9}" for title in titles))
        for number in (samples // 4, samples):
            folder, output = Path(place, f"in-{number}"), Path(place, f"out-{number}")
            written = repeat_to(number, source, folder)
            # A fresh process each: memory is never given back entirely.
            with ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as pool:
                done = pool.submit(score_folder, folder, output, workers).result()
            seconds, cores, memory = done
            shown = "".join(f"{value / 2**20:>9.0f}" for value in memory)
            print(f"{written:>9}{seconds:>9.1f}{written / seconds:>9.0f}{cores:>9.1f}{shown}")
            found = json.loads((output / "scores.json").read_bytes())
            worst = max(abs(found[name] - expected[name]) for name in expected)
            # Figures are rounded to 0.01, and longer sums round otherwise.
            if found.keys() != expected.keys() or worst > 0.011:
                print(f"figures differ by up to {worst}")
                status = 1
    return status


def main() -> int:
    """Measure what was asked for."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--million", type=int, nargs="?", const=1_000_000, metavar="SAMPLES")
    parser.add_argument("--workers", type=int)
    parser.add_argument("--scratch", type=Path)
    arguments = parser.parse_args()
    if arguments.million:
        return at_scale(arguments.folder, arguments.million, arguments.workers, arguments.scratch)
    rows: Rows = {}
    for name in DATASETS:
        file = arguments.folder / f"{name}.jsonl"
        if file.is_file():
            rows[name] = [json.loads(line) for line in file.read_bytes().splitlines()]
    if not rows:
        parser.error(f"{arguments.folder} has no <dataset>.jsonl prediction files")

    runs: dict[str, list[Times]] = {"reference": [], "ours": [], "jieba": []}
    worst = 0.0
    for _ in range(arguments.rounds):
        expected_times, expected = apart(score_reference, rows)
        found_times, found = apart(score_ours, rows)
        runs["reference"].append(expected_times)
        runs["ours"].append(found_times)
        runs["jieba"].append(apart(load_dictionary, {})[0])
        for name in rows:
            for one, other in zip(expected[name], found[name], strict=True):
                worst = max(worst, abs(one - other))

    def median(side: str, names: list[str]) -> float:
        return statistics.median(sum(run[name] for name in names) for run in runs[side])

    def line(title: str, names: list[str]) -> None:
        reference, ours = median("reference", names), median("ours", names)
        print(f"{title:<24}{reference:>10.3f}{ours:>10.3f}{reference / ours:>9.1f}")

    samples = sum(map(len, rows.values()))
    print(f"{samples} predictions, {arguments.rounds} rounds, medians in seconds")
    print(f"{'':<24}{'reference':>10}{'ours':>10}{'ratio':>9}")
    for name in rows:
        line(name, [name])
    line("ROUGE, English", [name for name in rows if name in ROUGE[:4]])
    line("all", list(rows))
    print(f"of which jieba's dictionary, on both sides: {median('jieba', ['jieba']):.3f} s")
    print(f"largest difference of a score: {worst:.1e}")
    return 0 if worst <= 1e-9 else 1


if __name__ == "__main__":
    sys.exit(main())
