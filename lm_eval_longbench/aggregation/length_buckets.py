"""The length buckets of LongBench-E."""

from __future__ import annotations

# Upper bounds in the document's `length` (words; characters for Chinese), exclusive.
_BOUNDS = ((4000, "0-4k"), (8000, "4-8k"))
_REST = "8k+"
BUCKETS = ("0-4k", "4-8k", "8k+")


def bucket(length: int) -> str:
    """Return the official name of the bucket that a document's `length` falls into."""
    return next((name for bound, name in _BOUNDS if length < bound), _REST)
