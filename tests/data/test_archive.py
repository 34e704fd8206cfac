"""Archives are read line by line and nothing is ever extracted."""

import os
import zipfile

import pytest
from v1_tasks import BY_FILE, load

from lm_eval_longbench import files
from lm_eval_longbench.data.rows import find_member, member_lines
from lm_eval_longbench.errors import DataError


def everything(folder):
    return {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_only_a_line_feed_ends_a_line(zipped, tmp_path):
    content = "one\r\ntwo\u2028still two\rand\x0b\x0c\x85\n\nlast 汉字".encode()
    expected = content.split(b"\n")
    archive = zipped({"m": content})
    assert list(member_lines(archive, "m")) == expected
    (tmp_path / "file").write_bytes(content)
    assert list(files.lines(files.blocks(tmp_path / "file"))) == expected


def test_members_with_dangerous_names_are_never_written(zipped, tmp_path, cache, arrows, lines):
    victim = tmp_path / "victim.jsonl"
    archive = zipped(
        {
            "../victim.jsonl": b"overwritten",
            "../../etc/passwd": b"overwritten",
            str(tmp_path / "absolute.jsonl"): b"overwritten",
            "data/../../victim.jsonl": b"overwritten",
            "data/qasper.jsonl": lines(3),
        },
        "inner/data.zip",
    )
    victim.write_text("as it was")
    before = everything(tmp_path)
    documents = load(BY_FILE["qasper"], str(archive))
    assert documents.rows["_id"][:] == ["0", "1", "2"]
    after = everything(tmp_path)
    new = {path for path in after if path not in before}
    assert new
    assert all(path.is_relative_to(cache) for path in new)
    assert {path: after[path] for path in before} == before
    assert [name.rsplit("/", 1)[1] for name in arrows()] == ["qasper.arrow"]


@pytest.mark.parametrize("content", [b"", b"no archive", b"PK\x03\x04 cut off"])
def test_no_archive(tmp_path, content):
    path = tmp_path / "data.zip"
    path.write_bytes(content)
    with pytest.raises(DataError, match="cannot be read as a zip archive") as caught:
        find_member(path, ("m",))
    assert str(path) in str(caught.value)


def test_a_damaged_member_is_named(zipped):
    archive = zipped({"data/qasper.jsonl": os.urandom(5000).hex()})
    content = bytearray(archive.read_bytes())
    content[2000:2010] = bytes(byte ^ 255 for byte in content[2000:2010])
    archive.write_bytes(content)
    assert find_member(archive, ("data/qasper.jsonl",)) == "data/qasper.jsonl"
    with pytest.raises(DataError, match=r"data\.zip, member data/qasper\.jsonl, cannot be read"):
        list(member_lines(archive, "data/qasper.jsonl"))


def test_a_stored_member_with_a_wrong_checksum(tmp_path):
    path = tmp_path / "data.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_STORED) as archive:
        archive.writestr("m", b"unpacked text\n")
    path.write_bytes(path.read_bytes().replace(b"unpacked", b"impacted", 1))
    with pytest.raises(DataError, match="member m, cannot be read"):
        list(member_lines(path, "m"))
