"""Which limit holds, and what room the harness leaves."""

import pytest

from lm_eval_longbench.errors import OptionError, OverlengthError
from lm_eval_longbench.harness.prompts import TEMPLATE_RESERVE, Limit, resolve_limit

COMPLETIONS = {"base_url": "http://127.0.0.1:1/v1/completions", "model": "m"}


def limit(truncate_to=None, budget=100, uncut=False, **model_args):
    return resolve_limit(truncate_to, model_args, budget, uncut=uncut)


def test_truncate_to_wins_and_keeps_the_room():
    assert limit(500, max_length=4096) == Limit(500, 3996, "truncate_to=500", official=True)


@pytest.mark.parametrize("argument", ["max_length", "max_model_len", "context_length"])
def test_model_arguments_name_the_length(argument):
    found = limit(**{argument: 4096})
    assert (found.tokens, found.room) == (4096 - 100 - TEMPLATE_RESERVE, 4096 - 100)
    assert not found.official and not found.assumed
    assert found.source.startswith(f"{argument}=4096")


def test_nothing_known_is_no_limit():
    assert limit() == Limit(None, None, "unknown")
    assert limit(pretrained="no-such-organisation/no-such-model").tokens is None


def test_the_config_of_a_local_model(model_folder):
    assert limit(pretrained=model_folder).tokens == 2048 - 100 - TEMPLATE_RESERVE


def test_a_nested_text_config_comes_first(tmp_path):
    from transformers import Gemma3Config

    config = Gemma3Config(
        text_config={
            "max_position_embeddings": 777,
            "num_hidden_layers": 1,
            "layer_types": ["full_attention"],
        }
    )
    config.save_pretrained(tmp_path)
    assert limit(pretrained=str(tmp_path)).room == 777 - 100


def test_an_api_model_that_the_harness_tokenizes_for_has_its_default_length():
    found = limit(**COMPLETIONS)
    assert (found.tokens, found.room) == (2047 - 100 - TEMPLATE_RESERVE, 2047 - 100)
    assert found.assumed


def test_an_api_model_given_its_length_loses_one_token():
    found = limit(**COMPLETIONS, max_length=8192)
    assert (found.room, found.assumed) == (8191 - 100, False)


@pytest.mark.parametrize(
    "arguments",
    [
        {**COMPLETIONS, "uncut": True},
        {**COMPLETIONS, "tokenized_requests": False},
        {**COMPLETIONS, "tokenized_requests": "False"},
        {**COMPLETIONS, "tokenizer_backend": "None"},
        {**COMPLETIONS, "tokenizer_backend": None},
    ],
)
def test_nothing_is_assumed_where_the_harness_does_not_cut(arguments):
    assert limit(**arguments) == Limit(None, None, "unknown")
    given = limit(**arguments, max_length=8192)
    assert (given.tokens, given.room) == (8191 - 100 - TEMPLATE_RESERVE, None)


def test_a_length_without_room_is_an_error():
    with pytest.raises(OverlengthError, match="no room for a prompt"):
        limit(max_length=128)


def test_an_api_model_is_cut_by_max_length_alone():
    """The harness passes over max_model_len there and keeps its 2,048."""
    found = limit(**COMPLETIONS, max_model_len=32768)
    assert found.room == 2047 - 100
    assert limit(**COMPLETIONS, max_model_len=32768, max_length=8192).room == 8191 - 100
    chat = limit(**COMPLETIONS, max_model_len=32768, uncut=True)
    assert chat.tokens == 32767 - 100 - TEMPLATE_RESERVE


@pytest.mark.parametrize("value", [True, "True"])
def test_truncation_at_the_end_is_refused(value):
    with pytest.raises(OptionError, match="question included"):
        limit(max_length=4096, truncation=value)
