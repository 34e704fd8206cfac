"""Questions that are there twice under another name, and the documents that questions share."""

import hashlib
import json

import pytest
from prediction_rows import (
    log_row,
    pro_question,
    pro_row,
    says,
    v1_doc,
    v1_row,
    v2_question,
    v2_row,
    write_lines,
)
from v1_tasks import E_TASKS, V1_TASKS

from lm_eval_longbench.errors import PredictionError
from lm_eval_longbench.signature.protocol import MOST_COPIES

QASPER = "longbench_v1_qasper"
PRO = "longbench_pro_t3_2"
CHOICES = {f"choice_{letter}": letter for letter in "ABCD"}


def tables(found):
    return found.report["tables"]


def copied(found):
    return found.problems.get("copied", [])


@pytest.mark.parametrize("splits", [V1_TASKS, E_TASKS], ids=["v1", "e"])
def test_one_easy_question_in_place_of_all_official_ones(score, tmp_path, splits):
    """The counts are the official ones, no line is a duplicate, and it is no official run."""
    classes = ["a class", "another"]
    for split in splits:
        rows = [v1_row("1 a class", "a class", "1", length=5, classes=classes)] * split.questions
        write_lines(tmp_path / "pred" / f"{split.label}.jsonl", *rows)
    benchmark = "v1_e" if splits is E_TASKS else "v1"
    found = score(tmp_path / "pred", benchmark=benchmark)
    (table,) = tables(found).values()
    assert table["counts"]["missing"] == table["counts"]["duplicate"] == 0
    assert {own["copies"] for own in table["tasks"].values()} == {
        split.questions - 1 for split in splits
    }
    assert len(copied(found)) == found.report["problems"]["copied_total"] == len(splits)
    with pytest.raises(PredictionError, match=f"{len(splits)} tasks with copied questions"):
        score(tmp_path / "pred", benchmark=benchmark, strict=True)


@pytest.mark.parametrize(("copies", "told"), [(MOST_COPIES, 0), (MOST_COPIES + 1, 1)])
def test_a_few_alike_are_in_the_official_data_too(score, tmp_path, copies, told):
    rows = [v1_row("x", "x", length=max(0, n - copies)) for n in range(200)]
    found = score(write_lines(tmp_path / "pred" / "qasper.jsonl", *rows))
    assert tables(found)["longbench_v1"]["tasks"][QASPER]["copies"] == copies
    expected = {"table": "longbench_v1", "task": QASPER, "questions": 200, "copies": copies}
    assert copied(found) == [expected] * told


def test_copies_under_other_ids(score, tmp_path):
    rows = [v2_row(f"q{n}", **CHOICES) for n in range(30)]
    rows += [v2_row(f"r{n}", **CHOICES, question=f"Which of {n}?") for n in range(30)]
    found = score(write_lines(tmp_path / "m.jsonl", *rows))
    assert [own["copies"] for own in copied(found)] == [29]
    # Without the choices there is no telling.
    found = score(write_lines(tmp_path / "n.jsonl", *(v2_row(f"q{n}") for n in range(30))))
    assert tables(found)["longbench_v2"]["tasks"]["longbench_v2"]["copies"] is None


def test_one_question_about_many_documents_is_no_copy(score, tmp_path):
    def row(n, document):
        return pro_row(f"q{n}", context=document, code="t3_2")

    many = write_lines(tmp_path / "a_inference_.jsonl", *(row(n, f"text {n}") for n in range(30)))
    assert copied(score(many)) == []
    one = write_lines(tmp_path / "b_inference_.jsonl", *(row(n, "text") for n in range(30)))
    assert [own["copies"] for own in copied(score(one))] == [29]
    # The official files have no documents.
    none = write_lines(tmp_path / "c_inference_.jsonl", *(pro_row(f"q{n}") for n in range(30)))
    found = score(none)
    assert tables(found)["longbench_pro"]["tasks"][PRO]["copies"] is None
    assert copied(found) == []


def v1_log(index, name, data=None, answer="Emma"):
    doc = v1_doc(QASPER, index, answer, length=index, _id=name)
    return log_row(QASPER, doc, "Emma", data=data)


def test_an_official_id_is_there_once_whatever_its_place(score, tmp_path):
    rows = [v1_log(n, f"id-{n}") for n in range(5)]
    rows += [v1_log(n, "id-1", answer="Bob") for n in (7, 9)]
    path = write_lines(tmp_path / f"samples_{QASPER}.jsonl", *rows)
    found = score(path)
    own = tables(found)["longbench_v1"]["tasks"][QASPER]
    assert (own["questions"], own["duplicate"], own["missing"]) == (5, 2, 195)
    assert own["score"] == 1.0
    assert [row["index"] for row in found.samples] == [0, 1, 2, 3, 4]
    assert [problem["reason"] for problem in found.problems["duplicate"]] == [
        f"{QASPER}, question 'id-1', answer 1 is on samples_{QASPER}.jsonl, line 2, already"
    ] * 2
    assert [problem["line"] for problem in found.problems["duplicate"]] == [6, 7]


# ---------------------------------------------------------------------- documents

DIGEST = hashlib.sha256(b"A document.").hexdigest()


def knowing(row, digest=DIGEST):
    row["doc"]["prompt"]["document_sha256"] = digest
    return row


LOGS = {
    "longbench_v1_qasper": lambda: v1_log(0, "id-0"),
    "longbench_v2": lambda: log_row("longbench_v2", v2_question("q1"), says("B")),
    PRO: lambda: log_row(PRO, pro_question("q1", code="t3_2"), "a", "b"),
}


@pytest.mark.parametrize("task", LOGS)
def test_logs_know_the_document_by_its_hash(score, tmp_path, task):
    path = tmp_path / f"samples_{task}.jsonl"
    found = score(write_lines(path, knowing(LOGS[task]())))
    assert {row["document"] for row in found.samples} == {DIGEST[:16]}
    # Logs of earlier versions, and whatever is no hash.
    found = score(write_lines(path, LOGS[task]()))
    assert {row["document"] for row in found.samples} == {None}
    for odd in (None, 5, "x" * 64, DIGEST[:16], DIGEST.upper(), ["a"]):
        found = score(write_lines(path, knowing(LOGS[task](), odd)))
        assert {row["document"] for row in found.samples} == {None}


def test_inference_files_with_a_context_know_the_document(score, tmp_path):
    rows = [pro_row("q1", context="A document."), pro_row("q2", context=""), pro_row("q3")]
    rows.append(pro_row("q4", context="half a pair \ud800"))
    found = score(write_lines(tmp_path / "m_inference_.jsonl", *map(json.dumps, rows)))
    documents = [row["document"] for row in found.samples]
    assert documents[:3] == [DIGEST[:16], None, None]
    assert len(documents[3]) == 16
