"""Where official data is, without a download."""

import hashlib

import pytest

from lm_eval_longbench.catalog import SPLITS, split_of_file
from lm_eval_longbench.data.arrow import V1_FEATURES, CachedFolder, cache_folder, cached
from lm_eval_longbench.data.longbench_v1 import load
from lm_eval_longbench.data.sources import Source
from lm_eval_longbench.doctor import sources
from lm_eval_longbench.doctor.data import (
    CONVERTED,
    DAMAGED,
    DOWNLOADED,
    MISSING,
    SOURCES,
    stored,
)


@pytest.fixture
def pinned(hub_file, monkeypatch):
    """Pin bytes of our own, and put others into the hub's cache: pinned("v2", b"...", b"...")."""

    def pin(benchmark, wanted, content):
        digest = hashlib.sha256(wanted).hexdigest()
        source = Source("owner/name", "a" * 40, "data.json", digest)
        monkeypatch.setitem(sources.SOURCES, benchmark, source)
        return hub_file(source.repo, source.file, content, source.revision, "datasets")

    return pin


@pytest.mark.parametrize("benchmark", SOURCES)
def test_nothing_is_here(empty_caches, benchmark):
    assert stored(benchmark).state == MISSING


def test_the_pinned_file_is_in_the_hub_cache(pinned):
    file = pinned("v2", b"the data", b"the data")
    found = stored("v2")
    assert (found.state, found.place) == (DOWNLOADED, file)


def test_other_bytes_are_damaged_and_stay(pinned):
    file = pinned("pro", b"the data", b"other data")
    found = stored("pro")
    assert found.state == DAMAGED
    assert found.sha256 == hashlib.sha256(b"other data").hexdigest()
    assert file.is_file()


def test_another_revision_is_not_the_pinned_one(hub_file):
    source = SOURCES["v2"]
    hub_file(source.repo, source.file, b"x", "b" * 40, "datasets")
    assert stored("v2").state == MISSING


def test_what_is_converted_needs_no_download(empty_caches):
    def fill(folder):
        (folder / "counts.json").write_text("{}")

    digest = SOURCES["pro"].sha256
    folder = cache_folder("longbench_pro", digest)
    CachedFolder(folder, digest, fill).open("counts.json", bytes)
    assert stored("pro").state == CONVERTED
    (folder / "counts.json").write_text("{ }")
    assert stored("pro").state == MISSING


def test_of_v1_each_dataset_is_converted_by_itself(empty_caches):
    rows = list(load(split_of_file("qasper"), "sample").rows)

    def convert(stem):
        cached("longbench_v1", SOURCES["v1"].sha256, stem, V1_FEATURES, lambda: rows)

    convert("qasper")
    assert stored("v1", ["qasper"]).state == CONVERTED
    assert stored("v1", ["qasper", "trec"]).state == MISSING
    assert stored("v1").state == MISSING
    for split in SPLITS:
        convert(split.file_stem)
    assert stored("v1").state == CONVERTED
