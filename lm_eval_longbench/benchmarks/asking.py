"""How the questions of one task are asked and judged in one run, on documents or parts of them."""

from __future__ import annotations

import functools
import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

from lm_eval_longbench.benchmarks.part import asked_part, check_only
from lm_eval_longbench.catalog.model import CAPPED, FAILED, REASONED, TRUNCATED
from lm_eval_longbench.catalog.presets import applied
from lm_eval_longbench.console import warn_once
from lm_eval_longbench.errors import OptionError
from lm_eval_longbench.metrics.reasoning import reasoned_share
from lm_eval_longbench.options import Options
from lm_eval_longbench.prompts.tokenizer import load_tokenizer, tokenizer_name
from lm_eval_longbench.records.answer import capped_share
from lm_eval_longbench.records.sample import Scored, document_of_hash, line_of
from lm_eval_longbench.retrieval.chunks import (
    EMBEDDING,
    Chunk,
    Ranker,
    check_complete,
    contexts_sha256,
    rank,
    rank_by_embedding,
    read_contexts,
)
from lm_eval_longbench.retrieval.vectors import Embedder
from lm_eval_longbench.signature.protocol import GIVEN
from lm_eval_longbench.statistics.answers import Columns
from lm_eval_longbench.statistics.figure import computed

if TYPE_CHECKING:
    from transformers import PreTrainedTokenizerBase

    from lm_eval_longbench.benchmarks.base import Benchmark
    from lm_eval_longbench.catalog.model import Task
    from lm_eval_longbench.data.open import Documents


class Asking:
    """How the questions of one task are asked and judged in one run.

    A benchmark whose tasks need more than this (a reasoning of an earlier pass, retrieved chunks,
    an embedding model) has a subclass of its own.

    Args:
        benchmark: whose task it is.
        task: what is asked.
        options: of the run, with what the benchmark makes of them.
        repeats: answers asked for each question.
    """

    def __init__(self, benchmark: Benchmark, task: Task, options: Options, repeats: int) -> None:
        self.preset, self.options = applied(benchmark.presets, options)
        self.benchmark, self.task, self.repeats = benchmark, task, repeats
        check_only(benchmark, self.options.only)
        self.without_document = options.context == "none"
        if self.without_document:
            self._check_document()

    def _check_document(self) -> None:
        tables = self.benchmark.tables
        official = [
            one.name
            for table in tables.values()
            for one in table.tasks.values()
            if not (one.document or table.first_pass)
        ]
        if official:
            raise OptionError(
                f"{self.task.name}: {self.benchmark.title} has a task without documents, which is "
                f"official: {official[0]}. Ask for it, without the option 'context'."
            )
        if self.task.retrieved:
            raise OptionError(
                f"{self.task.name}: its prompts hold parts of documents, which the option "
                "'context' would take out. Leave it out, or ask for another task."
            )

    #: What embeds texts for its scores; None: nothing does.
    embedder: Embedder | None = None

    @property
    def first_pass(self) -> str:
        """Name of the table whose answers these prompts embed and still lack; "" for none."""
        return ""

    def embed(self, answers: Mapping[str, str], whole: Mapping[str, str] | None = None) -> None:
        """Take the answers of the first pass.

        Args:
            answers: by question, of this rank's questions.
            whole: of the questions of all ranks, for the signature; None: the same.
        """

    @property
    def version_notes(self) -> tuple[str, ...]:
        """What the task's version says besides its number."""
        return ("context: none",) if self.without_document else ()

    @property
    def ingredients(self) -> dict[str, Any]:
        """What this benchmark adds to the signature, as far as it is known."""
        return {"context": "none" if self.without_document else None}

    @property
    def generation(self) -> dict[str, Any]:
        """Generation arguments that options set in place of the official ones."""
        return {} if self.preset is None else self.preset.generation

    def sibling(self, task: Task) -> Asking:
        """Return how another task of the benchmark is asked in the same run."""
        return asking_of(self.benchmark, task, self.options, self.repeats)

    def load(self, arguments: Mapping[str, Any] | None = None) -> Documents:
        """Open the documents, with the rows that the options choose.

        Args:
            arguments: of the model, which may name the tokenizer where the options do not.

        Raises:
            DataError: they are not there or damaged.
            NothingAsked: no question is left.
        """
        documents = self.benchmark.load(self.task, self.options.data_dir)
        return asked_part(self, documents, functools.partial(self.tokenizer, arguments or {}))

    def tokenizer(self, arguments: Mapping[str, Any]) -> PreTrainedTokenizerBase:
        """Return the tokenizer that the options name, else the arguments of the model."""
        return load_tokenizer(tokenizer_name(self.options.tokenizer, arguments), arguments)

    def measured(self, row: Mapping[str, Any]) -> str:
        """Return the whole prompt whose tokens the option `only` looks at."""
        return self.render(row)

    def begin(self, documents: Sequence[Mapping[str, Any]], data: str) -> None:
        """Make ready for the questions that all ranks together ask; `data` is their label."""

    def render(self, row: Mapping[str, Any]) -> str:
        """Return the whole prompt of a document."""
        return self.benchmark.render(self.task, self._asked(row))

    def _asked(self, row: Mapping[str, Any]) -> Mapping[str, Any]:
        return {**row, "context": ""} if self.without_document else row

    def question(self, row: Mapping[str, Any]) -> str:
        """Return the end of a document's whole prompt that follows the document."""
        return self.benchmark.question(self.task, self._asked(row))

    def responses(self, doc: Mapping[str, Any], responses: list[str]) -> list[str]:
        """Return what counts as the responses to a question."""
        return responses

    def finish(self, answered: Sequence[tuple[Mapping[str, Any], Sequence[str]]]) -> None:
        """Do what needs all responses of a rank at once, before the first is judged."""

    def complete(self, doc: Mapping[str, Any], scored: Sequence[Scored]) -> None:
        """Add to what responses are worth what `finish` found out."""


