"""LongBench v1 and LongBench-E as harness tasks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from lm_eval_longbench.aggregation.longbench_v1 import sample_figures
from lm_eval_longbench.aggregation.repeats import mean_of_repeats
from lm_eval_longbench.catalog import Split, split_of_file
from lm_eval_longbench.data.documents import Documents
from lm_eval_longbench.data.longbench_v1 import load
from lm_eval_longbench.harness.task import LongBenchTask
from lm_eval_longbench.metrics.reasoning import answer_of
from lm_eval_longbench.prompts.longbench_v1 import TEMPLATES, render
from lm_eval_longbench.prompts.templates import template_sha256
from lm_eval_longbench.prompts.truncation import RULE_V1


class LongBenchV1Task(LongBenchTask):
    """One dataset; the YAML's `dataset_name` is its data file's stem, `qasper` or `qasper_e`."""

    TITLE = "LongBench v1"
    RULE = RULE_V1

    def identify(self, config: Mapping[str, Any]) -> None:
        """Find the dataset; UnknownNameError if there is no such data file."""
        self._split: Split = split_of_file(str(config.get("dataset_name")))

    def benchmark(self) -> str:
        """Return the benchmark's name."""
        return self._split.benchmark

    def official_name(self) -> str:
        """Return the name of the dataset's task."""
        return self._split.task

    def official_generation(self) -> dict[str, Any]:
        """Greedy, within the dataset's output budget, without stop strings."""
        return {
            "until": [],
            "max_gen_toks": self._split.info.max_gen_toks,
            "do_sample": False,
            "temperature": 0.0,
        }

    def load(self) -> Documents:
        """Open the dataset's documents; see `lm_eval_longbench.data.longbench_v1`."""
        return load(self._split, self._options.data_dir)

    def template_sha256(self) -> str:
        """Return the hash of the dataset's template."""
        return template_sha256(TEMPLATES, self._split.info.name)

    def render(self, row: Mapping[str, Any]) -> str:
        """Return the whole prompt of a document."""
        return render(self._split.info.name, row)

    def answers(self, doc: Mapping[str, Any]) -> list[str]:
        """Return the gold answers of a document."""
        return list(doc["answers"])

    def sends_raw(self) -> bool:
        """Whether official code leaves this dataset's prompts unwrapped."""
        return not self._split.info.chat

    def figures(self, doc: Mapping[str, Any], responses: Sequence[str]) -> dict[str, float | None]:
        """Return the figures of one document; see `aggregation.longbench_v1.sample_figures`."""
        return mean_of_repeats(
            [
                sample_figures(
                    self._split,
                    answer_of(response, self._options.reasoning),
                    doc["answers"],
                    doc["all_classes"],
                    doc["length"],
                    doc["prompt"]["truncated"],
                )
                for response in responses
            ]
        )
