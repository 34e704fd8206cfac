"""The fast ways of cutting give exactly what the official rule gives, and are really taken."""

import json
import logging
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from oracles.tokenizer_zoo import CORPUS, KINDS, build, byte_level, panicking
from tokenizers import normalizers

from lm_eval_longbench.errors import TokenizerError
from lm_eval_longbench.prompts.tokenizer import load_tokenizer
from lm_eval_longbench.prompts.tokens.fast import FastTokenizer, cutting_tokenizer, fast_tokenizer
from lm_eval_longbench.prompts.tokens.rules import WORD, TokenizerRules
from lm_eval_longbench.prompts.truncation import (
    RULE_V1,
    count_many,
    count_tokens,
    ends_decoded_together,
    halves_decoded_apart,
    truncate,
)

pytestmark = pytest.mark.slow

GOLDEN = Path(__file__).parents[3] / "shared" / "golden"
RULES = (halves_decoded_apart, ends_decoded_together)
PIECES = [
    *("a", "b ", " c", "the ", "ledger", "Hello world", "lo wo", " the", "hello", "I'S", "it's x"),
    *(" ", "  ", "   ", "\n", "\n\n", "\r\n", "\t", "\u3000", "\xa0", " \n a", "x \u0301y"),
    *("e\u0301", "，", "。", ",", ".", "的", "合同", "的，的", "合，", "。今"),
    *("今天的会议说明，合同里没有预算。", "1", "1234567", " 42 ", "½", "ﬁ", "㎏", "ﷺ", "İ", "Å"),
    *("ﾊﾟ", "각", "\u1112\u1161\u11ab", "हिन्दी", "🙂", "👩‍👩‍👧", "🇩🇪", "\u200d", "\ufeff", "\x00"),
    *("▁", "▁a", "a▁b", "_", "<s>", "</s>", "<s", "<mask>", "\u212a", "\u0958"),
    *("<|im_start|>", " <|im_start|> ", "a" * 40, " " * 40, "\n" * 20, "!" * 20, "'", "''s", "/\n"),
    "The old keeper of the tower said that the meadow is theirs ",
]
TEXT = st.lists(st.sampled_from(PIECES) | st.text(max_size=3), max_size=60).map("".join)
TEXT = TEXT.map(lambda text: text.encode("utf-8", "ignore").decode())


def official(tokenizer, text, limit, rule):
    """The rule in its plainest form: one prompt, all ids."""
    ids = tokenizer(text)["input_ids"]
    if len(ids) <= limit:
        return text, False
    return rule(ids, limit, lambda some: tokenizer.decode(some, skip_special_tokens=True)), True


@pytest.fixture
def small_blocks(monkeypatch):
    monkeypatch.setattr(FastTokenizer, "first_block", 12)
    monkeypatch.setattr(FastTokenizer, "block", 30)


@pytest.fixture
def counted(monkeypatch):
    """The number of characters that are tokenized, after the tokenizer was checked."""
    seen = []
    plain = FastTokenizer._encode

    def encode(self, text, special):
        seen.append(len(text))
        return plain(self, text, special)

    monkeypatch.setattr(FastTokenizer, "_encode", encode)
    return seen


# Few examples of each: the kinds share what they are made of.
@pytest.mark.parametrize("name", KINDS)
@settings(max_examples=40)
@given(text=TEXT)
def test_tokenizing_between_all_cuts_gives_the_ids_of_the_whole(name, text):
    tokenizer = build(name)
    fast = fast_tokenizer(tokenizer)
    ids = tokenizer(text)["input_ids"]
    assert fast.ids(text) == ids
    assert not fast.rules.bounded or fast.every_cut(text) == ids
    assert not fast.surely_within(text, len(ids) - 1)


@pytest.mark.parametrize("name", KINDS)
def test_cutting_is_the_official_rule(name, small_blocks):
    tokenizer = build(name)
    fast = fast_tokenizer(tokenizer)

    @settings(max_examples=25)
    @given(
        texts=st.lists(st.tuples(TEXT, st.integers(1, 3)), min_size=1, max_size=4),
        limit=st.integers(2, 120),
    )
    def check(texts, limit):
        prompts = [text * times for text, times in texts]
        for rule in RULES:
            cuts = list(truncate(iter(prompts), tokenizer, limit, rule))
            wanted = [official(tokenizer, prompt, limit, rule) for prompt in prompts]
            assert [(cut.text, cut.truncated) for cut in cuts] == wanted
            for prompt, cut in zip(prompts, cuts, strict=True):
                assert cut.tokens in (None, len(tokenizer(prompt)["input_ids"]))

    check()
    assert fast.trusts_cuts == bool(KINDS[name][1])


