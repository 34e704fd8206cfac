"""Some of a task's questions."""

from dataclasses import replace

import pyarrow

from lm_eval_longbench.data.convert import MappedRows
from lm_eval_longbench.data.open import Documents

TABLE = pyarrow.Table.from_pydict(
    {
        "id": ["a", "b", "c", "d"],
        "language": ["English", "Chinese", "English", "English"],
        "token_length": ["8k", "8k", "16k", "32k"],
    }
)
ROWS = MappedRows(TABLE)
DOCUMENTS = Documents(ROWS, "repository@1234567", "0" * 64, True, ["x", "x", None, "y"])


def test_without_a_part_all_are_asked():
    assert list(DOCUMENTS.asked) == [0, 1, 2, 3]
    assert DOCUMENTS.ids_of_all() == ["a", "b", "c", "d"]


def test_a_part_keeps_the_places_and_a_shard_knows_the_questions_of_all():
    kept = replace(DOCUMENTS, given=[0, 3])
    assert list(kept.asked) == [0, 3] and kept.rows[3]["id"] == "d"
    assert kept.ids_of_all() == ["a", "d"]
    assert replace(DOCUMENTS, given=[1], whole=[0, 1, 3]).ids_of_all() == ["a", "b", "d"]
