"""LongBench v1 asked otherwise: with parts of the document, and its first release.

Source: LongBench at 2e00731, retrieval/ (eight question answering sets, chunks of 200 or 500 words,
the best of them joined in their rank) and summ/ (four sets, each part of the document summarised,
the labels of summaries); of Natural Questions at 0697c97, the last state with 20 sets: template,
budget, metric and chat policy.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from lm_eval_longbench.benchmarks.asking import Retrieval, RetrievedAsking, ranker_of
from lm_eval_longbench.benchmarks.base import SAMPLES, Benchmark
from lm_eval_longbench.benchmarks.charts import Look
from lm_eval_longbench.benchmarks.v1 import LongBenchV1
from lm_eval_longbench.catalog.model import Task
from lm_eval_longbench.errors import DataError
from lm_eval_longbench.prompts.render import render

if TYPE_CHECKING:
    from lm_eval_longbench.benchmarks.asking import Asking
    from lm_eval_longbench.data.open import Documents
    from lm_eval_longbench.options import Options
    from lm_eval_longbench.retrieval.chunks import Chunk

# ---------------------------------------------------------------------- some datasets


class _Some(LongBenchV1):
    """Some datasets, and the mean over them."""

    variant = True
    official_files = None
    layouts = ()
    look: Look = Look()
    published = None


class _Parts(_Some):
    """Datasets whose documents are replaced by parts of them."""

    retrieval: Retrieval

    def asking(self, task: Task, options: Options, repeats: int) -> Asking:
        return RetrievedAsking(self, task, options, repeats, self.retrieval)

    def render(self, task: Task, row: Mapping[str, Any]) -> str:
        from lm_eval_longbench.options import Options

        return self.retrieval.rendered(task, row, Options())


_WORDS, _PART, _SUMMARY = 200, 500, 200


def _retrieved(row: Mapping[str, Any], options: Options) -> Sequence[Chunk]:
    from lm_eval_longbench.retrieval.chunks import sentence_chunks

    chunks = sentence_chunks(row["context"], options.chunk_size or _WORDS)
    return ranker_of(options)(chunks, row["input"], options.rag_top_n)


def _retrieved_label(options: Options) -> str:
    from lm_eval_longbench.retrieval.chunks import label

    size = f"{options.chunk_size or _WORDS}-word"
    return label(options.retriever, size, options.embedding_model)


class V1Retrieval(_Parts):
    """Eight question answering sets with retrieved chunks, the best first."""

    name, short, sign = "longbench_v1_retrieval", "v1_retrieval", "lb-v1-retrieval"
    title, file_kind = "LongBench v1 with retrieval", "v1_retrieval_predictions"
    retrieval = Retrieval(
        own=_retrieved,
        label=_retrieved_label,
        joined=lambda row, chunks, top_n: "".join(chunk["content"] for chunk in chunks[:top_n]),
        filled=render,
    )


def _started(row: Mapping[str, Any], options: Options) -> Sequence[Chunk]:
    from lm_eval_longbench.retrieval.chunks import Chunk, first_words, sentence_chunks

    parts = sentence_chunks(row["context"], options.chunk_size or _PART)
    return [
        Chunk(c_idx=number, content=first_words(part, _SUMMARY))
        for number, part in enumerate(parts)
    ]


def _started_label(options: Options) -> str:
    part = options.chunk_size or _PART
    return f"the first {_SUMMARY} words of each part of {part}, lm-eval-longbench's own"


def _labelled(row: Mapping[str, Any], parts: Sequence[Mapping[str, Any]], top_n: int) -> str:
    label = "段落摘要" if row["language"] == "zh" else "Paragraph Summary"
    ordered = sorted(parts, key=lambda part: part["c_idx"])
    return "".join(f"{label}{n} : {part['content']}\n" for n, part in enumerate(ordered, start=1))


class V1Summary(_Parts):
    """Four summarization sets with a summary of each part of the document in its place."""

    name, short, sign = "longbench_v1_summary", "v1_summary", "lb-v1-summary"
    title, file_kind = "LongBench v1 with summaries", "v1_summary_predictions"
    retrieval = Retrieval(_started, _started_label, _labelled, render)


# ---------------------------------------------------------------------- the first release


class V1First(_Some):
    """Natural Questions, which only the first release of July 2023 had."""

    name, short, sign = "longbench_v1_2023", "v1_2023", "lb-v1-2023"
    title, file_kind = "LongBench v1, first release", "v1_2023_predictions"
    samples = SAMPLES.parent / "sample_2023"

    def prepared(self) -> Iterator[tuple[str, Task]]:
        """Yield nothing: no official data is left."""
        return iter(())

    def load(self, task: Task, data_dir: str | None) -> Documents:
        """Open local data.

        Raises:
            DataError: no folder with it is named; the message says why one is needed.
        """
        if data_dir is None:
            raise DataError(
                f"{task.name} has no data to download: Natural Questions was in the first release "
                "of LongBench (July and August 2023) alone and was withdrawn. If you have its "
                f"{task.dataset}.jsonl, name its folder with the option data_dir. Its rows have "
                "the fields of LongBench "
                f"v1: {', '.join(self.fields)}."
            )
        return super().load(task, data_dir)

    def is_official_name(self, stem: str) -> bool:
        return stem in self.datasets

    def is_official_row(self, row: Mapping[str, Any], stem: str) -> bool:
        return "pred" in row and self.is_official_name(stem)


VARIANTS: tuple[Benchmark, ...] = (
    V1Retrieval(),
    V1Summary(),
    V1First(),
)
