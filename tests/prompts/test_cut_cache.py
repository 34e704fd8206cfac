"""Cuts are remembered between runs, and never for a prompt that is not the same."""

import json

import datasets
import pytest
from oracles.tokenizer_zoo import build

from lm_eval_longbench.prompts import prepare as module
from lm_eval_longbench.prompts.prepare import CutCache, cache_key, prepare
from lm_eval_longbench.prompts.tokenizer import load_tokenizer
from lm_eval_longbench.prompts.truncation import (
    RULE_PRO,
    RULE_V1,
    RULE_V2,
    Cut,
    ends_decoded_together,
    halves_decoded_apart,
    truncate,
)

pytestmark = pytest.mark.slow

TEXTS = [
    "the ledger of the harbor " * 50,
    "short",
    "合同的预算，会议在今天。" * 40,
    "🙂👩‍👧" * 60,
    "the ledger of the harbor " * 50,
]


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.setattr(datasets.config, "HF_DATASETS_CACHE", str(tmp_path))
    return tmp_path / "lm_eval_longbench" / "cuts"


@pytest.fixture
def cut_prompts(monkeypatch):
    """The prompts that were really worked on."""
    seen = []

    def watched(texts, *rest):
        def noted():
            for text in texts:
                seen.append(text)
                yield text

        return truncate(noted(), *rest)

    monkeypatch.setattr(module, "truncate", watched)
    return seen


def run(texts=TEXTS, limit=31, rule=halves_decoded_apart, source="data", name="gpt2"):
    return prepare(iter(texts), limit, lambda: build(name), rule, source)


def test_the_second_run_cuts_nothing_and_gives_the_same(folder, cut_prompts):
    plain = prepare(TEXTS, 31, lambda: build("gpt2"), halves_decoded_apart)
    cut_prompts.clear()
    assert run() == plain
    assert cut_prompts == TEXTS
    assert run() == plain
    assert len(cut_prompts) == len(TEXTS)
    (file,) = folder.iterdir()
    assert file.stat().st_size < 1500
    assert not any(text in file.read_text() for text in TEXTS if text != "short")


@pytest.mark.parametrize(
    "change",
    [
        {"limit": 32},
        {"rule": ends_decoded_together},
        {"source": "other data"},
        {"name": "llama3"},
        {"texts": [TEXTS[0] + " "]},
    ],
)
def test_anything_else_is_cut_anew(cut_prompts, change):
    run()
    cut_prompts.clear()
    wanted = {"texts": TEXTS, "limit": 31, "rule": halves_decoded_apart, "name": "gpt2"} | change
    cut = run(**change)
    expected = truncate(wanted["texts"], build(wanted["name"]), wanted["limit"], wanted["rule"])
    assert [prompt.text for prompt in cut] == [prompt.text for prompt in expected]
    assert cut_prompts[0] == wanted["texts"][0]


@pytest.mark.parametrize("raw", [b"", b"x", b"[]", b'{"half', b"\xff"])
def test_a_file_that_cannot_be_read_is_made_again(folder, cut_prompts, raw):
    plain = run()
    (file,) = folder.iterdir()
    whole = file.read_bytes()
    file.write_bytes(raw)
    cut_prompts.clear()
    assert run() == plain
    assert len(cut_prompts) == len(TEXTS)
    assert file.read_bytes() == whole


def test_an_entry_that_does_not_give_its_text_is_not_used():
    cache = CutCache("key")
    cache.put(TEXTS[0], Cut(TEXTS[0][:20] + TEXTS[0][-20:], None, True))
    cache.save()
    again = CutCache("key")
    assert again.get(TEXTS[0]) == Cut(TEXTS[0][:20] + TEXTS[0][-20:], None, True)
    (entry,) = again._entries.values()
    entry[1] += 1
    assert again.get(TEXTS[0]) is None


@pytest.mark.parametrize("cut", ["", "x", "aab", "abcab", "zab", "abz", "a\ufffdb", "ab", "abcabz"])
def test_any_cut_text_comes_back(cut):
    cache = CutCache("key")
    cache.put("abcab", Cut(cut, 7, True))
    cache.save()
    assert CutCache("key").get("abcab") == Cut(cut, 7, True)


