"""Whatever is in the files: good rows are scored, the others counted and named."""

import pytest
from prediction_rows import log_row, pro_row, v1_doc, v1_row, v2_question, v2_row, write_lines

from lm_eval_longbench.errors import PredictionError

BAD = [
    "{",
    '{"pred": "cut in the mid',
    b"\xff\xfe{",
    b"\x00\x00",
    "[" * 100_000,
    "null",
    "[]",
    '"text"',
    "{}",
    "1" * 5000,
]
QASPER = "longbench_v1_qasper"
# A good row of each kind, what else is wrong with rows of that kind, and a file name.
KINDS = {
    "v1": (
        v1_row("Emma", "Emma"),
        [{"pred": "x"}, v1_row(None, "x"), v1_row("x"), {"answers": ["x"]}],
        "pred/m/qasper.jsonl",
    ),
    "v1_e": (
        v1_row("Emma", "Emma"),
        [v1_row("x", "x", length=None), v1_row("x", "x", length="7")],
        "pred_e/m/qasper.jsonl",
    ),
    "v2": (
        v2_row("q"),
        [v2_question("r"), v2_row("r", answer="E"), {**v2_row("r"), "response": 5}],
        "m.jsonl",
    ),
    "pro": (
        pro_row("q"),
        [pro_row("r", bon_idx=0), pro_row("r", 5), pro_row("r", language="Latin")],
        "m_nonthinking_inference_1-of-1.jsonl",
    ),
    "log": (
        log_row(QASPER, v1_doc(QASPER, 0, "Emma"), "Emma"),
        [log_row(QASPER, v1_doc(QASPER, 1), "x"), log_row(QASPER, v1_doc(QASPER, 1, "x"))],
        "log.jsonl",
    ),
}


@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_of_malformed_row(score, tmp_path, kind, packed):
    good, bad, name = KINDS[kind]
    lines = [*bad, "", good, " \t", *BAD]
    found = score(write_lines(tmp_path / "in" / name, *lines, packed=packed).parent)
    (sample,) = found.samples
    assert sample["score"] == 1.0
    problems = found.report["problems"]
    expected = [number for number, line in enumerate(lines, 1) if line in bad or line in BAD]
    assert [own["line"] for own in problems["malformed"]] == expected
    assert problems["malformed_total"] == len(expected)
    assert all(own["file"].endswith(name.rpartition("/")[2]) for own in problems["malformed"])
    assert all(own["reason"] for own in problems["malformed"])
    ((_, table),) = found.report["tables"].items()
    if kind != "log":  # of a log's lines it is not known which table they were of
        assert table["counts"]["malformed"] == len(expected)
    assert found.report["inputs"][0]["rows"] == len(expected) + 1


@pytest.mark.parametrize("kind", KINDS)
def test_a_file_that_was_cut_in_the_middle(score, tmp_path, kind):
    good, _, name = KINDS[kind]
    path = write_lines(tmp_path / "in" / name, good, good)
    path.write_bytes(path.read_bytes()[:-20])
    found = score(path.parent)
    assert len(found.samples) == 1
    (entry,) = found.problems["malformed"]
    assert entry["line"] == 2
    assert entry["reason"].startswith("not JSON (")


def test_duplicates_in_a_file(score, tmp_path):
    rows = [v2_row("q1", "B"), v2_row("q2"), v2_row("q1", "A")]
    found = score(write_lines(tmp_path / "m.jsonl", *rows))
    assert [(own["id"], own["score"]) for own in found.samples] == [("q1", 1.0), ("q2", 1.0)]
    assert found.problems["duplicate"] == [
        {
            "file": "m.jsonl",
            "line": 3,
            "reason": "longbench_v2, question 'q1', answer 1 is on m.jsonl, line 1, already",
        }
    ]
    assert found.report["tables"]["longbench_v2"]["counts"]["duplicate"] == 1


