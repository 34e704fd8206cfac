"""The sha256 of a file."""

import hashlib
import os
from pathlib import Path

import pytest

from lm_eval_longbench.data.hashing import sha256_of

EMPTY = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"


@pytest.mark.parametrize("size", [0, 1, (1 << 20) - 1, 1 << 20, (1 << 20) + 1, 3 << 20])
def test_any_size(tmp_path, size):
    content = (bytes(range(256)) * (size // 256 + 1))[:size]
    file = tmp_path / "file"
    file.write_bytes(content)
    assert sha256_of(file) == hashlib.sha256(content).hexdigest()


def test_known_values(tmp_path):
    (tmp_path / "empty").write_bytes(b"")
    (tmp_path / "abc").write_bytes(b"abc")
    assert sha256_of(tmp_path / "empty") == EMPTY
    assert sha256_of(tmp_path / "abc").startswith("ba7816bf8f01cfea414140de5dae2223b00361a3")


def test_a_changed_file_is_hashed_anew(tmp_path):
    file = tmp_path / "file"
    file.write_bytes(b"abc")
    first = sha256_of(file)
    file.write_bytes(b"abcd")  # another size
    assert sha256_of(file) == hashlib.sha256(b"abcd").hexdigest() != first
    file.write_bytes(b"dcba")  # the same size at another time
    os.utime(file, ns=(1, file.stat().st_mtime_ns + 1))
    assert sha256_of(file) == hashlib.sha256(b"dcba").hexdigest()


def test_an_unchanged_file_is_read_once(tmp_path, monkeypatch):
    file, other = tmp_path / "file", tmp_path / "other"
    file.write_bytes(b"abc")
    other.write_bytes(b"abc")
    first = sha256_of(file)
    opened = []
    open_path = Path.open
    monkeypatch.setattr(
        Path, "open", lambda path, *args: opened.append(path) or open_path(path, *args)
    )
    assert sha256_of(file) == first
    assert opened == []
    assert sha256_of(other) == first  # read through what is watched here
    assert opened == [other]


def test_a_missing_file(tmp_path):
    with pytest.raises(FileNotFoundError):
        sha256_of(tmp_path / "none")
