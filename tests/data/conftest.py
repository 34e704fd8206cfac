"""Rows, archives and caches to load from."""

import dataclasses
import hashlib
import json
import os
import zipfile

import datasets
import huggingface_hub
import pytest

ROW = {
    "input": "Who?",
    "context": "A story.\n{input} 故事 🙂",
    "answers": ["Emma", "艾玛"],
    "length": 3,
    "dataset": "qasper",
    "language": "en",
    "all_classes": None,
    "_id": "id",
}


@pytest.fixture
def row():
    """Make one row, changed in some fields."""

    def make(**changes):
        return {**ROW, **changes}

    return make


@pytest.fixture
def lines(row):
    """Make the bytes of a file of `number` rows that differ in their id."""

    def make(number, **changes):
        return b"".join(
            json.dumps(row(_id=str(index), **changes), ensure_ascii=False).encode() + b"\n"
            for index in range(number)
        )

    return make


@pytest.fixture
def zipped(tmp_path):
    """Write an archive of the members of a mapping."""

    def make(members, name="data.zip"):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
            for member, content in members.items():
                archive.writestr(member, content)
        return path

    return make


@pytest.fixture
def cache(tmp_path, monkeypatch):
    """A datasets cache of this test alone."""
    folder = tmp_path / "datasets_cache"
    monkeypatch.setattr(datasets.config, "HF_DATASETS_CACHE", str(folder))
    return folder


@pytest.fixture
def arrows(cache):
    """List what is in the cache, lock files and indices aside."""

    def listing():
        return sorted(
            str(path.relative_to(cache))
            for path in cache.rglob("*")
            if path.is_file() and path.suffix != ".lock" and path.name != "converted.json"
        )

    return listing


@pytest.fixture
def folders(cache):
    """List the converted folders of a benchmark in the cache, half-made ones included."""

    def listing(benchmark="longbench_pro"):
        place = cache / "lm_eval_longbench" / benchmark
        if not place.exists():
            return []
        return sorted(path for path in place.iterdir() if path.suffix != ".lock")

    return listing


@pytest.fixture
def pin(monkeypatch):
    """Pin made-up bytes in place of a benchmark's official file."""

    def make(benchmark, content, revision="0123456789" * 4):
        digest = hashlib.sha256(content).hexdigest()
        pinned = dataclasses.replace(benchmark.source, revision=revision, sha256=digest)
        monkeypatch.setattr(benchmark, "source", pinned)
        return pinned

    return make


@pytest.fixture
def hub_file(tmp_path, monkeypatch, pin, cache):
    """Pin made-up bytes and lay them, or others, into the hub's cache in the file's place."""
    hub = tmp_path / "hub"
    monkeypatch.setattr(huggingface_hub.constants, "HF_HUB_CACHE", str(hub))
    monkeypatch.setattr(huggingface_hub.constants, "HF_HUB_OFFLINE", True)

    def put(benchmark, content, pinned=None):
        source = pin(benchmark, pinned or content)
        folder = hub / f"datasets--{source.repo.replace('/', '--')}"
        blob = folder / "blobs" / hashlib.sha256(content).hexdigest()
        pointer = folder / "snapshots" / source.revision / source.file
        for path in (blob, pointer):
            path.parent.mkdir(parents=True, exist_ok=True)
        blob.write_bytes(content)
        pointer.unlink(missing_ok=True)
        pointer.symlink_to(os.path.relpath(blob, pointer.parent))
        return source, blob, pointer

    return put
