"""The unit of work of a process: lines in, rows and problems out."""

import json
import pickle

from prediction_rows import log_row, pro_row, v1_doc, v1_row, v2_question, v2_row

from lm_eval_longbench.input_files import Chunk
from lm_eval_longbench.scoring.problems import SHOWN
from lm_eval_longbench.scoring.score_chunk import score_chunk
from lm_eval_longbench.scoring.files import LOG, Source
from MISSING:offline.source import PRO_FILE, V1_FILE, V2_FILE

V1 = Source(3, 2, "in/qasper.jsonl", V1_FILE, "longbench_v1", "longbench_v1_qasper")
V2 = Source(0, 0, "in/v2.jsonl", V2_FILE, "longbench_v2", "longbench_v2")


def chunk(*lines, line=1, index=0):
    raw = [one if isinstance(one, bytes) else json.dumps(one).encode() for one in lines]
    return Chunk(b"".join(one + b"\n" for one in raw), line, index)


def test_rows_carry_their_key_and_what_they_are_worth():
    found = score_chunk(V1, chunk(v1_row("Emma", "Emma"), b"", v1_row("", "x"), line=7, index=5))
    assert (found.source, found.lines) == (3, 2)
    first, second = found.rows
    assert first[:8] == (0, 1, 5, b"5", 2, 1, 3, 7)
    assert second[:8] == (0, 1, 6, b"6", 2, 1, 3, 9)
    assert (first.score, first.failed, first.truncated) == (1.0, 0, None)
    assert (second.score, second.failed) == (0.0, 1)
    assert json.loads(first.shown) == {"dataset": "qasper", "index": 5, "document": None}
    assert found.labels == {(0, 1, None)}


def test_bad_lines_are_named_whatever_they_are():
    lines = [
        b"{",
        b"\x00",
        b"[" * 100_000,
        b'{"pred": "\xff"}',
        b'{"a": 1} x',
        b"1" * 5000,
        None,
        {},
    ]
    found = score_chunk(V1, chunk(*lines, v1_row("Emma", "Emma")))
    assert [(bad.file, bad.line) for bad in found.bad] == [
        ("in/qasper.jsonl", number) for number in range(1, len(lines) + 1)
    ]
    assert all(bad.reason.startswith("not JSON (") for bad in found.bad[:6])
    assert str(found.bad[6]) == "in/qasper.jsonl, line 7: not a JSON object"
    assert found.bad_number == {"malformed": len(lines)}
    assert (found.lines, len(found.rows)) == (len(lines) + 1, 1)
    # They keep their place among the lines.
    assert found.rows[0].id == b"8"


def test_of_many_bad_lines_the_first_are_kept():
    found = score_chunk(V1, chunk(*[b"{"] * (2 * SHOWN)))
    assert [bad.line for bad in found.bad] == list(range(1, SHOWN + 1))
    assert found.bad_number["malformed"] == 2 * SHOWN


def test_what_is_wrong_with_a_file_is_a_problem_at_its_line():
    found = score_chunk(V1, Chunk(b"", 9, 8, "it ends early"))
    assert [str(bad) for bad in found.bad] == ["in/qasper.jsonl, line 9: it ends early"]


def test_texts_that_utf8_cannot_hold_are_scored():
    found = score_chunk(V1, chunk(b'{"pred": "\\ud800 Emma\\u0000", "answers": ["Emma"]}'))
    assert found.bad == []
    row = v2_row("\ud800")
    assert score_chunk(V2, chunk(row)).rows[0].id == b"\xed\xa0\x80"


def test_answers_of_one_question_have_one_gold_hash():
    one = score_chunk(V1, chunk(v1_row("a", "x", "y"))).rows[0].gold
    assert score_chunk(V1, chunk(v1_row("b", "x", "y"))).rows[0].gold == one
    for other in (v1_row("a", "x"), v1_row("a", "y", "x"), v1_row("a", "x", "y", classes=["z"])):
        assert score_chunk(V1, chunk(other)).rows[0].gold != one
    hashes = {
        score_chunk(V2, chunk(row)).rows[0].gold
        for row in (v2_row("q"), v2_row("q", answer="C"), v2_row("q", length="long"), v2_row("r"))
    }
    assert len(hashes) == 3


def test_logs_give_a_row_an_answer_and_their_label():
    task = "longbench_v1_qasper"
    source = Source(0, 0, "log", LOG, filter="none")
    row = log_row(task, v1_doc(task, 0, "x"), "a", "x", data="sample-1")
    found = score_chunk(source, chunk(row))
    assert [(own.repeat, own.score) for own in found.rows] == [(1, 0.0), (2, 1.0)]
    assert found.labels == {(0, 1, "sample-1")}


def test_summaries_bring_their_texts():
    source = Source(0, 0, "pro", PRO_FILE, "longbench_pro")
    rows = [
        pro_row("q1", "x"),
        pro_row("q2", "a summary", code="t4_1", answer=["one", "two"]),
        pro_row("q3", "", code="t4_1"),
    ]
    found = score_chunk(source, chunk(*rows))
    assert found.summaries == {
        (1, False): ("a summary", ["one", "two"]),
        (2, False): ("", ["Emma"]),
    }


def test_letters_that_differ_from_the_stored_ones():
    rows = [v2_row("q1"), {**v2_row("q2"), "pred": "D"}, {**v2_question("q3"), "pred": "D"}]
    found = score_chunk(V2, chunk(*rows))
    assert found.differing == [
        {"file": "in/v2.jsonl", "line": 2, "id": "q2", "stored": "D", "extracted": "B"}
    ]
    assert found.differing_number == 1


def test_an_outcome_travels_between_processes():
    found = score_chunk(V1, chunk(v1_row("Emma", "Emma"), b"{"))
    again = pickle.loads(pickle.dumps(found))
    assert (again.rows, again.bad, again.labels) == (found.rows, found.bad, found.labels)
