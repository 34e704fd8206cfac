"""The datasets of LongBench v1 and LongBench-E: the one table that everything else reads.

Source: LongBench at commit 2e00731 (task list, output budgets, chat policy) and the pinned data
(row counts).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from lm_eval_longbench.errors import UnknownNameError

# Answers to one question that are scored and reported. Pro's summary and reports have figures for
# each number of runs, so that time and memory grow with it, not with the answers that there are;
# best-of-N and pass@N are published up to 3, and studied up to some hundreds.
MOST_REPEATS = 256

CATEGORIES = (
    "single_doc_qa",
    "multi_doc_qa",
    "summarization",
    "few_shot",
    "synthetic",
    "code",
)


@dataclass(frozen=True)
class DatasetInfo:
    """One dataset.

    Attributes:
        name: official name, as in the data files.
        category: one of CATEGORIES.
        language: "en", "zh" or "code".
        rows: documents in the v1 file.
        rows_e: documents in the LongBench-E file; None where there is none.
        max_gen_toks: official output budget in tokens.
        chat: whether official code wraps the prompt in the chat template.
    """

    name: str
    category: str
    language: str
    rows: int
    rows_e: int | None
    max_gen_toks: int
    chat: bool = True


_ALL = (
    DatasetInfo("narrativeqa", "single_doc_qa", "en", 200, None, 128),
    DatasetInfo("qasper", "single_doc_qa", "en", 200, 224, 128),
    DatasetInfo("multifieldqa_en", "single_doc_qa", "en", 150, 150, 64),
    DatasetInfo("multifieldqa_zh", "single_doc_qa", "zh", 200, None, 64),
    DatasetInfo("hotpotqa", "multi_doc_qa", "en", 200, 300, 32),
    DatasetInfo("2wikimqa", "multi_doc_qa", "en", 200, 300, 32),
    DatasetInfo("musique", "multi_doc_qa", "en", 200, None, 32),
    DatasetInfo("dureader", "multi_doc_qa", "zh", 200, None, 128),
    DatasetInfo("gov_report", "summarization", "en", 200, 300, 512),
    DatasetInfo("qmsum", "summarization", "en", 200, None, 512),
    DatasetInfo("multi_news", "summarization", "en", 200, 294, 512),
    DatasetInfo("vcsum", "summarization", "zh", 200, None, 512),
    DatasetInfo("trec", "few_shot", "en", 200, 300, 64, chat=False),
    DatasetInfo("triviaqa", "few_shot", "en", 200, 300, 32, chat=False),
    DatasetInfo("samsum", "few_shot", "en", 200, 300, 128, chat=False),
    DatasetInfo("lsht", "few_shot", "zh", 200, None, 64, chat=False),
    DatasetInfo("passage_count", "synthetic", "en", 200, 300, 32),
    DatasetInfo("passage_retrieval_en", "synthetic", "en", 200, 300, 32),
    DatasetInfo("passage_retrieval_zh", "synthetic", "zh", 200, None, 32),
    DatasetInfo("lcc", "code", "code", 500, 300, 64, chat=False),
    DatasetInfo("repobench-p", "code", "code", 500, 300, 64, chat=False),
)
V1: Mapping[str, DatasetInfo] = MappingProxyType({info.name: info for info in _ALL})
E: Mapping[str, DatasetInfo] = MappingProxyType(
    {info.name: info for info in _ALL if info.rows_e is not None}
)
# Datasets that go out raw even in a chat run.
RAW_PROMPT = tuple(info.name for info in _ALL if not info.chat)


@dataclass(frozen=True)
class Split:
    """One dataset of one benchmark: what a task evaluates.

    Attributes:
        benchmark: "longbench_v1" or "longbench_v1_e".
        info: the dataset.
    """

    benchmark: str
    info: DatasetInfo

    @property
    def is_e(self) -> bool:
        """Whether this is a LongBench-E dataset."""
        return self.benchmark == "longbench_v1_e"

    @property
    def file_stem(self) -> str:
        """Name of the data file without its ending, as in the official archive."""
        return f"{self.info.name}_e" if self.is_e else self.info.name

    @property
    def rows(self) -> int:
        """Documents in the official file."""
        return (self.info.rows_e or 0) if self.is_e else self.info.rows

    @property
    def task(self) -> str:
        """Name of the harness task."""
        return f"{self.benchmark}_{self.info.name.replace('-', '_')}"


V1_SPLITS = tuple(Split("longbench_v1", info) for info in V1.values())
E_SPLITS = tuple(Split("longbench_v1_e", info) for info in E.values())
SPLITS = V1_SPLITS + E_SPLITS
_BY_STEM = {split.file_stem: split for split in SPLITS}
_BY_TASK = {split.task: split for split in SPLITS}


def split_of_file(stem: str) -> Split:
    """Return the split whose data file is `<stem>.jsonl`; UnknownNameError if there is none."""
    if stem not in _BY_STEM:
        raise UnknownNameError("LongBench dataset", stem, _BY_STEM)
    return _BY_STEM[stem]


def split_of_task(task: str) -> Split:
    """Return the split that a harness task evaluates; UnknownNameError if there is none."""
    if task not in _BY_TASK:
        raise UnknownNameError("task", task, _BY_TASK)
    return _BY_TASK[task]
