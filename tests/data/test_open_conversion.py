"""Converting is one pass, whole or not at all, in one process or many; Pro stands for all."""

import json

import pytest
from pro_rows import ROW, load, write_rows

from lm_eval_longbench.data import open as opening
from lm_eval_longbench.errors import DataError

T1_1 = "t1_1"


# Files that are not converted


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b'{"id": 1}', "is not a JSON array"),
        (b"PK\x03\x04", "is not a JSON array"),
        (b"PK\x03\x04\xff\xfe", "is not UTF-8 at byte 4"),
        (b" [ ] ", "holds no questions"),
        (b"[{]", "is not a JSON array: Expecting property name"),
        (json.dumps([ROW]).encode()[:-9], "is not a JSON array: "),
        (json.dumps([ROW, {**ROW, "id": 3}]).encode(), "element 2, has a field 'id'"),
        (json.dumps([ROW, {**ROW, "context": "\ud800"}]).encode(), "element 2, has a field 'con"),
    ],
)
def test_damaged_local_files(folders, tmp_path, content, message):
    file = tmp_path / "mine.json"
    file.write_bytes(content)
    with pytest.raises(DataError, match=message) as caught:
        load(T1_1, str(file))
    assert str(file) in str(caught.value)
    assert folders() == []


def test_a_file_that_changes_while_it_is_read(folders, tmp_path, monkeypatch):
    file = write_rows(tmp_path / "mine.json", [ROW])
    real = opening.array_items

    def changing(path, progress):
        items = list(real(path, progress))
        write_rows(path, [ROW, ROW])
        return items

    monkeypatch.setattr(opening, "array_items", changing)
    with pytest.raises(DataError, match="was changed while it was read"):
        load(T1_1, str(file))
    assert folders() == []
