"""How the questions of one task are asked and judged in one run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from lm_eval_longbench.presets.table import applied

if TYPE_CHECKING:
    from lm_eval_longbench.benchmarks.base import Benchmark, Task
    from lm_eval_longbench.benchmarks.sample import Scored
    from lm_eval_longbench.data.documents import Documents
    from lm_eval_longbench.options import Options
    from lm_eval_longbench.semantic.embedder import Embedder


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
        return (self.benchmark.own_note,) if self.benchmark.own_note else ()

    @property
    def ingredients(self) -> dict[str, Any]:
        """What this benchmark adds to the signature, as far as it is known."""
        return {}

    @property
    def generation(self) -> dict[str, Any]:
        """Generation arguments that options set in place of the official ones."""
        return {} if self.preset is None else self.preset.generation

    def load(self) -> Documents:
        """Open the documents. Raises DataError where they are not there or damaged."""
        return self.benchmark.load(self.task, self.options.data_dir)

    def begin(self, documents: Sequence[Mapping[str, Any]], data: str) -> None:
        """Make ready for the questions that all ranks together ask; `data` is their label."""

    def render(self, row: Mapping[str, Any]) -> str:
        """Return the whole prompt of a document."""
        return self.benchmark.render(self.task, row)

    def question(self, row: Mapping[str, Any]) -> str:
        """Return the end of a document's whole prompt that follows the document."""
        return self.benchmark.question(self.task, row)

    def responses(self, doc: Mapping[str, Any], responses: list[str]) -> list[str]:
        """Return what counts as the responses to a question."""
        return responses

    def finish(self, answered: Sequence[tuple[Mapping[str, Any], Sequence[str]]]) -> None:
        """Do what needs all responses of a rank at once, before the first is judged."""

    def complete(self, doc: Mapping[str, Any], scored: Sequence[Scored]) -> None:
        """Add to what responses are worth what `finish` found out."""
