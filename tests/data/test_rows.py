"""Each way a row can be wrong is named with its place."""

import json

import pytest

from lm_eval_longbench.benchmarks.v1 import V1
from lm_eval_longbench.data.rows import checked_rows
from lm_eval_longbench.errors import DataError
from lm_eval_longbench.files import decoded_lines

FIELDS = V1.fields
TEXTS = ("input", "context", "dataset", "language", "_id")


def reader_of(lines):
    return checked_rows(decoded_lines(lines, "qasper.jsonl", DataError), "qasper.jsonl, line", V1)


def parse(*lines):
    return list(reader_of(lines))


def encoded(value):
    return json.dumps(value, ensure_ascii=False).encode() + b"\n"


def test_a_row_comes_back_as_it_was(row):
    assert parse(encoded(row())) == [row()]
    assert V1.row_problem(row()) is None
    assert tuple(row()) == FIELDS


def test_extra_fields_are_dropped_and_the_order_is_ours(row):
    shuffled = dict(reversed(row(extra=1, another=None).items()))
    (found,) = parse(encoded(shuffled))
    assert found == row()
    assert tuple(found) == FIELDS


def test_all_classes_may_be_a_list(row):
    value = row(all_classes=["a", "b"], answers=[], input="", length=0)
    assert parse(encoded(value)) == [value]


def test_blank_lines_are_passed_over_and_still_counted(row):
    assert len(parse(b"\n", encoded(row()), b" \t\r\n", encoded(row()), b"")) == 2
    with pytest.raises(DataError, match="line 4, is not JSON"):
        parse(b"\n", encoded(row()), b"  \n", b"{\n")


def test_windows_line_ends_and_a_byte_order_mark(row):
    line = encoded(row()).replace(b"\n", b"\r\n")
    assert parse(b"\xef\xbb\xbf" + line, line) == [row(), row()]


def test_rows_before_a_bad_line_are_delivered(row):
    reader = reader_of([encoded(row()), b"{", encoded(row())])
    assert next(reader) == row()
    with pytest.raises(DataError, match="line 2, is not JSON"):
        next(reader)


@pytest.mark.parametrize(
    "line",
    [
        b"{",
        b"no json",
        b"{'input': 1}",
        b'{"input": "\xe9"}',  # Latin-1
        b'{"a": 1} {"b": 2}',
        b'{"a": "tab\there"}',
        b"[" * 100_000,
        b"1" * 5000,
        b"\x00\x01",
    ],
)
def test_not_json(line):
    # A number of 5,000 digits is no error before Python 3.11; then it is no object either.
    with pytest.raises(DataError, match=r"^qasper\.jsonl, line 1,? is not (JSON: |a JSON object)"):
        parse(line)


@pytest.mark.parametrize("name", FIELDS)
def test_each_missing_field(row, name):
    value = row()
    del value[name]
    with pytest.raises(DataError, match=f"line 2, lacks the field '{name}'"):
        parse(encoded(row()), encoded(value))


@pytest.mark.parametrize("value", [None, "3", 3.0, True, False, [3]])
def test_a_length_that_is_no_whole_number(row, value):
    with pytest.raises(DataError, match="'length' that is not a whole number"):
        parse(encoded(row(length=value)))


@pytest.mark.parametrize("name", [*TEXTS, "answers", "all_classes"])
@pytest.mark.parametrize("text", ["\ud83d", "a \udc00 b"])
def test_half_a_character_is_no_text(row, name, text):
    """JSON can spell one half of a surrogate pair; no file of UTF-8 can hold it."""
    value = text if name in TEXTS else ["fine", text]
    line = json.dumps(row(**{name: value})).encode()
    with pytest.raises(DataError, match=f"line 2, has a field '{name}' that is n"):
        parse(encoded(row()), line)


def test_both_halves_together_are_a_character(row):
    line = json.dumps(row(context="🙂")).encode()
    assert b"\\ud83d\\ude42" in line
    assert parse(line) == [row(context="🙂")]
