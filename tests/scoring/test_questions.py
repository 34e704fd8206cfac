"""The answers to a question are put together, whichever runs they are from."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lm_eval_longbench.scoring.store import questions
from lm_eval_longbench.scoring.store import Row

GOLD = b"12345678"


def row(id="q", run=0, repeat=1, source=0, line=1, gold=GOLD, table=2, task=0, place=0):
    return Row(
        table, task, place, id.encode(), run, repeat, source, line, gold, 1.0, 0, None, 0, "{}"
    )


def together(*rows):
    (found,) = questions(sorted(rows))
    return found


def numbered(found):
    """(repeat, run, number in the run) of each answer."""
    return [(repeat, own.run, own.repeat) for repeat, own in found.rows.items()]


def test_nothing():
    assert list(questions([])) == []


def test_questions_differ_by_table_task_place_and_id():
    rows = [
        row(),
        row(id="r"),
        row(table=7, task=0),
        row(table=7, task=1),
        row(table=0, place=0),
        row(table=0, place=1),
    ]
    found = list(questions(sorted(rows)))
    assert [(own.table.name, own.task, own.id) for own in found] == [
        ("longbench_v1", "longbench_v1_narrativeqa", "q"),
        ("longbench_v1", "longbench_v1_narrativeqa", "q"),
        ("longbench_v2", "longbench_v2", "q"),
        ("longbench_v2", "longbench_v2", "r"),
        ("longbench_pro", "longbench_pro_t1_1", "q"),
        ("longbench_pro", "longbench_pro_t1_2", "q"),
    ]
    assert all(len(own.rows) == 1 for own in found)


def test_one_run_keeps_its_numbers_and_its_gaps():
    assert numbered(together(row(repeat=3), row(repeat=1))) == [(1, 0, 1), (3, 0, 3)]


def test_a_further_run_goes_on_behind_the_first():
    found = together(*(row(run=run, repeat=repeat) for run in (4, 7) for repeat in (1, 2, 3)))
    assert numbered(found) == [(1, 4, 1), (2, 4, 2), (3, 4, 3), (4, 7, 1), (5, 7, 2), (6, 7, 3)]


def test_a_run_that_fits_into_the_gaps_fills_them():
    found = together(row(run=0, repeat=1), row(run=0, repeat=3), row(run=1, repeat=2))
    assert numbered(found) == [(1, 0, 1), (2, 1, 2), (3, 0, 3)]
    found = together(row(run=0, repeat=1), row(run=0, repeat=3), row(run=1, repeat=3))
    assert numbered(found) == [(1, 0, 1), (3, 0, 3), (6, 1, 3)]


def test_the_first_of_duplicates_counts():
    first, second, third = row(line=2), row(line=5), row(source=1, line=1)
    found = together(third, second, first)
    assert list(found.rows.values()) == [first]
    assert found.duplicates == [(second, first), (third, first)]
    assert found.conflicts == []


def test_answers_with_other_gold_data_are_left_out():
    first, other, more = row(), row(run=1, gold=b"other"), row(run=2)
    found = together(first, other, more)
    assert numbered(found) == [(1, 0, 1), (2, 2, 1)]
    assert found.conflicts == [(other, first)]


def test_ids_that_utf8_cannot_hold():
    odd = "\ud800\0"
    own = row()._replace(id=odd.encode("utf-8", "surrogatepass"))
    assert together(own).id == odd


@given(
    st.lists(
        st.tuples(st.integers(0, 3), st.integers(1, 4), st.integers(0, 2), st.integers(1, 3)),
        unique=True,
        min_size=1,
    )
)
def test_no_answer_is_lost_or_counted_twice(keys):
    rows = [row(run=run, repeat=n, source=source, line=line) for run, n, source, line in keys]
    found = together(*rows)
    kept = list(found.rows.values())
    left_out = [own for own, _ in found.duplicates]
    assert sorted(kept + left_out) == sorted(rows)
    assert sorted({(own.run, own.repeat) for own in kept}) == sorted(
        {(run, repeat) for run, repeat, _, _ in keys}
    )
    assert list(found.rows) == sorted(found.rows)
    assert all(first in kept for _, first in found.duplicates)


@pytest.mark.parametrize("runs", [2, 5])
def test_disjoint_halves_are_one_whole(runs):
    """Runs that each have other questions: every question has its one answer."""
    rows = [row(id=f"q{number}", run=number % runs) for number in range(20)]
    found = list(questions(sorted(rows)))
    assert len(found) == 20
    assert all(list(own.rows) == [1] for own in found)
