"""Files are read whatever their name says, as far as they are sound, and within bounds."""

import contextlib
import gzip
import json
import os
import random
import zlib
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from typer.testing import CliRunner

from lm_eval_longbench import files
from lm_eval_longbench.check import lock
from lm_eval_longbench.cli.main import app
from lm_eval_longbench.data import rows
from lm_eval_longbench.errors import DataError, LongBenchError, PredictionError
from lm_eval_longbench.files import (
    BLOCK,
    LONGEST,
    Damaged,
    Unreadable,
    blocks,
    chunks,
    is_packed,
    lines,
    odd_kind,
    open_input,
    raw_blocks,
    read_json,
    read_json_lines,
    read_whole,
)
from lm_eval_longbench.options import MOST_REPEATS

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
    assert max(map(len, blocks(path)), default=0) <= BLOCK


@pytest.mark.parametrize("cut", [2, 5, 20, 1000, -9, -1])
def test_what_precedes_a_cut_is_read(tmp_path, cut, monkeypatch):
    whole = gzip.compress(LARGE)
    path = tmp_path / "a.gz"
    path.write_bytes(whole[:cut])
    got, problem = sound(path)
    assert problem == "it ends in the middle of its gzip data; what followed is lost"
    assert LARGE.startswith(got)
    assert len(got) >= len(whole[:cut]) - 1000  # headers, and what zlib holds back
    monkeypatch.setattr(files, "BLOCK", 100)  # zlib has more to give when all is read
    packed = gzip.compress(b"x" * 10_000)[: cut % 40]
    path.write_bytes(packed)
    assert sound(path)[0] == zlib.decompressobj(31).decompress(packed)


def test_what_precedes_damage_is_read(tmp_path):
    damaged = bytearray(gzip.compress(SMALL))
    damaged[-5] ^= 1  # in the checksum
    path = tmp_path / "a.gz"
    path.write_bytes(gzip.compress(b"one\n") + bytes(damaged))
    got, problem = sound(path)
    assert got == b"one\n" + SMALL
    assert problem.startswith("its gzip data is damaged (")


@pytest.mark.parametrize("number", [400, 100_000])
def test_what_precedes_damage_within_a_block_is_read(tmp_path, number):
    """Its block is unpacked in one step, which must not lose the half before the damage."""
    rng = random.Random(4)
    text = b"".join(b"%030x\n" % rng.randrange(16**30) for _ in range(number))
    damaged = bytearray(gzip.compress(text))
    half = len(damaged) // 2
    damaged[half : half + 400] = b"\xff" * 400
    path = tmp_path / "a.gz"
    path.write_bytes(damaged)
    got, problem = sound(path)
    decoder, before = zlib.decompressobj(31), bytearray()
    with contextlib.suppress(zlib.error):
        for at in range(len(damaged)):
            before += decoder.decompress(damaged[at : at + 1])
    assert len(before) > len(text) // 3
    assert got == before
    assert problem.startswith("its gzip data is damaged (")


# ---------------------------------------------------------------------- bounds


@pytest.mark.parametrize(
    ("make", "what"),
    [
        (os.mkfifo, "is a pipe or a device, not a regular file"),
        (lambda path: path.symlink_to("/dev/zero"), "is a pipe or a device, not a regular file"),
        (lambda path: path.mkdir(), "is a folder, not a regular file"),
        (lambda path: path.symlink_to(path), "is a link that leads to no file"),
        (lambda path: path.symlink_to("nowhere"), "is a link that leads to no file"),
    ],
    ids=["pipe", "device", "folder", "loop", "dangling"],
)
def test_only_regular_files_are_read(tmp_path, make, what):
    path = tmp_path / "a"
    make(path)
    assert odd_kind(path) == what
    for read in (open_input, is_packed, lambda path: list(raw_blocks(path)), read_whole):
        with pytest.raises(Unreadable, match=f"^it {what}$"):
            read(path)


# ---------------------------------------------------------------------- lines


def all_lines(found):
    return [line for chunk in found for line in chunk.lines()]


def expected_lines(data):
    """Number, index and bytes of the lines that are not blank, the slow way."""
    lines = [(number, line) for number, line in enumerate(data.split(b"\n"), 1) if line.strip()]
    return [(number, index, line) for index, (number, line) in enumerate(lines)]


@settings(max_examples=60)
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
        patch.setattr(files, "BLOCK", block)
        found = list(chunks(blocks(path), size))
    assert all_lines(found) == expected_lines(data)
    assert b"".join(chunk.data for chunk in found) == data
    assert all(chunk.data.endswith(b"\n") for chunk in found[:-1])


@settings(max_examples=100)
@given(
    sizes=st.lists(st.integers(0, 30), max_size=8),
    end=st.booleans(),
    cuts=st.lists(st.integers(1, 15), min_size=1, max_size=5),
    size=st.integers(1, 60),
)
def test_the_bound_of_a_line_is_exact_however_the_text_comes(sizes, end, cuts, size):
    texts = [b"x" * number for number in sizes]
    data = b"\n".join(texts) + b"\n" * end
    pieces, start = [], 0
    while start < len(data):
        pieces.append(data[start : start + cuts[len(pieces) % len(cuts)]])
        start += len(pieces[-1])
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(files, "LONGEST", 15)
        found = list(chunks(pieces, size))
    expected = [one for one in expected_lines(data) if len(one[2]) <= 15]
    assert all_lines(found) == expected
    problems = [(chunk.line, chunk.index) for chunk in found if chunk.problem]
    too_long = [one[:2] for one in expected_lines(data) if len(one[2]) > 15]
    assert problems == too_long


