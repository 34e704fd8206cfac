"""The pinned archive, in a real hub cache with a made-up archive in it."""

import hashlib
import json
import os
import subprocess
import sys

import huggingface_hub
import pytest

from v1_tasks import BY_FILE
from lm_eval_longbench.data import longbench_v1
from lm_eval_longbench.data.hub import fetch
from lm_eval_longbench.benchmarks.base import Source
from lm_eval_longbench.errors import DataError

REVISION = "0123456789" * 4
REPO = "zai-org/LongBench"
# Four official counts: two datasets right, one wrong, one that is not in the archive.
COUNTS = {"multifieldqa_en": 150, "qasper_e": 224, "qasper": 199, "trec_e": 301, "lcc": 0}


@pytest.fixture
def archive(zipped, lines):
    return zipped({f"data/{stem}.jsonl": lines(number) for stem, number in COUNTS.items()})


@pytest.fixture
def hub_cache(tmp_path, monkeypatch):
    folder = tmp_path / "hub"
    monkeypatch.setattr(huggingface_hub.constants, "HF_HUB_CACHE", str(folder))
    monkeypatch.setattr(huggingface_hub.constants, "HF_HUB_OFFLINE", True)
    return folder


def put(hub_cache, source, content):
    """Lay a file into the hub's cache as huggingface_hub does: a blob and a link to it."""
    folder = hub_cache / f"datasets--{source.repo.replace('/', '--')}"
    blob = folder / "blobs" / hashlib.sha256(content).hexdigest()
    pointer = folder / "snapshots" / source.revision / source.file
    reference = folder / "refs" / "main"
    for path in (blob, pointer, reference):
        path.parent.mkdir(parents=True, exist_ok=True)
    blob.write_bytes(content)
    reference.write_text(source.revision)
    pointer.symlink_to(os.path.relpath(blob, pointer.parent))
    # The layout is the hub's own: it finds the file itself.
    found = huggingface_hub.try_to_load_from_cache(
        source.repo, source.file, repo_type="dataset", revision=source.revision
    )
    assert found == str(pointer)
    return blob, pointer


@pytest.fixture
def source(archive, monkeypatch):
    """Pin the made-up archive in place of the official one."""
    digest = hashlib.sha256(archive.read_bytes()).hexdigest()
    made_up = Source(REPO, REVISION, "data.zip", digest)
    monkeypatch.setattr(longbench_v1, "LONGBENCH_V1", made_up)
    return made_up


@pytest.mark.parametrize("stem", ["multifieldqa_en", "qasper_e"])
def test_the_pinned_archive_is_official(cache, arrows, hub_cache, source, archive, caplog, stem):
    put(hub_cache, source, archive.read_bytes())
    documents = longbench_v1.load(BY_FILE[stem])
    assert documents.rows["_id"][:] == [str(number) for number in range(COUNTS[stem])]
    assert documents.official is True
    assert documents.label == "zai-org/LongBench@0123456"
    assert documents.sha256 == source.sha256
    assert caplog.records == []
    folder = f"lm_eval_longbench/longbench_v1/{source.sha256[:16]}-2/{stem}"
    assert arrows() == [f"{folder}/{stem}.arrow"]


def test_converted_rows_need_the_archive_no_more(cache, hub_cache, source, archive):
    blob, pointer = put(hub_cache, source, archive.read_bytes())
    split = BY_FILE["multifieldqa_en"]
    first = longbench_v1.load(split)
    pointer.unlink()
    blob.unlink()
    assert list(longbench_v1.load(split).rows) == list(first.rows)


@pytest.mark.parametrize(
    ("stem", "message"),
    [
        ("qasper", "qasper: 199 rows instead of the official 200"),
        ("trec_e", "trec_e: 301 rows instead of the official 300"),
        ("lcc", "lcc: 0 rows instead of the official 500"),
    ],
)
def test_a_wrong_row_count_is_an_error(cache, arrows, hub_cache, source, archive, stem, message):
    put(hub_cache, source, archive.read_bytes())
    for _ in range(2):
        with pytest.raises(DataError, match=message) as caught:
            longbench_v1.load(BY_FILE[stem])
        assert source.label in str(caught.value)
        assert arrows() == []


