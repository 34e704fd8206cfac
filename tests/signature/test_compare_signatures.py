"""Every ingredient in which two signatures can differ, and how much it matters."""

from itertools import permutations

import pytest

from lm_eval_longbench.benchmarks.registry import segmented, tasks
from lm_eval_longbench.signature import compare as module
from lm_eval_longbench.signature.compare import no_repeats
from lm_eval_longbench.signature.ingredients import (
    CARE,
    COMPARABLE,
    INGREDIENTS,
    LATER,
    NOT,
    PACKAGES,
)
from lm_eval_longbench.signature.signature import completed, package_versions

PACKAGES_NOW = {
    "lm_eval_longbench": "0.1.0",
    "lm_eval": "0.4.13",
    "jieba": "0.42.1",
    "tokenizers": "0.23.3",
    "transformers": "5.23.0",
}
RUN = completed(
    {
        "benchmark": "longbench_v1",
        "task": "longbench_v1_qasper",
        "version": "1.0",
        "data": "zai-org/LongBench@5e628be",
        "data_sha256": "a" * 64,
        "template_sha256": "b" * 64,
        "truncation": "halves_decoded_apart",
        "limit": 31500,
        "overlength": "truncate",
        "tokenizer": "org/model",
        "tokenizer_sha256": "c" * 64,
        "chat": "on",
        "chat_sha256": "d" * 64,
        "generation": {"until": [], "max_gen_toks": 128, "temperature": 0.0},
        "repeats": 1,
        "metrics": "1.0",
        "asked": 200,
        "kept": 200,
        "answered": 200,
        "failed": 0,
        "truncated": 12,
        "packages": PACKAGES_NOW,
    }
)
UNCUT = {**RUN, "truncated": 0}
# Another value of each ingredient, and how much the difference weighs where prompts were cut.
OTHER = {
    "benchmark": ("longbench_v1_e", NOT),
    "task": ("longbench_v1_trec", NOT),
    "version": ("1.1", NOT),
    "data": ("local-0123456789ab", NOT),
    "data_sha256": ("e" * 64, NOT),
    "template_sha256": ("e" * 64, NOT),
    "truncation": ("ends_decoded_together", NOT),
    "limit": (7500, NOT),
    "overlength": ("skip", NOT),
    "tokenizer": ("org/other", CARE),
    "tokenizer_sha256": ("e" * 64, CARE),
    "chat": ("off", NOT),
    "chat_sha256": ("e" * 64, NOT),
    "system_sha256": ("e" * 64, NOT),
    "generation": ({"until": [], "max_gen_toks": 64, "temperature": 0.0}, NOT),
    "model_settings": ({"eos_string": "</s>"}, NOT),
    "decoding": ("cleaned up", CARE),
    "prefill": ("reused", CARE),
    "via": ("batch", CARE),
    "repeats": (3, NOT),
    "seeds": ([1234], CARE),
    "filters": ([{"name": "mine", "filter": []}], NOT),
    "reasoning": ("keep", NOT),
    "reasoned": (5, CARE),
    "metrics": ("1.1", NOT),
    "metric": ("rouge_l", NOT),
    "context": ("none", NOT),
    "embedding_model": ("a-model", NOT),
    "retrieval": ("a retriever", NOT),
    "rag_top_n": (4, NOT),
    "reasoning_sha256": ("e" * 64, CARE),
    "questions_sha256": ("e" * 64, NOT),
    "shard": ("1/8 of 200", NOT),
    "asked": (100, NOT),
    "kept": (199, NOT),
    "answered": (199, NOT),
    "failed": (1, CARE),
    "truncated": (13, CARE),
    "capped": (3, CARE),
    "packages": ({**PACKAGES_NOW, "lm_eval": "0.5.0"}, CARE),
}
# These decide nothing where nothing was cut.
ONLY_IF_CUT = ("truncation", "limit", "overlength")


def compare(left, right):
    return module.compare(left, right, segmented())


def incomparable(signatures):
    return module.incomparable(signatures, segmented())


def test_every_ingredient_and_package_has_a_rule():
    assert set(INGREDIENTS) == set(OTHER)
    assert set(PACKAGES) == set(package_versions())
    assert all(bool(own.harmless) == bool(own.then) for own in INGREDIENTS.values())


def only(comparison):
    (difference,) = comparison.differences
    return difference


def test_the_same():
    assert compare(RUN, dict(RUN)).verdict == COMPARABLE
    assert compare(RUN, dict(RUN)).differences == []
    assert incomparable([RUN, dict(RUN)]) == []