def test_every_line_comes_or_an_error_that_says_where(tmp_path, monkeypatch):
    monkeypatch.setattr(files, "LONGEST", 50)
    monkeypatch.setattr(files, "BLOCK", 50)
    path = tmp_path / "a"
    for text in (b"", b"a", b"a\n", b"\n", b"a\r\n\n\xffb\x0bc\x85d"):
        path.write_bytes(text)
        expected = text.split(b"\n")
        assert list(lines(blocks(path))) == expected[: len(expected) - (expected[-1] == b"")]
    path.write_bytes(b"one\n" + b"x" * 51 + b"\nthree")
    reader = lines(blocks(path))
    assert next(reader) == b"one"
    with pytest.raises(Unreadable, match=r"^the line is longer than 50 bytes, at line 2$"):
        next(reader)


def test_a_line_that_damage_has_cut_is_no_line(tmp_path):
    path = tmp_path / "a"
    path.write_bytes(gzip.compress(b"one\ntwo, and more", compresslevel=0)[:-12])
    reader = lines(blocks(path))
    assert next(reader) == b"one"
    with pytest.raises(Unreadable, match=r"in the middle of its gzip data.* at line 2"):
        next(reader)


# ---------------------------------------------------------------------- JSON


def test_json_files(tmp_path):
    path = tmp_path / "a"
    path.write_bytes(gzip.compress(b'{"a": 1}'))
    assert read_json(path, DataError) == {"a": 1}
    with pytest.raises(Unreadable, match=r"^it is longer than 7 bytes$"):
        read_whole(path, 7)
    for text, said in ((b"{", "is not JSON: "), (b"[" * 100_000, "is not JSON: ")):
        path.write_bytes(text)
        with pytest.raises(DataError, match=said) as caught:
            read_json(path, DataError)
        assert str(caught.value).startswith(str(path))
    with pytest.raises(PredictionError, match="none cannot be read"):
        read_json(tmp_path / "none", PredictionError)


def test_json_lines(tmp_path):
    path = tmp_path / "a"
    path.write_bytes(b'\n{"a": 1}\r\n \t\n7\n{')
    reader = read_json_lines(path, DataError)
    assert [next(reader), next(reader)] == [(2, {"a": 1}), (4, 7)]
    with pytest.raises(DataError, match=f"^{path}, line 5, is not JSON: "):
        next(reader)


# ---------------------------------------------------------------------- the commands

V1_ROW = {"pred": "a", "answers": ["a"], "all_classes": None, "length": 10}


def odd_file(path, odd):
    if odd == "pipe":
        os.mkfifo(path)
    else:
        path.symlink_to("/dev/zero" if odd == "zero" else "nowhere")
    return path


def test_score_names_odd_files_of_a_folder_and_passes_over_them(tmp_path):
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "qasper.jsonl").write_text(json.dumps(V1_ROW) + "\n", encoding="utf-8")
    for odd in ("pipe", "zero", "dangling"):
        odd_file(tmp_path / "in" / f"{odd}.jsonl", odd)
    arguments = ["score", str(tmp_path / "in"), "--benchmark", "v1"]
    done = CliRunner().invoke(app, arguments)
    assert done.exit_code == 0
    for odd in ("pipe", "zero"):
        assert f"warning: in/{odd}.jsonl is a pipe or a device" in done.output
    assert "warning: in/dangling.jsonl is a link that leads to no file" in done.output
    done = CliRunner().invoke(app, [*arguments, "--strict"])
    assert isinstance(done.exception, LongBenchError)


@pytest.mark.parametrize(
    "arguments",
    [
        ["prompt", "longbench_v1_qasper", "--doc"],
        ["prepare", "pro", "--data-dir"],
        ["verify"],
        ["score", "--output", "out"],
        ["report"],
        ["run", "--tasks", "longbench_v1_qasper", "--locked"],
    ],
    ids=" ".join,
)
@pytest.mark.parametrize("odd", ["pipe", "zero", "dangling"])
def test_no_command_waits_for_an_odd_file(tmp_path, monkeypatch, arguments, odd):
    monkeypatch.chdir(tmp_path)
    file = odd_file(tmp_path / "odd", odd)
    result = CliRunner().invoke(app, [*arguments, str(file)])
    if isinstance(result.exception, LongBenchError):
        said = str(result.exception)
    else:  # printed by the command itself
        assert result.exit_code == 2
        said = result.output
    assert str(file) in said or f"{file.parent}" in said


def test_the_page_states_the_bounds():
    page = (Path(__file__).parents[1] / "docs" / "input.md").read_text(encoding="utf-8")
    for stated in (
        f"| {files.size_text(LONGEST)} of text |",
        f"| {rows._WHOLE >> 20} MiB |",
        f"| {lock._MOST >> 10} KiB |",
        f"| {MOST_REPEATS} |",
    ):
        assert stated in page, stated
