"""Which limit holds, and what room the harness leaves."""

import pytest

from lm_eval_longbench.errors import OptionError, OverlengthError
from lm_eval_longbench.harness.prompts import TEMPLATE_RESERVE, Limit, resolve_limit

API = {"base_url": "http://127.0.0.1:1/v1/completions", "model": "m"}
BUDGET = 100
KEPT_FREE = BUDGET + TEMPLATE_RESERVE


def limit(truncate_to=None, budget=BUDGET, uncut=False, **model_args):
    return resolve_limit(truncate_to, model_args, budget, uncut=uncut)


@pytest.mark.parametrize(
    ("arguments", "length", "cuts", "assumed"),
    [
        ({"max_length": 4096}, 4096, True, False),
        ({"max_length": "4096"}, 4096, True, False),
        ({"max_model_len": 4096}, 4096, True, False),
        ({"context_length": 4096}, 4096, True, False),
        # The harness tokenizes: it has a length of its own, and keeps one token for itself.
        (API, 2047, True, True),
        ({**API, "max_length": 8192}, 8191, True, False),
        # It cuts by max_length alone.
        ({**API, "max_model_len": 32768}, 2047, True, True),
        ({**API, "max_model_len": 32768, "max_length": 8192}, 8191, True, False),
        ({**API, "max_model_len": 32768, "uncut": True}, 32767, False, False),
        *(
            ({**API, "max_length": 8192, **more}, 8191, False, False)
            for more in (
                {"uncut": True},
                {"tokenized_requests": False},
                {"tokenized_requests": "False"},
                {"tokenizer_backend": "None"},
                {"tokenizer_backend": None},
            )
        ),
    ],
)
def test_the_length_that_model_arguments_name(arguments, length, cuts, assumed):
    found = limit(**arguments)
    assert (found.tokens, found.room) == (length - KEPT_FREE, length - BUDGET if cuts else None)
    assert (found.official, found.assumed) == (False, assumed)


@pytest.mark.parametrize(
    "arguments",
    [
        {},
        {"pretrained": "no-such-organisation/no-such-model"},
        {"base_url": "http://127.0.0.1:1"},
        {**API, "uncut": True},
        {**API, "tokenized_requests": False},
        {**API, "tokenizer_backend": None},
    ],
)
def test_nothing_known_is_no_limit(arguments):
    assert limit(**arguments) == Limit(None, None, "unknown")


def test_truncate_to_wins_and_keeps_the_room():
    assert limit(500, max_length=4096) == Limit(500, 3996, "truncate_to=500", official=True)


def test_the_config_of_a_local_model(model_folder, tmp_path):
    from transformers import Gemma3Config

    assert limit(pretrained=model_folder).room == 2048 - BUDGET
    nested = {"max_position_embeddings": 777, "num_hidden_layers": 1}
    Gemma3Config(text_config={**nested, "layer_types": ["full_attention"]}).save_pretrained(
        tmp_path
    )
    assert limit(pretrained=str(tmp_path)).room == 777 - BUDGET


def test_a_length_without_room_is_an_error():
    with pytest.raises(OverlengthError, match="no room for a prompt"):
        limit(max_length=128)


@pytest.mark.parametrize("value", [True, "True"])
def test_truncation_at_the_end_is_refused(value):
    with pytest.raises(OptionError, match="question included"):
        limit(max_length=4096, truncation=value)
