import pytest

from lm_eval_longbench.baseline.extractive import cut_at_stops, generate, read_budget

PROMPT = "Cows eat. Emma built the old tower here.\n\nwho built the tower"


@pytest.mark.parametrize(
    ("gen_kwargs", "budget"),
    [
        ({}, 256),
        ({"max_gen_toks": 3}, 3),
        ({"max_new_tokens": "4"}, 4),
        ({"max_tokens": 5}, 5),
        ({"max_completion_tokens": 6}, 6),
        ({"max_tokens": 5, "max_gen_toks": 0}, 0),
        ({"max_gen_toks": None, "max_tokens": 5}, 5),
    ],
)
def test_read_budget(gen_kwargs, budget):
    assert read_budget(gen_kwargs) == budget


@pytest.mark.parametrize(
    ("until", "text"),
    [
        (None, "a b c b"),
        ([], "a b c b"),
        ("", "a b c b"),
        ("b", "a "),
        (["c", "b"], "a "),
        (["", "x"], "a b c b"),
        (["a"], ""),
    ],
)
def test_cut_at_stops(until, text):
    assert cut_at_stops("a b c b", until) == text


def test_generate():
    assert generate(PROMPT, {"max_gen_toks": 4, "until": []}) == "Emma built the old"
    assert generate(PROMPT, {"until": [" old"], "temperature": 0.0}) == "Emma built the"


@pytest.mark.parametrize("budget", [-1, "many"])
def test_an_impossible_budget_is_refused(budget):
    with pytest.raises(ValueError):
        generate(PROMPT, {"max_gen_toks": budget})
