"""The official cuts, against a slow and obvious way to make them."""

import json
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lm_eval_longbench.prompts.truncation import (
    Cut,
    count_tokens,
    ends_decoded_together,
    halves_decoded_apart,
    truncate,
)

GOLDEN = Path(__file__).resolve().parents[3] / "shared" / "golden"
RULES = {"v1": halves_decoded_apart, "v2_and_pro": ends_decoded_together}
LIMITS = [2, 3, 4, 5, 7, 8, 16, 33, 64]
PARTS = [
    "the fox ",
    "今天天气很好，",
    "会议",
    "🙂",
    "👩\u200d👧",
    "naïve",
    "{input}",
    "\n\n",
    " ",
    "<s>",
]
texts = st.lists(st.one_of(st.sampled_from(PARTS), st.text(max_size=8)), max_size=40).map("".join)


def cut_slowly(tokenizer, prompt, limit, rule):
    """Cut one prompt with the tokenizer's innermost part, token by token."""
    inner = tokenizer.backend_tokenizer
    ids = inner.encode(prompt).ids

    def decode(part):
        return inner.decode(list(part), skip_special_tokens=True)

    if len(ids) <= limit:
        return Cut(prompt, len(ids), False)
    if rule == "v1":
        half = limit // 2
        head = [ids[number] for number in range(half)]
        tail = [ids[len(ids) - half + number] for number in range(half)]
        return Cut(decode(head) + decode(tail), len(ids), True)
    head = [ids[number] for number in range(limit // 2)]
    tail = [ids[len(ids) - (limit - limit // 2) + number] for number in range(limit - limit // 2)]
    return Cut(decode(head + tail), len(ids), True)


def counted(cuts, expected):
    """Fill in the lengths that nobody had to count."""
    cuts = list(cuts)
    return [
        replace(cut, tokens=other.tokens) if cut.tokens is None else cut
        for cut, other in zip(cuts, expected, strict=True)
    ]


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("kind", ["plain", "with_bos"])
@settings(max_examples=60)
@given(data=st.data())
def test_any_text_is_cut_as_the_slow_way_cuts_it(request, kind, rule, data):
    tokenizer = request.getfixturevalue(kind)
    prompts = data.draw(st.lists(texts, max_size=5))
    limit = data.draw(st.one_of(st.sampled_from(LIMITS), st.integers(2, 200)))
    expected = [cut_slowly(tokenizer, prompt, limit, rule) for prompt in prompts]
    assert counted(truncate(prompts, tokenizer, limit, RULES[rule]), expected) == expected


@pytest.mark.parametrize("rule", RULES)
def test_the_limit_itself_is_not_too_long(plain, with_bos, rule):
    for tokenizer in (plain, with_bos):
        prompt = "the quick brown fox 今天 🙂"
        tokens = count_tokens(tokenizer, prompt)
        (whole,) = truncate([prompt], tokenizer, tokens, RULES[rule])
        assert whole == Cut(prompt, tokens, False)
        (cut,) = truncate([prompt], tokenizer, tokens - 1, RULES[rule])
        assert (cut.tokens, cut.truncated) == (tokens, True)
        assert cut.text != prompt


def test_the_first_token_counts(plain, with_bos):
    prompt = "the fox"
    assert count_tokens(with_bos, prompt) == count_tokens(plain, prompt) + 1
    assert count_tokens(with_bos, prompt, special=False) == count_tokens(plain, prompt)
    assert with_bos(prompt)["input_ids"][0] == with_bos.bos_token_id
    # With a limit of 2 the head is that token, which is not part of the text.
    (cut,) = truncate(["xyz"], with_bos, 2, halves_decoded_apart)
    assert cut == Cut("z", 4, True)
    (cut,) = truncate(["xyz"], plain, 2, halves_decoded_apart)
    assert cut == Cut("xz", 3, True)


def letters(ids):
    return "".join("abcdefghij"[number] for number in ids)


@pytest.mark.parametrize(
    ("limit", "apart", "together"),
    [
        (2, "a|j", "aj"),
        (3, "a|j", "aij"),
        (4, "ab|ij", "abij"),
        (5, "ab|ij", "abhij"),
        (8, "abcd|ghij", "abcdghij"),
        (9, "abcd|ghij", "abcdfghij"),
    ],
)
def test_odd_and_even_limits(limit, apart, together):
    decoded = []

    def decode(ids):
        decoded.append(letters(ids))
        return decoded[-1]

    assert halves_decoded_apart(range(10), limit, decode) == apart.replace("|", "")
    assert decoded == apart.split("|")
    decoded.clear()
    assert ends_decoded_together(range(10), limit, decode) == together
    assert decoded == [together]


def test_two_decodes_are_not_one(plain):
    """A character whose pieces end up on either side of the cut is broken by the v1 rule."""
    first, *rest = plain("🦔")["input_ids"]
    assert rest
    (x,) = plain("x")["input_ids"]
    half = len(rest)
    ids = [*[x] * (half - 1), first, *[x] * 20, *rest]

    def decode(part):
        return plain.decode(part, skip_special_tokens=True)

    assert ends_decoded_together(ids, 2 * half, decode) == "x" * (half - 1) + "🦔"
    apart = halves_decoded_apart(ids, 2 * half, decode)
    assert "🦔" not in apart
    assert apart.startswith("x" * (half - 1) + "\ufffd")


def test_prompts_are_cut_as_they_are_asked_for(plain):
    reader = truncate(["x" * 50] * 1000, plain, 4, halves_decoded_apart)
    assert next(reader).truncated
    assert sum(1 for _ in reader) == 999


def test_a_tokenizer_that_would_truncate_itself_is_kept_from_it(plain, caplog):
    before = plain.model_max_length
    plain.model_max_length = 5
    try:
        (cut,) = truncate(["x y " * 30], plain, 10, halves_decoded_apart)
    finally:
        plain.model_max_length = before
    assert cut.tokens > 10
    assert cut.text.startswith("x y")
    assert caplog.records == []


@pytest.mark.skipif(not GOLDEN.is_dir(), reason="no shared/golden folder beside this repository")
def test_golden_cuts():
    from transformers import AutoTokenizer

    lines = (GOLDEN / "truncation.jsonl").read_text(encoding="utf-8").split("\n")
    cases = [json.loads(line) for line in lines if line]
    assert len(cases) == 80
    seen = set()
    for name in ("plain", "bos"):
        tokenizer = AutoTokenizer.from_pretrained(GOLDEN / "tokenizers" / name)
        for case in (case for case in cases if case["tokenizer"] == name):
            for key, rule in RULES.items():
                (cut,) = truncate([case["prompt"]], tokenizer, case["max_length"], rule)
                assert cut.text == case[key]
                assert cut.tokens in (None, case["prompt_tokens"])
                assert cut.truncated == (case["prompt_tokens"] > case["max_length"])
                seen.add((name, key, cut.truncated, case["max_length"] % 2))
    assert len(seen) >= 12  # both tokenizers and rules, cut and whole, odd and even
