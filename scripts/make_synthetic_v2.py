#!/usr/bin/env python3
"""Write a file with the schema, the counts and about the size of LongBench v2's data.json.

Usage: make_synthetic_v2.py OUT.json [--seed 0]

503 rows, 465 MB, six documents of 10 to 16 MB; written row by row. The text is random words, for
measuring time and memory, never scores. Python stores a text with two or four bytes a character
when one character of it needs that, so that documents are of four kinds: plain ASCII, English with
typographic quotes, Chinese, and English with signs beyond the basic plane.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from lm_eval_longbench.catalog_v2 import CHOICES, COUNTS, DOMAINS, QUESTIONS

BYTES = 465_490_535
HUGE = [10_200_000, 11_000_000, 12_000_000, 13_000_000, 14_000_000, 16_000_000]
# Bytes of a short, a medium and a long document that is not huge, before the long ones are scaled
# to give the whole file its size.
SIZES = {"short": (20_000, 190_000), "medium": (190_000, 800_000), "long": (900_000, 4_200_000)}
KINDS = {"ascii": 45, "quotes": 30, "chinese": 15, "signs": 10}
ENGLISH = (
    "the of and to a in is that for it was river granite lantern orchard copper harbor meadow "
    "evidence report contract table section paragraph return value def self import {x} [12] 3.14"
)
CHINESE = "的一是在不了有和人这中大为上个国我以要他时来用们生到作地于出就分对成会可主发年动"
MARKS = {
    "ascii": [".\n\n", ",", "(2023)"],
    "quotes": [".\n\n", "“the", "report”", "it’s", "—"],
    "chinese": ["，", "。\n", "《表》"],
    "signs": [".\n\n", "\U0001d465 = \U0001d466", "\U0001f642"],
}


def block(rng: random.Random, kind: str) -> str:
    """Return some 20,000 words or signs."""
    words, joint = (list(CHINESE), "") if kind == "chinese" else (ENGLISH.split(), " ")
    return joint.join(
        rng.choice(words if rng.random() > 0.06 else MARKS[kind]) for _ in range(20_000)
    )


def text(rng: random.Random, block: str, size: int) -> str:
    """Return about `size` bytes of a block, turned to begin at another place each time."""
    characters = max(1, size * len(block) // len(block.encode()))
    parts, length = [], 0
    while length < characters:
        cut = rng.randrange(len(block))
        parts.append(block[cut:] + block[:cut])
        length += len(block)
    return "".join(parts)[:characters]


def plan(rng: random.Random) -> list[dict[str, Any]]:
    """Return every question's values and the size of its document, in the order of the file."""
    columns = {}
    for dimension, values in COUNTS.items():
        column = [value for value, number in values.items() for _ in range(number)]
        rng.shuffle(column)
        columns[dimension] = column
    rows = [{name: column[index] for name, column in columns.items()} for index in range(QUESTIONS)]
    for row in rows:
        row["size"] = rng.randint(*SIZES[row["length"]])
    long = [row for row in rows if row["length"] == "long"]
    for row, size in zip(rng.sample(long, len(HUGE)), HUGE, strict=True):
        row["size"] = size
    scaled = [row for row in long if row["size"] not in HUGE]
    others = sum(row["size"] for row in rows) - sum(row["size"] for row in scaled)
    factor = (BYTES - others) / sum(row["size"] for row in scaled)
    for row in scaled:
        row["size"] = int(row["size"] * factor)
    return rows


def rows(seed: int) -> Iterator[dict[str, str]]:
    """Yield the rows; equal seeds give equal rows."""
    rng = random.Random(seed)  # noqa: S311
    blocks = {kind: block(rng, kind) for kind in KINDS}
    codes = {name: code for code, name in DOMAINS.items()}
    for number, row in enumerate(plan(rng)):
        (kind,) = rng.choices(list(KINDS), list(KINDS.values()))
        yield {
            "_id": hashlib.sha256(f"{seed}-{number}".encode()).hexdigest()[:24],
            "domain": row["domain"],
            "sub_domain": f"Some {codes[row['domain']]}",
            "difficulty": row["difficulty"],
            "length": row["length"],
            "question": text(rng, blocks[kind], 300),
            **{f"choice_{letter}": text(rng, blocks[kind], 120) for letter in CHOICES},
            "answer": rng.choice(CHOICES),
            "context": text(rng, blocks[kind], row["size"]),
        }


def write(out: Path, seed: int = 0) -> None:
    """Write the file, one row in memory at a time."""
    with out.open("w", encoding="utf-8") as handle:
        handle.write("[\n")
        for number, row in enumerate(rows(seed)):
            handle.write((",\n" if number else "") + json.dumps(row, ensure_ascii=False, indent=4))
        handle.write("\n]\n")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("out", type=Path)
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()
    write(arguments.out, arguments.seed)


if __name__ == "__main__":
    main()
