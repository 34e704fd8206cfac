"""A figure's number as a table and JSON show it."""

import pytest

from lm_eval_longbench.figures.figure import Unit

SHARE = Unit("share", 1, 100, 2)


@pytest.mark.parametrize(
    ("value", "signed", "expected"),
    [
        (None, False, "-"),
        (None, True, "-"),
        (0.0, False, "0.00"),
        (0.0, True, "0.00"),
        (-0.00001, False, "0.00"),
        (-0.00001, True, "0.00"),
        (0.00001, True, "0.00"),
        (0.00005001, True, "+0.01"),
        (-0.5, True, "-50.00"),
        (0.5, True, "+50.00"),
        (0.5, False, "50.00"),
        (1.0, False, "100.00"),
    ],
)
def test_a_number_in_a_table(value, signed, expected):
    assert SHARE.shown(value, signed=signed) == expected


def test_a_unit_may_always_have_a_sign():
    assert Unit("change", 100, 100, 1, signed=True).shown(0.25) == "+25.0"
    assert Unit("change", 100, 100, 1, signed=True).shown(0.0) == "0.0"


def test_a_number_in_json_is_not_rounded():
    assert SHARE.scaled(1 / 3) == 1 / 3
    assert Unit("percent", 100, 100, 2).scaled(0.125) == 12.5
    assert SHARE.scaled(None) is None
