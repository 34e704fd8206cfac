"""The embedded sample of LongBench v2: its rows, and texts that are easily spoilt."""

import json
import re
from pathlib import Path

import pytest
from longbench_v2_facts import COUNTS
from v2_prompts import NO_CONTEXT, ZERO_SHOT, render

import lm_eval_longbench
from lm_eval_longbench.benchmarks.longbench_v2 import CHOICES, V2

FILE = Path(lm_eval_longbench.__file__).parent / "data" / "sample" / "longbench_v2" / "data.json"
ROWS = json.loads(FILE.read_text(encoding="utf-8"))
DIFFICULTIES, LENGTHS = tuple(COUNTS["difficulty"]), tuple(COUNTS["length"])
MARKS = ("$DOC$", "$Q$", "$C_A$", "$C_B$", "$C_C$", "$C_D$", "$COT$")


def choices(row):
    return [row[f"choice_{letter}"] for letter in CHOICES]


def the_one(text):
    """The row whose question or document holds a text that no other's does."""
    (row,) = (row for row in ROWS if text in row["question"] or text in row["context"])
    return row


# ---------------------------------------------------------------------- the rows


def test_the_file_is_small_and_laid_out_like_that_of_pro():
    content = FILE.read_bytes()
    assert content.decode() == json.dumps(ROWS, indent=1, ensure_ascii=False) + "\n"
    assert len(content) < 200_000


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row["_id"])
def test_row(row):
    assert tuple(row) == V2.fields
    assert all(type(value) is str for value in row.values())
    assert V2.row_problem(row) is None
    assert re.fullmatch("[0-9a-f]{24}", row["_id"])
    assert row["sub_domain"]
    assert row["context"].strip()
    assert len({text.strip() for text in choices(row)}) == 4


def test_every_difficulty_is_there_in_every_length():
    pairs = {(row["difficulty"], row["length"]) for row in ROWS}
    assert pairs == {(difficulty, length) for difficulty in DIFFICULTIES for length in LENGTHS}


# ---------------------------------------------------------------------- easily spoilt texts


def test_one_document_holds_the_literal_of_the_question():
    row = the_one("$Q$")
    assert "$Q$" in row["context"]
    prompt = render(row, ZERO_SHOT)
    assert f"Let {row['question']} be the charge" in prompt
    # Once in the document and once where it is asked.
    assert prompt.count(row["question"]) == 2
    assert render(row, NO_CONTEXT).count(row["question"]) == 1


def test_no_other_mark_is_in_a_text():
    texts = [text for row in ROWS for text in row.values()]
    assert [text.count(mark) for text in texts for mark in MARKS if mark in text] == [1]


def test_braces_are_there():
    assert any("{input}" in row["context"] for row in ROWS)
    assert any("{0}" in choice for row in ROWS for choice in choices(row))


def test_whitespace_to_strip_is_there():
    (question,) = (row for row in ROWS if row["question"] != row["question"].strip())
    assert question["question"][0].isspace()
    assert question["question"][-1].isspace()
    assert f": {question['question'].strip()}\nChoices:" in render(question, NO_CONTEXT)
    assert any(choice != choice.strip() for row in ROWS for choice in choices(row))
    assert any(row["context"] != row["context"].rstrip() for row in ROWS)


def test_some_questions_are_chinese():
    assert sum(any("\u4e00" <= char <= "\u9fff" for char in row["question"]) for row in ROWS) == 2
