"""Reading pass one's log: missing, partial and foreign ones are errors that name the ids."""

import json

import pytest

from lm_eval_longbench.benchmarks.modes import read_reasoning
from lm_eval_longbench.errors import DataError

TEMPLATE = "f" * 64
QUESTIONS = [
    {"_id": f"id{number}", "question": f"q{number}", **{f"choice_{x}": x for x in "ABCD"}}
    for number in range(12)
]


def row(question, text, **more):
    doc = {**question, "prompt": {"template_sha256": TEMPLATE}, **more}
    return {"doc_id": 0, "doc": doc, "resps": [[text]], "filtered_resps": ["other"]}


ROWS = [row(question, f"thought on {question['_id']}\n") for question in QUESTIONS]
THOUGHTS = {question["_id"]: f"thought on {question['_id']}\n" for question in QUESTIONS}


@pytest.fixture
def log(tmp_path):
    def write(rows, name="samples_longbench_v2_cot_2026-01-02T03-04-05.678.jsonl"):
        file = tmp_path / name
        file.parent.mkdir(parents=True, exist_ok=True)
        lines = [one if isinstance(one, str) else json.dumps(one) for one in rows]
        file.write_text("".join(line + "\n" for line in lines), encoding="utf-8")
        return file

    return write


def test_a_whole_log(log):
    assert read_reasoning(str(log(ROWS)), QUESTIONS, TEMPLATE, "local-1") == THOUGHTS


def test_a_part_of_the_questions_may_be_asked(log):
    wanted = QUESTIONS[3:5]
    assert list(read_reasoning(str(log(ROWS)), wanted, TEMPLATE, "local-1")) == ["id3", "id4"]


def test_a_folder_is_searched_and_other_tasks_logs_are_passed_over(log, tmp_path):
    log(ROWS[:6], "model/samples_longbench_v2_cot_2026-01-02T03-04-05.678.jsonl")
    log(ROWS[6:], "reasoning_longbench_v2_cot_2026-01-02T03-04-05.678_rank1.jsonl")
    log(["{"], "model/samples_longbench_v2_cot_answer_2026-01-02T03-04-05.678.jsonl")
    log(["{"], "model/samples_longbench_v2_2026-01-02T03-04-05.678.jsonl")
    assert read_reasoning(str(tmp_path), QUESTIONS, TEMPLATE, "local-1") == THOUGHTS


def test_a_request_that_a_rank_was_sent_twice(log):
    """The harness pads uneven ranks: the last request of one has a second answer, not scored."""
    padded = {**ROWS[3], "resps": [["thought on id3\n", "again"]]}
    padded["filtered_resps"] = ["thought on id3\n"]
    rows = [*ROWS[:3], padded, *ROWS[4:]]
    assert read_reasoning(str(log(rows)), QUESTIONS, TEMPLATE, "local-1") == THOUGHTS


def test_other_documents_under_the_same_questions(log):
    rows = [row(QUESTIONS[0], "x", data="local-2")]
    with pytest.raises(DataError, match="line 1, is of other data: 'local-2', and asked is"):
        read_reasoning(str(log(rows)), QUESTIONS, TEMPLATE, "local-1")


def test_a_row_that_says_nothing_of_its_prompt(log):
    rows = [row(QUESTIONS[0], "x", prompt=None)]
    found = read_reasoning(str(log(rows)), QUESTIONS[:1], TEMPLATE, "local-1")
    assert found == {"id0": "x"}


def test_the_same_row_twice_is_no_conflict_but_another_reasoning_is(log):
    assert read_reasoning(str(log([*ROWS, ROWS[0]])), QUESTIONS, TEMPLATE, "local-1") == THOUGHTS
    with pytest.raises(DataError, match="line 13, has another reasoning for id0"):
        read_reasoning(str(log([*ROWS, row(QUESTIONS[0], "else")])), QUESTIONS, TEMPLATE, "local-1")


def test_a_partial_log_names_the_missing_ids(log):
    with pytest.raises(DataError, match="no reasoning for 2 of 12 questions: id0, id11\\. "):
        read_reasoning(str(log(ROWS[1:-1])), QUESTIONS, TEMPLATE, "local-1")
    with pytest.raises(DataError, match=r"no reasoning for 12 of 12 questions: .*id9, \.\.\."):
        read_reasoning(str(log([])), QUESTIONS, TEMPLATE, "local-1")


def test_a_log_of_other_data_names_the_ids(log):
    rows = [row({**QUESTIONS[0], "choice_C": "another"}, "x"), *ROWS[1:]]
    with pytest.raises(DataError, match=r"log of other data: .* under the ids id0"):
        read_reasoning(str(log(rows)), QUESTIONS, TEMPLATE, "local-1")


def test_a_log_of_another_task_is_refused(log):
    rows = [row(QUESTIONS[0], "x", prompt={"template_sha256": "0" * 64})]
    with pytest.raises(DataError, match="line 1, is not of the task longbench_v2_cot"):
        read_reasoning(str(log(rows)), QUESTIONS, TEMPLATE, "local-1")


@pytest.mark.parametrize(
    ("bad", "reason"),
    [
        ("{", "line 2, is not JSON"),
        ("[]", "line 2, is not of a sample log"),
        ('{"doc": {"id": "x"}}', "line 2, is not of a sample log"),
        ('{"doc": {"_id": "x"}, "resps": [["a", "b"]]}', "line 2, does not hold one response"),
        ('{"doc": {"_id": "x"}, "resps": [[null]]}', "line 2, does not hold one response"),
    ],
)
def test_damaged_rows_are_named(log, bad, reason):
    with pytest.raises(DataError, match=reason):
        read_reasoning(str(log([ROWS[0], bad])), QUESTIONS, TEMPLATE, "local-1")


def test_no_log(tmp_path):
    with pytest.raises(DataError, match="does not exist"):
        read_reasoning(str(tmp_path / "none.jsonl"), QUESTIONS, TEMPLATE, "local-1")
    with pytest.raises(DataError, match="has no samples_longbench_v2_cot_"):
        read_reasoning(str(tmp_path), QUESTIONS, TEMPLATE, "local-1")
