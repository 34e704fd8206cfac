"""How LongBench Pro is asked in a run: the similarity of summaries."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from lm_eval_longbench.benchmarks.asking import Asking
from lm_eval_longbench.benchmarks.base import Benchmark, Task
from lm_eval_longbench.benchmarks.sample import Scored
from lm_eval_longbench.console import first_time, warn_once
from lm_eval_longbench.data.open import Documents, select
from lm_eval_longbench.errors import EmbeddingError
from lm_eval_longbench.metrics.reasoning import answer_of

if TYPE_CHECKING:
    from lm_eval_longbench.options import Options
    from lm_eval_longbench.retrieval.vectors import Embedder

logger = logging.getLogger(__name__)


class ProAsking(Asking):
    """Questions whose summaries get their similarity."""

    def __init__(self, benchmark: Benchmark, task: Task, options: Options, repeats: int) -> None:
        super().__init__(benchmark, task, options, repeats)
        self.embedder: Embedder | None = None
        if task.summary:
            from lm_eval_longbench.retrieval.embedding import choose_embedder

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

    def load(self) -> Documents:
        """Open the task's questions, less those that the option `only` leaves out."""
        return select(super().load(), self.options.only, self.task.label)

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
        from lm_eval_longbench.retrieval.embedding import summary_similarities
        from lm_eval_longbench.retrieval.vectors import VectorCache

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
        if not self.embedder.official:
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
                    one.shown, similarity, official=self.embedder.official
                )
