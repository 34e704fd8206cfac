"""Tasks that need more than their data: chain of thought, retrieval, similarity of summaries."""

from __future__ import annotations

import json
import logging
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from lm_eval_longbench.benchmarks.asking import Asking, Retrieval, ranker_of
from lm_eval_longbench.benchmarks.base import Benchmark
from lm_eval_longbench.catalog.model import Task
from lm_eval_longbench.console import first_time, warn_once
from lm_eval_longbench.errors import DataError, EmbeddingError, OptionError
from lm_eval_longbench.files import read_json_lines, user_path
from lm_eval_longbench.metrics.reasoning import answer_of
from lm_eval_longbench.options import Options
from lm_eval_longbench.prompts.render import joined_sha256, render, text_sha256
from lm_eval_longbench.records.log import is_log_row, prompt_of
from lm_eval_longbench.records.sample import Scored
from lm_eval_longbench.records.v2_files import ASKED
from lm_eval_longbench.retrieval.chunks import SIZE, Chunk, label, retrieve
from lm_eval_longbench.retrieval.embedding import choose_embedder, summary_similarities
from lm_eval_longbench.retrieval.vectors import OFFICIAL_MODEL, Embedder, VectorCache

# ---------------------------------------------------------------------- reasoning of a run

_PATTERNS = ("samples_longbench_v2_cot_2*.jsonl", "reasoning_longbench_v2_cot_*.jsonl")
# Ids that an error names.
_SHOWN = 10


def read_reasoning(
    path: str, questions: Sequence[Mapping[str, Any]], template: str, data: str
) -> dict[str, str]:
    """Return the reasoning of each question, by `_id`, from the log of pass one.

    Args:
        path: sample log of the task `longbench_v2_cot`, or a folder that holds it at any depth.
        questions: those that pass two asks, with `_id`, question and choices.
        template: sha256 of pass one's prompt template.
        data: label of the questions' data.

    Raises:
        DataError: there is no such log; it is damaged, of another task or of other questions; it
            has two texts for one question; or it lacks questions. The message names the ids.
    """
    wanted = {question["_id"]: question for question in questions}
    found: dict[str, str] = {}
    foreign: list[str] = []
    for where, row in _rows(_files(user_path(path))):
        doc, text = _doc_and_text(row, where)
        told = prompt_of(row).get("template_sha256", template)
        if told != template:
            raise DataError(f"{where} is not of the task longbench_v2_cot: its prompt is another.")
        if doc.get("data", data) != data:
            raise DataError(f"{where} is of other data: {doc['data']!r}, and asked is {data!r}.")
        question = wanted.get(doc["_id"])
        if question is not None and any(doc.get(name) != question[name] for name in ASKED):
            foreign.append(doc["_id"])
        if found.setdefault(doc["_id"], text) != text:
            raise DataError(
                f"{where} has another reasoning for {doc['_id']} than was read before. Name one "
                "log of one run."
            )
    if foreign:
        raise DataError(
            f"{path} is a log of other data: it has other questions under the ids {_names(foreign)}"
        )
    missing = [name for name in wanted if name not in found]
    if missing:
        raise DataError(
            f"{path} has no reasoning for {len(missing)} of {len(wanted)} questions: "
            f"{_names(missing)} Finish pass one, or ask for the same questions in both passes."
        )
    return {name: found[name] for name in wanted}


def _names(ids: Sequence[str]) -> str:
    return ", ".join(ids[:_SHOWN]) + (", ..." if len(ids) > _SHOWN else ".")


def _files(place: Path) -> list[Path]:
    if place.is_dir():
        files = sorted(file for pattern in _PATTERNS for file in place.rglob(pattern))
        if not files:
            raise DataError(
                f"cot_samples {str(place)!r} has no samples_longbench_v2_cot_*.jsonl. Run "
                "longbench_v2_cot with log_samples first."
            )
        return files
    if not place.is_file():
        raise DataError(f"cot_samples {str(place)!r} does not exist.")
    return [place]


def _rows(files: Sequence[Path]) -> Iterator[tuple[str, Any]]:
    for file in files:
        for number, row in read_json_lines(file, DataError):
            yield f"{file}, line {number},", row


