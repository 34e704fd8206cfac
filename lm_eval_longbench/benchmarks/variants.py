"""LongBench v1 asked otherwise, and benchmarks of a user's own that need no Python.

Source of the variants: LongBench at 2e00731, retrieval/ (eight question answering sets, chunks of
200 or 500 words, the best of them joined in their rank) and summ/ (four sets, each part of the
document summarised, the labels of summaries); of Natural Questions at 0697c97, the last state with
20 sets: template, budget, metric and chat policy.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lm_eval_longbench.benchmarks.asking import Asking, Retrieval, RetrievedAsking, ranker_of
from lm_eval_longbench.benchmarks.base import SAMPLES, Benchmark
from lm_eval_longbench.benchmarks.charts import Look
from lm_eval_longbench.benchmarks.pro import PRO
from lm_eval_longbench.benchmarks.v1 import V1, LongBenchV1
from lm_eval_longbench.benchmarks.v2 import V2
from lm_eval_longbench.catalog.model import Task
from lm_eval_longbench.catalog.presets import PresetTable
from lm_eval_longbench.catalog.read import defined_by
from lm_eval_longbench.catalog.users import whole
from lm_eval_longbench.errors import DataError, OptionError, UnknownNameError
from lm_eval_longbench.metrics.letter import judge
from lm_eval_longbench.metrics.lists import ITEM_METRICS
from lm_eval_longbench.metrics.reasoning import DROP, answer_of
from lm_eval_longbench.metrics.summary import sample_failed
from lm_eval_longbench.metrics.summary import score_sample as score_items
from lm_eval_longbench.metrics.text import CLASSIFICATION, METRICS
from lm_eval_longbench.options import Options
from lm_eval_longbench.prompts.render import fields_of, render
from lm_eval_longbench.records.sample import Sample, Scored
from lm_eval_longbench.retrieval.chunks import Chunk, first_words, label, sentence_chunks

if TYPE_CHECKING:
    from lm_eval_longbench.data.open import Documents

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
        return self.retrieval.rendered(task, row, Options())


_WORDS, _PART, _SUMMARY = 200, 500, 200


def _retrieved(row: Mapping[str, Any], options: Options) -> Sequence[Chunk]:
    chunks = sentence_chunks(row["context"], options.chunk_size or _WORDS)
    return ranker_of(options)(chunks, row["input"], options.rag_top_n)


def _retrieved_label(options: Options) -> str:
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


# ---------------------------------------------------------------------- a user's own task files


LETTER = "letter"


class FromFiles(LongBenchV1):
    """Gold answers in JSON Lines files; figures as those of LongBench v1, its headline's own.

    Args:
        leaves: what the file of each task says.
        where: their folder; or the results that carry them, which have no data beside them.
    """

    metrics = f"{V1.metrics}-{V2.metrics}-{PRO.metrics}"
    presets: PresetTable | None = None
    official_files = published = None
    layouts = ()
    look = Look()
    file_names = "none"
    is_prepared = False

    def __init__(self, leaves: Iterable[Mapping[str, Any]], where: Path) -> None:
        told = {leaf["task"]: leaf for leaf in (whole(own, where) for own in leaves)}
        self.name = next(iter(told.values()))["benchmark"]
        self.short = self.sign = self.title = self.prepared_as = self.name
        self.file_kind = f"{self.name}_predictions"
        for name, leaf in told.items():
            if leaf.get("metric") not in self._metrics():
                known = UnknownNameError("metric", leaf.get("metric"), self._metrics())
                raise OptionError(f"{name}: its file must name a metric of ours. {known}")
        needed = {own for leaf in told.values() for own in fields_of(leaf["doc_to_text"])}
        classes = any(leaf["metric"] == "classification" for leaf in told.values())
        self.kinds = {"answers": "texts", **({"all_classes": "texts"} if classes else {})}
        self.fields = tuple(sorted(needed | {"_id", "context"} | self.kinds.keys()))
        # Converted data has these fields alone.
        fields = hashlib.sha256(json.dumps(self.fields).encode()).hexdigest()
        self.family = f"{self.name}-{fields[:8]}"
        self.where, self.samples = where, where / "sample"
        super().__init__(defined_by(self.name, told, dict.fromkeys(told, where)))

    @property
    def definition(self) -> dict[str, Any]:
        """What results carry of it: what all tasks say, and by task what each says besides."""
        first, *others = leaves = self.defined.leaves.values()
        common = {
            key: value
            for key, value in first.items()
            if all(own.get(key) == value for own in others)
        }
        tasks = {
            leaf["task"]: {key: own for key, own in leaf.items() if key not in common}
            for leaf in leaves
        }
        return {"all": common, "tasks": tasks}

    @staticmethod
    def _metrics() -> tuple[str, ...]:
        return (*METRICS, CLASSIFICATION, *ITEM_METRICS, LETTER)

    def metrics_of(self, task: Task) -> Sequence[str]:
        return self._metrics()

    def load(self, task: Task, data_dir: str | None) -> Documents:
        """Open the pinned data, that of a user, or if nothing is pinned what is beside the files.

        Raises DataError as `Benchmark.load` does.
        """
        if data_dir is None and not self.source.sha256:
            data_dir = str(self.where if self.where.is_dir() else self.where.parent)
        return super().load(task, data_dir)

    row_problem = Benchmark.row_problem

    def score(self, sample: Sample, reasoning: str = DROP, *, extras: bool = False) -> Scored:
        """Return what an answer is worth by its metric, of whichever of our benchmarks that is."""
        metric = sample.shown.get("scored_by", self.tasks[sample.task].metric)
        answer, shown = answer_of(sample.response or "", reasoning), sample.shown
        if metric in ITEM_METRICS:
            worth = score_items(metric, "English", answer, sample.golds)
            assert isinstance(worth, float)  # no summary
            return Scored(worth, sample_failed(metric, answer, sample.golds), shown)
        if metric == LETTER:
            verdict = judge(sample.response or "", sample.golds[0], reasoning)
            return Scored(verdict.accuracy, verdict.failed, shown)
        return super().score(sample, reasoning, extras=extras)

    def is_official_row(self, row: Mapping[str, Any], stem: str) -> bool:
        return False

    def is_official_name(self, stem: str) -> bool:
        return False