def test_a_member_that_is_not_there(cache, arrows, hub_cache, source, archive):
    put(hub_cache, source, archive.read_bytes())
    with pytest.raises(DataError, match=r"no member data/samsum\.jsonl"):
        longbench_v1.load(BY_FILE["samsum"])
    assert arrows() == []


def test_a_wrong_hash_removes_the_file_and_the_next_run_misses_it(
    cache, arrows, hub_cache, source, archive
):
    blob, pointer = put(hub_cache, source, archive.read_bytes() + b"damage")
    split = BY_FILE["multifieldqa_en"]
    with pytest.raises(DataError, match="is damaged") as caught:
        longbench_v1.load(split)
    found = hashlib.sha256(archive.read_bytes() + b"damage").hexdigest()
    assert f"sha256 {found}, pinned {source.sha256}" in str(caught.value)
    assert "run again" in str(caught.value)
    assert not blob.exists()
    assert not pointer.is_symlink()
    assert arrows() == []

    with pytest.raises(DataError, match="is not in the cache and cannot be downloaded"):
        longbench_v1.load(split)
    put(hub_cache, source, archive.read_bytes())
    assert longbench_v1.load(split).official


def test_fetch_returns_the_file_in_the_cache(hub_cache, source, archive):
    _, pointer = put(hub_cache, source, archive.read_bytes())
    assert fetch(source) == pointer


def test_another_revision_is_not_taken_instead(hub_cache, source, archive):
    put(hub_cache, source, archive.read_bytes())
    other = Source(REPO, "f" * 40, "data.zip", source.sha256)
    with pytest.raises(DataError, match=f"at revision {'f' * 40} is not in the cache"):
        fetch(other)


@pytest.mark.parametrize("given", ["file", "folder"])
def test_a_local_copy_of_the_pinned_archive_is_official(
    cache, hub_cache, source, archive, caplog, given
):
    place = str(archive if given == "file" else archive.parent)
    documents = longbench_v1.load(BY_FILE["multifieldqa_en"], place)
    assert documents.official is True
    assert (documents.label, documents.sha256) == (source.label, source.sha256)
    assert len(documents.rows) == 150
    assert caplog.records == []
    with pytest.raises(DataError, match="qasper: 199 rows instead of the official 200"):
        longbench_v1.load(BY_FILE["qasper"], place)
    assert not hub_cache.exists()


def test_a_file_name_with_a_hyphen(zipped, lines, cache, hub_cache, monkeypatch):
    archive = zipped({"data/repobench-p.jsonl": lines(500)}, "other/data.zip")
    digest = hashlib.sha256(archive.read_bytes()).hexdigest()
    monkeypatch.setattr(longbench_v1, "LONGBENCH_V1", Source(REPO, REVISION, "data.zip", digest))
    documents = longbench_v1.load(BY_FILE["repobench-p"], str(archive))
    assert documents.official
    assert len(documents.rows) == 500


def test_offline_and_nothing_cached_is_one_error_with_three_ways(tmp_path):
    code = (
        "import json\n"
        "from lm_eval_longbench.catalog import TASKS\n"
        "from v1_tasks import load\n"
        "from lm_eval_longbench.errors import DataError\n"
        "try:\n    load(TASKS[0])\n"
        "except DataError as error:\n    print(json.dumps(str(error)))\n"
    )
    environment = {key: value for key, value in os.environ.items() if not key.startswith("HF_")}
    done = subprocess.run(
        [sys.executable, "-c", code],
        env={**environment, "HF_HUB_OFFLINE": "1", "HF_HOME": str(tmp_path / "home")},
        capture_output=True,
        text=True,
        timeout=120,
        check=True,
    )
    (line,) = done.stdout.splitlines()
    message = json.loads(line)
    assert message.startswith("zai-org/LongBench/data.zip at revision 5e628be450b7e67fb7ae6e201bd6")
    assert "is not in the cache and cannot be downloaded" in message
    for way in ("(1)", "(2)", "(3)", "HF_HUB_OFFLINE", "data_dir", '"sample"'):
        assert way in message
    assert "Traceback" not in done.stderr
    assert [path.name for path in (tmp_path / "home").rglob("*.arrow")] == []
