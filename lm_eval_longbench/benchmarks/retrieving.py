"""Parts of a document in its place: given in a file, or cut and ranked here."""

from __future__ import annotations

import functools
import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from lm_eval_longbench.benchmarks.asking import Asking
from lm_eval_longbench.once import warn_once

if TYPE_CHECKING:
    from lm_eval_longbench.benchmarks.base import Benchmark, Task
    from lm_eval_longbench.data.documents import Documents
    from lm_eval_longbench.options import Options
    from lm_eval_longbench.retrieval.bm25 import Ranker
    from lm_eval_longbench.retrieval.chunks import Chunk

logger = logging.getLogger(__name__)


def ranker_of(options: Options) -> Ranker:
    """Return what ranks chunks in a run with these options."""
    from lm_eval_longbench.retrieval.bm25 import EMBEDDING, rank  # slow to import
    from lm_eval_longbench.retrieval.embedding import rank_by_embedding

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
# How the signature of a run begins to name the parts that it was given.
_GIVEN = "file sha256 "


def is_own(retrieval: object) -> bool:
    """Whether the ingredient `retrieval` of a signature says that parts were chosen here."""
    return isinstance(retrieval, str) and not retrieval.startswith(_GIVEN)


class RetrievedAsking(Asking):
    """Parts in place of the document: given by `retrieved_context`, or found here."""

    def __init__(
        self,
        benchmark: Benchmark,
        task: Task,
        options: Options,
        repeats: int,
        retrieval: Retrieval,
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
        from lm_eval_longbench.retrieval.context_file import contexts_sha256

        path, label = self.options.retrieved_context, self._retrieval.label
        retrieval = label(self.options) if path is None else f"{_GIVEN}{contexts_sha256(path)}"
        number = None if self.task.every_part else self.options.rag_top_n
        return {"rag_top_n": number, "retrieval": retrieval}

    def load(self) -> Documents:
        """Open the questions and, where a file has them, their parts."""
        from lm_eval_longbench.retrieval.context_file import check_complete, read_contexts

        documents = super().load()
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
            check_complete(self._contexts, documents.rows["_id"], path)
        return documents

    def render(self, row: Mapping[str, Any]) -> str:
        """Return the prompt of a question with its parts in place of the document."""
        if self._contexts is not None:
            row = {**row, "retrieved_context": self._contexts[row["_id"]]}
        return self._retrieval.rendered(self.task, row, self.options)
