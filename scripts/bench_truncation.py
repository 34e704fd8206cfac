"""Compare cutting prompts with the official rule, one by one, on LongBench Pro's or v2's lengths.

Usage: bench_truncation.py [--benchmark pro|v2] [--prompts 12] [--rounds 3] [--cores 2]

Synthetic prompts, of Pro's 8k to 256k tokens or v2's up to 4 million, half English and half
Chinese, are cut at 32k, 120k and 224k tokens (v2: 32k and the official 120k and 200k) with a
byte-level BPE tokenizer of 65,536 tokens that is trained here. Each measurement is a fresh process;
figures are medians; all results are compared. Exits 1 if a result differs or a target is missed.
`--prompts 1500` is a full LongBench Pro.

The targets are for free cores. So that figures of a busy machine can be told, each line ends with
the processor time of both ways.
"""

from __future__ import annotations

import argparse
import functools
import hashlib
import itertools
import multiprocessing
import os
import random
import statistics
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

# Tokens of the prompts, by benchmark.
LENGTHS = {
    "pro": (8_000, 16_000, 32_000, 64_000, 128_000, 256_000),
    "v2": (16_000, 40_000, 100_000, 250_000, 1_000_000, 4_000_000),
}
# Tokens: the least ratio; there is no target where nearly all of the text must be tokenized.
TARGETS = {
    "pro": {32_000: 5.0, 120_000: 2.5, 224_000: None},
    "v2": {32_000: 5.0, 120_000: 2.5, 200_000: None},
}
WAYS = ("official", "ours")
# What stands between words, and after some of them.
LANGUAGES = {"en": (" ", (", ", ". ", ".\n\n", " (42) ")), "zh": ("", "，。")}


@functools.cache
def vocabulary(language: str) -> tuple[list[str], list[float]]:
    """Return English-like or Chinese-like words, with the frequencies of natural language."""
    rng = random.Random(7)  # noqa: S311
    if language == "zh":
        signs = [chr(0x4E00 + rng.randrange(8000)) for _ in range(2500)]
        words = ["".join(rng.choices(signs, k=rng.randint(1, 3))) for _ in range(30_000)]
    else:
        parts = ["".join(pair) for pair in itertools.product("bcdfghlmnprstvw", "aeiou")]
        ends = ["", "n", "s", "t", "ed", "ing", "er"]
        words = [
            "".join(rng.choices(parts, k=rng.randint(1, 4))) + rng.choice(ends)
            for _ in range(40_000)
        ]
    return words, list(itertools.accumulate(1 / (n + 5) for n in range(len(words))))


def written(language: str, seed: int, characters: int) -> str:
    """Return a text of a given length; equal seeds give equal texts."""
    rng, (words, weights) = random.Random(seed), vocabulary(language)  # noqa: S311
    space, marks = LANGUAGES[language]
    parts: list[str] = []
    size = 0
    while size < characters:
        chosen = rng.choices(words, cum_weights=weights, k=rng.randint(4, 14))
        parts.append(space.join(chosen) + rng.choice(marks))
        size += len(parts[-1])
    return "".join(parts)[:characters]


def train(folder: Path) -> dict[str, float]:
    """Save a tokenizer; return the characters a token of both languages."""
    sys.path.append(str(Path(__file__).resolve().parents[1] / "tests"))
    from small_tokenizers import byte_level_bpe

    samples = {language: written(language, 1, 2_000_000) for language in LANGUAGES}
    pieces = [text[at : at + 5000] for text in samples.values() for at in range(0, len(text), 5000)]
    tokenizer = byte_level_bpe(pieces, vocabulary=65_536, bos=True)
    tokenizer.save_pretrained(folder)
    return {
        name: 100_000 / len(tokenizer.tokenize(text[:100_000])) for name, text in samples.items()
    }


def prompts(lengths: tuple[int, ...], number: int, density: dict[str, float]) -> Iterator[str]:
    """Yield prompts of all lengths in both languages in turn."""
    kinds = itertools.cycle(itertools.product(lengths, LANGUAGES))
    for seed, (tokens, language) in zip(range(number), kinds, strict=False):
        yield written(language, 100 + seed, int(tokens * density[language]))