@runtime_checkable
class AsksOtherwise(Protocol):
    """A benchmark whose tasks need another `Asking`."""

    def asking(self, task: Task, options: Options, repeats: int) -> Asking:
        """Return how a task is asked in a run with these options."""


def asking_of(benchmark: Benchmark, task: Task, options: Options, repeats: int) -> Asking:
    """Return how a task of a benchmark is asked in a run with these options."""
    if isinstance(benchmark, AsksOtherwise):
        return benchmark.asking(task, options, repeats)
    return Asking(benchmark, task, options, repeats)


# ---------------------------------------------------------------------- parts of a document

logger = logging.getLogger(__name__)


def ranker_of(options: Options) -> Ranker:
    """Return what ranks chunks in a run with these options."""
    if options.retriever != EMBEDDING:
        return rank
    model, url = options.embedding_model, options.embedding_url
    return functools.partial(rank_by_embedding, model=model, url=url)


@dataclass(frozen=True)
class Retrieval:
    """How the documents of a benchmark are replaced by parts of them.

    Attributes:
        own: returns the best parts of a row's document, best first, from the row and the options.
        label: what was done here to get them, for results, from the options.
        joined: returns the text that stands for the document, from the row, its parts, best first,
            and how many of them to take.
        filled: returns a task's prompt of a row whose document is that text.
    """

    own: Callable[[Mapping[str, Any], Options], Sequence[Chunk]]
    label: Callable[[Options], str]
    joined: Callable[[Mapping[str, Any], Sequence[Mapping[str, Any]], int], str]
    filled: Callable[[Task, Mapping[str, Any]], str]

    def rendered(self, task: Task, row: Mapping[str, Any], options: Options) -> str:
        """Return the prompt of a row with its own `retrieved_context`, else with parts of ours."""
        parts = row.get("retrieved_context")
        if parts is None:
            parts = self.own(row, options)
        return self.filled(task, {**row, "context": self.joined(row, parts, options.rag_top_n)})


# What a task adds to its version when it retrieves by itself.
OWN_RETRIEVAL = "retrieval: own"


