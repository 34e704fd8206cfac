"""Documents of LongBench v1 and E: from the pinned archive, local copies and the sample."""

import hashlib
import json
import logging
import os
import subprocess
import sys
import unicodedata
from pathlib import Path

import huggingface_hub
import pytest
from v1_tasks import BY_FILE, E_TASKS, TASKS, V1_TASKS, load

import lm_eval_longbench
from lm_eval_longbench import console
from lm_eval_longbench.benchmarks.v1 import V1, E
from lm_eval_longbench.catalog.model import Source
from lm_eval_longbench.errors import DataError

SAMPLE = Path(lm_eval_longbench.__file__).parent / "data" / "sample" / "longbench_v1"
QASPER = BY_FILE["qasper"]


def warnings_in(caplog):
    return [r.getMessage() for r in caplog.records if r.levelno >= logging.WARNING]


# ---------------------------------------------------------------------- the sample


def test_the_sample_has_34_files_and_no_other():
    assert sorted(path.name for path in SAMPLE.iterdir()) == sorted(
        f"{split.dataset}.jsonl" for split in TASKS
    )
    assert (len(V1_TASKS), len(E_TASKS)) == (21, 13)


def test_the_sample_holds_what_breaks_careless_code():
    rows = [row for split in TASKS for row in load(split, "sample").rows]
    contexts = [row["context"] for row in rows]
    assert {row["language"] for row in rows} == {"en", "zh"}
    assert any("{" in text and "}" in text for text in contexts)
    assert any("{input}" in text or "{context}" in text for text in contexts)
    assert any("$Q$" in text for text in contexts)
    # Beyond the basic plane, as emoji are.
    assert any(unicodedata.category(c) == "So" and ord(c) > 0xFFFF for t in contexts for c in t)
    assert any(not row["input"] for row in rows)
    assert any(row["input"] for row in rows)
    assert len({row["_id"] for row in rows}) == len(rows)


# ---------------------------------------------------------------------- local folders


@pytest.mark.parametrize("inner", [".", "data"])
def test_a_folder_flat_or_with_data_in_it(tmp_path, cache, lines, inner):
    folder = tmp_path / "copy" / inner
    folder.mkdir(parents=True)
    (folder / "qasper.jsonl").write_bytes(lines(3))
    documents = load(QASPER, str(tmp_path / "copy"))
    assert documents.rows["_id"][:] == ["0", "1", "2"]
    digest = hashlib.sha256(lines(3)).hexdigest()
    assert documents.label == f"local-{digest[:12]}"
    assert documents.sha256 == digest
    assert documents.official is False


def test_a_folder_is_warned_about_once_with_the_counts_that_differ(tmp_path, cache, lines, caplog):
    (tmp_path / "qasper.jsonl").write_bytes(lines(3))
    (tmp_path / "multifieldqa_en.jsonl").write_bytes(lines(150))
    for stem in ("qasper", "multifieldqa_en", "qasper"):
        load(BY_FILE[stem], str(tmp_path))
    (warning,) = warnings_in(caplog)
    assert str(tmp_path) in warning
    assert "153 questions instead of 350; rows 'qasper' 3 instead of 200. Results" in warning
    assert "multifieldqa_en" not in warning
    assert "local-<hash" in warning

    caplog.clear()
    console.forget()
    load(QASPER, str(tmp_path))
    assert len(warnings_in(caplog)) == 1


def test_a_malformed_file_leaves_nothing_in_the_cache(tmp_path, cache, lines, arrows):
    file = tmp_path / "qasper.jsonl"
    file.write_bytes(lines(2) + b"{\n")
    for _ in range(2):
        with pytest.raises(DataError, match=r"qasper\.jsonl, line 3, is not JSON"):
            load(QASPER, str(tmp_path))
    assert arrows() == []


# ---------------------------------------------------------------------- local archives


@pytest.mark.parametrize("prefix", ["data/", ""])
@pytest.mark.parametrize("given", ["data.zip", "", "other name.zip"])
def test_an_archive_or_the_folder_it_is_in(zipped, tmp_path, cache, lines, caplog, prefix, given):
    members = {f"{prefix}qasper.jsonl": lines(3), f"{prefix}qasper_e.jsonl": lines(2)}
    archive = zipped(members, given or "data.zip")
    place = str(archive) if given else str(tmp_path)
    documents = load(QASPER, place)
    digest = hashlib.sha256(archive.read_bytes()).hexdigest()
    assert len(documents.rows) == 3
    assert (documents.sha256, documents.label) == (digest, f"local-{digest[:12]}")
    assert documents.official is False
    assert len(load(BY_FILE["qasper_e"], place).rows) == 2
    (warning,) = warnings_in(caplog)
    assert digest in warning
    assert V1.source.sha256 in warning


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


def pin_v1(monkeypatch, source):
    for benchmark in (V1, E):
        monkeypatch.setattr(benchmark, "source", source)


@pytest.fixture
def source(archive, monkeypatch):
    """Pin the made-up archive in place of the official one."""
    digest = hashlib.sha256(archive.read_bytes()).hexdigest()
    made_up = Source(REPO, REVISION, "data.zip", digest)
    pin_v1(monkeypatch, made_up)
    return made_up


@pytest.mark.parametrize("stem", ["multifieldqa_en", "qasper_e"])
def test_the_pinned_archive_is_official(cache, arrows, hub_cache, source, archive, caplog, stem):
    put(hub_cache, source, archive.read_bytes())
    documents = load(BY_FILE[stem])
    assert documents.rows["_id"][:] == [str(number) for number in range(COUNTS[stem])]
    assert documents.official is True
    assert documents.label == "zai-org/LongBench@0123456"
    assert documents.sha256 == source.sha256
    assert caplog.records == []
    folder = f"lm_eval_longbench/longbench_v1/{source.sha256[:16]}-3/{stem}"
    assert arrows() == [f"{folder}/{stem}.arrow"]


@pytest.mark.parametrize(
    ("stem", "message"),
    [
        ("qasper", "rows 'qasper' 199 instead of 200"),
        ("trec_e", "rows 'trec_e' 301 instead of 300"),
        ("lcc", "rows 'lcc' 0 instead of 500"),
    ],
)
def test_a_wrong_row_count_is_an_error(cache, arrows, hub_cache, source, archive, stem, message):
    put(hub_cache, source, archive.read_bytes())
    for _ in range(2):
        with pytest.raises(DataError, match=message) as caught:
            load(BY_FILE[stem])
        assert "is not the official set" in str(caught.value)
        assert arrows() == []


def test_offline_and_nothing_cached_is_one_error_with_three_ways(tmp_path):
    code = (
        "import json\n"
        "from lm_eval_longbench.benchmarks.v1 import V1\n"
        "from lm_eval_longbench.errors import DataError\n"
        "try:\n    V1.load(V1.tasks['longbench_v1_qasper'], None)\n"
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
    for way in ("1. ", "2. ", "3. ", "HF_HUB_OFFLINE", "data_dir", '"sample"'):
        assert way in message
    assert "Traceback" not in done.stderr
    assert [path.name for path in (tmp_path / "home").rglob("*.arrow")] == []
