"""LongBench v2 as harness tasks: the zero-shot prompt, and the check without the document."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from lm_eval_longbench.aggregation.longbench_v2 import question_figures
from lm_eval_longbench.aggregation.repeats import mean_of_repeats
from lm_eval_longbench.catalog_v2 import DOMAINS
from lm_eval_longbench.data.documents import Documents
from lm_eval_longbench.data.longbench_v2 import load
from lm_eval_longbench.errors import UnknownNameError
from lm_eval_longbench.harness.task import LongBenchTask
from lm_eval_longbench.metrics.longbench_v2 import judge
from lm_eval_longbench.prompts.longbench_v2 import NO_CONTEXT, TEMPLATES, ZERO_SHOT, render
from lm_eval_longbench.prompts.templates import template_sha256
from lm_eval_longbench.prompts.truncation import RULE_V2

# The `dataset_name` of tasks that evaluate all domains.
ALL = "all"


class LongBenchV2Task(LongBenchTask):
    """All questions or one domain's; the YAML's `dataset_name` is "all" or the domain's code."""

    TITLE = "LongBench v2"
    RULE = RULE_V2
    ONE_MESSAGE = True
    #: What a mode defines: its name, its template and its output budget in tokens.
    NAME = "longbench_v2"
    TEMPLATE = ZERO_SHOT
    BUDGET = 128

    def identify(self, config: Mapping[str, Any]) -> None:
        """Find the domain; UnknownNameError if there is no such."""
        name = str(config.get("dataset_name"))
        if name not in (ALL, *DOMAINS):
            raise UnknownNameError("LongBench v2 domain", name, (ALL, *DOMAINS))
        self._domain = None if name == ALL else name

    def benchmark(self) -> str:
        """Return the benchmark's name."""
        return "longbench_v2"

    def official_name(self) -> str:
        """Return the mode's name, for a domain's task too: its questions are asked alike."""
        return self.NAME

    def official_generation(self) -> dict[str, Any]:
        """Sampled at temperature 0.1, within the mode's output budget."""
        return {"until": [], "max_gen_toks": self.BUDGET, "temperature": 0.1}

    def load(self) -> Documents:
        """Open the questions; see `lm_eval_longbench.data.longbench_v2`."""
        return load(self._domain, self._options.data_dir)

    def template_sha256(self) -> str:
        """Return the hash of the mode's template."""
        return template_sha256(TEMPLATES, self.TEMPLATE)

    def render(self, row: Mapping[str, Any]) -> str:
        """Return the whole prompt of a question."""
        return render(row, self.TEMPLATE)

    def answers(self, doc: Mapping[str, Any]) -> list[str]:
        """Return the right letter."""
        return [doc["answer"]]

    def figures(self, doc: Mapping[str, Any], responses: Sequence[str]) -> dict[str, float | None]:
        """Return the figures of one question; see `aggregation.longbench_v2.question_figures`."""
        return mean_of_repeats(
            [
                question_figures(
                    doc,
                    judge(response, doc["answer"], self._options.reasoning),
                    truncated=doc["prompt"]["truncated"],
                )
                for response in responses
            ]
        )


class LongBenchV2NoContextTask(LongBenchV2Task):
    """The official memorization check: the question without its document."""

    NAME = "longbench_v2_no_context"
    TEMPLATE = NO_CONTEXT
