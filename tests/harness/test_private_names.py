"""The names of the harness that this package relies on: all there, missed with one line."""

import pytest

from lm_eval_longbench.errors import LongBenchError
from lm_eval_longbench.harness import private_names
from lm_eval_longbench.harness.private_names import NAMES, is_there, require

ALL = [name for names in NAMES.values() for name in names]


@pytest.mark.parametrize("name", ALL)
def test_the_installed_harness_has_the_name(name):
    assert is_there(name)


@pytest.mark.parametrize(
    "name",
    [
        "lm_eval.no_such_module:anything",
        "lm_eval.evaluator:no_such_function",
        "lm_eval.evaluator:evaluate(no_such_parameter)",
        "lm_eval.api.task:ConfigurableTask._no_such_attribute",
        "lm_eval.api.task:NoSuchTask.download",
    ],
)
def test_what_it_does_not_have_is_seen(name):
    assert not is_there(name)


@pytest.mark.parametrize("needed_for", NAMES)
def test_a_needed_name_that_is_gone_gives_one_line(monkeypatch, needed_for):
    require(needed_for)
    gone = f"{NAMES[needed_for][0].split('(')[0]}_moved"
    monkeypatch.setattr(private_names, "NAMES", {**NAMES, needed_for: (*NAMES[needed_for], gone)})
    private_names.missing.cache_clear()
    try:
        with pytest.raises(LongBenchError) as caught:
            require(needed_for)
    finally:
        private_names.missing.cache_clear()
    message = str(caught.value)
    assert message.startswith("lm_eval 0.") and "\n" not in message
    assert gone.replace(":", ".") in message and "pip install 'lm-eval==" in message