class RetrievedAsking(Asking):
    """Parts in place of the document: given by `retrieved_context`, or found here."""

    def __init__(
        self, benchmark: Benchmark, task: Task, options: Options, repeats: int, retrieval: Retrieval
    ) -> None:
        super().__init__(benchmark, task, options, repeats)
        self._retrieval = retrieval
        self._contexts: Mapping[str, Any] | None = None

    @property
    def version_notes(self) -> tuple[str, ...]:
        """In the printed table too: nobody's published score used parts of ours."""
        return () if self.options.retrieved_context else (OWN_RETRIEVAL,)

    @property
    def ingredients(self) -> dict[str, Any]:
        """Where parts come from, and how many of them a prompt has."""
        path, label = self.options.retrieved_context, self._retrieval.label
        retrieval = label(self.options) if path is None else f"{GIVEN}{contexts_sha256(path)}"
        number = None if self.task.every_part else self.options.rag_top_n
        return {"rag_top_n": number, "retrieval": retrieval}

    def load(self, arguments: Mapping[str, Any] | None = None) -> Documents:
        """Open the questions and, where a file has them, their parts."""
        path = self.options.retrieved_context
        if path is None:
            warn_once(
                logger,
                f"own retrieval {self.benchmark.name}",
                f"{self.task.name}: no retrieved_context is given, so chunks are "
                f"{self._retrieval.label(self.options)}. Scores are not comparable with official "
                "RAG scores, which use other retrievers.",
            )
        else:
            self._contexts = read_contexts(
                path, None if self.task.every_part else self.options.rag_top_n
            )
        documents = super().load(arguments)
        if path is not None and self._contexts is not None:
            names = documents.rows["_id"]
            check_complete(self._contexts, [names[number] for number in documents.asked], path)
        return documents

    def render(self, row: Mapping[str, Any]) -> str:
        """Return the prompt of a question with its parts in place of the document."""
        if self._contexts is not None:
            row = {**row, "retrieved_context": self._contexts[row["_id"]]}
        return self._retrieval.rendered(self.task, row, self.options)


# ---------------------------------------------------------------------- the figures of one question


# Adds to what the responses to a document are worth what is not known from each of them alone.
Complete = Callable[[Mapping[str, Any], Sequence[Scored]], None]


def question_values(
    benchmark: Benchmark,
    task: Task,
    doc: Mapping[str, Any],
    responses: Sequence[str],
    policy: str,
    *,
    complete: Complete | None = None,
) -> dict[str, float | None]:
    """Return every figure of one question, in the order of `harness_metrics`.

    Args:
        benchmark: whose question it is.
        task: that asks it.
        doc: the question as the sample log has it, with its `index`, its `prompt` and, if anything
            is known of them, its `replies`.
        responses: all of them, one or more.
        policy: for reasoning in them, see `metrics.reasoning`.
        complete: called with the document and what the responses are worth.

    Returns:
        Figures in [0, 1] (a cosine from -1); None where one is not about the question or not known.
    """
    table = benchmark.tables[task.table]
    counted = table.tasks[task.counted]
    prompt = doc["prompt"]
    truncated, document = bool(prompt["truncated"]), document_of_hash(prompt.get("document_sha256"))
    more: dict[str, Any] = {"index": doc["index"], "truncated": truncated, "document": document}
    samples = benchmark.samples_of(doc, counted, responses, **more)
    for sample in samples:
        sample.policy, sample.worth = policy, benchmark.score(sample, policy, extras=True)
    scored = [sample.worth for sample in samples]
    if complete is not None:
        complete(doc, scored)
    columns = Columns(benchmark, table, len(samples))
    for sample in samples:
        columns.add(line_of(sample))
    answers = columns.finish()
    figures = computed(benchmark.question_rows(answers), answers, benchmark.unit)
    values: dict[str, float | None] = {
        **{figure.metric: figure.of_question() for figure in figures},
        FAILED.name: sum(worth.failed for worth in scored) / len(scored),
        TRUNCATED.name: float(truncated),
        REASONED.name: reasoned_share(responses),
        CAPPED.name: capped_share([sample.reply for sample in samples]),
    }
    return {metric.name: values[metric.name] for metric in benchmark.harness_metrics(task)}
