#!/usr/bin/env python3
"""Measure our scoring against the packages the official scorer uses.

Usage: bench_scoring.py FOLDER [--rounds 3]

FOLDER holds official LongBench v1 prediction files (<dataset>.jsonl). The reference is the official
arithmetic on the PyPI packages `rouge` and `fuzzywuzzy` (extra `test`) and on jieba's module-wide
tokenizer, with its RecursionError turned to 0 as officially. Each side runs in processes of its
own, in turn, loading of jieba's dictionary included; the medians are compared. Exit status 1 if
any score differs by more than 1e-9.

Speed and memory of the whole command, at scale: write every file a thousand times into a folder BIG
(`for i in $(seq 1000); do cat FOLDER/trec.jsonl; done > BIG/trec.jsonl`), score it with
`/usr/bin/time -v lm-eval-longbench score BIG --benchmark v1 --output OUT`, and compare OUT's
scores.json with that of FOLDER.
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

from lm_eval_longbench.benchmarks.longbench_v1_facts import DATASETS

Row = dict[str, Any]
Rows = dict[str, list[Row]]
Times = dict[str, float]
Scores = dict[str, list[float]]
ROUGE = ("gov_report", "qmsum", "multi_news", "samsum")
FIRST_LINE = ("trec", "triviaqa", "samsum", "lsht")
CLASSES = ("trec", "lsht")
DICTIONARY = "jieba's dictionary"


def score_reference(rows: Rows) -> tuple[Times, Scores]:
    """Score all rows by the official metrics on the packages that the official scorer imports."""
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

    def retrieval(pred: str, gold: str) -> float:
        return numbers(pred, re.findall(r"(?:Paragraph |段落)(\d+)", gold)[0])

    def classes(pred: str, gold: str, all_classes: list[str]) -> float:
        found = [name for name in all_classes if name in pred]
        for name in found:
            if name in gold and name != gold:
                found.remove(name)  # while walking it: that is the official loop
        return 1.0 / len(found) if gold in found else 0.0

    def code(pred: str, gold: str) -> float:
        lines = pred.lstrip("\n").split("\n")
        kept = (line for line in lines if not any(mark in line for mark in ("`", "#", "//")))
        return fuzz.ratio(next(kept, ""), gold) / 100

    metrics: dict[str, Callable[[str, str], float]] = {
        "multifieldqa_zh": lambda pred, gold: f1(chinese(pred), chinese(gold)),
        **dict.fromkeys(ROUGE, rouge_l),
        **dict.fromkeys(("dureader", "vcsum"), lambda pred, gold: rouge_l(cut(pred), cut(gold))),
        "passage_count": numbers,
        "passage_retrieval_en": retrieval,
        "passage_retrieval_zh": retrieval,
        **dict.fromkeys(("lcc", "repobench-p"), code),
    }

    def sample(name: str, row: Row) -> float:
        pred = row["pred"]
        if name in FIRST_LINE:
            pred = pred.lstrip("\n").split("\n")[0]
        if name in CLASSES:
            return max(classes(pred, gold, row["all_classes"]) for gold in row["answers"])
        metric = metrics.get(name, lambda pred, gold: f1(english(pred), english(gold)))
        return max(metric(pred, gold) for gold in row["answers"])

    return timed(rows, sample, jieba.initialize)


def score_ours(rows: Rows) -> tuple[Times, Scores]:
    """Score all rows with this package."""
    from lm_eval_longbench.metrics.longbench_v1 import score_sample
    from lm_eval_longbench.metrics.segment import words

    def sample(name: str, row: Row) -> float:
        return score_sample(name, row["pred"], row["answers"], row["all_classes"])

    return timed(rows, sample, lambda: words("段落"))


def timed(
    rows: Rows, sample: Callable[[str, Row], float], load: Callable[[], object]
) -> tuple[Times, Scores]:
    """Load the dictionary and score every row; return seconds and scores by dataset."""
    start = time.perf_counter()
    load()
    times: Times = {DICTIONARY: time.perf_counter() - start}
    scores: Scores = {}
    for name, dataset in rows.items():
        start = time.perf_counter()
        scores[name] = [sample(name, row) for row in dataset]
        times[name] = time.perf_counter() - start
    return times, scores


def main() -> int:
    """Measure what was asked for."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--rounds", type=int, default=3)
    arguments = parser.parse_args()
    rows: Rows = {}
    for name in DATASETS:
        file = arguments.folder / f"{name}.jsonl"
        if file.is_file():
            rows[name] = [json.loads(line) for line in file.read_bytes().splitlines()]
    if not rows:
        parser.error(f"{arguments.folder} has no <dataset>.jsonl prediction files")

    runs: dict[Callable[..., Any], list[Times]] = {score_reference: [], score_ours: []}
    worst = 0.0
    for _ in range(arguments.rounds):
        scores = []
        for side, times in runs.items():
            with multiprocessing.get_context("spawn").Pool(1) as pool:
                seconds, found = pool.apply(side, (rows,))
            times.append(seconds)
            scores.append([score for name in rows for score in found[name]])
        worst = max([worst, *(abs(one - other) for one, other in zip(*scores, strict=True))])

    def line(title: str, names: list[str]) -> None:
        reference, ours = (
            statistics.median(sum(seconds[name] for name in names) for seconds in times)
            for times in runs.values()
        )
        print(f"{title:<24}{reference:>10.3f}{ours:>10.3f}{reference / ours:>9.1f}")

    samples = sum(map(len, rows.values()))
    print(f"{samples} predictions, {arguments.rounds} rounds, medians in seconds")
    print(f"{'':<24}{'reference':>10}{'ours':>10}{'ratio':>9}")
    for name in (DICTIONARY, *rows):
        line(name, [name])
    line("ROUGE, English", [name for name in rows if name in ROUGE])
    line("all", [DICTIONARY, *rows])
    print(f"largest difference of a score: {worst:.1e}")
    return 0 if worst <= 1e-9 else 1


if __name__ == "__main__":
    sys.exit(main())
