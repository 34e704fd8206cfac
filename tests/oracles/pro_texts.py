"""Predictions and gold lists that meet each other often enough to be of use."""

from hypothesis import strategies as st

from oracles.pro_items import normalized
from oracles.texts import anything, joined

ITEMS = ["a", "A ", " b", "b", "c", "d  e", "D\te", "甲", "第1部分", "", "x"]
MARKS = ["[Answer]", "[答案]", "[answer]"]
marked = joined([*(item + "\n" for item in ITEMS), *ITEMS, "\n", "\n\n", "\r\n", *MARKS], 14)
listed = st.lists(st.sampled_from(ITEMS), max_size=10).map("\n".join)
predictions = st.one_of(listed, listed, marked, anything)
distinct_golds = st.lists(st.sampled_from(ITEMS), min_size=1, max_size=7, unique_by=normalized)
golds = st.one_of(
    distinct_golds,
    st.lists(st.sampled_from([*ITEMS, "a\nb"]), max_size=7),
    st.lists(anything, max_size=3),
)
