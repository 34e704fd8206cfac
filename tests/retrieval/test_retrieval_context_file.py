import gzip
import json
import re

import pytest

from lm_eval_longbench.benchmarks.modes import retrieved_document
from lm_eval_longbench.errors import DataError
from lm_eval_longbench.retrieval.chunks import check_complete, read_contexts

ROWS = [
    {
        "_id": "q1",
        "question": "Who?",
        "retrieved_context": [
            {"c_idx": 7, "content": "Emma\nbuilt it.", "score": 0.5},
            {"c_idx": 2, "content": "灯塔"},
        ],
    },
    {"_id": "q2", "retrieved_context": []},
]
CONTEXTS = {
    "q1": [{"c_idx": 7, "content": "Emma\nbuilt it."}, {"c_idx": 2, "content": "灯塔"}],
    "q2": [],
}
LINES = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in ROWS).encode()
GOOD = json.dumps(ROWS[0]).encode()
FORMS = {
    "lines": LINES,
    "no last line end": LINES.rstrip(b"\n"),
    "blank lines": b"\n \r\n" + LINES.replace(b"\n", b"\r\n\n"),
    "byte order mark": b"\xef\xbb\xbf" + LINES,
    "packed": gzip.compress(LINES),
    "packed in two parts": gzip.compress(LINES[:100]) + gzip.compress(LINES[100:]),
    "array": json.dumps(ROWS).encode(),
    "indented array": b"\xef\xbb\xbf\n " + json.dumps(ROWS, ensure_ascii=False, indent=2).encode(),
}


@pytest.fixture
def read(tmp_path):
    """Write bytes to a file and read it."""

    def run(content, **options):
        path = tmp_path / "contexts.json"
        path.write_bytes(content)
        return read_contexts(str(path), **options)

    return run


@pytest.mark.parametrize("form", FORMS)
def test_every_form_gives_the_same(read, form):
    assert read(FORMS[form]) == CONTEXTS


def test_the_best_ones_alone_can_be_kept(read):
    kept = read(LINES, keep=1)
    assert kept == {"q1": CONTEXTS["q1"][:1], "q2": []}
    assert retrieved_document(kept["q1"], 1) == retrieved_document(CONTEXTS["q1"], 1)


def test_equal_entries_are_one(read):
    assert read(LINES + LINES) == CONTEXTS


def test_differing_entries_are_refused(read):
    other = json.dumps({**ROWS[0], "retrieved_context": CONTEXTS["q1"][::-1]}).encode()
    where = r"contexts\.json, line 4, has other chunks for the _id 'q1' than line 1\."
    with pytest.raises(DataError, match=where):
        read(LINES + GOOD + b"\n" + other)
    with pytest.raises(DataError, match=r"element 2, has other chunks .* than element 1\."):
        read(b"[" + GOOD + b"," + other + b"]")


@pytest.mark.parametrize(
    ("bad", "reason"),
    [
        (b"no", "is not JSON: Expecting value"),
        (b'{"_id": "a"', "is not JSON: Expecting ',' delimiter"),
        (b'{"_id": "\xff"}', "is not JSON: 'utf-8' codec"),
        (b"[" * 200_000, "is not JSON"),
        (b"[1]", "is not a JSON object"),
        (b'{"retrieved_context": []}', "lacks the field '_id'"),
        (b'{"_id": "a"}', "lacks the field 'retrieved_context'"),
        (b'{"_id": 1, "retrieved_context": []}', "has a field '_id' that is not a text"),
        (
            b'{"_id": "a", "retrieved_context": "text"}',
            "has a field 'retrieved_context' that is not a list",
        ),
        (
            b'{"_id": "a", "retrieved_context": [{"c_idx": -1, "content": ""}]}',
            "has a 'retrieved_context' whose item 1 has a field 'c_idx' below 0",
        ),
        (
            b'{"_id": "a", "retrieved_context": [{"c_idx": "1", "content": ""}]}',
            "has a 'retrieved_context' whose item 1 has a field 'c_idx' that is not a whole",
        ),
    ],
)
@pytest.mark.parametrize("pack", [bytes, gzip.compress], ids=["plain", "packed"])
def test_a_bad_line_is_named(read, bad, reason, pack):
    with pytest.raises(DataError, match=re.escape(f"contexts.json, line 3, {reason}")):
        read(pack(GOOD + b"\n\n" + bad + b"\n" + GOOD))


def test_a_packed_array_is_refused(read):
    with pytest.raises(DataError, match=r"contexts\.json is a JSON array packed by gzip\. Unpack"):
        read(gzip.compress(json.dumps(ROWS).encode()))


def test_complete():
    check_complete(CONTEXTS, ["q2", "q1"], "c.jsonl")
    check_complete(CONTEXTS, [], "c.jsonl")


def test_missing_questions_are_named():
    with pytest.raises(DataError, match=r"c\.jsonl has no chunks for 1 of 2 .*: q3\. Add them"):
        check_complete(CONTEXTS, ["q1", "q3", "q3"], "c.jsonl")
    ids = [f"q{number}" for number in range(1, 11)]
    named = r"for 8 of 10 questions, by _id: q3, q4, q5, q6, q7 and 3 more\."
    with pytest.raises(DataError, match=named):
        check_complete(CONTEXTS, ids, "c.jsonl")
