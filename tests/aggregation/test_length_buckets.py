"""The buckets of LongBench-E and their borders."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lm_eval_longbench.benchmarks.longbench_v1 import BUCKETS, bucket


@pytest.mark.parametrize(
    ("length", "name"),
    [
        (0, "0-4k"),
        (1, "0-4k"),
        (3999, "0-4k"),
        (4000, "4-8k"),
        (4001, "4-8k"),
        (7999, "4-8k"),
        (8000, "8k+"),
        (8001, "8k+"),
        (10**9, "8k+"),
        (-1, "0-4k"),
    ],
)
def test_borders(length, name):
    assert bucket(length) == name


def test_order():
    assert BUCKETS == ("0-4k", "4-8k", "8k+")


@given(st.integers())
def test_every_length_has_a_bucket_and_longer_ones_none_before(length):
    assert bucket(length) in BUCKETS
    assert BUCKETS.index(bucket(length)) <= BUCKETS.index(bucket(length + 1))
