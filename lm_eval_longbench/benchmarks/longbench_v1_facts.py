"""The datasets of LongBench v1 and LongBench-E, their categories, languages and length buckets."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

CATEGORIES = ("single_doc_qa", "multi_doc_qa", "summarization", "few_shot", "synthetic", "code")
# Of these the metrics segment Chinese words.
SEGMENTED = CATEGORIES[:3]
# Headlines; the code sets count in both.
LANGUAGES = {"English": "en", "Chinese": "zh"}


@dataclass(frozen=True)
class Dataset:
    """One dataset.

    Attributes:
        name: official name, as in the data files.
        category: one of CATEGORIES.
        language: "en", "zh" or "code".
        rows: documents in the v1 file; rows_e: in the LongBench-E file, None where there is none.
        budget: official output budget in tokens.
        chat: whether official code wraps the prompt in the chat template.
    """

    name: str
    category: str
    language: str
    rows: int
    rows_e: int | None
    budget: int
    chat: bool = True


ALL = (
    Dataset("narrativeqa", "single_doc_qa", "en", 200, None, 128),
    Dataset("qasper", "single_doc_qa", "en", 200, 224, 128),
    Dataset("multifieldqa_en", "single_doc_qa", "en", 150, 150, 64),
    Dataset("multifieldqa_zh", "single_doc_qa", "zh", 200, None, 64),
    Dataset("hotpotqa", "multi_doc_qa", "en", 200, 300, 32),
    Dataset("2wikimqa", "multi_doc_qa", "en", 200, 300, 32),
    Dataset("musique", "multi_doc_qa", "en", 200, None, 32),
    Dataset("dureader", "multi_doc_qa", "zh", 200, None, 128),
    Dataset("gov_report", "summarization", "en", 200, 300, 512),
    Dataset("qmsum", "summarization", "en", 200, None, 512),
    Dataset("multi_news", "summarization", "en", 200, 294, 512),
    Dataset("vcsum", "summarization", "zh", 200, None, 512),
    Dataset("trec", "few_shot", "en", 200, 300, 64, chat=False),
    Dataset("triviaqa", "few_shot", "en", 200, 300, 32, chat=False),
    Dataset("samsum", "few_shot", "en", 200, 300, 128, chat=False),
    Dataset("lsht", "few_shot", "zh", 200, None, 64, chat=False),
    Dataset("passage_count", "synthetic", "en", 200, 300, 32),
    Dataset("passage_retrieval_en", "synthetic", "en", 200, 300, 32),
    Dataset("passage_retrieval_zh", "synthetic", "zh", 200, None, 32),
    Dataset("lcc", "code", "code", 500, 300, 64, chat=False),
    Dataset("repobench-p", "code", "code", 500, 300, 64, chat=False),
)
DATASETS: Mapping[str, Dataset] = MappingProxyType({one.name: one for one in ALL})
# Length buckets of LongBench-E: name, metric in the harness, and the length (words; characters for
# Chinese) that it ends before.
_BUCKETS = (("0-4k", "score_0_4k", 4000), ("4-8k", "score_4_8k", 8000), ("8k+", "score_8k_plus", 0))
BUCKETS = tuple(name for name, _, _ in _BUCKETS)
BUCKET_METRICS = {name: metric for name, metric, _ in _BUCKETS}


def bucket(length: int) -> str:
    """Return the official name of the length bucket that a document's `length` falls into."""
    return next((name for name, _, end in _BUCKETS if length < end), BUCKETS[-1])


def datasets_of(language: str, category: str | None = None) -> tuple[str, ...]:
    """Return the datasets of a headline, of one category or all; the code sets count in both.

    Args:
        language: "en" or "zh".
        category: one of CATEGORIES.
    """
    return tuple(
        one.name
        for one in ALL
        if one.language in (language, "code") and category in (None, one.category)
    )
