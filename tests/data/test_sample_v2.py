"""The embedded sample of LongBench v2: its rows, and answers that follow from the documents."""

import csv
import json
import re
from collections import Counter
from pathlib import Path

import pytest

import lm_eval_longbench
from lm_eval_longbench.benchmarks.longbench_v2 import CHOICES, DIFFICULTIES, DOMAINS, LENGTHS
from lm_eval_longbench.data.rows_v2 import FIELDS, problem_of
from lm_eval_longbench.prompts.longbench_v2 import NO_CONTEXT, ZERO_SHOT, render

FILE = Path(lm_eval_longbench.__file__).parent / "data" / "sample" / "longbench_v2" / "data.json"
ROWS = json.loads(FILE.read_text(encoding="utf-8"))
MARKS = ("$DOC$", "$Q$", "$C_A$", "$C_B$", "$C_C$", "$C_D$", "$COT$")


def right(row):
    """The text of the right choice."""
    return row[f"choice_{row['answer']}"].strip()


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
    assert tuple(row) == FIELDS
    assert all(type(value) is str for value in row.values())
    assert problem_of(row) is None
    assert re.fullmatch("[0-9a-f]{24}", row["_id"])
    assert row["sub_domain"]
    assert row["context"].strip()
    assert len({text.strip() for text in choices(row)}) == 4


def test_ids_are_unique():
    assert len({row["_id"] for row in ROWS}) == len(ROWS) == 18


def test_every_domain_has_every_length_and_both_difficulties():
    assert {row["domain"] for row in ROWS} == set(DOMAINS.values())
    for domain in DOMAINS.values():
        own = [row for row in ROWS if row["domain"] == domain]
        assert sorted(row["length"] for row in own) == sorted(LENGTHS)
        assert {row["difficulty"] for row in own} == set(DIFFICULTIES)


def test_every_difficulty_is_there_in_every_length():
    pairs = {(row["difficulty"], row["length"]) for row in ROWS}
    assert pairs == {(difficulty, length) for difficulty in DIFFICULTIES for length in LENGTHS}


def test_longer_buckets_have_longer_texts():
    sizes = {
        length: [len(row["context"].encode()) for row in ROWS if row["length"] == length]
        for length in LENGTHS
    }
    assert max(sizes["short"]) < min(sizes["medium"])
    assert max(sizes["medium"]) < min(sizes["long"])


def test_each_letter_is_right_about_as_often():
    letters = Counter(row["answer"] for row in ROWS)
    assert sorted(letters) == list(CHOICES)
    assert max(letters.values()) - min(letters.values()) <= 1


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


# ---------------------------------------------------------------------- answers from the texts


def test_the_bridge_to_be_repaired_first():
    row = the_one("which bridge of chapter 3 is repaired first")
    weights = {}
    for entry in re.findall(r"^3\.\d+ .*$", row["context"], re.MULTILINE):
        place, grade, year, crossings = (
            re.search(pattern, entry)[1]
            for pattern in (
                r"^3\.\d+ (\w+)\.",
                r"[gG]rade ([A-D])",
                r"\bin (20\d\d)",
                r"(\d+) (?:times|crossings) a day",
            )
        )
        if grade == "C" and int(year) >= 2018:
            to_school = "is on no child's way to school" not in entry
            weights[place] = int(crossings) * (2 if to_school else 1)
    assert len(weights) > 5
    assert right(row) == f"The bridge at {max(weights, key=weights.get)}"


def test_the_money_that_is_lacking():
    text = the_one("Skerry signed the order")["context"]

    def number(pattern):
        (found,) = re.findall(pattern, text)
        return int(found.replace(",", ""))

    metres = number(r"carried away (\d+) metres") - number(r"that (\d+) of these metres")
    paid = number(r"voted ([\d,]+) crowns") + number(r"worth ([\d,]+) crowns")
    lacking = metres * number(r"for (\d+) crowns a metre, she") - paid
    lacking += number(r"value of ([\d,]+) crowns")
    assert right(the_one("Skerry signed the order")) == f"{lacking:,} crowns"


def test_the_richest_player():
    row = the_one("most coins in the purse")
    purses = Counter()
    for game in row["context"].split("[Round ")[1:]:
        said = re.findall(r"^(\w+): (\{.*\})$", game, re.MULTILINE)
        gifts = {player: json.loads(text)["give"] for player, text in said}
        share = int(re.search(r"each of you gets (\d+)\.", game)[1])
        assert share * 4 == sum(gifts.values()) * 2
        for player, gift in gifts.items():
            purses[player] += 10 - gift + share
    (first, most), (_, second), *_ = purses.most_common()
    assert most > second
    assert right(row) == first


def test_the_books_for_children():
    row = the_one("一共借出了多少册童书")
    branch = row["question"].split("分馆")[0]
    table = csv.DictReader(row["context"][row["context"].index("编号") :].splitlines())
    counts = [
        int(line["册数"])
        for line in table
        if (line["分馆"], line["类别"], line["日期"][5:7]) == (branch, "童书", "05")
    ]
    assert len(counts) > 2
    assert right(row) == f"{sum(counts)}册"


def test_the_valley_of_the_teachers_teacher():
    row = the_one("In which valley does the teacher of")
    person = re.search(r"the teacher of (.+)’s teacher live", row["question"])[1]
    triples = [line.split(" | ") for line in row["context"].splitlines()[2:]]
    assert len(triples) > 300

    def follow(subject, relation):
        (found,) = (thing for head, name, thing in triples if (head, name) == (subject, relation))
        return found

    for relation in ("apprentice_of", "apprentice_of", "lives_in", "lies_in_the_valley_of"):
        person = follow(person, relation)
    assert right(row) == f"In the valley of {person}"
