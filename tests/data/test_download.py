"""A file over HTTP: resumed, refused, given up; against real servers on loopback."""

import hashlib
import time

import pytest
from mirror_server import BUSY, CUT, DRIP, HANG, MISSING, RANGES, WHOLE, mirroring

from lm_eval_longbench.data import fetch as module
from lm_eval_longbench.data.fetch import NotDownloadedError, download

CONTENT = bytes(range(256)) * 2000
SHA256 = hashlib.sha256(CONTENT).hexdigest()


@pytest.fixture
def target(tmp_path):
    return tmp_path / "new" / "data.json"


@pytest.fixture
def hasty(monkeypatch):
    """The times of this test, a tenth of the real ones."""
    monkeypatch.setattr(module, "TIMEOUT", 0.5)
    monkeypatch.setattr(module, "PATIENCE", 1.0)
    monkeypatch.setattr(module, "PAUSE", 0.1)


def partial_of(target):
    return target.with_name("data.json.partial")


def begin(target, content):
    target.parent.mkdir()
    partial_of(target).write_bytes(content)


def test_the_whole_file(target):
    with mirroring(CONTENT) as mirror:
        download(f"{mirror.url}/a/data.json", target, SHA256)
        assert mirror.asked == [("/a/data.json", None)]
    assert target.read_bytes() == CONTENT
    assert not partial_of(target).exists()


def test_what_an_earlier_call_left_is_gone_on_with(target):
    begin(target, CONTENT[:300_000])
    with mirroring(CONTENT) as mirror:
        download(f"{mirror.url}/data.json", target, SHA256)
        assert mirror.asked == [("/data.json", "bytes=300000-")]
    assert target.read_bytes() == CONTENT


def test_a_server_without_parts_sends_it_all(target):
    begin(target, CONTENT[:300_000])
    with mirroring(CONTENT, WHOLE) as mirror:
        download(f"{mirror.url}/data.json", target, SHA256)
        assert len(mirror.asked) == 1
    assert target.read_bytes() == CONTENT


def test_all_of_it_was_there_but_for_its_name(target):
    begin(target, CONTENT)
    with mirroring(CONTENT) as mirror:
        download(f"{mirror.url}/data.json", target, SHA256)
    assert target.read_bytes() == CONTENT


def test_cut_off_twice_it_is_gone_on_with_in_the_same_call(target, hasty):
    with mirroring(CONTENT, CUT, CUT, RANGES) as mirror:
        download(f"{mirror.url}/data.json", target, SHA256)
        assert [asked for _, asked in mirror.asked] == [None, "bytes=256000-", "bytes=384000-"]
    assert target.read_bytes() == CONTENT


def test_a_busy_server_is_asked_again(target, hasty):
    with mirroring(CONTENT, BUSY, RANGES) as mirror:
        download(f"{mirror.url}/data.json", target, SHA256)
        assert len(mirror.asked) == 2


def test_the_rest_of_another_file_is_thrown_away_once(target):
    begin(target, b"x" * 300_000)
    with mirroring(CONTENT) as mirror:
        download(f"{mirror.url}/data.json", target, SHA256)
        assert [asked for _, asked in mirror.asked] == ["bytes=300000-", None]
    assert target.read_bytes() == CONTENT


@pytest.mark.parametrize("left", [b"", CONTENT[:1000]])
def test_another_file_is_refused_with_its_hash_and_not_kept(target, left):
    other = CONTENT[:-1] + b"!"
    if left:
        begin(target, left)
    with mirroring(other) as mirror, pytest.raises(NotDownloadedError) as caught:
        download(f"{mirror.url}/data.json", target, SHA256)
    assert f"sha256 {hashlib.sha256(other).hexdigest()}, pinned {SHA256}" in str(caught.value)
    assert not target.exists()
    assert not partial_of(target).exists()


def test_a_file_without_end_is_not_taken(target, monkeypatch):
    monkeypatch.setattr(module, "_SPARE", 1000)
    with mirroring(CONTENT) as mirror, pytest.raises(NotDownloadedError, match="far more"):
        download(f"{mirror.url}/data.json", target, SHA256, size=100_000)


def test_missing_is_final_at_once(target):
    begun = time.monotonic()
    with mirroring(CONTENT, MISSING) as mirror:
        with pytest.raises(NotDownloadedError, match="HTTP 404"):
            download(f"{mirror.url}/data.json", target, SHA256)
        assert len(mirror.asked) == 1
    assert time.monotonic() - begun < 1


@pytest.mark.parametrize(
    ("how", "why"),
    [
        (HANG, "no answer|timed out"),
        (BUSY, "HTTP 503"),
        (CUT, "broke off"),
        (DRIP, "broke off|next to nothing"),
    ],
)
def test_what_fails_for_good_ends_in_time(target, hasty, how, why):
    """With a tenth of the real times in a tenth of 15 seconds."""
    content = CONTENT[:2000]  # less than counts as progress
    begun = time.monotonic()
    with mirroring(content, how) as mirror, pytest.raises(NotDownloadedError, match=why):
        try:
            download(f"{mirror.url}/data.json", target, SHA256)
        finally:
            took = time.monotonic() - begun
    assert took < 1.5 + 0.3


def test_the_real_times_add_up_to_less_than_15_seconds():
    assert module.PATIENCE + max(module.PAUSE, 0.5) < 15
    assert module.TIMEOUT < module.PATIENCE


def test_a_key_goes_to_this_server_alone(target):
    with mirroring(CONTENT) as store:
        with mirroring(b"", f"to {store.url}/blob") as hub:
            key = {"Authorization": "Bearer secret"}
            download(f"{hub.url}/data.json", target, SHA256, headers=key)
        assert hub.keys == ["Bearer secret"]
        assert store.keys == [None]
        assert store.asked == [("/blob", None)]
    assert target.read_bytes() == CONTENT
