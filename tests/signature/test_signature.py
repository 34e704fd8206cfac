"""The signature: every ingredient moves its line, in the shape that the README shows."""

import re
from itertools import permutations

import pytest

from lm_eval_longbench.benchmarks.registry import benchmarks, signs
from lm_eval_longbench.signature import signature as module
from lm_eval_longbench.signature.ingredients import INGREDIENTS, LATER
from lm_eval_longbench.signature.signature import combined, completed, fingerprint, package_versions
from lm_eval_longbench.version import __version__


def line(signature):
    return module.line(signature, signs())


PRO = completed(
    {
        "benchmark": "longbench_pro",
        "task": "longbench_pro_t1_1",
        "version": "1.0",
        "data": "caskcsg/LongBench-Pro@4996884",
        "data_sha256": "9" * 64,
        "template_sha256": "1f2e3d4c" + "0" * 56,
        "truncation": "ends_decoded_together",
        "limit": 120000,
        "overlength": "truncate",
        "tokenizer": "Qwen/qwen3",
        "tokenizer_sha256": "7" * 64,
        "chat": "on",
        "chat_sha256": "5" * 64,
        "system_sha256": "9" * 64,
        "generation": {"until": [], "max_gen_toks": 1024, "temperature": 1.0},
        "model_settings": {"eos_string": "</s>"},
        "decoding": "cleaned up",
        "prefill": "reused",
        "via": "batch",
        "repeats": 3,
        "seeds": [1234, 1235, 1236],
        "filters": [{"name": "mine"}, {"name": "other"}],
        "reasoning": "keep",
        "reasoned": 7,
        "metrics": "1.0",
        "metric": "sub_em",
        "context": "none",
        "embedding_model": "Qwen/Qwen3-Embedding-8B",
        "retrieval": "a retriever",
        "rag_top_n": 4,
        "reasoning_sha256": "3" * 64,
        "questions_sha256": "2" * 64,
        "shard": "3/8 of 1500",
        "asked": 1500,
        "kept": 1500,
        "answered": 1500,
        "failed": 2,
        "truncated": 310,
        "capped": 12,
        "packages": {"lm_eval_longbench": "0.1.0", "lm_eval": "0.4.13", "jieba": "0.42.1"},
    }
)


def test_the_shape_of_the_line():
    expected = (
        "lb-pro|v1.0|data:4996884|prompt:1f2e3d4c|cut:middle@120000/qwen3|chat:on|t:1.0|k:3"
        "|n:1500/1500|score:1.0|sig:"
    )
    assert re.fullmatch(re.escape(expected) + "[0-9a-f]{8}", line(PRO))


def changed(value):
    """Other values of the same kind, and none."""
    if isinstance(value, dict):
        return [{**value, next(iter(value)): "other"}, {}, None]
    if isinstance(value, list):
        return [value[::-1], value[:-1], None]
    if isinstance(value, int):
        return [value + 1, 0, None]
    return [f"{value}x", "", None]


@pytest.mark.parametrize("name", INGREDIENTS)
def test_every_ingredient_moves_the_line(name):
    lines = {line(PRO)} | {line({**PRO, name: value}) for value in changed(PRO[name])}
    assert len(lines) == 4


@pytest.mark.parametrize("package", package_versions())
def test_every_package_moves_the_line(package):
    other = {**PRO, "packages": {**PRO["packages"], package: "99"}}
    assert line(other) != line(PRO)


def test_what_is_seen_in_the_line_itself():
    """These say what they are without looking up the fingerprint."""
    for name, value, seen in (
        ("limit", None, "cut:none"),
        ("overlength", "skip", "cut:middle@120000/qwen3!skip"),
        ("chat", "raw", "chat:raw"),
        ("answered", 1499, "n:1499/1500"),
        ("data", "local-0123456789ab", "data:local-0123456789ab"),
        ("generation", {"temperature": 0.0}, "t:0.0"),
        ("benchmark", "longbench_v1_e", "lb-e"),
    ):
        assert seen in line({**PRO, name: value}).split("|")


def test_completed():
    assert list(completed({"task": "a"})) == list(INGREDIENTS)
    assert {value for name, value in completed({"task": "a"}).items() if name != "task"} == {None}
    with pytest.raises(KeyError, match="temperature"):
        completed({"temperature": 1.0})
    # What a run writes besides is no ingredient.
    with pytest.raises(KeyError, match="limit_source"):
        completed({"limit_source": "truncate_to=3"})


def test_the_fingerprint_does_not_depend_on_the_order_of_keys():
    assert fingerprint(dict(reversed(PRO.items()))) == fingerprint(PRO)
    assert re.fullmatch("[0-9a-f]{8}", fingerprint(PRO))


def test_combined():
    others = [
        {**PRO, "task": "longbench_pro_t1_2", "asked": 10, "answered": 9, "failed": 1},
        {**PRO, "task": "longbench_pro_t4_1", "generation": {"temperature": 0.0}},
    ]
    joined = {fingerprint(combined(order)) for order in permutations([PRO, *others])}
    assert len(joined) == 1
    whole = combined([PRO, *others])
    assert whole["task"] == ["longbench_pro_t1_1", "longbench_pro_t1_2", "longbench_pro_t4_1"]
    assert (whole["asked"], whole["answered"], whole["failed"]) == (3010, 3009, 5)
    assert whole["version"] == "1.0"
    assert len(whole["generation"]) == 2
    assert line(whole) == line(combined([*others, PRO]))
    # A count that one task does not know is not known of all.
    assert combined([PRO, {**PRO, "failed": None}])["failed"] is None
    assert combined([PRO]) == PRO


@pytest.mark.parametrize("name", INGREDIENTS)
def test_every_ingredient_of_a_task_moves_the_combined_line(name):
    other = {**PRO, "task": "longbench_pro_t1_2"}
    before = line(combined([PRO, other]))
    assert line(combined([PRO, {**other, name: changed(PRO[name])[0]}])) != before


def test_package_versions():
    found = package_versions()
    assert found["lm_eval_longbench"] == __version__
    assert {"lm_eval", "jieba", "tokenizers"} <= set(found)


def test_every_benchmark_has_a_version_of_its_metrics():
    for name, benchmark in benchmarks().items():
        assert re.fullmatch(r"\d+\.\d+", benchmark.metrics)
        assert line({**PRO, "benchmark": name}).startswith(f"{benchmark.sign}|")


@pytest.mark.parametrize("name", LATER)
def test_what_earlier_versions_did_not_state_leaves_their_line_as_it_was(name):
    earlier = {key: value for key, value in PRO.items() if key != name}
    assert line({**PRO, name: None}) == line(earlier)
