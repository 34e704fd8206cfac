"""LongBench Pro as harness tasks: one a secondary task and prompt form."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from lm_eval_longbench.aggregation.pro_question import question_figures
from lm_eval_longbench.catalog_pro import BY_CODE
from lm_eval_longbench.data.documents import Documents
from lm_eval_longbench.data.longbench_pro import load
from lm_eval_longbench.data.selection import select
from lm_eval_longbench.errors import EmbeddingError, UnknownNameError
from lm_eval_longbench.harness.task import LongBenchTask
from lm_eval_longbench.metrics.reasoning import answer_of
from lm_eval_longbench.once import first_time, warn_once
from lm_eval_longbench.presets.longbench_pro import find_preset
from lm_eval_longbench.prompts.longbench_pro import TEMPLATE, TEMPLATES, render
from lm_eval_longbench.prompts.templates import template_sha256
from lm_eval_longbench.prompts.truncation import RULE_PRO
from lm_eval_longbench.semantic.cache import VectorCache
from lm_eval_longbench.semantic.choose import choose_embedder
from lm_eval_longbench.semantic.embedder import Embedder
from lm_eval_longbench.semantic.similarity import summary_similarities

logger = logging.getLogger(__name__)

_THINKING = "_thinking"
_BUDGET, _THINKING_BUDGET = 1024, 8192


class LongBenchProTask(LongBenchTask):
    """One secondary task; the YAML's `dataset_name` is its code, `t1_1` or `t1_1_thinking`."""

    TITLE = "LongBench Pro"
    RULE = RULE_PRO
    REPEATS = 3
    ONE_MESSAGE = True
    SELECTABLE = True

    def identify(self, config: Mapping[str, Any]) -> None:
        """Find the secondary task and the prompt form; UnknownNameError if there is no such."""
        name = str(config.get("dataset_name"))
        code = name.removesuffix(_THINKING)
        if code not in BY_CODE:
            raise UnknownNameError("LongBench Pro task", code, BY_CODE)
        self._secondary = BY_CODE[code]
        self._thinking = name != code
        self._is_summary = self._secondary.metric == "summary"
        options = self._options
        self._preset = None
        if options.preset is not None:
            self._preset = find_preset(options.preset, thinking=options.thinking)
            if options.truncate_to is None:
                self._options = replace(options, truncate_to=self._preset.truncate_to)
        self._embedder = (
            choose_embedder(options.embedding_model, options.embedding_url)
            if self._is_summary
            else None
        )
        # Of each question with a summary, by its row: one similarity a repeat.
        self._similarities: dict[int, list[float | None]] = {}

    def benchmark(self) -> str:
        """Return the benchmark's name."""
        return "longbench_pro"

    def official_name(self) -> str:
        """Return the name of the secondary task's task in its prompt form."""
        return f"longbench_pro{_THINKING if self._thinking else ''}_{self._secondary.code}"

    def official_generation(self) -> dict[str, Any]:
        """Sampled at temperature 1, within the prompt form's output budget."""
        budget = _THINKING_BUDGET if self._thinking else _BUDGET
        return {"until": [], "max_gen_toks": budget, "temperature": 1.0}

    def chosen_generation(self) -> dict[str, Any]:
        """Return the output budget and the temperature of the preset, if there is one."""
        return {} if self._preset is None else self._preset.generation

    def load(self) -> Documents:
        """Open the task's questions, less those that the option `only` leaves out."""
        documents = load(self._secondary, self._options.data_dir)
        return select(documents, self._options.only, self._secondary.name)

    def template_sha256(self) -> str:
        """Return the hash of the template, the same for both forms."""
        return template_sha256(TEMPLATES, TEMPLATE)

    def render(self, row: Mapping[str, Any]) -> str:
        """Return the whole prompt of a question."""
        return render(row, thinking=self._thinking)

    def answers(self, doc: Mapping[str, Any]) -> list[str]:
        """Return the gold answers of a question."""
        return list(doc["answer"])

    @property
    def embedder(self) -> Embedder | None:
        """What embeds the summaries of this task; None: it has none, or nothing was chosen."""
        return self._embedder

    def build_all_requests(self, **kwargs: Any) -> None:
        """Find out before anything is generated whether summaries can be embedded afterwards."""
        if self._embedder is not None and first_time(f"embedder {self._embedder.identity}"):
            self._embedder.check()
        super().build_all_requests(**kwargs)
        if self._is_summary:
            self._signature.update(embedding_model=self._embedder.name if self._embedder else None)

    def finish(self, answered: list[tuple[dict[str, Any], list[str]]]) -> None:
        """Embed all summaries of this rank at once, each text once.

        A failure here must not cost the generations: the score stays unknown, and can be computed
        later from the sample log.
        """
        self._similarities = {}
        if not self._is_summary:
            return
        if self._embedder is None:
            warn_once(
                logger,
                "no embedder",
                "Summaries (T4) have no score yet: it needs semantic similarity. Add --metadata "
                '\'{"longbench": {"embedding_model": "Qwen/Qwen3-Embedding-8B"}}\' (with '
                "embedding_url to ask a server), or complete it later from the sample log.",
            )
            return
        pairs = [
            (answer_of(response, self._options.reasoning), doc["answer"])
            for doc, responses in answered
            for response in responses
        ]
        try:
            flat = iter(summary_similarities(pairs, self._embedder, VectorCache()))
        except EmbeddingError as error:
            logger.error(
                f"{self.config.task}: summaries were not embedded, so they have no score yet; "
                f"their answers are kept. {error}"
            )
            return
        self._similarities = {
            doc["index"]: [next(flat) for _ in responses] for doc, responses in answered
        }
        if not self._embedder.official:
            warn_once(
                logger,
                "unofficial embedder",
                f"Semantic similarity is from {self._embedder.name}, not from the official "
                "Qwen/Qwen3-Embedding-8B: it is reported, but summaries (T4) have no score.",
            )

    def figures(self, doc: Mapping[str, Any], responses: Sequence[str]) -> dict[str, float | None]:
        """Return the figures of one question; see `aggregation.pro_question.question_figures`."""
        return question_figures(
            self._secondary,
            doc["language"],
            [answer_of(response, self._options.reasoning) for response in responses],
            doc["answer"],
            self._similarities.get(doc["index"]),
            official=self._embedder is not None and self._embedder.official,
            truncated=doc["prompt"]["truncated"],
        )
