"""Files come in pieces of whole lines."""

import gzip

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lm_eval_longbench.errors import PredictionError
from lm_eval_longbench.offline import chunks as module
from lm_eval_longbench.offline import open_text
from lm_eval_longbench.offline.chunks import Chunk, chunks


def all_lines(found):
    return [line for chunk in found for line in chunk.lines()]


def expected_lines(data):
    """Number, index and bytes of the lines that are not blank, the slow way."""
    lines = [(number, line) for number, line in enumerate(data.split(b"\n"), 1) if line.strip()]
    return [(number, index, line) for index, (number, line) in enumerate(lines)]


@settings(max_examples=60, deadline=None)
@given(
    data=st.lists(st.sampled_from([b"a", b" ", b"\n", b"\r\n", b"bcd", b"\t", b"\0"])).map(
        b"".join
    ),
    block=st.integers(1, 9),
    size=st.integers(1, 12),
    packed=st.booleans(),
)
def test_all_lines_come_with_their_numbers(tmp_path_factory, data, block, size, packed):
    path = tmp_path_factory.mktemp("chunks") / "a"
    path.write_bytes(gzip.compress(data) if packed else data)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(open_text, "BLOCK", block)
        found = list(chunks(path, size))
    assert all_lines(found) == expected_lines(data)
    assert b"".join(chunk.data for chunk in found) == data
    assert all(chunk.data.endswith(b"\n") for chunk in found[:-1])


def test_pieces_are_of_the_wanted_size(tmp_path):
    path = tmp_path / "a"
    path.write_bytes(b"12345678\n" * 100_000)
    found = list(chunks(path, 100_000))
    assert len(found) > 1
    assert max(len(chunk.data) for chunk in found) <= 100_000 + open_text.BLOCK
    assert [chunk.line for chunk in found] == [chunk.index + 1 for chunk in found]


def test_a_line_beyond_all_measure_is_named_and_the_others_are_read(tmp_path, monkeypatch):
    monkeypatch.setattr(module, "LONGEST_LINE", 50)
    monkeypatch.setattr(open_text, "BLOCK", 16)
    path = tmp_path / "a"
    path.write_bytes(b"first\n" + b"x" * 500 + b"\nthird\n" + b"y" * 90)
    found = list(chunks(path, 1))
    assert all_lines(found) == [(1, 0, b"first"), (3, 2, b"third")]
    problems = [(chunk.line, chunk.problem) for chunk in found if chunk.problem]
    assert problems == [(line, "the line is longer than 50 bytes") for line in (2, 4)]


def test_a_cut_gzip_file_gives_its_lines_and_a_problem(tmp_path):
    path = tmp_path / "a"
    path.write_bytes(gzip.compress(b"one\ntwo\n", compresslevel=0)[:-12])
    *found, last = chunks(path)
    assert all_lines(found)[0] == (1, 0, b"one")
    assert (last.data, last.problem) == (
        b"",
        "it ends in the middle of its gzip data; what followed is lost",
    )


def test_an_empty_file_has_no_piece(tmp_path):
    (tmp_path / "a").write_bytes(b"")
    assert list(chunks(tmp_path / "a")) == []


def test_a_missing_file(tmp_path):
    with pytest.raises(PredictionError, match="cannot be read"):
        list(chunks(tmp_path / "none"))


def test_lines_of_a_chunk_count_on_from_its_start():
    assert list(Chunk(b"a\n\n b\n", 7, 3).lines()) == [(7, 3, b"a"), (9, 4, b" b")]
