"""Counting questions and telling where the counts differ from the official ones."""

from collections import Counter

import pytest
import v2_rows
from pro_rows import official_rows

from lm_eval_longbench.benchmarks import longbench_pro as catalog_pro, longbench_v2 as catalog_v2
from lm_eval_longbench.data.load_array import SHOWN, add_row, differences, listed, no_counts, total

OFFICIAL = {"colour": {"red": 2, "blue": 1}, "size": {"big": 0, "small": 3}}


def counted(rows, official):
    counts = no_counts(official)
    for row in rows:
        add_row(counts, row)
    return counts


@pytest.mark.parametrize(
    ("catalog", "rows"),
    [(catalog_pro, official_rows()), (catalog_v2, v2_rows.official_rows())],
    ids=["pro", "v2"],
)
def test_official_rows_have_the_official_counts(catalog, rows):
    counts = counted(rows, catalog.COUNTS)
    assert differences(counts, catalog.COUNTS) == []
    assert total(counts) == catalog.QUESTIONS == len(rows)
    for dimension, values in counts.items():
        assert values == Counter(row[dimension] for row in rows)
    assert {sum(values.values()) for values in catalog.COUNTS.values()} == {catalog.QUESTIONS}


def test_every_difference_is_named():
    counts = counted(
        [{"colour": "blue", "size": "big"}, {"colour": "red", "size": "small"}], OFFICIAL
    )
    assert counts == {"colour": {"red": 1, "blue": 1}, "size": {"big": 1, "small": 1}}
    assert differences(counts, OFFICIAL) == [
        "2 questions instead of 3",
        "colour 'red' 1 instead of 2",
        "size 'big' 1 instead of 0",
        "size 'small' 1 instead of 3",
    ]


def test_no_questions():
    assert total(no_counts(OFFICIAL)) == 0
    assert differences(no_counts(OFFICIAL), OFFICIAL)[0] == "0 questions instead of 3"


def test_long_lists_are_shortened():
    phrases = [str(number) for number in range(SHOWN + 2)]
    assert listed([]) == ""
    assert listed(phrases[:2]) == "0; 1"
    assert listed(phrases[:SHOWN]) == "0; 1; 2; 3; 4; 5; 6; 7"
    assert listed(phrases) == "0; 1; 2; 3; 4; 5; 6; 7; and 2 more"
