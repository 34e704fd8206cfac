#!/usr/bin/env python3
"""Measure how often the intervals of `report` hold the true figure, on simulated questions.

Usage: coverage_of_intervals.py [--samples 2000] [--seed 1] [--processes N]

Questions share documents as in LongBench Pro, where 1,500 questions are about some 1,080 documents:
the whole of 1,500, and parts of 60 to 250 questions. Each sample of questions is drawn anew from a
population whose mean is known, and goes through the code that makes reports. A figure is held if
the true mean is within its interval; of a difference also p below 0.05 is counted where the true
difference is 0, and should be 5%.

Documents: "single" none shared; "pairs" one or two questions each; "uneven" one to about six; of
the whole also "heavy", where 80 documents have six questions and 1,000 one.
Kinds: "graded" scores from 0 to 1, many of them near the ends; "runs" means of three answers that
are right or wrong; "pass" right or wrong, with Wilson's interval; "difference" of two graded runs
whose documents are equally hard for both. Of those most are 0 where documents are easy or hard
throughout: an interval that holds more than 95% is right there, and counts as such. "retained" is
the same two runs' ratio, which is truly 1; "kept" that of two runs whose answers are right or
wrong, and of the right ones the second loses three in a hundred. Where `report` gives no interval,
because few questions differ, it counts as held: nothing is said.

The true coverage lies within 2.5 standard errors of what is printed, 1.2 points with 2,000 samples.
Exit status 1 if a coverage or a false positive rate is off by more than 1.5 points besides.
"""

from __future__ import annotations

import argparse
import math
import os
import sys
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, replace

import numpy as np

from lm_eval_longbench.reporting.retained import retained
from lm_eval_longbench.statistics.tree import Leaf, Pairing, estimate

TOLERANCE = 1.5
# Of these kinds p is measured too, and more than 95% is right.
PAIRED = ("difference", "retained", "kept")
LOST = 0.03
# Questions for each document, as in LongBench Pro.
SHARE = 1080 / 1500


@dataclass(frozen=True)
class Design:
    """One population and the size of a sample of it.

    Attributes:
        kind, sizes: see above.
        questions: of a sample.
        mean: of all questions there could be.
        alike: intra-document correlation of scores.
    """

    kind: str
    questions: int
    sizes: str
    mean: float
    alike: float


def sizes_of(design: Design, rng: np.random.Generator) -> np.ndarray:
    """Return the number of questions of each document."""
    n = design.questions
    documents = round(n * SHARE)
    if design.sizes == "single":
        return np.ones(n, int)
    if design.sizes == "pairs":
        return np.r_[np.full(n - documents, 2), np.ones(2 * documents - n, int)]
    sizes = np.ones(documents, int)
    if design.sizes == "heavy":
        sizes[:80] += rng.multinomial(n - documents, np.full(80, 1 / 80))
    else:
        sizes += rng.multinomial(n - documents, rng.dirichlet(np.full(documents, 0.6)))
    return sizes


def chances(mean: float, spread: float, number: int, rng: np.random.Generator) -> np.ndarray:
    """Return shares with this mean and `spread` of the variance that shares can have."""
    if spread == 0:
        return np.full(number, mean)
    scale = (1 - spread) / spread
    return np.clip(rng.beta(mean * scale, (1 - mean) * scale, number), 1e-9, 1 - 1e-9)


