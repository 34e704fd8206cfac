import pytest
from hypothesis import given
from hypothesis import strategies as st

from lm_eval_longbench.baseline.text import count_units, cut

TEXT = st.text(alphabet=st.characters(), max_size=200) | st.text("a 中。\n\t１é", max_size=200)


@pytest.mark.parametrize(
    ("text", "units"),
    [("", 0), (" \n\u3000", 0), ("two words", 2), ("x=1;", 1), ("中文。", 3), ("GPT模型 v2", 4)],
)
def test_count_units(text, units):
    assert count_units(text) == units


def test_cut_keeps_indentation_and_drops_the_rest():
    assert cut("\t\treturn  x  # why", 2) == "\t\treturn  x"
    assert cut("一二三四", 3) == "一二三"
    assert cut("anything", 0) == ""
    assert cut("short  ", 9) == "short"


def test_cut_refuses_a_negative_budget():
    with pytest.raises(ValueError, match="-1"):
        cut("text", -1)


@given(TEXT, st.integers(0, 30))
def test_cut_is_a_beginning_within_the_budget(text, budget):
    piece = cut(text, budget)
    assert text.startswith(piece)
    assert count_units(piece) == min(budget, count_units(text))
