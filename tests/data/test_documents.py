"""Some of a task's questions."""

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


def test_a_part_says_what_was_chosen_and_keeps_the_places():
    kept = DOCUMENTS.part([0, 3], [0, 3], None, "language: English")
    assert list(kept.asked) == [0, 3] and kept.rows[3]["id"] == "d"
    assert kept.ids_of_all() == ["a", "d"]
    assert kept.label == "repository@1234567 (only language: English)"
    assert not kept.official and kept.shard is None
    assert kept.sha256 == DOCUMENTS.sha256


def test_a_shard_is_official_and_knows_the_questions_of_all():
    kept = DOCUMENTS.part([1], [0, 1, 3], "2/3", "")
    assert list(kept.asked) == [1]
    assert kept.ids_of_all() == ["a", "b", "d"]
    assert (kept.label, kept.official, kept.shard) == (DOCUMENTS.label, True, "2/3 of 3")