def _doc_and_text(row: Any, where: str) -> tuple[dict[str, Any], str]:
    """Return a row's question and its one response."""
    if not is_log_row(row) or not isinstance(row["doc"].get("_id"), str):
        raise DataError(f"{where} is not of a sample log of LongBench v2: it has no doc with _id.")
    match row.get("resps"):
        # Of several ranks one may be sent its last request again, so that all have as many.
        case [[str(text), *more]] if not more or row.get("filtered_resps") in ([text], [[text]]):
            return row["doc"], text
    raise DataError(f"{where} does not hold one response in 'resps'.")


# ---------------------------------------------------------------------- the modes


class CotAsking(Asking):
    """Chain of thought: officially two calls, here two tasks."""

    def __init__(self, benchmark: Benchmark, task: Task, options: Options, repeats: int) -> None:
        super().__init__(benchmark, task, options, repeats)
        if repeats > 1:
            raise OptionError(
                f"{task.name}: repeats do not go with chain of thought, where each answer belongs "
                "to one reasoning. Run both passes several times, with other seeds."
            )
        if options.overlength == "skip":
            raise OptionError(
                f'{task.name}: the option overlength "skip" would leave questions without the '
                'reasoning that pass two embeds. Use "truncate" or "fail".'
            )


class CotAnswerAsking(CotAsking):
    """Pass two: the answer, from a prompt that embeds the reasoning and omits the document."""

    def __init__(self, benchmark: Benchmark, task: Task, options: Options, repeats: int) -> None:
        super().__init__(benchmark, task, options, repeats)
        self.reasoning: dict[str, str] = {}
        self._whole: dict[str, str] = {}
        self._embedded = False

    @property
    def first_pass(self) -> str:
        """The table of pass one, unless its log was named."""
        named = self.options.cot_samples is not None
        return "" if named else self.benchmark.tables[self.task.table].first_pass

    @property
    def ingredients(self) -> dict[str, Any]:
        """The hash of the reasoning that prompts embed."""
        hashes = [text_sha256(json.dumps(own)) for own in self._whole.items()]
        return {"reasoning_sha256": joined_sha256(hashes)} if hashes else {}

    def embed(self, answers: Mapping[str, str], whole: Mapping[str, str] | None = None) -> None:
        """Take reasoning, by `_id`, in place of a sample log's."""
        self.reasoning = dict(answers)
        self._whole = dict(answers if whole is None else whole)
        self._embedded = True

    def begin(self, documents: Sequence[Mapping[str, Any]], data: str) -> None:
        """Read the reasoning of every question from the log of pass one.

        All ranks read the whole log, so that all of them stop if a question is missing.
        """

        if self._embedded:
            return
        path = self.options.cot_samples
        if path is None:
            raise OptionError(
                f"{self.task.name} needs the reasoning of pass one: run longbench_v2_cot with "
                "log_samples, and give its sample log with the option cot_samples. In "
                "`lm-eval-longbench run` and `evaluate` longbench_v2_cot does both by itself."
            )
        first = self.benchmark.tables[self.task.table].first_pass
        template = self.benchmark.tasks[first].prompt_sha256
        self.reasoning = read_reasoning(path, documents, template, data)
        self._whole = self.reasoning

    def render(self, row: Mapping[str, Any]) -> str:
        """Return the prompt of a question; DataError if pass one has no reasoning for it."""
        if not self.reasoning:  # the harness renders one document before there is any
            return render(self.task, {**row, "cot": ""})
        if row["_id"] not in self.reasoning:
            raise DataError(f"{self.task.name}: pass one has no reasoning for {row['_id']}.")
        return render(self.task, {**row, "cot": self.reasoning[row["_id"]]})

    question = render  # the prompt has no document

    def measured(self, row: Mapping[str, Any]) -> str:
        """Return the prompt of pass one: both passes ask the same questions."""
        first = self.benchmark.tables[self.task.table].first_pass
        return self.benchmark.render(self.benchmark.tasks[first], row)

    def responses(self, doc: Mapping[str, Any], responses: list[str]) -> list[str]:
        """Return the responses; where pass one failed there was nothing to answer from."""
        return responses if self.reasoning[doc["_id"]].strip() else [""] * len(responses)


