"""The example with the presses of kvpress, with the real tiny model."""

import sys

import pytest
from lm_eval.models.huggingface import HFLM

from lm_eval_longbench import evaluate
from lm_eval_longbench.errors import MissingDependencyError

TASKS = ["longbench_v1_qasper", "longbench_v1_samsum"]
MODEL = {"device": "cpu", "dtype": "float32"}


@pytest.fixture(scope="module")
def kvpress_model(example):
    return example("kvpress_model")


@pytest.fixture(scope="module")
def kvpress():
    return pytest.importorskip(
        "kvpress",
        reason="kvpress is not installed: pip install --no-deps kvpress; pip install cachetools",
        exc_type=ImportError,
    )


def answers(model):
    run = evaluate(
        model,
        TASKS,
        data_dir="sample",
        truncate_to=500,
        limit=2,
        gen_kwargs="max_gen_toks=12",
        apply_chat_template=True,
    )
    return [row["resps"][0][0] for rows in run._kept.rows.values() for row in rows]


@pytest.fixture(scope="module")
def plain(model_folder):
    return answers(HFLM(pretrained=model_folder, **MODEL))


def test_without_a_press_answers_are_those_of_plain_generation(kvpress_model, model_folder, plain):
    for query_aware in (False, True):
        model = kvpress_model.KVPress(
            pretrained=model_folder, press=None, query_aware=query_aware, **MODEL
        )
        assert answers(model) == plain


def test_a_missing_kvpress_is_said(kvpress_model, monkeypatch):
    monkeypatch.setitem(sys.modules, "kvpress", None)
    with pytest.raises(MissingDependencyError, match="pip install kvpress"):
        kvpress_model.find_press("KnormPress", 0.5)


@pytest.mark.parametrize("name", ["KnormPress", "SnapKVPress", "StreamingLLMPress"])
def test_a_press_drops_its_share_before_the_question_or_after_it(
    kvpress_model, kvpress, model_folder, plain, name, monkeypatch
):
    """Query-agnostic it sees what stands before `question_at`; query-aware all but one token."""
    kept, given = [], []
    own = kvpress_model.KVPress.prefill

    def prefill(self, ids, cache):
        own(self, ids, cache)
        given.append(ids.shape[1])
        kept.append(cache.get_seq_length())

    monkeypatch.setattr(kvpress_model.KVPress, "prefill", prefill)
    lengths = {}
    for query_aware in (False, True):
        given.clear()
        model = kvpress_model.KVPress(
            pretrained=model_folder, press=name, ratio=0.75, query_aware=query_aware, **MODEL
        )
        assert answers(model) != plain
        lengths[query_aware] = list(given)
    assert all(aware > agnostic for agnostic, aware in zip(*lengths.values(), strict=True))
    both = [length for own in lengths.values() for length in own]
    assert kept == [int(length * 0.25) for length in both]
    whole = kvpress_model.KVPress(pretrained=model_folder, press=name, ratio=0.0, **MODEL)
    assert answers(whole) == plain
