"""The sha256 of a file."""

import hashlib
import os
import time
from pathlib import Path

from lm_eval_longbench.files import sha256_of


def test_a_changed_file_is_hashed_anew(tmp_path):
    file = tmp_path / "file"
    file.write_bytes(b"abc")
    first = sha256_of(file)
    file.write_bytes(b"abcd")  # another size
    assert sha256_of(file) == hashlib.sha256(b"abcd").hexdigest() != first
    file.write_bytes(b"dcba")  # the same size at another time
    os.utime(file, ns=(1, file.stat().st_mtime_ns + 1))
    assert sha256_of(file) == hashlib.sha256(b"dcba").hexdigest()


def test_a_change_is_seen_though_size_and_time_stay(tmp_path):
    file = tmp_path / "file"
    file.write_bytes(b"abc")
    os.utime(file, ns=(1, 1))
    time.sleep(0.1)  # the state is remembered from now on
    first, before = sha256_of(file), file.stat()
    assert sha256_of(file) == first
    file.write_bytes(b"abd")
    os.utime(file, ns=(1, 1))
    assert (file.stat().st_size, file.stat().st_mtime_ns) == (before.st_size, before.st_mtime_ns)
    assert sha256_of(file) == hashlib.sha256(b"abd").hexdigest()
    # Another file in its place, moved there with its times.
    other = tmp_path / "other"
    other.write_bytes(b"abc")
    other.replace(file)
    assert sha256_of(file) == first


def test_an_unchanged_file_is_read_once(tmp_path, monkeypatch):
    file, other = tmp_path / "file", tmp_path / "other"
    file.write_bytes(b"abc")
    other.write_bytes(b"abc")
    time.sleep(0.1)  # a file that has just changed is not remembered
    first = sha256_of(file)
    opened = []
    open_path = Path.open
    monkeypatch.setattr(
        Path,
        "open",
        lambda path, *args, **more: opened.append(path) or open_path(path, *args, **more),
    )
    assert sha256_of(file) == first
    assert opened == []
    assert sha256_of(other) == first  # read through what is watched here
    assert opened == [other]
