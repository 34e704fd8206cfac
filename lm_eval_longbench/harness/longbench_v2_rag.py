"""LongBench v2 with retrieved chunks in place of the document."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from typing import Any

from lm_eval_longbench.data.documents import Documents
from lm_eval_longbench.harness.longbench_v2 import LongBenchV2Task
from lm_eval_longbench.once import warn_once
from lm_eval_longbench.prompts.longbench_v2 import RAG, render, retrieved_document
from lm_eval_longbench.retrieval.context_file import (
    check_complete,
    contexts_sha256,
    read_contexts,
)
from lm_eval_longbench.retrieval.own import LABEL, retrieve

logger = logging.getLogger(__name__)


class LongBenchV2RagTask(LongBenchV2Task):
    """The first `rag_top_n` chunks, given by `retrieved_context` or else retrieved here."""

    NAME = "longbench_v2_rag"
    TEMPLATE = RAG

    def load(self) -> Documents:
        """Open the questions and, where a file has them, their chunks."""
        documents = super().load()
        path = self._options.retrieved_context
        self._contexts = None
        if path is not None:
            self._contexts = read_contexts(path, self._options.rag_top_n)
            check_complete(self._contexts, documents.rows["_id"], path)
        return documents

    def download(self, dataset_kwargs: dict[str, Any] | None = None, **kwargs: Any) -> None:
        """Open the questions, and write into the results where their chunks come from."""
        super().download(dataset_kwargs, **kwargs)
        path = self._options.retrieved_context
        self._signature.update(
            rag_top_n=self._options.rag_top_n,
            retrieval=LABEL if path is None else f"file sha256 {contexts_sha256(path)}",
        )
        if path is None:
            # In the printed table too: nobody's published RAG score used these chunks.
            self.VERSION = f"{self.VERSION} retrieval: own"
            warn_once(
                logger,
                "own retrieval",
                f"longbench_v2_rag: no retrieved_context is given, so chunks are {LABEL}. Scores "
                "are not comparable with official RAG scores, which use other retrievers.",
            )

    def render(self, row: Mapping[str, Any]) -> str:
        """Return the prompt of a question with its chunks in the order of the document."""
        top = self._options.rag_top_n
        chunks = self._contexts[row["_id"]] if self._contexts is not None else retrieve(row, top)
        return render({**row, "context": retrieved_document(chunks, top)}, self.TEMPLATE)
