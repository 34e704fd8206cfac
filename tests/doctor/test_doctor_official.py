"""Official limits and budgets."""

from lm_eval_longbench.doctor.official import budgets, limits
from lm_eval_longbench.presets.longbench_pro import find_preset


def test_limits():
    assert limits("v1") == (3500, 7500, 15500, 31500)
    assert limits("v2") == (120_000, 200_000)
    assert {120_000, 224_000, 1_000_000} <= set(limits("pro"))


def test_budgets_of_pro_are_those_of_the_published_models():
    preset = find_preset("Gemini-2.5-Flash", thinking=True)
    assert preset.max_gen_toks in budgets("pro", 1024)
    assert {1024, 8192} <= set(budgets("pro", 1024))
    assert budgets("v1", 64) == (64,)
