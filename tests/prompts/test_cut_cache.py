"""Cuts are remembered between runs, and never for a prompt that is not the same."""

import json
import logging
from pathlib import Path

import datasets
import pytest
from oracles.tokenizer_zoo import build

from lm_eval_longbench.prompts import prepare as module
from lm_eval_longbench.prompts.cut_cache import CutCache, cache_key
from lm_eval_longbench.prompts.prepare import prepare
from lm_eval_longbench.prompts.truncation import (
    Cut,
    ends_decoded_together,
    halves_decoded_apart,
    truncate,
)

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


def test_only_new_prompts_are_cut_and_those_known_stay_known(cut_prompts):
    run(TEXTS[:2])
    cut_prompts.clear()
    whole = run()
    assert cut_prompts == TEXTS[2:4]
    assert whole == prepare(TEXTS, 31, lambda: build("gpt2"), halves_decoded_apart)


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


def damaged(raw):
    digest, body = raw.split(b"\n", 1)
    return [b"", b"x", raw[:-1], digest + b"\n" + body.replace(b"[", b"[ ", 1), raw[:40], body]


def test_a_damaged_file_counts_as_none(folder, cut_prompts):
    plain = run()
    (file,) = folder.iterdir()
    whole = file.read_bytes()
    for raw in damaged(whole):
        file.write_bytes(raw)
        cut_prompts.clear()
        assert run() == plain
        assert len(cut_prompts) == len(TEXTS)
        assert json.loads(file.read_bytes().split(b"\n", 1)[1]) == json.loads(
            whole.split(b"\n", 1)[1]
        )


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


def test_what_other_processes_wrote_is_kept():
    first, second = CutCache("key"), CutCache("key")
    first.put("one", Cut("one", 1, False))
    second.put("two", Cut("two", None, False))
    first.save()
    second.save()
    assert CutCache("key").get("one") == Cut("one", 1, False)
    assert CutCache("key").get("two") == Cut("two", None, False)


def test_a_full_disk_costs_a_warning(folder, monkeypatch, caplog):
    def full(self, data):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "write_bytes", full)
    with caplog.at_level(logging.WARNING):
        cut = run()
    assert "cannot be remembered" in caplog.text
    assert "No space left" in caplog.text
    assert [prompt.text for prompt in cut] == [
        cut.text for cut in truncate(TEXTS, build("gpt2"), 31, halves_decoded_apart)
    ]
    assert list(folder.iterdir()) == []


def test_a_tokenizer_without_a_description_has_no_key():
    class Slow:
        is_fast = False

    assert cache_key("data", Slow(), 5, halves_decoded_apart) is None
