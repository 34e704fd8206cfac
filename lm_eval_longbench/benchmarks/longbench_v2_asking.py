"""Modes of LongBench v2 that need more than the data: chain of thought, and retrieval."""

from __future__ import annotations

import json
import logging
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from lm_eval_longbench.benchmarks.asking import Asking
from lm_eval_longbench.benchmarks.base import Benchmark, Task
from lm_eval_longbench.errors import DataError, OptionError
from lm_eval_longbench.once import warn_once
from lm_eval_longbench.prompts.longbench_v2 import render, retrieved_document
from lm_eval_longbench.prompts.text_hash import text_sha256

if TYPE_CHECKING:
    from lm_eval_longbench.data.documents import Documents
    from lm_eval_longbench.options import Options

logger = logging.getLogger(__name__)


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
        whole = json.dumps(self._whole, sort_keys=True)
        return {"reasoning_sha256": text_sha256(whole)} if self._whole else {}

    def embed(self, answers: Mapping[str, str], whole: Mapping[str, str] | None = None) -> None:
        """Take reasoning, by `_id`, in place of a sample log's."""
        self.reasoning = dict(answers)
        self._whole = dict(answers if whole is None else whole)
        self._embedded = True

    def begin(self, documents: Sequence[Mapping[str, Any]], data: str) -> None:
        """Read the reasoning of every question from the log of pass one.

        All ranks read the whole log, so that all of them stop if a question is missing.
        """
        from lm_eval_longbench.data.reasoning_log import read_reasoning

        if self._embedded:
            return
        path = self.options.cot_samples
        if path is None:
            raise OptionError(
                f"{self.task.name} needs the reasoning of pass one: run longbench_v2_cot with "
                "--log_samples and give its sample log, --metadata "
                '\'{"longbench": {"cot_samples": "PATH"}}\'. '
                "`lm-eval-longbench run --tasks longbench_v2_cot` does both passes by itself."
            )
        template = self.benchmark.template_sha256(
            self.benchmark.tasks[self.benchmark.tables[self.task.table].first_pass]
        )
        self.reasoning = read_reasoning(path, documents, template, data)
        self._whole = self.reasoning

    def render(self, row: Mapping[str, Any]) -> str:
        """Return the prompt of a question; DataError if pass one has no reasoning for it."""
        template = self.task.template
        if not self.reasoning:  # the harness renders one document before there is any
            return render(row, template, "")
        if row["_id"] not in self.reasoning:
            raise DataError(f"{self.task.name}: pass one has no reasoning for {row['_id']}.")
        return render(row, template, self.reasoning[row["_id"]])

    def question(self, row: Mapping[str, Any]) -> str:
        """Return the whole prompt, which has no document."""
        return self.render(row)

    def responses(self, doc: Mapping[str, Any], responses: list[str]) -> list[str]:
        """Return the responses; where pass one failed there was nothing to answer from."""
        return responses if self.reasoning[doc["_id"]].strip() else [""] * len(responses)


class RagAsking(Asking):
    """Retrieved chunks in place of the document: given by `retrieved_context`, or found here."""

    def __init__(self, benchmark: Benchmark, task: Task, options: Options, repeats: int) -> None:
        super().__init__(benchmark, task, options, repeats)
        self._contexts: Mapping[str, Any] | None = None

    @property
    def version_notes(self) -> tuple[str, ...]:
        """In the printed table too: nobody's published RAG score used chunks of ours."""
        return () if self.options.retrieved_context else ("retrieval: own",)

    @property
    def ingredients(self) -> dict[str, Any]:
        """Where chunks come from, and how many of them a prompt has."""
        from lm_eval_longbench.retrieval.bm25 import LABEL
        from lm_eval_longbench.retrieval.context_file import contexts_sha256

        path = self.options.retrieved_context
        retrieval = LABEL if path is None else f"file sha256 {contexts_sha256(path)}"
        return {"rag_top_n": self.options.rag_top_n, "retrieval": retrieval}

    def load(self) -> Documents:
        """Open the questions and, where a file has them, their chunks."""
        from lm_eval_longbench.retrieval.bm25 import LABEL
        from lm_eval_longbench.retrieval.context_file import check_complete, read_contexts

        documents = super().load()
        path = self.options.retrieved_context
        if path is None:
            warn_once(
                logger,
                "own retrieval",
                f"{self.task.name}: no retrieved_context is given, so chunks are {LABEL}. Scores "
                "are not comparable with official RAG scores, which use other retrievers.",
            )
        else:
            self._contexts = read_contexts(path, self.options.rag_top_n)
            check_complete(self._contexts, documents.rows["_id"], path)
        return documents

    def render(self, row: Mapping[str, Any]) -> str:
        """Return the prompt of a question with its chunks in the order of the document."""
        if self._contexts is not None:
            row = {**row, "retrieved_context": self._contexts[row["_id"]]}
        return render_rag(self.task.template, row, self.options.rag_top_n)


def render_rag(template: str, row: Mapping[str, Any], top_n: int) -> str:
    """Render with the row's own `retrieved_context`, else with chunks retrieved here."""
    from lm_eval_longbench.retrieval.bm25 import retrieve  # slow to import

    chunks = row.get("retrieved_context") or retrieve(row, top_n)
    return render({**row, "context": retrieved_document(chunks, top_n)}, template)
