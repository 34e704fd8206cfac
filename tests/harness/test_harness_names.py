"""The installed harness has all names that docs/harness-names.md says we rely on."""

import importlib
import inspect
import re
from pathlib import Path

import pytest

PAGE = Path(__file__).resolve().parents[2] / "docs" / "harness-names.md"
TEXT = PAGE.read_text(encoding="utf-8")
ROWS = re.findall(r"^\| `(.*)` \| `(.*)` \| (.*) \| (.+) \|$", TEXT, re.MULTILINE)


def is_there(module, name):
    """Whether a module has a dotted name; "function(name)" is a parameter.

    Of a class also what its `__init__` sets.
    """
    path, _, parameter = name.removesuffix(")").partition("(")
    try:
        found = importlib.import_module(module)
    except ImportError:
        return False
    for part in path.split("."):
        if not hasattr(found, part):
            return isinstance(found, type) and any(
                part in vars(base).get("__annotations__", ())
                or part
                in getattr(vars(base).get("__init__"), "__code__", is_there.__code__).co_names
                for base in found.__mro__
            )
        found = getattr(found, part)
    return not parameter or parameter in inspect.signature(found).parameters


@pytest.mark.parametrize(("module", "name"), [row[:2] for row in ROWS])
def test_the_installed_harness_has_the_name(module, name):
    assert is_there(module, name)


def test_what_it_does_not_have_is_seen():
    assert len(ROWS) > 30
    for module, name in (
        ("lm_eval.no_such_module", "anything"),
        ("lm_eval.evaluator", "no_such_function"),
        ("lm_eval.evaluator", "evaluate(no_such_parameter)"),
        ("lm_eval.api.task", "ConfigurableTask._no_such_attribute"),
        ("lm_eval.api.task", "NoSuchTask.download"),
    ):
        assert not is_there(module, name)