def test_foreign_files_and_rows(score, tmp_path):
    good = log_row(QASPER, v1_doc(QASPER, 0, "Emma"), "Emma")
    other = log_row(QASPER, v1_doc(QASPER, 1, "Emma"), "Emma")
    other["doc"]["task"] = "gsm8k"
    second = {**good, "filter": "strict"}
    write_lines(tmp_path / "in" / "log.jsonl", good, other, second)
    write_lines(tmp_path / "in" / "notes.jsonl", {"a": 1})
    other_log = tmp_path / "in" / "samples_gsm8k_2025-01-01T00-00-00.jsonl"
    write_lines(other_log, {"doc": {}, "resps": []})
    found = score(tmp_path / "in")
    assert len(found.samples) == 1
    entries = [(own["file"], own["line"]) for own in found.problems["foreign"]]
    assert entries == [
        ("in/notes.jsonl", None),
        ("in/samples_gsm8k_2025-01-01T00-00-00.jsonl", None),
        ("in/log.jsonl", 2),
        ("in/log.jsonl", 3),
    ]
    assert found.report["problems"]["foreign_total"] == 4


def test_answers_to_other_questions_under_the_same_name(score, tmp_path):
    """Two folders whose lines are not in step: index 1 has other gold answers in each."""
    write_lines(tmp_path / "a" / "pred" / "qasper.jsonl", v1_row("x", "x"), v1_row("y", "y"))
    write_lines(tmp_path / "b" / "pred" / "qasper.jsonl", v1_row("z", "x"), v1_row("z", "z"))
    found = score(tmp_path / "a", tmp_path / "b")
    assert [(own["id"], own["repeat"]) for own in found.samples] == [("0", 1), ("0", 2), ("1", 1)]
    (entry,) = found.problems["foreign"]
    assert (entry["file"], entry["line"]) == ("b/pred/qasper.jsonl", 2)
    assert "has other gold answers or dimensions" in entry["reason"]
    assert "a/pred/qasper.jsonl, line 2" in entry["reason"]


def test_missing_questions_are_named_by_task(score, tmp_path):
    rows = [v1_row("x", "x")] * 150
    write_lines(tmp_path / "pred" / "multifieldqa_en.jsonl", *rows)
    write_lines(tmp_path / "pred" / "qasper.jsonl", *rows)
    found = score(tmp_path / "pred")
    entries = {own["task"]: own for own in found.problems["missing"]}
    assert "longbench_v1_multifieldqa_en" not in entries
    assert entries[QASPER] == {
        "table": "longbench_v1",
        "task": QASPER,
        "questions": 150,
        "official_questions": 200,
    }
    assert entries["longbench_v1_lcc"]["questions"] == 0  # no file at all
    assert found.report["problems"]["missing_total"] == 4750 - 300


def test_of_other_data_nothing_is_missing(score, tmp_path):
    for label in ("sample-1", "local-1", "sample-1 (only x: y)"):
        row = log_row(QASPER, v1_doc(QASPER, 0, "Emma"), "Emma", data=label)
        found = score(write_lines(tmp_path / f"{label[:9]}.jsonl", row), strict=True)
        table = found.report["tables"]["longbench_v1"]
        assert (table["counts"]["missing"], table["data"]) == (None, [label])
        assert found.problems == {}


@pytest.mark.parametrize(
    ("name", "rows"),
    [
        ("m.jsonl", [v2_row("q"), "{"]),
        ("m.jsonl", [v2_row("q"), v2_row("q")]),
        ("m.jsonl", [v2_row("q")]),  # 502 are missing
        ("pred/qasper.jsonl", [v1_row("x", "x")] * 199),
    ],
)
def test_strict_fails_before_anything_is_written(score, tmp_path, name, rows):
    path = write_lines(tmp_path / "in" / name, *rows)
    with pytest.raises(PredictionError, match="strict is on; nothing was written"):
        score(path.parent, strict=True)
    assert list((tmp_path / "scored" / "1").iterdir()) == []
    score(path.parent)


def test_an_empty_or_hopeless_file_is_an_error(score, tmp_path):
    for number, lines in enumerate(([], ["{"] * 3)):
        path = write_lines(tmp_path / f"in{number}" / "pred" / "qasper.jsonl", *lines)
        with pytest.raises(PredictionError, match="No line of the input can be scored"):
            score(path.parent)
