"""A cache compressed once a document: the base class and its example, with the real tiny model."""

import logging
from pathlib import Path

import pytest
from lm_eval.models.huggingface import HFLM

from lm_eval_longbench import evaluate as evaluate_run
from lm_eval_longbench.errors import OptionError

EXAMPLE = Path(__file__).resolve().parents[2] / "examples" / "compressed_cache.py"
TASKS = ["longbench_v1_qasper", "longbench_v1_samsum"]
ALL = ["longbench_v1", "longbench_v2", "longbench_v2_cot", "longbench_v2_no_context"]


@pytest.fixture(scope="module")
def compressed_cache(example):
    return example("compressed_cache").CompressedCache


@pytest.fixture(scope="module")
def tiny(model_folder):
    return {"pretrained": model_folder, "device": "cpu", "dtype": "float32"}


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


def test_a_whole_cache_answers_as_plain_generation_does(evaluate, tiny, compressed_cache):
    plain = answers(evaluate, HFLM(**tiny))
    for query_aware in (False, True):
        assert answers(evaluate, compressed_cache(**tiny, query_aware=query_aware)) == plain
    assert answers(evaluate, compressed_cache(**tiny, keep=0.3)) != plain


def run_of(model, tasks=ALL, **more):
    return evaluate_run(
        model, tasks, data_dir="sample", truncate_to=1400, name="tiny", **more,
    )  # fmt: skip


def counted(model):
    """Note what a model is asked: the text before each question, and each prompt."""
    ask, documents, prompts = model.generate_until, set(), set()

    def generate_until(requests, disable_tqdm=False):
        for one in requests:
            place = one.doc["prompt"]["question_at"]
            prompts.add(one.args[0])
            documents.add(one.args[0] if place is None else one.args[0][:place])
        return ask(requests, disable_tqdm)

    model.generate_until = generate_until
    return documents, prompts


def test_a_document_is_compressed_once(compressed_cache, tiny):
    """Not once a question, nor once an answer of Pro's three."""
    model = compressed_cache(**tiny, keep=0.5)
    documents, prompts = counted(model)
    run_of(model, [*ALL, "longbench_pro"], gen_kwargs="max_gen_toks=2")
    assert 100 < model.compressions == len(documents - {""}) < len(prompts)


def test_what_looks_at_the_question_compresses_for_each(compressed_cache, tiny, caplog):
    model = compressed_cache(**tiny, keep=0.5, query_aware=True)
    _, prompts = counted(model)
    with caplog.at_level(logging.WARNING):
        run_of(model, ["longbench_v1_e_qasper", "longbench_pro_t1"], gen_kwargs="max_gen_toks=2")
    assert model.compressions == len(prompts)
    assert "each question compresses its document anew" in caplog.text


def test_beams_are_refused(compressed_cache, tiny):
    with pytest.raises(OptionError, match="no num_beams"):
        run_of(compressed_cache(**tiny), TASKS[:1], gen_kwargs="num_beams=2", limit=1)


@pytest.mark.parametrize("query_aware", [False, True])
def test_sampled_answers_of_a_whole_cache_are_those_of_plain_generation(
    compressed_cache, tiny, tmp_path, query_aware
):
    """With output_path each request has a seed of its own, whatever was asked before it."""
    given = {"tasks": ["longbench_pro_t1"], "gen_kwargs": "max_gen_toks=6,temperature=1,top_p=0.9"}
    plain = run_of(HFLM(**tiny), output_path=str(tmp_path / "plain"), **given)
    model = compressed_cache(**tiny, query_aware=query_aware)
    run = run_of(model, output_path=str(tmp_path / "kept"), **given)
    rows = plain._kept.rows["longbench_pro_t1_1"]
    assert len({answer for one in rows for answer in one["resps"][0]}) > len(rows)
    for name, own in plain._kept.rows.items():
        assert [one["resps"] for one in run._kept.rows[name]] == [one["resps"] for one in own]


def test_the_example_is_short():
    assert len(EXAMPLE.read_text().splitlines()) <= 80