def _own(row: Mapping[str, Any], options: Options) -> list[Chunk]:
    return retrieve(row, options.rag_top_n, ranker_of(options), options.chunk_size or SIZE)


def _label(options: Options) -> str:
    return label(options.retriever, f"{options.chunk_size or SIZE}-token", options.embedding_model)


def retrieved_document(chunks: Sequence[Mapping[str, Any]], top_n: int) -> str:
    """Return the text that stands for the document in the RAG prompt.

    Args:
        chunks: `content` (text) and `c_idx` (position in the document), best first.
        top_n: how many of the best to take; they come in the order of the document.
    """
    best = sorted(chunks[:top_n], key=lambda chunk: chunk["c_idx"])
    return "\n\n".join(
        f"Retrieved chunk {number}: {chunk['content']}"
        for number, chunk in enumerate(best, start=1)
    )


RETRIEVAL = Retrieval(
    own=_own,
    label=_label,
    joined=lambda row, chunks, top_n: retrieved_document(chunks, top_n),
    filled=render,
)


# ---------------------------------------------------------------------- summaries of Pro

logger = logging.getLogger(__name__)


class ProAsking(Asking):
    """Questions whose summaries get their similarity."""

    def __init__(self, benchmark: Benchmark, task: Task, options: Options, repeats: int) -> None:
        super().__init__(benchmark, task, options, repeats)
        self.embedder: Embedder | None = None
        if task.summary:
            self.embedder = choose_embedder(options.embedding_model, options.embedding_url)
        # Of each question with a summary, by its row: one similarity a repeat.
        self._similarities: dict[int, list[float | None]] = {}

    @property
    def ingredients(self) -> dict[str, Any]:
        """The embedding model of summaries."""
        own = super().ingredients
        if self.task.summary:
            own["embedding_model"] = None if self.embedder is None else self.embedder.name
        return own

    def begin(self, documents: Sequence[Mapping[str, Any]], data: str) -> None:
        """Find out before anything is generated whether summaries can be embedded afterwards."""
        if self.embedder is not None and first_time(f"embedder {self.embedder.identity}"):
            self.embedder.check()

    def finish(self, answered: Sequence[tuple[Mapping[str, Any], Sequence[str]]]) -> None:
        """Embed all summaries of this rank at once, each text once.

        A failure here must not cost the generations: the score stays unknown, and can be computed
        later from the sample log.
        """
        self._similarities = {}
        if not self.task.summary:
            return
        if self.embedder is None:
            warn_once(
                logger,
                "no embedder",
                "Summaries (T4) have no score yet: it needs semantic similarity. Give the option "
                "embedding_model, Qwen/Qwen3-Embedding-8B (with "
                "embedding_url to ask a server), or complete it later from the sample log.",
            )
            return
        pairs = [
            (answer_of(response, self.options.reasoning), doc["answer"])
            for doc, responses in answered
            for response in responses
        ]
        try:
            flat = iter(summary_similarities(pairs, self.embedder, VectorCache()))
        except EmbeddingError as error:
            logger.error(
                f"{self.task.name}: summaries were not embedded, so they have no score yet; "
                f"their answers are kept. {error}"
            )
            return
        self._similarities = {
            doc["index"]: [next(flat) for _ in responses] for doc, responses in answered
        }
        if self.embedder.name != OFFICIAL_MODEL:
            warn_once(
                logger,
                "unofficial embedder",
                f"Semantic similarity is from {self.embedder.name}, not from the official "
                "Qwen/Qwen3-Embedding-8B: it is reported, but summaries (T4) have no score.",
            )

    def complete(self, doc: Mapping[str, Any], scored: Sequence[Scored]) -> None:
        """Give summaries their similarity, if it is known."""
        known = self._similarities.get(doc["index"])
        if self.embedder is not None and known is not None:
            for one, similarity in zip(scored, known, strict=True):
                one.score, one.failed, one.shown = self.benchmark.with_similarity(
                    one.shown, similarity, official=self.embedder.name == OFFICIAL_MODEL
                )