def scores(design: Design, own: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Return a score for each question, from how hard its document is."""
    if design.kind in ("pass", "kept"):
        return (rng.random(len(own)) < own).astype(float)
    graded = rng.beta(own, 1 - own)
    return rng.binomial(3, graded) / 3 if design.kind == "runs" else graded


def spread_between(design: Design) -> float:
    """Return the spread of documents that makes questions alike as designed."""
    if design.kind in ("pass", "kept"):
        return design.alike
    # Given its document a graded score has half of p(1 - p) as its variance.
    return design.alike / (2 - design.alike)


def leaf_of(values: np.ndarray, documents: np.ndarray) -> Leaf:
    """Return a figure over questions as a report has it."""
    keys = np.array([f"{number:06d}" for number in range(len(values))], "S16")
    return Leaf("x", keys, values, given_documents=documents)


def one(design: Design, rng: np.random.Generator) -> tuple[bool, bool]:
    """Return whether the interval holds the mean, and whether p < 0.05."""
    sizes = sizes_of(design, rng)
    codes = np.repeat(np.arange(1, len(sizes) + 1, dtype=np.uint64), sizes)
    own = np.repeat(chances(design.mean, spread_between(design), len(sizes), rng), sizes)
    figure, truth = leaf_of(scores(design, own, rng), codes), design.mean
    if design.kind in ("retained", "kept"):
        kept = figure.values * (rng.random(len(own)) >= LOST)
        other = kept if design.kind == "kept" else scores(design, own, rng)
        found, truth = retained(figure, leaf_of(other, codes)), 1 - LOST * (design.kind == "kept")
    elif design.kind == "difference":
        # The documents are as hard for both: what is left is 0 on average.
        found, truth = Pairing().difference(figure, leaf_of(scores(design, own, rng), codes)), 0.0
    else:
        found = estimate(replace(figure, binary=design.kind == "pass"))
    p = found.p_value if design.kind in ("difference", "retained") else None
    held = found.low is None or found.low - 1e-12 <= truth <= found.high + 1e-12
    return held, p is not None and p < 0.05


def measure(design: Design, samples: int, seed: int) -> tuple[Design, list[float]]:
    """Return the shares of samples, in percent."""
    rng = np.random.default_rng([seed, *repr(design).encode()])
    rows = np.array([one(design, rng) for _ in range(samples)], float)
    return design, list(100 * rows.mean(axis=0))


def designs() -> Iterator[Design]:
    """Yield the designs: parts of 60 to 250 questions, and the whole."""
    for kind in ("graded", "runs", "pass", *PAIRED):
        for questions in (60, 120, 250, 1500):
            for sizes in ("pairs", "uneven", "heavy" if questions == 1500 else "single"):
                for mean in (0.1, 0.3, 0.5, 0.7, 0.9):
                    for alike in (0.0,) if sizes == "single" else (0.0, 0.4, 0.8):
                        yield Design(kind, questions, sizes, mean, alike)


def main() -> int:
    """Measure all designs and print a table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--samples", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--processes", type=int, default=os.cpu_count() or 1)
    asked = parser.parse_args()
    # A whole takes as long as many parts, and differs less from the normal distribution.
    jobs = [
        (one, asked.samples if one.questions < 1500 else max(1, asked.samples // 4))
        for one in designs()
    ]
    print("kind       questions documents mean alike  held p<0.05")
    worst: list[str] = []
    ranges: dict[tuple[str, int], list[float]] = {}
    with ProcessPoolExecutor(asked.processes) as pool:
        waiting = [pool.submit(measure, job, number, asked.seed) for job, number in jobs]
        for future, (_, number) in zip(waiting, jobs, strict=True):
            design, (held, sure) = future.result()
            is_paired = design.kind in PAIRED
            line = (
                f"{design.kind:10} {design.questions:9} {design.sizes:9} {design.mean:4} "
                f"{design.alike:5} {held:5.1f} {f'{sure:.1f}' if is_paired else '':>6}"
            )
            print(line, flush=True)
            ranges.setdefault((design.kind, design.questions), []).append(held)
            error = 2.5 * 100 * math.sqrt(0.05 * 0.95 / number)
            rates = [held, 100 - sure] if is_paired else [held]
            too_few = any(rate < 95 - TOLERANCE - error for rate in rates)
            if too_few or (not is_paired and held > 95 + TOLERANCE + error):
                worst.append(line)
    for (kind, size), found in ranges.items():
        mean = sum(found) / len(found)
        print(f"{kind}, {size} questions: {min(found):.1f} to {max(found):.1f}, mean {mean:.1f}")
    print(f"{len(worst)} of {len(jobs)} designs are off by more than {TOLERANCE} points")
    for line in worst:
        print(f"off: {line}")
    return 1 if worst else 0


if __name__ == "__main__":
    sys.exit(main())
