"""LongBench v2 with chain of thought: officially two calls, here two tasks.

The first asks for the reasoning, the second for the answer, from a prompt that embeds the reasoning
and omits the document. The harness has no second stage: `two_passes` gives it one, and by hand the
second task reads the first one's sample log.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from lm_eval_longbench.aggregation.longbench_v2 import one_call_figures
from lm_eval_longbench.data.reasoning_log import read_reasoning
from lm_eval_longbench.errors import DataError, OptionError
from lm_eval_longbench.harness.longbench_v2 import LongBenchV2Task
from lm_eval_longbench.metrics.longbench_v2 import judge
from lm_eval_longbench.prompts.longbench_v2 import COT, COT_ANSWER, TEMPLATES, render
from lm_eval_longbench.prompts.templates import template_sha256
from lm_eval_longbench.prompts.text_hash import text_sha256


class _CotTask(LongBenchV2Task):
    """What both passes share."""

    def identify(self, config: Mapping[str, Any]) -> None:
        """Refuse options that would leave pass two without the reasoning of pass one."""
        super().identify(config)
        if (self._options.repeats or int(config.get("repeats") or 1)) > 1:
            raise OptionError(
                f"{self.NAME}: repeats do not go with chain of thought, where each answer belongs "
                "to one reasoning. Run both passes several times, with other seeds."
            )
        if self._options.overlength == "skip":
            raise OptionError(
                f'{self.NAME}: the option overlength "skip" would leave questions without the '
                'reasoning that pass two embeds. Use "truncate" or "fail".'
            )


class LongBenchV2CotTask(_CotTask):
    """Pass one: the reasoning."""

    NAME = "longbench_v2_cot"
    TEMPLATE = COT
    BUDGET = 1024

    def figures(self, doc: Mapping[str, Any], responses: Sequence[str]) -> dict[str, float | None]:
        """Return what the reasoning is worth if it already names a letter in the official words."""
        (response,) = responses
        verdict = judge(response, doc["answer"], self._options.reasoning)
        return one_call_figures(verdict, truncated=doc["prompt"]["truncated"])

    @staticmethod
    def logged_reasoning(rows: Iterable[Mapping[str, Any]]) -> dict[str, str]:
        """Return the reasoning by question of rows in the shape of the harness's sample log."""
        return {row["doc"]["_id"]: row["resps"][0][0] for row in rows}

    def log_rows(self) -> list[dict[str, Any]]:
        """Return this rank's questions and reasoning in the shape of the harness's sample log."""
        return [
            {"doc_id": instance.doc_id, "doc": instance.doc, "resps": [instance.resps[:1]]}
            for instance in self._instances or []
        ]

    def reasoning(self) -> dict[str, str]:
        """Return this rank's reasoning by question, as it was generated."""
        return self.logged_reasoning(self.log_rows())


class LongBenchV2CotAnswerTask(_CotTask):
    """Pass two: the answer, from the question and the reasoning."""

    NAME = "longbench_v2_cot_answer"
    TEMPLATE = COT_ANSWER

    def identify(self, config: Mapping[str, Any]) -> None:
        """Start without any reasoning; see `embed`."""
        super().identify(config)
        self._reasoning: dict[str, str] = {}
        self._whole: dict[str, str] = {}
        self._embedded = False

    def embed(self, reasoning: Mapping[str, str], whole: Mapping[str, str] | None = None) -> None:
        """Take reasoning, by `_id`, in place of a sample log's.

        Args:
            reasoning: of this rank's questions.
            whole: of the questions of all ranks, for the signature; None: the same.
        """
        self._reasoning = dict(reasoning)
        self._whole = dict(reasoning if whole is None else whole)
        self._embedded = True

    @property
    def reads_log(self) -> bool:
        """Whether a sample log of pass one was named."""
        return self._options.cot_samples is not None

    def build_all_requests(self, **kwargs: Any) -> None:
        """Find the reasoning of every question first."""
        if not self._embedded:
            self._read(kwargs)
        whole = json.dumps(self._whole, sort_keys=True)
        self._signature.update(reasoning_sha256=text_sha256(whole))
        super().build_all_requests(**kwargs)

    def _read(self, share: Mapping[str, Any]) -> None:
        path = self._options.cot_samples
        if path is None:
            raise OptionError(
                f"{self.config.task} needs the reasoning of pass one: run longbench_v2_cot with "
                "--log_samples and give its sample log, --metadata "
                '\'{"longbench": {"cot_samples": "PATH"}}\'. '
                "`lm-eval-longbench run --tasks longbench_v2_cot` does both passes by itself."
            )
        # All ranks read the whole log, so that all of them stop if a question is missing.
        asked = self.doc_iterator(limit=share.get("limit"), samples=share.get("samples"))
        template = template_sha256(TEMPLATES, COT)
        self._reasoning = read_reasoning(
            path, [doc for _, doc in asked], template, self._documents.label
        )
        self._whole = self._reasoning

    def render(self, row: Mapping[str, Any]) -> str:
        """Return the prompt of a question; DataError if pass one has no reasoning for it."""
        if not self._reasoning:  # the harness renders one document before there is any
            return render(row, self.TEMPLATE, "")
        if row["_id"] not in self._reasoning:
            raise DataError(f"{self.config.task}: pass one has no reasoning for {row['_id']}.")
        return render(row, self.TEMPLATE, self._reasoning[row["_id"]])

    def scored_responses(self, doc: Mapping[str, Any], responses: list[str]) -> list[str]:
        """Return the responses; where pass one failed there was nothing to answer from."""
        return responses if self._reasoning[doc["_id"]].strip() else [""] * len(responses)