@pytest.mark.parametrize("name", ["plain", "bos"])
def test_the_golden_cases_hold_on_the_fast_way(name, small_blocks, counted):
    if not (GOLDEN / "truncation.jsonl").is_file():
        pytest.skip("the golden data is not here")
    from transformers import AutoTokenizer

    tokenizer = AutoTokenizer.from_pretrained(str(GOLDEN / "tokenizers" / name))
    assert fast_tokenizer(tokenizer).trusts_cuts
    lines = (GOLDEN / "truncation.jsonl").read_text(encoding="utf-8").splitlines()
    cases = [case for case in map(json.loads, lines) if case["tokenizer"] == name]
    partly = 0
    for case in cases:
        for rule, wanted in zip(RULES, ("v1", "v2_and_pro"), strict=True):
            (cut,) = truncate([case["prompt"]], tokenizer, case["max_length"], rule)
            assert cut.text == case[wanted]
            assert cut.tokens in (None, case["prompt_tokens"])
            partly += cut.truncated and cut.tokens is None
    assert partly > len(cases) / 2


@pytest.mark.parametrize("name", [name for name, kind in KINDS.items() if "WORD" in kind[1]])
def test_of_a_long_english_prompt_only_the_ends_are_tokenized(name, counted, monkeypatch):
    tokenizer = build(name)
    fast_tokenizer(tokenizer)
    text = " ".join(CORPUS[0] + CORPUS[5] for _ in range(1500))
    counted.clear()
    (cut,) = truncate([text], tokenizer, 2000, ends_decoded_together)
    assert sum(counted) < len(text) / 10
    assert (cut.text, True) == official(tokenizer, text, 2000, ends_decoded_together)
    assert cut.tokens is None


@pytest.mark.parametrize("name", [name for name, kind in KINDS.items() if "HAN" in kind[1]])
def test_of_a_long_chinese_prompt_only_the_ends_are_tokenized(name, counted):
    tokenizer = build(name)
    fast_tokenizer(tokenizer)
    text = (CORPUS[3] + CORPUS[4][:17]) * 2000
    counted.clear()
    (cut,) = truncate([text], tokenizer, 3000, halves_decoded_apart)
    assert sum(counted) < len(text) / 4
    assert (cut.text, True) == official(tokenizer, text, 3000, halves_decoded_apart)


def test_chinese_without_any_cut_is_tokenized_whole(counted):
    tokenizer = build("llama2")
    fast_tokenizer(tokenizer)
    text = "合同的预算会议在今天" * 5000
    counted.clear()
    (cut,) = truncate([text], tokenizer, 500, halves_decoded_apart)
    assert counted == [len(text)]
    assert cut.text == official(tokenizer, text, 500, halves_decoded_apart)[0]


def test_a_prompt_short_in_bytes_needs_no_tokenizer(counted):
    for name, text, sure in (
        ("gpt2", "合同的预算" * 100, True),
        ("qwen", "合同的预算，会议。é🙂" * 100, True),
        ("qwen", "\u0958" * 100, False),
        ("qwen", "हिन्दी" * 100, True),
        ("nfkc", "plain text " * 100, False),
        ("longer", "plain text " * 100, False),
    ):
        tokenizer = build(name)
        assert fast_tokenizer(tokenizer).surely_within(text, len(text.encode()) + 1) is sure
        counted.clear()
        (cut,) = truncate([text], tokenizer, len(text.encode()) + 1, halves_decoded_apart)
        assert (counted == [], cut.tokens is None) == (sure, sure)


def test_a_tokenizer_class_with_its_own_call_is_asked_itself():
    from transformers import PreTrainedTokenizerFast

    class Own(PreTrainedTokenizerFast):
        def _encode_plus(self, text, *args, **kwargs):
            encoded = super()._encode_plus(text, *args, **kwargs)
            encoded["input_ids"] = [*encoded["input_ids"], *encoded["input_ids"]]
            return encoded

    tokenizer = Own(tokenizer_object=build("gpt2").backend_tokenizer)
    assert fast_tokenizer(tokenizer) is None
    text = "the ledger of the harbor " * 20
    (cut,) = truncate([text], tokenizer, 50, halves_decoded_apart)
    assert (cut.text, True) == official(tokenizer, text, 50, halves_decoded_apart)


def test_tokens_added_later_are_seen():
    tokenizer = KINDS["gpt2"][0]()
    before = fast_tokenizer(tokenizer)
    assert fast_tokenizer(tokenizer) is before
    tokenizer.add_tokens(["harbor the"])
    after = fast_tokenizer(tokenizer)
    assert after.rules.added == (*before.rules.added, "harbor the")
    text = "the harbor the harbor " * 30
    assert after.every_cut(text) == tokenizer(text)["input_ids"]


