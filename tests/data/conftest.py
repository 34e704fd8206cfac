"""Rows, archives and caches to load from."""

import json
import zipfile

import datasets
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
    """List what is in the cache, lock files aside."""

    def listing():
        return sorted(
            str(path.relative_to(cache))
            for path in cache.rglob("*")
            if path.is_file() and path.suffix != ".lock"
        )

    return listing
