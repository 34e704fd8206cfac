#!/usr/bin/env python
"""How much of its prompts a model in this process reads, with `reuse_prefill` and without.

    python scripts/bench_prefill.py                  `hf` on the CPU: ids through the model
    python scripts/bench_prefill.py --vllm FOLDER    with a Python that has vLLM and this package:
                                                     ids of prompts that its cache already held

A pass is every prompt read once: three answers to each question are three passes. FOLDER is a small
model with its tokenizer. `scripts/test_servers --prefill` makes the environment and the model.
"""

from __future__ import annotations

import argparse
import contextlib
import random
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from lm_eval.api.instance import Instance

import lm_eval_longbench as lb
from lm_eval_longbench.harness.prefill import reused_prefill

SAMPLE = Path(lb.__file__).parent / "data" / "sample" / "longbench_v1" / "gov_report.jsonl"


def requests(documents: int, questions: int, words: list[int]) -> list[Instance]:
    """Questions of several lengths on documents of some numbers of the same words, in turn."""
    dice = random.Random(0)  # noqa: S311
    known = SAMPLE.read_text(encoding="utf-8").split() * 3
    counts = [words[number % len(words)] for number in range(documents)]
    texts = [" ".join(dice.sample(known[:count], k=count)) for count in counts]
    found = []
    for question in range(questions):
        for number, text in enumerate(texts):
            doc = {"prompt": {"document_sha256": str(number)}}
            asked = "Which of these words is the longest? " * (question + 1)
            prompt = f"{text}\n\nQuestion {question}: {asked}\nAnswer:"
            given = (prompt, {"until": [], "max_gen_toks": 4, "temperature": 0.0})
            found.append(Instance("generate_until", doc, given, len(found)))
    return found


# ---------------------------------------------------------------------- transformers


def tiny(folder: Path) -> Any:
    """A model of two small layers with random weights, one prompt at a time."""
    sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests"))
    import torch
    from lm_eval.models.huggingface import HFLM
    from small_tokenizers import byte_level_bpe
    from transformers import LlamaConfig, LlamaForCausalLM

    texts = SAMPLE.read_text(encoding="utf-8").splitlines()
    tokenizer = byte_level_bpe(texts, vocabulary=3000, bos=True, pad_token="</s>")
    tokenizer.save_pretrained(folder)
    torch.manual_seed(0)
    config = LlamaConfig(
        vocab_size=3000,
        hidden_size=32,
        intermediate_size=64,
        num_hidden_layers=2,
        num_attention_heads=2,
        max_position_embeddings=131072,
    )
    model = LlamaForCausalLM(config).eval()
    return HFLM(pretrained=model, tokenizer=tokenizer, max_length=131072)


@contextlib.contextmanager
def counted(model: Any) -> Iterator[list[int]]:
    """While open, note how many ids go through a model of transformers."""
    forward, found = model.model.forward, []

    def noting(*args: Any, **given: Any) -> Any:
        found.append((args[0] if args else given["input_ids"]).numel())
        return forward(*args, **given)

    model.model.forward = noting
    try:
        yield found
    finally:
        model.model.forward = forward


def passes(model: Any, tasks: list[str], reuse: str) -> tuple[int, float]:
    """Return ids read of a run of some tasks, and the seconds; an answer is one id."""
    began = time.perf_counter()
    with counted(model) as found:
        lb.evaluate(
            model,
            tasks,
            data_dir="sample",
            gen_kwargs="max_gen_toks=1",
            reuse_prefill=reuse,
        )
    return sum(found), time.perf_counter() - began


def ten_a_document(model: Any, reuse: bool) -> tuple[int, float]:
    """Return ids read of ten questions on each of five documents, and the seconds."""
    asked, began = requests(5, 10, [3000, 4000]), time.perf_counter()
    for one in asked:
        one.args[1]["max_gen_toks"] = 1
    with counted(model) as found, reused_prefill(model) if reuse else contextlib.nullcontext():
        model.generate_until(asked, disable_tqdm=True)
    return sum(found), time.perf_counter() - began


def with_transformers() -> None:
    """Print ids and seconds of three sets, read whole and with reuse."""
    with tempfile.TemporaryDirectory() as folder:
        model = tiny(Path(folder))
        rows = [
            (name, *(passes(model, [tasks], reuse) for reuse in ("off", "auto")), repeats)
            for name, tasks, repeats in (
                ("LongBench Pro, three answers", "longbench_pro", 3),
                ("LongBench v1", "longbench_v1", 1),
            )
        ]
        more = [ten_a_document(model, reuse) for reuse in (False, True)]
        rows.append(("ten questions on each of five documents", *more, 1))
    for name, (whole, slow), (read, fast), repeats in rows:
        print(
            f"{name}: {whole:,} ids read whole ({repeats:.2f} passes, {slow:.1f} s), "
            f"{read:,} with reuse ({repeats * read / whole:.2f} passes, {fast:.1f} s)"
        )


# ---------------------------------------------------------------------- vLLM


def with_vllm(folder: str) -> None:
    """Print the share of ids that the cache of vLLM held, in the harness's order and in ours."""
    from lm_eval.models.vllm_causallms import VLLM

    for name, documents, questions, words in (
        ("8 equal documents, 5 questions each", 8, 5, [600]),
        ("8 documents of other lengths", 8, 5, [450, 500, 550, 600, 650, 700, 750, 800]),
    ):
        for reuse in (False, True):
            model = VLLM(
                pretrained=folder,
                max_model_len=2048,
                dtype="float32",
                enforce_eager=True,
                batch_size="auto",
                max_num_seqs=4,
                num_gpu_blocks_override=30,  # of 128 ids on a CPU: room for three documents
                enable_prefix_caching=True,
            )
            asked = requests(documents, questions, words)
            outputs, plain = [], model._model_generate

            def noting(*args: Any, plain: Any = plain, outputs: Any = outputs, **given: Any) -> Any:
                made = plain(*args, **given)
                outputs += made
                return made

            model._model_generate = noting
            began = time.perf_counter()
            with reused_prefill(model) if reuse else contextlib.nullcontext():
                model.generate_until(asked, disable_tqdm=True)
            seconds = time.perf_counter() - began
            held = sum(one.num_cached_tokens or 0 for one in outputs)
            every = sum(len(one.prompt_token_ids) for one in outputs)
            order = "by document" if reuse else "as the harness sorts"
            print(f"{name}, {order}: {held / every:.1%} of {every:,} ids held, {seconds:.1f} s")
            del model


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--vllm", metavar="FOLDER", help="a small model for vLLM")
    given = parser.parse_args()
    if given.vllm:
        with_vllm(given.vllm)
    else:
        with_transformers()