@pytest.mark.parametrize("name", INGREDIENTS)
def test_each_ingredient(name):
    value, weight = OTHER[name]
    difference = only(compare(RUN, {**RUN, name: value}))
    assert difference.ingredient.partition(".")[0] == name
    assert difference.weight == weight
    assert compare(RUN, {**RUN, name: value}).verdict == weight
    assert compare({**RUN, name: value}, RUN).verdict == weight
    sentences = incomparable([RUN, {**RUN, name: value}])
    assert len(sentences) == (weight == NOT)
    if sentences:
        assert sentences[0].startswith(f"{name} differs (")
        assert sentences[0].endswith(f": {INGREDIENTS[name].reason}.")


# How a model was asked. What came of it never keeps runs from being repeats.
SETTINGS = {
    *("version", "data", "data_sha256", "template_sha256", "truncation", "limit", "overlength"),
    *("tokenizer", "tokenizer_sha256", "chat", "chat_sha256", "system_sha256", "generation"),
    *("model_settings", "filters", "context", "retrieval", "rag_top_n"),
}


@pytest.mark.parametrize("name", INGREDIENTS)
def test_only_settings_keep_runs_from_being_repeats(name):
    value, _ = OTHER[name]
    found = [own.ingredient for own in no_repeats(RUN, {**RUN, name: value})]
    # Another name of a tokenizer is none, as long as its hash is the same.
    assert found == ([name] if name in SETTINGS - {"tokenizer"} else [])
    assert [own.ingredient for own in no_repeats({**RUN, name: value}, RUN)] == found


def test_repeats_may_differ_in_seeds_questions_and_what_had_nothing_to_decide():
    seeded = {**RUN, "generation": {**RUN["generation"], "seed": 7}}
    assert no_repeats(seeded, RUN) == no_repeats(RUN, seeded) == []
    part = {**RUN, "data": f"{RUN['data']} (only language: English)"}
    assert no_repeats(part, RUN) == []
    for name in ("truncation", "limit", "overlength", "tokenizer", "tokenizer_sha256"):
        assert no_repeats(UNCUT, {**UNCUT, name: OTHER[name][0]}) == []
    assert no_repeats(RUN, {**UNCUT, "tokenizer": None, "tokenizer_sha256": None}) == []
    assert no_repeats(RUN, {**RUN, "tokenizer": "a/copy"}) == []
    # Two models may have templates and switches of their own; repeats are of one.
    unknown = {**RUN, "tokenizer_sha256": None}
    assert no_repeats(unknown, {**unknown, "tokenizer": "org/other"})
    assert no_repeats(unknown, {**unknown, "chat_sha256": "e" * 64})


@pytest.mark.parametrize("name", ONLY_IF_CUT)
def test_what_cuts_matters_only_where_something_is_cut(name):
    value, _ = OTHER[name]
    assert compare(UNCUT, {**UNCUT, name: value}).verdict == CARE
    assert "no prompt was cut" in only(compare(UNCUT, {**UNCUT, name: value})).reason
    # Skipped questions were too long, and an unknown count is none.
    skipped = {**UNCUT, "asked": 210}
    assert compare(skipped, {**skipped, name: value}).verdict == NOT
    unknown = {**UNCUT, "truncated": None}
    assert compare(unknown, {**unknown, name: value}).verdict == NOT


@pytest.mark.parametrize(
    ("package", "run", "weight"),
    [
        ("lm_eval_longbench", RUN, CARE),
        ("lm_eval", RUN, CARE),
        ("jieba", RUN, CARE),
        ("jieba", {**RUN, "task": "longbench_v1_vcsum"}, NOT),
        ("jieba", {**RUN, "task": "longbench_v1_dureader"}, NOT),
        ("jieba", {**RUN, "task": "longbench_v1_multifieldqa_zh"}, NOT),
        ("jieba", {**RUN, "task": "longbench_pro_thinking_t4_2"}, NOT),
        ("jieba", {**RUN, "task": ["longbench_pro_t3_1", "longbench_pro_t4_1"]}, NOT),
        ("tokenizers", RUN, NOT),
        ("tokenizers", UNCUT, CARE),
    ],
)
def test_each_package(package, run, weight):
    other = {**run, "packages": {**PACKAGES_NOW, package: "99"}}
    difference = only(compare(run, other))
    assert (difference.ingredient, difference.weight) == (f"packages.{package}", weight)
    assert (difference.left, difference.right) == (PACKAGES_NOW[package], "99")


