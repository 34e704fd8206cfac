"""The embedded sample is whole, its answers are right, and wrong ones are noticed."""

import copy
from pathlib import Path

import pytest
import sample_answers
from sample_answers import QUESTIONS, checks_of_files, checks_of_questions, problem, problems

import lm_eval_longbench

FOLDER = Path(lm_eval_longbench.__file__).parent / "data" / "sample"
QUESTION_CHECKS = checks_of_questions(FOLDER)


@pytest.fixture
def sample(tmp_path):
    """A copy of the sample."""
    for file in FOLDER.rglob("*.json*"):
        own = tmp_path / file.relative_to(FOLDER)
        own.parent.mkdir(exist_ok=True)
        own.write_bytes(file.read_bytes())
    return tmp_path


def test_every_answer_is_right():
    assert problems(FOLDER) == []
    assert len({name for name, *_ in QUESTION_CHECKS}) == QUESTIONS == 205
    assert len(checks_of_files(FOLDER)) == 36


def test_what_is_wrong_is_said(sample):
    file = sample / "longbench_v2" / "data.json"
    file.write_text(file.read_text().replace('"answer": "C"', '"answer": "D"', 1))
    said = "\n".join(problems(sample))
    assert "v2 1: the answer is 'Captain Rusk" in said
    assert "the files are not those of the sample" in said


def answers_of(row):
    return row["answers"] if "answers" in row else row["answer"]


def wrong_answers(name, row):
    """Other answers of the same kind: none is as right as the row's own."""
    own = answers_of(row)
    if isinstance(own, str):
        return [letter for letter in "ABCD" if letter != own]
    if own in [[letter] for letter in "ABCDEF"]:
        return [[letter] for letter in "ABCDEF" if letter != own[0]]
    kind = name.rpartition(" ")[0] + " " if "answers" in row else name.split(".")[0] + "."
    others = [
        answers_of(arguments[-1])
        for other, _, arguments in QUESTION_CHECKS
        if other.startswith(kind) and arguments[-1].get("language") == row["language"]
    ]
    found = [other for other in others if other != own]
    if "answers" not in row and len(own) > 1:
        found += [own[1:], [*own[:-1], own[0]]]
        if not name.startswith("pro T4"):  # three references of one summary
            found += [own[::-1], [*own[:-1], own[-1] + "x"]]
    return found


@pytest.mark.parametrize("check", QUESTION_CHECKS, ids=lambda check: check[0])
def test_a_wrong_answer_is_noticed(check):
    name, function, (*others, row) = check
    wrong = wrong_answers(name, row)
    assert wrong
    for answer in wrong:
        mutant = {**row, "answers" if "answers" in row else "answer": answer}
        assert problem((name, function, (*others, mutant))), answer


@pytest.mark.parametrize("check", QUESTION_CHECKS, ids=lambda check: check[0])
def test_a_text_without_what_tells_the_answer_is_noticed(check):
    name, function, (*others, row) = check
    for context in ("", row["context"][: len(row["context"]) // 40]):
        mutant = {**row, "context": context, "input": ""}
        assert problem((name, function, (*others, mutant)))


def test_a_missing_or_doubled_question_is_noticed(sample):
    file = sample / "longbench_v1" / "lsht.jsonl"
    lines = file.read_bytes().splitlines(keepends=True)
    for changed in (lines[:-1], [*lines, lines[-1]], lines[::-1]):
        file.write_bytes(b"".join(changed))
        said = "\n".join(problems(sample))
        assert "lsht" in said or "questions were checked, not 205" in said
    file.write_bytes(b"".join(lines))
    assert problems(sample) == []


def one_byte(path):
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(content)


def added(path):
    path.with_name(f"extra_{path.name}").write_bytes(path.read_bytes())


@pytest.mark.parametrize("change", [one_byte, added])
def test_a_changed_file_is_noticed(sample, change):
    change(sample / "longbench_v1" / "trec_e.jsonl")
    assert sample_answers.digest(sample) != sample_answers.SHA256


def test_files_are_checked_as_a_whole(sample):
    for check in checks_of_files(sample):
        name, function, arguments = check
        assert problem(check) is None
        if function is not sample_answers.check_v1_file:
            (rows,) = arguments
            changed = copy.deepcopy(rows)
            changed[0] = {**rows[1]}
            assert problem((name, function, (changed,)))
