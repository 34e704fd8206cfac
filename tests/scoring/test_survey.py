"""What is known of a file before it is scored."""

import gzip
import hashlib

from prediction_rows import write_lines

from lm_eval_longbench.scoring.files import count_rows, first_rows, survey


def test_a_file_and_its_packed_copy_have_one_text(tmp_path):
    text = b'{"a": 1}\n'
    plain, packed = tmp_path / "a.jsonl", tmp_path / "a.jsonl.gz"
    plain.write_bytes(text)
    packed.write_bytes(gzip.compress(text))
    digest = hashlib.sha256(text).hexdigest()
    assert vars_of(survey(plain)) == (digest, digest, len(text))
    raw = hashlib.sha256(packed.read_bytes()).hexdigest()
    assert vars_of(survey(packed)) == (raw, digest, len(text))


def vars_of(found):
    return found.sha256, found.text_sha256, found.size


def test_a_damaged_file_has_an_identity_too(tmp_path):
    path = tmp_path / "a.gz"
    path.write_bytes(gzip.compress(b"x" * 100)[:-4])
    assert survey(path).sha256 == hashlib.sha256(path.read_bytes()).hexdigest()


def test_the_first_rows_are_those_that_can_be_read(tmp_path):
    path = write_lines(tmp_path / "a.jsonl", "", "{", b"\xff", [1], {"a": 1}, "[" * 100_000, 7)
    assert list(first_rows(path)) == [[1], {"a": 1}, 7]


def test_no_more_than_twenty_lines_are_looked_at(tmp_path):
    path = write_lines(tmp_path / "a.jsonl", *range(50))
    assert list(first_rows(path)) == list(range(20))


def test_rows_are_the_lines_that_are_not_blank(tmp_path):
    path = write_lines(tmp_path / "a.jsonl", "{}", "", " \t", "{")
    assert count_rows(path) == 2
