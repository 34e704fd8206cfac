"""Requests that fit the model, chat template included."""

import pytest

from lm_eval_longbench.errors import OverlengthError
from lm_eval_longbench.harness.prompts import Fitting, Limit
from lm_eval_longbench.prompts.prepare import prepare
from lm_eval_longbench.prompts.truncation import count_tokens, halves_decoded_apart

WHOLE = ["short prompt", "a long prompt about lanterns and orchards, " * 60]


@pytest.fixture
def tokenizer(tokenizer_folder):
    from transformers import AutoTokenizer

    return AutoTokenizer.from_pretrained(tokenizer_folder)


def fitting(limit, room, sent, tokenizer):
    tokens = Limit(limit, room, "given")
    return Fitting("a task", tokens, sent, lambda: tokenizer, halves_decoded_apart)


def tokens_over(prompts, limit, room, sent, tokenizer):
    return fitting(limit, room, sent, tokenizer).over(prompts, limit)


def prepared(tokenizer, limit):
    return prepare(WHOLE, limit, lambda: tokenizer, halves_decoded_apart)


def test_counts_the_tokens_of_the_request_as_sent(tokenizer):
    def sent(text):
        return "system " * 100 + text

    prompts = prepared(tokenizer, 200)
    lengths = [count_tokens(tokenizer, sent(prompt.text)) for prompt in prompts]
    assert lengths[1] > 250 > lengths[0]
    assert tokens_over(prompts, 200, 250, sent, tokenizer) == [0, lengths[1] - 250]


def test_a_token_that_the_template_wrote_is_not_counted_twice(tokenizer):
    prompts = prepared(tokenizer, 200)
    plain = count_tokens(tokenizer, prompts[1].text)
    (_, over) = tokens_over(prompts, 200, plain - 10, lambda text: f"<s>{text}", tokenizer)
    assert over == 10


def test_an_unmeasured_prompt_is_measured(tokenizer):
    from lm_eval_longbench.prompts.prepare import Prompt

    length = count_tokens(tokenizer, WHOLE[1])
    assert tokens_over([Prompt(WHOLE[1])], length, length - 7, str, tokenizer) == [7]


def test_every_prompt_is_measured_where_the_backend_has_other_ids(tokenizer_folder, tmp_path):
    """Files of a Llama class without its beginning of text: officially it is there."""
    import json
    import shutil

    from lm_eval_longbench.prompts.tokenizer import load_tokenizer
    from lm_eval_longbench.prompts.truncation import counts_as_installed

    folder = shutil.copytree(tokenizer_folder, tmp_path / "other")
    (folder / "config.json").unlink(missing_ok=True)
    config = {"tokenizer_class": "LlamaTokenizer", "add_bos_token": False}
    (folder / "tokenizer_config.json").write_text(json.dumps(config))
    tokenizer = load_tokenizer(str(folder), {})
    assert not counts_as_installed(tokenizer)
    (prompt,) = prepare(WHOLE[:1], 500, lambda: tokenizer, halves_decoded_apart)
    length = count_tokens(tokenizer, WHOLE[0])
    assert tokens_over([prompt], 500, length - 1, str, tokenizer) == [1]


def test_cuts_the_whole_prompt_anew_and_by_no_more_than_needed(tokenizer):
    def sent(text):
        return "system " * 100 + text

    (cut,) = prepared(tokenizer, 200)[1:]
    (over,) = tokens_over([cut], 200, 264, sent, tokenizer)
    assert over > 0
    again = fitting(200, 264, sent, tokenizer).cut(WHOLE[1], over)
    assert again.truncated
    assert 264 - 12 <= count_tokens(tokenizer, sent(again.text)) <= 264
    possible = [
        prepare([WHOLE[1]], limit, lambda: tokenizer, halves_decoded_apart)[0].text
        for limit in range(200 - over - 8, 200 - over + 1)
    ]
    assert again.text in possible


def test_a_template_that_leaves_no_room_is_an_error(tokenizer):
    def sent(text):
        return "system " * 500 + text

    with pytest.raises(OverlengthError, match="leaves too little"):
        fitting(100, 120, sent, tokenizer).cut(WHOLE[1], 500)
