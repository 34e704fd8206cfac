"""Requests that fit the model, chat template included."""

import pytest

from lm_eval_longbench.errors import OverlengthError
from lm_eval_longbench.harness.fit import Request, fit_to_room
from lm_eval_longbench.harness.limit import Limit
from lm_eval_longbench.prompts.prepare import prepare
from lm_eval_longbench.prompts.truncation import count_tokens, halves_decoded_apart

WHOLE = ["short prompt", "a long prompt about lanterns and orchards, " * 60]


@pytest.fixture
def tokenizer(tokenizer_folder):
    from transformers import AutoTokenizer

    return AutoTokenizer.from_pretrained(tokenizer_folder)


def fit(tokenizer, limit, sent, *, may_cut=True, kept=(True, True)):
    prompts = prepare(WHOLE, limit.tokens, lambda: tokenizer, halves_decoded_apart)
    request = Request(whole=WHOLE.__getitem__, sent=sent)
    return fit_to_room(
        prompts, list(kept), limit, request, lambda: tokenizer, may_cut=may_cut, task="a task"
    )


def test_nothing_changes_where_all_fits(tokenizer):
    prompts = fit(tokenizer, Limit(200, 400, "x"), lambda text: f"<|user|>\n{text}")
    assert [prompt.truncated for prompt in prompts] == [False, True]
    assert prompts[0].text == WHOLE[0]


def test_cuts_the_whole_prompt_anew_and_by_no_more_than_needed(tokenizer):
    def sent(text):
        return "system " * 100 + text

    short, long = fit(tokenizer, Limit(200, 264, "x"), sent)
    assert short.text == WHOLE[0]
    length = count_tokens(tokenizer, sent(long.text))
    assert 264 - 12 <= length <= 264
    kept = count_tokens(tokenizer, long.text)
    assert any(
        long.text == prepare([WHOLE[1]], n, lambda: tokenizer, halves_decoded_apart)[0].text
        for n in range(kept - 4, kept + 5)
    )


def test_a_prompt_that_was_short_enough_is_cut_when_the_template_needs_room(tokenizer):
    length = count_tokens(tokenizer, WHOLE[1])
    limit = Limit(length, length + 5, "x")
    _, long = fit(tokenizer, limit, lambda text: "system " * 50 + text)
    assert long.truncated
    assert long.tokens == length


def test_an_official_limit_is_never_changed(tokenizer):
    with pytest.raises(OverlengthError, match=r"a task: with truncate_to=200 .* on the left"):
        fit(
            tokenizer,
            Limit(200, 210, "truncate_to=200", official=True),
            lambda text: "system " * 50 + text,
            may_cut=False,
        )


def test_a_skipped_document_does_not_matter(tokenizer):
    fit(
        tokenizer,
        Limit(200, 210, "x", official=True),
        lambda text: text if text == "?" else "system " * 500 + text,
        may_cut=False,
        kept=(False, False),
    )


def test_a_template_that_leaves_no_room_is_an_error(tokenizer):
    with pytest.raises(OverlengthError, match="leaves too little room"):
        fit(tokenizer, Limit(100, 120, "x"), lambda text: "system " * 500 + text)