def test_the_tasks_that_are_segmented():
    """The rule names exactly the tasks whose metric needs jieba."""
    segmenting = ("qa_f1_zh", "rouge_l_zh")
    needing = {name for name, task in tasks().items() if task.summary or task.metric in segmenting}
    other = {**PACKAGES_NOW, "jieba": "99"}
    refused = {
        task
        for task in tasks()
        if compare({**RUN, "task": task}, {**RUN, "task": task, "packages": other}).verdict == NOT
    }
    assert refused == needing
    # Of v1, with chunks, with summaries, and of both forms of Pro.
    assert len(needing) == 3 + 2 + 1 + 2 + 2


def test_switches_for_thinking_are_each_models_own():
    thinking = {"model_settings": {"chat_template_kwargs": {"enable_thinking": True}}}
    other = {**RUN, "tokenizer": "org/other", "tokenizer_sha256": "e" * 64}
    assert compare(RUN, {**RUN, **thinking}).verdict == NOT
    assert compare(RUN, {**other, **thinking}).verdict == CARE
    beside = {"model_settings": {"extra_body": {"reasoning_effort": "low"}}}
    assert compare({**RUN, **thinking}, {**other, **beside}).verdict == CARE
    guided = {"model_settings": {"extra_body": {"guided_choice": ["A"]}}}
    assert compare(RUN, {**other, **guided}).verdict == NOT


def test_packages_that_one_side_does_not_name():
    fewer = {**RUN, "packages": {"lm_eval": "0.4.13"}}
    comparison = compare(RUN, fewer)
    assert comparison.verdict == CARE
    assert comparison.unstated == [
        "packages.lm_eval_longbench",
        "packages.jieba",
        "packages.tokenizers",
        "packages.transformers",
    ]
    strange = compare(
        {**RUN, "packages": {**PACKAGES_NOW, "rouge": "1"}},
        {**RUN, "packages": {**PACKAGES_NOW, "rouge": "2"}},
    )
    assert strange.verdict == NOT
    assert compare(RUN, {**RUN, "packages": None}).verdict == NOT


def test_two_models():
    """Each with its own tokenizer and chat template: that is what a benchmark compares."""
    other = {**RUN, "tokenizer": "org/other", "tokenizer_sha256": "e" * 64, "chat_sha256": "f" * 64}
    comparison = compare(RUN, other)
    assert comparison.verdict == CARE
    assert {difference.weight for difference in comparison.differences} == {CARE}
    # Without chat nothing stands around a prompt but a system instruction.
    off, with_system = {**RUN, "chat": "off"}, {**other, "chat": "off"}
    assert compare(off, with_system).verdict == NOT
    # No limit, no tokenizer: nobody knows whether it is one model.
    unknown = {"tokenizer": None, "tokenizer_sha256": None}
    assert compare({**RUN, **unknown}, {**RUN, **unknown, "chat_sha256": "f" * 64}).verdict == CARE


def test_the_order_is_that_of_a_signature_and_the_heaviest_counts():
    other = {**RUN, "failed": 3, "limit": 7500, "version": "2.0", "seeds": [1]}
    names = [difference.ingredient for difference in compare(RUN, other).differences]
    assert names == ["version", "limit", "seeds", "failed"]
    assert compare(RUN, other).verdict == NOT


def test_what_is_not_stated_needs_care():
    partial = {name: RUN[name] for name in ("benchmark", "task", "data", "answered")}
    comparison = compare(partial, RUN)
    assert comparison.differences == []
    # What results of earlier versions do not state is the same as null.
    assert set(comparison.unstated) == set(INGREDIENTS) - {*partial, *LATER}
    assert comparison.verdict == CARE
    assert compare(partial, {**RUN, "data": "x"}).verdict == NOT
    assert incomparable([partial, {**RUN, "limit": 1}, partial]) == []


def test_incomparable_names_all_values_once():
    runs = [RUN, {**RUN, "limit": 7500}, {**RUN, "limit": 3500, "failed": 2}, dict(RUN)]
    for order in permutations(runs):
        (sentence,) = incomparable(order)
        assert sentence.startswith("limit differs (")
        for value in ("31500", "7500", "3500"):
            assert sentence.count(value) == 1
    several = incomparable([RUN, {**RUN, "limit": 7500, "version": "2.0"}])
    assert [sentence.split()[0] for sentence in several] == ["version", "limit"]
    assert incomparable([]) == incomparable([RUN]) == []
    jieba = {"packages": {**PACKAGES_NOW, "jieba": "1"}, "task": "longbench_v1_vcsum"}
    (sentence,) = incomparable([{**RUN, "task": "longbench_v1_vcsum"}, {**RUN, **jieba}])
    assert sentence.startswith("packages.jieba differs (0.42.1 | 1): Chinese")