def test_a_cut_that_does_not_hold_is_noticed(monkeypatch, caplog):
    tokenizer = KINDS["gpt2"][0]()
    fast = fast_tokenizer(tokenizer)
    text = "the ledger of the harbor " * 4000
    monkeypatch.setattr(FastTokenizer, "holds", lambda self, text, cut: False)
    with caplog.at_level(logging.WARNING):
        (cut,) = truncate([text], tokenizer, 100, halves_decoded_apart)
    assert "does not do what its description says" in caplog.text
    assert not fast.trusts_cuts
    assert cut.tokens == len(tokenizer(text)["input_ids"])
    assert cut.text == official(tokenizer, text, 100, halves_decoded_apart)[0]


def test_rules_that_a_check_contradicts_are_not_used(monkeypatch, caplog):
    from lm_eval_longbench.prompts.tokens import fast as module

    for wrong in (
        TokenizerRules(bounded=True),
        TokenizerRules(places=WORD, skip_space=True),
        TokenizerRules(places="(?<=[a-z])(?=[a-z])"),
    ):
        tokenizer = byte_level()
        tokenizer.backend_tokenizer.normalizer = normalizers.Replace("a", "ﷺﷺ")
        monkeypatch.setattr(module, "read_rules", lambda _, wrong=wrong: wrong)
        assert fast_tokenizer(tokenizer).rules == TokenizerRules()


ENGLISH = "the ledger of the harbor lists copper, " * 30


def test_a_tokenizer_that_panics_on_a_probe_is_asked_itself(caplog):
    tokenizer = panicking()
    with caplog.at_level(logging.WARNING):
        assert fast_tokenizer(tokenizer) is None
        cuts = list(truncate([ENGLISH, "the"], tokenizer, 50, RULE_V1))
    assert caplog.text == ""
    assert (cuts[0].text, True) == official(tokenizer, ENGLISH, 50, halves_decoded_apart)
    assert (cuts[1].text, cuts[1].truncated) == ("the", False)
    assert list(count_many(tokenizer, [(ENGLISH, True)])) == [cuts[0].tokens]


def test_files_that_make_a_panicking_tokenizer_are_asked_without_any_proof(tmp_path, caplog):
    panicking().save_pretrained(tmp_path)
    config = json.loads((tmp_path / "tokenizer_config.json").read_text())
    config |= {"tokenizer_class": "LlamaTokenizer", "add_bos_token": True}
    (tmp_path / "tokenizer_config.json").write_text(json.dumps(config))
    with caplog.at_level(logging.WARNING):
        tokenizer = load_tokenizer(str(tmp_path), {})
        fast = cutting_tokenizer(tokenizer)
        (cut,) = truncate([ENGLISH], tokenizer, 50, RULE_V1)
    assert "report this" not in caplog.text
    assert not fast.trusts_cuts
    assert cut.tokens == len(fast.ids(ENGLISH))
    with pytest.raises(TokenizerError, match="cannot tokenize"):
        list(truncate(["合同"], tokenizer, 2, RULE_V1))


@pytest.mark.parametrize("kind", ["as it is", "fast"])
def test_a_prompt_that_makes_it_panic_is_an_error_that_says_what_to_do(kind, monkeypatch):
    tokenizer = panicking()
    if kind == "fast":  # the probes did not show it
        from lm_eval_longbench.prompts.tokens import fast as module

        monkeypatch.setattr(module, "_probes", lambda added: ["plain words"])
        assert fast_tokenizer(tokenizer) is not None
    prompts = iter(["the ledger", ENGLISH, "a naïve café " * 50])
    with pytest.raises(TokenizerError, match=r"650 characters.*naïve.*PanicException") as caught:
        list(truncate(prompts, tokenizer, 9, RULE_V1))
    assert "option 'tokenizer'" in str(caught.value)
    assert type(caught.value.__cause__).__name__ == "PanicException"
    with pytest.raises(TokenizerError, match="cannot tokenize"):
        count_tokens(tokenizer, "é")
    with pytest.raises(TokenizerError, match="cannot tokenize"):
        list(count_many(tokenizer, [("the", True), ("é", False)]))


def test_an_interruption_is_no_error_of_the_tokenizer(monkeypatch):
    tokenizer = KINDS["gpt2"][0]()
    fast_tokenizer(tokenizer)

    def interrupted(self, text, limit):
        raise KeyboardInterrupt

    monkeypatch.setattr(FastTokenizer, "tokenize", interrupted)
    with pytest.raises(KeyboardInterrupt):
        list(truncate([ENGLISH], tokenizer, 9, RULE_V1))


def test_ids_that_cannot_be_decoded_are_an_error_that_says_what_to_do():
    """As transformers 5.0.0 gives them for some Python tokenizers."""

    class Broken:
        is_fast = False
        name_or_path = "someone/something"

        def __call__(self, text, **_):
            return {"input_ids": [None] * len(text)}

        def decode(self, ids, **_):
            return "".join(map(chr, ids))

    with pytest.raises(TokenizerError, match="'someone/something' cannot tokenize"):
        list(truncate(["abcdef"], Broken(), 2, ends_decoded_together))
