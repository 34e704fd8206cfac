#!/usr/bin/env python
"""What it costs to give vLLM requests in pieces, against one call: the ratio of their times.

    scripts/test_servers --pieces            makes the environment and the model, and runs this
    python scripts/bench_pieces.py FOLDER    with a Python that has vLLM and this package

Both orders alternate. Run it on a machine without other work: about three minutes on two cores.
"""

import argparse
import random
import statistics
import time
from pathlib import Path

from lm_eval.api.instance import Instance
from lm_eval.models.vllm_causallms import VLLM

import lm_eval_longbench
from lm_eval_longbench.harness.kept_answers import engine_piece

REQUESTS, AT_ONCE, TOKENS = 640, 16, 32


def requests() -> list[Instance]:
    """Pieces of a document of random lengths, from some hundred to some thousand characters."""
    dice = random.Random(0)  # noqa: S311
    folder = Path(lm_eval_longbench.__file__).parent / "data" / "sample" / "longbench_v1"
    text = (folder / "gov_report.jsonl").read_text(encoding="utf-8")
    found = []
    for number in range(REQUESTS):
        length = int(dice.lognormvariate(7.2, 0.6))
        begin = dice.randrange(len(text) - length)
        arguments = {"until": [], "max_gen_toks": TOKENS, "temperature": 1.0}
        prompt = text[begin : begin + length]
        found.append(Instance("generate_until", {}, (prompt, arguments), number))
    return found


def main() -> None:
    """Print the time of each pair, and the median of their ratios."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("model", help="folder of a small model")
    parser.add_argument("--pairs", type=int, default=4)
    given = parser.parse_args()
    model = VLLM(
        pretrained=given.model,
        max_model_len=4096,
        dtype="float32",
        enforce_eager=True,
        gpu_memory_utilization=0.1,
        batch_size="auto",
        max_num_seqs=AT_ONCE,
        enable_prefix_caching=False,
    )
    size = engine_piece(model) or REQUESTS
    own = sorted(requests(), key=lambda one: -len(one.args[0]))

    def seconds(step: int) -> float:
        began = time.perf_counter()
        for start in range(0, REQUESTS, step):
            model.generate_until(own[start : start + step], disable_tqdm=True)
        return time.perf_counter() - began

    model.generate_until(own[:64], disable_tqdm=True)
    ratios = []
    for number in range(given.pairs):
        order = (REQUESTS, size) if number % 2 else (size, REQUESTS)
        took = {step: seconds(step) for step in order}
        ratios.append(took[size] / took[REQUESTS])
        print(
            f"one call {took[REQUESTS]:.1f} s, pieces of {size} {took[size]:.1f} s: "
            f"{ratios[-1] - 1:+.1%}",
            flush=True,
        )
    print(f"median {statistics.median(ratios) - 1:+.1%}, at most +3 % is the aim")


if __name__ == "__main__":
    main()
