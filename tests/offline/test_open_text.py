"""Files are read whatever their name says, as far as they are sound."""

import gzip
import random

import pytest

from lm_eval_longbench.errors import PredictionError
from lm_eval_longbench.offline.open_text import BLOCK, Damaged, blocks, is_packed, raw_blocks

SMALL = b'{"pred": "Emma"}\n\n\x00\xff'
# Random bytes, so that the packed file has several blocks.
LARGE = random.Random(1).randbytes(3 * BLOCK + 7)


def sound(path):
    """What can be read, and how the rest is damaged."""
    got = []
    try:
        for block in blocks(path):
            got.append(block)
    except Damaged as error:
        return b"".join(got), str(error)
    return b"".join(got), None


@pytest.mark.parametrize("data", [b"", SMALL, LARGE, b"x" * (20 * BLOCK)])
@pytest.mark.parametrize("name", ["a.jsonl", "a.jsonl.gz"])
def test_plain_and_packed_files_are_told_apart_by_their_bytes(tmp_path, data, name):
    path = tmp_path / name
    path.write_bytes(data)
    assert (is_packed(path), b"".join(blocks(path))) == (False, data)
    packed = gzip.compress(data)
    path.write_bytes(packed)
    assert (is_packed(path), b"".join(blocks(path))) == (True, data)
    assert b"".join(raw_blocks(path)) == packed


def test_packed_text_comes_in_pieces_whatever_its_size(tmp_path):
    path = tmp_path / "a.gz"
    path.write_bytes(gzip.compress(b"x" * (20 * BLOCK)))
    assert max(map(len, blocks(path))) <= BLOCK


def test_several_members_and_padding(tmp_path):
    path = tmp_path / "a.gz"
    path.write_bytes(
        gzip.compress(b"one\n") + gzip.compress(b"") + gzip.compress(b"two") + b"\0" * 9
    )
    assert sound(path) == (b"one\ntwo", None)


@pytest.mark.parametrize("cut", [2, 5, 20, 1000, -9, -1])
def test_what_precedes_a_cut_is_read(tmp_path, cut):
    whole = gzip.compress(LARGE)
    path = tmp_path / "a.gz"
    path.write_bytes(whole[:cut])
    got, problem = sound(path)
    assert problem == "it ends in the middle of its gzip data; what followed is lost"
    assert LARGE.startswith(got)
    assert len(got) >= len(whole[:cut]) - 1000  # headers, and what zlib holds back


def test_what_precedes_damage_is_read(tmp_path):
    damaged = bytearray(gzip.compress(SMALL))
    damaged[-5] ^= 1  # in the checksum
    path = tmp_path / "a.gz"
    path.write_bytes(gzip.compress(b"one\n") + bytes(damaged))
    got, problem = sound(path)
    assert got.startswith(b"one\n")
    assert problem.startswith("its gzip data is damaged (")


def test_something_else_behind_a_member(tmp_path):
    path = tmp_path / "a.gz"
    path.write_bytes(gzip.compress(b"one\n") + b"two\n")
    got, problem = sound(path)
    assert got == b"one\n"
    assert "damaged" in problem


def test_a_file_that_cannot_be_read(tmp_path):
    for path in (tmp_path / "none", tmp_path):
        for read in (blocks, raw_blocks):
            with pytest.raises(PredictionError, match="cannot be read") as caught:
                list(read(path))
            assert str(path) in str(caught.value)
