"""The modes of LongBench v2, and how many of its questions are of which kind."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from lm_eval_longbench.catalog.model import Length
from lm_eval_longbench.metrics.letter import CHOICES

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
SUB_SCORES = (*COUNTS["difficulty"], *COUNTS["length"])
ALL = "all"  # the dataset of tasks that ask all domains
NAME = "longbench_v2"
NO_CONTEXT, COT, COT_ANSWER, RAG = (
    f"{NAME}_{mode}" for mode in ("no_context", "cot", "cot_answer", "rag")
)
# Median words of a document, from longbench2.github.io (da2d517): of each domain in its table of
# statistics, rounded to thousands; of all 503 the interval of its chart that has the 252nd.
_MEDIANS = dict(zip(DOMAINS, (51_000, 34_000, 71_000, 25_000, 167_000, 49_000), strict=True))
LENGTHS: Mapping[str, Length] = MappingProxyType(
    {
        ALL: Length(32_000, 64_000, "words"),
        **{code: Length(words, words, "words") for code, words in _MEDIANS.items()},
    }
)
_CHOICE_FIELDS = tuple(f"choice_{letter}" for letter in CHOICES)
ASKED = ("question", *_CHOICE_FIELDS)


@dataclass(frozen=True)
class Mode:
    """One way of asking all questions.

    Attributes:
        task: name of its task and its table.
        title: in print; "" for the usual one.
        template: name of its template.
        budget: official output budget in tokens.
        published: modes of published rows that are comparable.
    """

    task: str
    title: str
    template: str
    budget: int = 128
    published: tuple[str, ...] = ()


MODES = (
    Mode(NAME, "", "0shot", published=("direct",)),
    Mode(NO_CONTEXT, "no context", "0shot_no_context"),
    Mode(COT, "CoT, one call", "0shot_cot", 1024),
    Mode(COT_ANSWER, "CoT", "0shot_cot_ans", published=("CoT",)),
    Mode(RAG, "RAG", "0shot_rag"),
)
