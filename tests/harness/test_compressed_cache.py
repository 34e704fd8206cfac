"""The example of a compressed cache, with the real tiny model."""

from pathlib import Path

import pytest
from lm_eval.models.huggingface import HFLM

EXAMPLE = Path(__file__).resolve().parents[2] / "examples" / "compressed_cache.py"
TASKS = ["longbench_v1_qasper", "longbench_v1_samsum"]


@pytest.fixture(scope="module")
def compressed_cache(example):
    return example("compressed_cache").CompressedCache


def answers(evaluate, model):
    results = evaluate(
        model,
        TASKS,
        {"truncate_to": 500, "tokenizer": model.tokenizer.name_or_path},
        limit=2,
        gen_kwargs="max_gen_toks=12",
        apply_chat_template=True,
    )
    return [row["resps"][0][0] for rows in results["samples"].values() for row in rows]


def test_a_whole_cache_answers_as_plain_generation_does(evaluate, model_folder, compressed_cache):
    plain = answers(evaluate, HFLM(pretrained=model_folder, device="cpu", dtype="float32"))
    for query_aware in (False, True):
        model = compressed_cache(
            pretrained=model_folder, device="cpu", dtype="float32", query_aware=query_aware
        )
        assert answers(evaluate, model) == plain
    half = compressed_cache(pretrained=model_folder, device="cpu", dtype="float32", keep=0.3)
    assert answers(evaluate, half) != plain


def test_the_example_is_short():
    assert len(EXAMPLE.read_text().splitlines()) <= 80
