"""Some of a task's questions."""

import pyarrow
import pytest

from lm_eval_longbench.data.convert import MappedRows
from lm_eval_longbench.data.open import Documents, select
from lm_eval_longbench.errors import OptionError

TABLE = pyarrow.Table.from_pydict(
    {
        "id": ["a", "b", "c", "d"],
        "language": ["English", "Chinese", "English", "English"],
        "token_length": ["8k", "8k", "16k", "32k"],
    }
)
ROWS = MappedRows(TABLE)
DOCUMENTS = Documents(ROWS, "repository@1234567", "0" * 64, True, ["x", "x", None, "y"])


def test_no_wish_keeps_everything_official():
    assert select(DOCUMENTS, {}, "T1.1") is DOCUMENTS


def test_every_dimension_must_hold_and_the_order_stays():
    only = {"language": ("English",), "token_length": ("8k", "32k")}
    kept = select(DOCUMENTS, only, "T1.1")
    assert kept.rows["id"] == ["a", "d"]
    assert kept.context_sha256 == ["x", "y"]
    assert kept.label == "repository@1234567 (only language: English; token_length: 8k, 32k)"
    assert not kept.official
    assert kept.sha256 == DOCUMENTS.sha256


def test_nothing_left_is_an_error_that_names_the_wish():
    only = {"language": ("Chinese",), "token_length": ("32k",)}
    with pytest.raises(OptionError, match=r"T1.1: no question has language in \['Chinese'\]"):
        select(DOCUMENTS, only, "T1.1")
