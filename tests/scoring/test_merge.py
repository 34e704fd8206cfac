"""The questions that scored samples answer, and which of their answers are repeats."""

from collections import defaultdict

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lm_eval_longbench.records.sample import Sample
from lm_eval_longbench.scoring.files import LOG, InputFile
from lm_eval_longbench.scoring.merge import Gathered, canonical, merge
from lm_eval_longbench.scoring.problems import Problems

TASKS = (
    ("longbench_v1", ("longbench_v1_narrativeqa", "longbench_v1_qasper")),
    ("longbench_v2", ("longbench_v2",)),
)


def sample(
    id="q", run=0, repeat=1, source=0, line=1, gold="gold", table=1, task=0, place=0, **more
):
    name, tasks = TASKS[table]
    own = {"run": run, "source": source, "line": line, **more}
    return Sample(name, tasks[task], id, place, repeat, "", [gold], **own)


class Found:
    """The samples that count, by question; and those that are left out, by kind."""

    def __init__(self, *samples):
        sources = [InputFile(f"f{number}", kind=LOG, number=number) for number in range(8)]
        gathered = Gathered(sources, Problems())
        gathered.samples = sorted(samples, key=canonical)
        given = {id(own): own.repeat for own in samples}
        self.questions = defaultdict(list)
        self.numbered = []
        """(repeat, run, number in the run) of each answer."""
        for table in merge(gathered, [f"run {number}" for number in range(8)]).values():
            for own in table.samples:
                self.questions[canonical(own)[:4]].append(own)
                self.numbered.append((own.repeat, own.run, given[id(own)]))
        self.left_out = {kind: gathered.problems.number(kind) for kind in ("duplicate", "foreign")}


def test_questions_differ_by_table_task_place_and_id():
    found = Found(
        sample(),
        sample(id="r"),
        sample(table=0, task=1),
        sample(table=0, task=0),
        sample(table=0, task=0, id="s", place=1),
    )
    assert list(found.questions) == [
        (0, 0, 0, "q"),
        (0, 0, 1, "s"),
        (0, 1, 0, "q"),
        (2, 0, 0, "q"),
        (2, 0, 0, "r"),
    ]


def test_ids_stand_in_the_order_of_their_characters():
    ids = ["q10", "q9", "\ud800\0", "参", "\U0001f600", "Q"]
    found = Found(*(sample(id=one) for one in ids)).questions
    assert [id for *_, id in found] == ["Q", "q10", "q9", "参", "\ud800\0", "\U0001f600"]


@pytest.mark.parametrize(
    ("answers", "numbered"),
    [
        # One run keeps its numbers and its gaps.
        ([(0, 3), (0, 1)], [(1, 0, 1), (3, 0, 3)]),
        # A further run goes on behind the first.
        ([(4, 1), (4, 2), (7, 1), (7, 2)], [(1, 4, 1), (2, 4, 2), (3, 7, 1), (4, 7, 2)]),
        # A run that fits into the gaps fills them.
        ([(0, 1), (0, 3), (1, 2)], [(1, 0, 1), (2, 1, 2), (3, 0, 3)]),
        ([(0, 1), (0, 3), (1, 3)], [(1, 0, 1), (3, 0, 3), (6, 1, 3)]),
    ],
)
def test_the_numbers_of_repeats(answers, numbered):
    assert Found(*(sample(run=run, repeat=n) for run, n in answers)).numbered == numbered


def test_the_first_of_duplicates_counts():
    first = sample(line=2)
    found = Found(sample(source=1, line=1), sample(line=5), first)
    assert list(found.questions.values()) == [[first]]
    assert found.left_out == {"duplicate": 2, "foreign": 0}


def test_answers_with_other_gold_data_are_left_out():
    found = Found(sample(), sample(run=1, gold="other"), sample(run=2))
    assert found.numbered == [(1, 0, 1), (2, 2, 1)]
    assert found.left_out == {"duplicate": 0, "foreign": 1}


@given(
    st.lists(
        st.tuples(st.integers(0, 3), st.integers(1, 4), st.integers(0, 2), st.integers(1, 3)),
        unique=True,
        min_size=1,
    )
)
def test_no_answer_is_lost_or_counted_twice(keys):
    found = Found(*(sample(run=run, repeat=n, source=own, line=at) for run, n, own, at in keys))
    (kept,) = found.questions.values()
    assert len(kept) + found.left_out["duplicate"] == len(keys)
    assert sorted((run, given) for _, run, given in found.numbered) == sorted(
        {(run, repeat) for run, repeat, _, _ in keys}
    )
    repeats = [own.repeat for own in kept]
    assert repeats == sorted(set(repeats))
