"""The questions that scored samples answer, and which of their answers are repeats."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lm_eval_longbench.scoring.merge import questions
from lm_eval_longbench.scoring.score_chunk import Key, ScoredSample

TASKS = (
    ("longbench_v1", ("longbench_v1_narrativeqa", "longbench_v1_qasper")),
    ("longbench_v2", ("longbench_v2",)),
)


def sample(
    id="q", run=0, repeat=1, source=0, line=1, gold="gold", table=1, task=0, place=0, **more
):
    name, tasks = TASKS[table]
    shown = {"table": name, "task": tasks[task], "id": id, "repeat": repeat}
    return ScoredSample(Key(table, task, place, id, run, repeat, source, line), shown, gold, **more)


def found_in(*samples):
    return list(questions(sorted(samples, key=lambda one: one.key)))


def together(*samples):
    (found,) = found_in(*samples)
    return found


def numbered(found):
    """(repeat, run, number in the run) of each answer, whose line has the repeat."""
    assert [own.line["repeat"] for own in found.samples.values()] == list(found.samples)
    return [(repeat, own.key.run, own.key.repeat) for repeat, own in found.samples.items()]


def test_nothing():
    assert list(questions([])) == []


def test_questions_differ_by_table_task_place_and_id():
    found = found_in(
        sample(),
        sample(id="r"),
        sample(table=0, task=1),
        sample(table=0, task=0),
        sample(table=0, task=0, place=1),
    )
    assert [(own.table, own.task, own.id) for own in found] == [
        ("longbench_v1", "longbench_v1_narrativeqa", "q"),
        ("longbench_v1", "longbench_v1_narrativeqa", "q"),
        ("longbench_v1", "longbench_v1_qasper", "q"),
        ("longbench_v2", "longbench_v2", "q"),
        ("longbench_v2", "longbench_v2", "r"),
    ]
    assert all(len(own.samples) == 1 for own in found)


def test_ids_stand_in_the_order_of_their_characters():
    ids = ["q10", "q9", "\ud800\0", "参", "\U0001f600", "Q"]
    found = [own.id for own in found_in(*(sample(id=one) for one in ids))]
    assert found == ["Q", "q10", "q9", "参", "\ud800\0", "\U0001f600"]


def test_the_content_of_a_question_is_of_any_of_its_answers():
    assert together(sample()).content is None
    assert together(sample(content=None), sample(run=1, content=b"x")).content == b"x"


def test_one_run_keeps_its_numbers_and_its_gaps():
    assert numbered(together(sample(repeat=3), sample(repeat=1))) == [(1, 0, 1), (3, 0, 3)]


def test_a_further_run_goes_on_behind_the_first():
    found = together(*(sample(run=run, repeat=repeat) for run in (4, 7) for repeat in (1, 2, 3)))
    assert numbered(found) == [(1, 4, 1), (2, 4, 2), (3, 4, 3), (4, 7, 1), (5, 7, 2), (6, 7, 3)]


def test_a_run_that_fits_into_the_gaps_fills_them():
    found = together(sample(run=0, repeat=1), sample(run=0, repeat=3), sample(run=1, repeat=2))
    assert numbered(found) == [(1, 0, 1), (2, 1, 2), (3, 0, 3)]
    found = together(sample(run=0, repeat=1), sample(run=0, repeat=3), sample(run=1, repeat=3))
    assert numbered(found) == [(1, 0, 1), (3, 0, 3), (6, 1, 3)]


def test_the_first_of_duplicates_counts():
    first, second, third = sample(line=2), sample(line=5), sample(source=1, line=1)
    found = together(third, second, first)
    assert list(found.samples.values()) == [first]
    assert found.duplicates == [(second, first), (third, first)]
    assert found.conflicts == []


def test_answers_with_other_gold_data_are_left_out():
    first, other, more = sample(), sample(run=1, gold="other"), sample(run=2)
    found = together(first, other, more)
    assert numbered(found) == [(1, 0, 1), (2, 2, 1)]
    assert found.conflicts == [(other, first)]


@given(
    st.lists(
        st.tuples(st.integers(0, 3), st.integers(1, 4), st.integers(0, 2), st.integers(1, 3)),
        unique=True,
        min_size=1,
    )
)
def test_no_answer_is_lost_or_counted_twice(keys):
    rows = [sample(run=run, repeat=n, source=source, line=line) for run, n, source, line in keys]
    found = together(*rows)

    def keys_of(samples):
        return sorted(own.key for own in samples)

    kept = list(found.samples.values())
    left_out = [own for own, _ in found.duplicates]
    assert keys_of(kept + left_out) == keys_of(rows)
    assert sorted({(own.key.run, own.key.repeat) for own in kept}) == sorted(
        {(run, repeat) for run, repeat, _, _ in keys}
    )
    assert list(found.samples) == sorted(found.samples)
    assert all(first in kept for _, first in found.duplicates)


@pytest.mark.parametrize("runs", [2, 5])
def test_disjoint_halves_are_one_whole(runs):
    """Runs that each have other questions: every question has its one answer."""
    rows = [sample(id=f"q{number}", run=number % runs) for number in range(20)]
    found = found_in(*rows)
    assert len(found) == 20
    assert all(list(own.samples) == [1] for own in found)
