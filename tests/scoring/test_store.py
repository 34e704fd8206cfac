"""Scored samples on disk, and the questions that they answer."""

import random
import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lm_eval_longbench.errors import LongBenchError
from lm_eval_longbench.scoring.store import Row, open_store, questions


def numbered_row(number, **more):
    own = Row(0, 1, number, b"q", 0, 1, 0, number + 1, b"gold", 0.5, 0, None, 0, '{"a": 1}')
    return own._replace(**more)


@pytest.fixture(params=["disk", "memory"])
def store(request, tmp_path):
    with open_store(tmp_path if request.param == "disk" else None) as opened:
        yield opened


def test_rows_come_back_in_the_order_of_their_keys(store):
    rows = [numbered_row(number) for number in range(3000)]
    rows += [
        numbered_row(5, id=b"\xed\xa0\x80\x00"),
        numbered_row(5, id=b"a"),
        numbered_row(5, run=3),
        numbered_row(5, repeat=2),
    ]
    mixed = random.Random(1).sample(rows, len(rows))
    store.add(mixed[:1000])
    store.add(mixed[1000:])
    assert list(store.rows()) == sorted(rows)


def test_values_come_back_as_they_are(store):
    one = numbered_row(0, score=None, failed=1, truncated=1, shown='{"x": "\\ud800"}')
    two = numbered_row(1, score=1 / 3, failed=0, truncated=0, gold=b"\0\xff")
    store.add([two, one])
    assert list(store.rows()) == [one, two]
    assert list(store.rows()) == [one, two]


def test_summaries_come_in_batches_and_can_be_changed_between_them(store):
    rows = [numbered_row(number, score=None) for number in range(10)]
    texts = [(own, False, f"text {own.place} \ud800", ["ref", "参考"]) for own in rows[::2]]
    store.add(rows, texts)
    sizes = []
    for batch in store.summaries(2):
        sizes.append(len(batch))
        for own, other, text, references in batch:
            assert not other
            assert text == f"text {own.place} \ud800"
            assert references == ["ref", "参考"]
        store.change([own._replace(score=1.0, failed=1, shown="{}") for own, *_ in batch])
    assert sizes == [2, 2, 1]
    assert [own.score for own in store.rows()] == [1.0, None] * 5
    assert [own.shown for own in store.rows()] == ["{}", '{"a": 1}'] * 5


def test_nothing_is_left_in_the_folder(tmp_path):
    with open_store(tmp_path / "new" / "deeper") as store:
        store.add([numbered_row(0)])
        assert list((tmp_path / "new" / "deeper").iterdir())
    assert list((tmp_path / "new" / "deeper").iterdir()) == []
    with pytest.raises(KeyboardInterrupt), open_store(tmp_path) as store:
        store.add([numbered_row(0)])
        raise KeyboardInterrupt
    assert sorted(path.name for path in tmp_path.iterdir()) == ["new"]


def test_a_folder_that_cannot_be_made(tmp_path):
    (tmp_path / "out").write_text("mine")
    with pytest.raises(LongBenchError, match="cannot be written") as caught:
        open_store(tmp_path / "out").__enter__()
    assert str(tmp_path / "out") in str(caught.value)


FULL = """
import resource, sys
from pathlib import Path
from lm_eval_longbench.errors import LongBenchError
from lm_eval_longbench.scoring.store import Row
from lm_eval_longbench.scoring.store import open_store

# No file may grow beyond a megabyte from here on, as if the disk were full.
resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 20, 1 << 20))
shown = '"' + "x" * 1000 + '"'
try:
    with open_store(Path(sys.argv[1])) as store:
        for start in range(0, 200_000, 1000):
            rows = range(start, start + 1000)
            store.add(
                Row(0, 0, n, b"q", 0, 1, 0, n, b"gold", 0.5, 0, None, 0, shown) for n in rows
            )
except LongBenchError as error:
    sys.stdout.write(str(error))
"""


def test_a_full_disk_is_named_and_leaves_nothing(tmp_path):
    done = subprocess.run(
        [sys.executable, "-c", FULL, str(tmp_path)], capture_output=True, text=True, check=True
    )
    assert done.stdout.startswith(f"{tmp_path}, where scored samples are sorted, cannot be used:")
    assert "Free some space" in done.stdout
    assert list(tmp_path.iterdir()) == []


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