def measure(
    way: str,
    limit: int,
    arguments: argparse.Namespace,
    folder: Path,
    density: dict[str, float],
) -> dict[str, Any]:
    """Cut all prompts in one way; return seconds and hashes."""
    from transformers import AutoTokenizer

    from lm_eval_longbench.prompts.tokens.fast import fast_tokenizer
    from lm_eval_longbench.prompts.truncation import ends_decoded_together, truncate

    tokenizer = AutoTokenizer.from_pretrained(str(folder))

    def decode(ids: list[int]) -> str:
        return tokenizer.decode(ids, skip_special_tokens=True)

    def official(text: str) -> str:
        ids = tokenizer(text)["input_ids"]
        return ends_decoded_together(ids, limit, decode) if len(ids) > limit else text

    start = time.perf_counter()
    if way == "ours":
        fast_tokenizer(tokenizer)  # once a process, however many prompts there are
    look = time.perf_counter() - start
    seconds, processor, hashes = 0.0, 0.0, []
    # Prompts are written in batches of one of each, so that a full run needs no more memory.
    lengths = LENGTHS[arguments.benchmark]
    source = prompts(lengths, arguments.prompts, density)
    while batch := list(itertools.islice(source, 2 * len(lengths))):
        start, used = time.perf_counter(), time.process_time()
        if way == "ours":
            cut = [cut.text for cut in truncate(batch, tokenizer, limit, ends_decoded_together)]
        else:
            cut = [official(text) for text in batch]
        seconds += time.perf_counter() - start
        processor += time.process_time() - used
        hashes += [hashlib.sha256(text.encode()).hexdigest() for text in cut]
    return {"seconds": seconds, "processor": processor, "look": look, "hashes": hashes}


def compare(limit: int, target: float | None, *asked: Any) -> bool:
    """Measure both ways in turn, each in a fresh process; return whether all is well."""
    rounds = []
    equal = True
    for _ in range(asked[0].rounds):
        with multiprocessing.get_context("spawn").Pool(1, maxtasksperchild=1) as pool:
            theirs, ours = (pool.apply(measure, (way, limit, *asked)) for way in WAYS)
        equal &= theirs["hashes"] == ours["hashes"]
        ratio = theirs["seconds"] / ours["seconds"]
        times = [way[name] for name in ("seconds", "processor") for way in (theirs, ours)]
        rounds.append((ratio, *times, ours["look"]))
    ratio, official, fast, theirs_used, ours_used, look = (
        statistics.median(column) for column in zip(*rounds, strict=True)
    )
    well = equal and (target is None or ratio >= target)
    print(
        f"{limit:>7} tokens: {ratio:.2f}x{f' (target {target}x)' if target else ''}, "
        f"official {official:.2f} s, ours {fast:.2f} s and once {look:.2f} s to look at the "
        f"tokenizer; results {'equal' if equal else 'DIFFER'}{'' if well else '; MISSED'} "
        f"[processor {theirs_used:.2f} s and {ours_used:.2f} s]",
        flush=True,
    )
    return well


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--benchmark", choices=LENGTHS, default="pro")
    parser.add_argument("--prompts", type=int, default=12, help="a full Pro has 1500, v2 503")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--cores", type=int, default=2)
    arguments = parser.parse_args()
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[: arguments.cores])
    # As the harness has it.
    os.environ |= {"TOKENIZERS_PARALLELISM": "false", "HF_HUB_OFFLINE": "1"}
    failed = False
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        density = train(folder)
        lengths = LENGTHS[arguments.benchmark]
        print(
            f"{arguments.prompts} prompts of {lengths[0]:,} to {lengths[-1]:,} tokens, characters "
            f"a token: {density['en']:.2f} English, {density['zh']:.2f} Chinese; "
            f"{arguments.cores} cores, median of {arguments.rounds}, load {os.getloadavg()[0]:.1f}"
        )
        for limit, target in TARGETS[arguments.benchmark].items():
            failed |= not compare(limit, target, arguments, folder, density)
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