def test_a_tokenizer_without_a_description_has_no_key():
    class Slow:
        is_fast = False

    assert cache_key("data", Slow(), 5, halves_decoded_apart) is None


# ---------------------------------------------------------------------- what an entry depends on

CONFIG = {"tokenizer_class": "PreTrainedTokenizerFast", "clean_up_tokenization_spaces": False}
FLAGS = dict.fromkeys(("lstrip", "rstrip", "single_word", "normalized"), False)
FOR_BPE = "clean_up_tokenization_spaces_for_bpe_even_though_it_will_corrupt_output"
LONG = "the <s>ledger , <x> of the harbor . </s> we 've <|im_start|>"


@pytest.fixture
def loaded(tmp_path):
    """Load a tokenizer from files, anew for each change of them."""
    number = iter(range(100))

    def load(config, name="gpt2", **files):
        target = tmp_path / f"tokenizer{next(number)}"
        target.mkdir()
        (target / "tokenizer.json").write_text(build(name).backend_tokenizer.to_str())
        for file, content in {"tokenizer_config": config, **files}.items():
            (target / f"{file}.json").write_text(json.dumps(content))
        return load_tokenizer(str(target), {})

    return load


CHANGES = {
    "same": ({}, {}),
    "split": ({"split_special_tokens": True}, {}),
    "clean": ({"clean_up_tokenization_spaces": True}, {}),
    "silent": ({"clean_up_tokenization_spaces": None}, {}),
    "bpe": ({FOR_BPE: True}, {}),
    "class": ({"tokenizer_class": "LlamaTokenizer"}, {}),
    "more": ({"additional_special_tokens": ["<x>"]}, {}),
    "decoder": (
        {"added_tokens_decoder": {"900": {"content": "<x>", "special": True, **FLAGS}}},
        {},
    ),
    "plain decoder": ({"added_tokens_decoder": {"900": {"content": "<x>", **FLAGS}}}, {}),
    "map": ({}, {"special_tokens_map": {"pad_token": "<x>"}}),
    "added": ({}, {"added_tokens": {"<x>": 900}}),
    "lowercase": ({"do_lower_case": True}, {}),
    "unknown": ({"a_setting_of_tomorrow": "x"}, {}),
}


def test_every_setting_in_the_files_has_its_own_key(loaded):
    keys = {}
    for name, (change, files) in CHANGES.items():
        tokenizer = loaded(CONFIG | change, **files)
        keys[name] = cache_key("data", tokenizer, 9, RULE_V1)
    assert len(set(keys.values())) == len(CHANGES)
    again = cache_key("data", loaded(CONFIG), 9, RULE_V1)
    assert again == keys["same"]
    rules = {cache_key("data", loaded(CONFIG), 9, rule) for rule in (RULE_V1, RULE_V2, RULE_PRO)}
    assert len(rules) == 3


def test_an_edited_file_gives_a_new_cut(loaded, cut_prompts):
    """Today's cut of the prompt, not that of before the edit, and it differs for most edits."""
    texts = [LONG * 30]
    found = {}
    for name, (change, files) in CHANGES.items():
        cut_prompts.clear()
        tokenizer = loaded(CONFIG | change, **files)
        (prompt,) = prepare(texts, 31, lambda it=tokenizer: it, RULE_V1, "data")
        (plain,) = truncate(texts, tokenizer, 31, RULE_V1)
        assert prompt.text == plain.text
        assert cut_prompts == texts
        found[name] = prompt.text
    assert len({found[name] for name in ("same", "split", "clean", "more", "class")}) == 5


def test_a_file_edited_while_it_is_in_use_does_not_count_for_the_tokenizer_of_before(tmp_path):
    (tmp_path / "tokenizer.json").write_text(build("gpt2").backend_tokenizer.to_str())
    file = tmp_path / "tokenizer_config.json"
    file.write_text(json.dumps(CONFIG))
    tokenizer = load_tokenizer(str(tmp_path), {})
    before = cache_key("data", tokenizer, 9, RULE_V1)
    file.write_text(json.dumps(CONFIG | {"split_special_tokens": True}))
    assert cache_key("data", tokenizer, 9, RULE_V1) == before
