"""The questions of LongBench v2: their domains, difficulties and lengths.

Source: the benchmark's pinned data (names, counts).
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

CHOICES = ("A", "B", "C", "D")
QUESTIONS = 503
# Official name of each domain by its short form in task names, in the official order.
DOMAINS: Mapping[str, str] = MappingProxyType(
    {
        "single_document_qa": "Single-Document QA",
        "multi_document_qa": "Multi-Document QA",
        "long_in_context_learning": "Long In-context Learning",
        "long_dialogue_history": "Long-dialogue History Understanding",
        "code_repository": "Code Repository Understanding",
        "long_structured_data": "Long Structured Data Understanding",
    }
)
# Questions of the official set that have each value, by dimension. Figures are broken down by
# difficulty and length; a question's length is that of its document.
COUNTS: Mapping[str, Mapping[str, int]] = MappingProxyType(
    {
        "domain": dict(zip(DOMAINS.values(), (175, 125, 81, 39, 50, 33), strict=True)),
        "difficulty": {"easy": 192, "hard": 311},
        "length": {"short": 180, "medium": 215, "long": 108},
    }
)
DIFFICULTIES = tuple(COUNTS["difficulty"])
LENGTHS = tuple(COUNTS["length"])
