"""The table of LongBench v2: failed and missing answers counted three ways."""

import pytest
from longbench_v2_facts import COUNTS
from scored_runs import v2_row, write_run

from lm_eval_longbench.benchmarks.longbench_v2_figures import (
    ACCURACY,
    COMPENSATED,
    OFFICIAL,
    STRICT,
)
from lm_eval_longbench.reporting.report import make_report
from lm_eval_longbench.reporting.scored_run import read_run
from lm_eval_longbench.statistics.intervals import wilson_interval

NAMES = ("overall", "easy", "hard", "short", "medium", "long")


def rows_of(folder):
    (benchmark,) = make_report([read_run(folder)]).benchmarks
    return benchmark.rows


def figures(folder):
    return {(row.section, row.name): row.figures[0] for row in rows_of(folder)}


def failed(name, **more):
    return v2_row(
        name, 0.0, failed=True, dropped=True, unparsed=True, compensated=0.25, choice=None, **more
    )


ROWS = [
    v2_row("a", 1.0),
    v2_row("b", 0.0, difficulty="hard", length="medium"),
    failed("c", difficulty="hard"),
    v2_row("d", 0.0, unparsed=True, compensated=0.25, difficulty="hard", length="medium"),
    v2_row("e", 1.0, difficulty="hard", domain="Code Repository Understanding"),
]


def test_hand_worked_on_other_data(tmp_path):
    found = figures(write_run(tmp_path / "r", ROWS))
    values = {
        # overall, easy (a), hard (b c d e), short (a c e), medium (b d), long
        ACCURACY: (2 / 5, 1, 1 / 4, 2 / 3, 0, None),
        OFFICIAL: (2 / 4, 1, 1 / 3, 1, 0, None),
        STRICT: (2 / 5, 1, 1 / 4, 2 / 3, 0, None),
        COMPENSATED: (2.25 / 4, 1, 1.25 / 3, 1, 0.125, None),
    }
    for section, expected in values.items():
        assert [found[section, name].value for name in NAMES] == [
            value if value is None else pytest.approx(value) for value in expected
        ]
    assert [found[ACCURACY, name].n for name in NAMES] == [5, 1, 4, 3, 2, 0]
    assert [found[OFFICIAL, name].n for name in NAMES] == [4, 1, 3, 2, 2, 0]
    assert [found[ACCURACY, name].failed for name in NAMES] == [1, 0, 1, 1, 0, 0]
    assert {found[OFFICIAL, name].failed for name in NAMES} == {0}
    assert found[ACCURACY, "Code Repository Understanding"].value == 1
    assert found[ACCURACY, "Multi-Document QA"].value is None


def test_strict_is_over_the_official_questions_where_the_data_is_official(tmp_path):
    found = figures(write_run(tmp_path / "r", ROWS, official_data=True))
    right = {"overall": (2, 503), "easy": (1, 192), "hard": (1, 311)}
    right |= {"short": (2, 180), "medium": (0, 215), "long": (0, 108)}
    right |= {name: (0, number) for name, number in COUNTS["domain"].items()}
    right |= {"Single-Document QA": (1, 175), "Code Repository Understanding": (1, 50)}
    for name, (number, of) in right.items():
        figure = found[STRICT, name]
        assert (figure.value, figure.n) == (pytest.approx(number / of), of)
        assert (figure.low, figure.high) == wilson_interval(number, of)
    assert found[ACCURACY, "overall"].value == 2 / 5


def test_repeats(tmp_path):
    rows = [v2_row("a", 1.0), failed("a", repeat=2), failed("b"), failed("b", repeat=2)]
    rows += [v2_row("c", 1.0)]  # has no second answer
    found = figures(write_run(tmp_path / "r", rows))
    assert found[ACCURACY, "overall"].value == pytest.approx((0.5 + 0 + 1) / 3)
    dropped = found[OFFICIAL, "overall"]
    assert (dropped.value, dropped.n) == (1.0, 2)  # b has no answer at all
    strict = found[STRICT, "overall"]
    assert strict.value == pytest.approx((0.5 + 0 + 0.5) / 3)  # the missing answer is wrong
    assert (strict.failed, strict.method) == (3, "none")
    many = [row | {"id": f"{row['id']}{n}"} for n in range(8) for row in rows]
    assert figures(write_run(tmp_path / "many", many))[STRICT, "overall"].method == "bootstrap"


def test_sections_that_repeat_the_official_one_are_shown_once(tmp_path):
    """Nothing failed, so that all four ways to count are one; with a failed answer they differ."""
    rows = [v2_row("a", 1.0), v2_row("b", 0.0), v2_row("c", 1.0)]
    (same,) = make_report([read_run(write_run(tmp_path / "same", rows))]).benchmarks
    assert {row.section for row in same.rows if not row.detail} == {OFFICIAL}
    assert f"Equal to {OFFICIAL}, and not repeated: {ACCURACY}; {STRICT}; {COMPENSATED}." in (
        same.notes
    )
    (other,) = make_report([read_run(write_run(tmp_path / "r", [*rows, failed("d")]))]).benchmarks
    assert {row.section for row in other.rows if not row.detail} == {OFFICIAL, ACCURACY}
    assert f"Equal to {ACCURACY}, and not repeated: {STRICT}." in other.notes
