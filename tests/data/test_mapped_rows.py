"""Rows of a mapped file are those of a list, whatever is asked of them."""

from random import Random

import pyarrow
import pytest

from lm_eval_longbench.data.convert import MappedRows


@pytest.fixture
def file(tmp_path):
    return tmp_path / "rows.arrow"


def written(file, *batches):
    """Map a file of some batches; the batches' rows as a list beside it."""
    schema = pyarrow.schema([("id", pyarrow.string()), ("n", pyarrow.int64())])
    with file.open("wb") as opened, pyarrow.ipc.new_stream(opened, schema) as writer:
        for rows in batches:
            writer.write_batch(pyarrow.RecordBatch.from_pylist(rows, schema=schema))
    return MappedRows.of_file(file), [row for rows in batches for row in rows]


@pytest.mark.parametrize("seed", range(20))
def test_it_is_a_list(file, seed):
    dice = Random(seed)
    mapped, rows = written(
        file,
        *(
            [{"id": str(dice.random()), "n": dice.choice([None, 7])} for _ in range(size)]
            for size in dice.choices(range(4), k=dice.randrange(6))
        ),
    )
    for _ in range(4):
        assert list(mapped) == rows
        assert len(mapped) == len(rows)
        assert [mapped[number - len(rows)] for number in range(len(rows))] == rows
        assert mapped[1:5:2] == rows[1:5:2]
        assert mapped["id"] == [row["id"] for row in rows]
        assert mapped.columns() == {name: [row[name] for row in rows] for name in ("id", "n")}
        assert list(mapped.without("n")) == [{"id": row["id"]} for row in rows]
        with pytest.raises(IndexError):
            mapped[len(rows)]
        chosen = dice.choices(range(len(rows)), k=dice.randrange(8)) if rows else []
        mapped, rows = mapped.select(chosen), [rows[number] for number in chosen]


def test_columns_that_are_not_there(file):
    mapped, _ = written(file, [{"id": "a", "n": 1}])
    assert mapped.schema.names == ["id", "n"]
    assert mapped.without("id").schema == pyarrow.schema([("n", pyarrow.int64())])
    for ask in (mapped.without, mapped.__getitem__):
        with pytest.raises(KeyError):
            ask("context")


@pytest.mark.parametrize("left", [0, 10, 200])
def test_a_file_that_is_cut_off_is_an_error(file, left):
    written(file, [{"id": "a" * 500, "n": 1}])
    file.write_bytes(file.read_bytes()[:left])
    with pytest.raises((OSError, ValueError)):
        MappedRows.of_file(file)
