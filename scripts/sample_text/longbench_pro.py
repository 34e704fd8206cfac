"""The rows of the LongBench Pro sample."""

from random import Random

from sample_text import (
    pro_checks,
    pro_citations,
    pro_clusters,
    pro_code,
    pro_dialogue,
    pro_facts,
    pro_numbers,
    pro_retrieval,
    pro_rules,
    pro_sequence,
    pro_summaries,
)
from sample_text.pro_row import ProRow

MODULES = (
    pro_retrieval,
    pro_sequence,
    pro_facts,
    pro_summaries,
    pro_citations,
    pro_clusters,
    pro_checks,
    pro_numbers,
    pro_code,
    pro_rules,
    pro_dialogue,
)


def rows(seed: str) -> list[ProRow]:
    """Return all rows, in the order of the tasks."""
    return [
        row
        for module in MODULES
        for row in module.rows(Random(f"{seed}:{module.__name__}"))  # noqa: S311
    ]
