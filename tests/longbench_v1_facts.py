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
        length, length_e: lower median of `length` in the v1 and the E file: words, and characters
            of Chinese; None where it is not known.
        chat: whether official code wraps the prompt in the chat template.
    """

    name: str
    category: str
    language: str
    rows: int
    rows_e: int | None
    budget: int
    length: int | None
    length_e: int | None
    chat: bool = True


ALL = (
    Dataset("narrativeqa", "single_doc_qa", "en", 200, None, 128, 17499, None),
    Dataset("qasper", "single_doc_qa", "en", 200, 224, 128, 3411, 4111),
    Dataset("multifieldqa_en", "single_doc_qa", "en", 150, 150, 64, 4982, 4982),
    Dataset("multifieldqa_zh", "single_doc_qa", "zh", 200, None, 64, 5948, None),
    Dataset("hotpotqa", "multi_doc_qa", "en", 200, 300, 32, 10063, 6543),
    Dataset("2wikimqa", "multi_doc_qa", "en", 200, 300, 32, 4201, 5240),
    Dataset("musique", "multi_doc_qa", "en", 200, None, 32, 11384, None),
    Dataset("dureader", "multi_doc_qa", "zh", 200, None, 128, 15455, None),
    Dataset("gov_report", "summarization", "en", 200, 300, 512, 6957, 6036),
    Dataset("qmsum", "summarization", "en", 200, None, 512, 10199, None),
    Dataset("multi_news", "summarization", "en", 200, 294, 512, 1651, 5075),
    Dataset("vcsum", "summarization", "zh", 200, None, 512, 13290, None),
    Dataset("trec", "few_shot", "en", 200, 300, 64, 5190, 6009, chat=False),
    Dataset("triviaqa", "few_shot", "en", 200, 300, 32, 8200, 6011, chat=False),
    Dataset("samsum", "few_shot", "en", 200, 300, 128, 6376, 6238, chat=False),
    Dataset("lsht", "few_shot", "zh", 200, None, 64, 21169, None, chat=False),
    Dataset("passage_count", "synthetic", "en", 200, 300, 32, 11494, 5968),
    Dataset("passage_retrieval_en", "synthetic", "en", 200, 300, 32, 9251, 6073),
    Dataset("passage_retrieval_zh", "synthetic", "zh", 200, None, 32, 6675, None),
    Dataset("lcc", "code", "code", 500, 300, 64, 882, 5053, chat=False),
    Dataset("repobench-p", "code", "code", 500, 300, 64, 3500, 5226, chat=False),
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
