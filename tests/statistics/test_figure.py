"""A figure's number as a table and JSON show it."""

import pytest
from figures_of import answers_of
from scored_runs import v1_rows, v2_row

from lm_eval_longbench.statistics.figure import Rows, Unit, best, computed, mean, only, passed

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


# ---------------------------------------------------------------------- reducers and groups


def of_groups(answers, reducer, dimension):
    """The figure of each value of a dimension that a question has."""
    found = computed([Rows("{dimension}", reducer, by=(dimension,))], answers, SHARE)
    assert {figure.section for figure in found} == {dimension}
    return {figure.name: figure.tree.value for figure in found if figure.tree.n}


def repeated(name, *scores, **more):
    return [v2_row(name, score, repeat=number, **more) for number, score in enumerate(scores, 1)]


def test_any_benchmark_has_every_reducer_in_every_group():
    """Officially LongBench v2 has no best of N, and none of LongBench v1 is by repeats."""
    rows = [
        *repeated("a", 0.0, 0.0, 1.0),
        *repeated("b", 0.0, 1.0, 1.0, length="long"),
        *repeated("c", 1.0, 0.0, 0.0, length="long", difficulty="hard"),
    ]
    answers = answers_of("longbench_v2", rows)
    assert of_groups(answers, best(2), "length") == {"short": 0.0, "long": 1.0}
    assert of_groups(answers, best(2), "difficulty") == {"easy": 0.5, "hard": 1.0}
    assert of_groups(answers, passed(2), "difficulty") == {"easy": 0.5, "hard": 1.0}
    assert of_groups(answers, best(3), "domain") == {"Single-Document QA": 1.0}
    assert of_groups(answers, only(1), "length") == {
        "short": 0.0,
        "long": 0.5,
    }
    answers = answers_of("longbench_v1", v1_rows({"qasper": [0.5, 1.0], "lcc": [0.25]}))
    found = of_groups(answers, passed(1), "dataset")
    assert found == {"qasper": 0.5, "lcc": 0.0}
    # What is passed or not has the interval of a share.
    assert [own(2)(answers).binary for own in (passed, best)] == [True, False]


def test_a_group_without_a_score_has_no_best():
    rows = [*repeated("a", None, 1.0), *repeated("b", 1.0, 1.0, length="long")]
    answers = answers_of("longbench_v2", rows)
    for reducer in (best(2), passed(2), mean):
        assert of_groups(answers, reducer, "length") == {"short": None, "long": 1.0}
