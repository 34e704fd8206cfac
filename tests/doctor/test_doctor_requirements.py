"""The tested ranges come from the package's own metadata."""

from importlib.metadata import requires

import pytest

from lm_eval_longbench.doctor.environment import (
    PACKAGE,
    accepted_range,
    installed,
    python_range,
    same,
)


def test_ranges_are_those_of_the_metadata():
    (own,) = [text for text in requires(PACKAGE) if text.startswith("lm-eval<")]
    assert own == f"lm-eval{accepted_range('lm_eval')}"
    assert str(accepted_range("jieba")) == "==0.42.1"
    assert python_range().contains("3.10") and not python_range().contains("3.9")


def test_an_extra_does_not_make_a_core_requirement():
    """sentence-transformers is required by extras alone."""
    assert any(text.startswith("sentence-transformers") for text in requires(PACKAGE))
    assert str(accepted_range("sentence-transformers")) == ""


@pytest.mark.parametrize(("one", "other"), [("lm_eval", "lm-eval"), ("PyYAML", "pyyaml")])
def test_spellings_of_a_name(one, other):
    assert same(one, other)
    assert not same(one, "other")


def test_what_is_not_installed_has_no_version():
    assert installed("jieba") == "0.42.1"
    assert installed("no-such-package-anywhere") is None
