"""The public interface is what `__all__` says, for callers and for type checkers alike."""

import ast
import inspect
from pathlib import Path

import pytest

import lm_eval_longbench

SOURCE = Path(lm_eval_longbench.__file__)


def test_every_name_is_there_and_explains_itself():
    assert sorted(lm_eval_longbench.__all__) == lm_eval_longbench.__all__
    assert set(lm_eval_longbench.__all__) <= set(dir(lm_eval_longbench))
    for name in lm_eval_longbench.__all__:
        found = getattr(lm_eval_longbench, name)
        assert name == "__version__" or inspect.getdoc(found)
    with pytest.raises(AttributeError, match="no attribute 'evaluat'"):
        lm_eval_longbench.evaluat  # noqa: B018


def test_type_checkers_see_every_name_where_it_lies():
    block, lazy = (n for n in ast.parse(SOURCE.read_text()).body if isinstance(n, ast.If))
    assert {node.name for node in lazy.body} == {"__getattr__", "__dir__"}
    seen = {
        (node.module.removeprefix("lm_eval_longbench."), alias.asname or alias.name)
        for node in block.body
        for alias in node.names
    }
    places = {(place, name) for place, own in lm_eval_longbench._PLACES.items() for name in own}
    assert seen == places
    assert {name for _, name in places} | {"__version__"} == set(lm_eval_longbench.__all__)
    assert SOURCE.with_name("py.typed").exists()
