#!/usr/bin/env python3
"""Measure our scoring against the packages the official scorer uses, in one run.

Usage: bench_scoring.py FOLDER [--rounds 3]

FOLDER holds official LongBench v1 prediction files (<dataset>.jsonl). The reference is the official
arithmetic on the PyPI packages `rouge` and `fuzzywuzzy` (extra `test`) and on jieba's module-wide
tokenizer, with its RecursionError turned to 0 as officially. Each side runs in processes of its
own, in turn, loading of jieba's dictionary included; the medians are compared. Exit status 1 if
any score differs by more than 1e-9.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import re
import statistics
import string
import sys
import time
import warnings
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

from lm_eval_longbench.catalog import V1

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

    points = Path(__file__).resolve().parent / "zh_punctuation.txt"
    zh_drop = set(string.punctuation) | {chr(int(line, 16)) for line in points.read_text().split()}
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
    for name in V1:
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


def main() -> int:
    """Run both sides in turn and print medians and ratios."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--rounds", type=int, default=3)
    arguments = parser.parse_args()
    rows: Rows = {}
    for name in V1:
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
