"""Modes of LongBench v2 that need more than the data: chain of thought, and retrieval."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from lm_eval_longbench.benchmarks.asking import Asking
from lm_eval_longbench.benchmarks.base import Benchmark, Task
from lm_eval_longbench.benchmarks.retrieving import Retrieval, ranker_of
from lm_eval_longbench.errors import DataError, OptionError
from lm_eval_longbench.prompts.longbench_v2 import render, retrieved_document
from lm_eval_longbench.prompts.text_hash import text_sha256

if TYPE_CHECKING:
    from lm_eval_longbench.options import Options
    from lm_eval_longbench.retrieval.chunks import Chunk


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


def _own(row: Mapping[str, Any], options: Options) -> list[Chunk]:
    from lm_eval_longbench.retrieval.bm25 import retrieve  # slow to import
    from lm_eval_longbench.retrieval.chunks import SIZE

    return retrieve(row, options.rag_top_n, ranker_of(options), options.chunk_size or SIZE)


def _label(options: Options) -> str:
    from lm_eval_longbench.retrieval.bm25 import label
    from lm_eval_longbench.retrieval.chunks import SIZE

    return label(options.retriever, f"{options.chunk_size or SIZE}-token", options.embedding_model)


RETRIEVAL = Retrieval(
    own=_own,
    label=_label,
    joined=lambda row, chunks, top_n: retrieved_document(chunks, top_n),
    filled=lambda task, row: render(row, task.template),
)
