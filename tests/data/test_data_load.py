"""Documents from the embedded sample and from local copies."""

import hashlib
import json
import logging
import re
import unicodedata
from pathlib import Path

import pytest

import lm_eval_longbench
from lm_eval_longbench import once
from v1_tasks import BY_FILE, E_TASKS, TASKS, V1_TASKS
from lm_eval_longbench.data.arrow import V1_FEATURES
from v1_tasks import load
from lm_eval_longbench.data.rows import FIELDS
from MISSING:data.sources import LONGBENCH_V1
from lm_eval_longbench.errors import DataError

SAMPLE = Path(lm_eval_longbench.__file__).parent / "data" / "sample" / "longbench_v1"
QASPER = BY_FILE["qasper"]
THREE_WAYS = ("(1) let it download", "(2) point to a copy", "(3) try the embedded sample")
CHINESE = {"multifieldqa_zh", "dureader", "vcsum", "lsht", "passage_retrieval_zh"}


def names_three_ways(error):
    return all(way in str(error) for way in THREE_WAYS)


def warnings_in(caplog):
    return [r.getMessage() for r in caplog.records if r.levelno >= logging.WARNING]


# ---------------------------------------------------------------------- the source


def test_the_source_is_pinned():
    assert re.fullmatch("[0-9a-f]{40}", LONGBENCH_V1.revision)
    assert re.fullmatch("[0-9a-f]{64}", LONGBENCH_V1.sha256)
    assert LONGBENCH_V1.sha256 == (
        "cb45b11a4133c6bc1d6a44b0f8e701335ff1e543195db1103472e575857f7f64"
    )
    assert LONGBENCH_V1.label == "zai-org/LongBench@5e628be"
    assert LONGBENCH_V1.file == "data.zip"


# ---------------------------------------------------------------------- the sample


@pytest.mark.parametrize("split", TASKS, ids=lambda split: split.dataset)
def test_every_dataset_has_a_sample(split, caplog):
    documents = load(split, "sample")
    file = SAMPLE / f"{split.dataset}.jsonl"
    content = file.read_bytes()
    assert list(documents.rows) == [json.loads(line) for line in content.splitlines()]
    assert len(documents.rows) >= 4
    assert documents.rows.features == V1_FEATURES
    digest = hashlib.sha256(content).hexdigest()
    assert (documents.sha256, documents.label) == (digest, f"sample-{digest[:12]}")
    assert documents.official is False
    assert warnings_in(caplog) == []

    for row in documents.rows:
        assert tuple(row) == FIELDS
        assert row["dataset"] == split.label
        chinese = split.label in CHINESE
        assert row["language"] == ("zh" if chinese else "en")
        assert row["length"] == len(row["context"] if chinese else row["context"].split())
        assert row["answers"]
        assert (row["all_classes"] is not None) == (split.label in {"trec", "lsht"})
    ids = documents.rows["_id"][:]
    assert len(set(ids)) == len(ids)


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


def test_sample_labels_tell_the_files_apart():
    labels = {load(split, "sample").label for split in TASKS}
    assert len(labels) == 34
    assert all(re.fullmatch("sample-[0-9a-f]{12}", label) for label in labels)


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


def test_the_files_beside_come_before_those_under_data(tmp_path, cache, lines):
    (tmp_path / "copy" / "data").mkdir(parents=True)
    (tmp_path / "copy" / "qasper.jsonl").write_bytes(lines(1))
    (tmp_path / "copy" / "data" / "qasper.jsonl").write_bytes(lines(2))
    assert len(load(QASPER, str(tmp_path / "copy")).rows) == 1


def test_the_home_folder_may_be_a_tilde(tmp_path, cache, lines, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    (tmp_path / "copy").mkdir()
    (tmp_path / "copy" / "qasper.jsonl").write_bytes(lines(1))
    assert len(load(QASPER, "~/copy").rows) == 1


def test_a_folder_is_warned_about_once_with_the_counts_that_differ(tmp_path, cache, lines, caplog):
    (tmp_path / "data").mkdir()
    (tmp_path / "qasper.jsonl").write_bytes(lines(3))
    (tmp_path / "multifieldqa_en.jsonl").write_bytes(lines(150))
    (tmp_path / "data" / "trec_e.jsonl").write_bytes(b"\n" + lines(2) + b"\n\n")
    for stem in ("qasper", "multifieldqa_en", "trec_e", "qasper"):
        load(BY_FILE[stem], str(tmp_path))
    (warning,) = warnings_in(caplog)
    assert str(tmp_path) in warning
    assert "qasper has 3 rows instead of 200; trec_e has 2 rows instead of 300." in warning
    assert "multifieldqa_en" not in warning
    assert "local-<hash" in warning

    caplog.clear()
    once.forget()
    load(QASPER, str(tmp_path))
    assert len(warnings_in(caplog)) == 1


def test_a_folder_with_official_counts_is_still_not_official(tmp_path, cache, lines, caplog):
    (tmp_path / "qasper.jsonl").write_bytes(lines(200))
    documents = load(QASPER, str(tmp_path))
    assert not documents.official
    (warning,) = warnings_in(caplog)
    assert "all row counts are the official ones" in warning


def test_two_folders_are_two_warnings(tmp_path, cache, lines, caplog):
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "qasper.jsonl").write_bytes(lines(1))
        load(QASPER, str(tmp_path / name))
    assert len(warnings_in(caplog)) == 2


def test_a_changed_file_is_converted_anew(tmp_path, cache, lines, arrows):
    file = tmp_path / "qasper.jsonl"
    file.write_bytes(lines(1))
    first = load(QASPER, str(tmp_path))
    file.write_bytes(lines(2))
    second = load(QASPER, str(tmp_path))
    assert [len(found.rows) for found in (first, second)] == [1, 2]
    assert first.label != second.label
    assert len(arrows()) == 2


def test_a_malformed_file_leaves_nothing_in_the_cache(tmp_path, cache, lines, arrows):
    file = tmp_path / "qasper.jsonl"
    file.write_bytes(lines(2) + b"{\n")
    for _ in range(2):
        with pytest.raises(DataError, match=r"qasper\.jsonl, line 3, is not JSON"):
            load(QASPER, str(tmp_path))
    assert arrows() == []


@pytest.mark.parametrize(
    "changes", [{"context": "half a pair \ud83d"}, {"answers": ["\udc00"]}, {"length": 10**30}]
)
def test_values_that_json_allows_and_arrow_does_not(tmp_path, cache, arrows, row, changes):
    line = json.dumps(row(**changes)).encode() + b"\n"
    (tmp_path / "qasper.jsonl").write_bytes(line)
    with pytest.raises(DataError, match="qasper"):
        load(QASPER, str(tmp_path))
    assert arrows() == []


@pytest.mark.parametrize("content", [b"", b"\n", b"\n \n\n"])
def test_an_empty_file(tmp_path, cache, content):
    (tmp_path / "qasper.jsonl").write_bytes(content)
    for _ in range(2):
        with pytest.raises(DataError, match=r"qasper\.jsonl holds no documents"):
            load(QASPER, str(tmp_path))


def test_a_folder_without_the_file(tmp_path, cache, lines):
    (tmp_path / "qasper.jsonl").write_bytes(lines(1))
    with pytest.raises(DataError, match=r"has no qasper_e\.jsonl, neither") as caught:
        load(BY_FILE["qasper_e"], str(tmp_path))
    assert str(tmp_path) in str(caught.value)
    assert names_three_ways(caught.value)


@pytest.mark.parametrize("name", ["nowhere", "sample2", "nowhere/data.zip"])
def test_a_place_that_does_not_exist(tmp_path, cache, name):
    with pytest.raises(DataError, match="does not exist") as caught:
        load(QASPER, str(tmp_path / name))
    assert repr(str(tmp_path / name)) in str(caught.value)
    assert names_three_ways(caught.value)


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
    assert LONGBENCH_V1.sha256 in warning


def test_an_archive_without_the_member(zipped, cache, lines, arrows):
    archive = zipped({"data/qasper_e.jsonl": lines(1), "deep/data/qasper.jsonl": lines(1)})
    with pytest.raises(DataError, match=r"has no member data/qasper\.jsonl") as caught:
        load(QASPER, str(archive))
    assert str(archive) in str(caught.value)
    assert names_three_ways(caught.value)
    assert arrows() == []


def test_a_malformed_member_is_named(zipped, cache, lines, arrows):
    archive = zipped({"data/qasper.jsonl": lines(1) + b"[]\n"})
    message = r"data\.zip, member data/qasper\.jsonl, line 2, is not a JSON object"
    with pytest.raises(DataError, match=message):
        load(QASPER, str(archive))
    assert arrows() == []


def test_an_empty_member(zipped, cache):
    with pytest.raises(DataError, match=r"data\.zip holds no documents"):
        load(QASPER, str(zipped({"data/qasper.jsonl": b""})))


def test_a_file_that_is_no_archive(tmp_path, cache, lines):
    (tmp_path / "qasper.jsonl").write_bytes(lines(1))
    with pytest.raises(DataError, match="cannot be read as a zip archive"):
        load(QASPER, str(tmp_path / "qasper.jsonl"))
