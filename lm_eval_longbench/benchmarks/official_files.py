"""Write answers as a benchmark's official scripts do, so that official tools accept them."""

from __future__ import annotations

import abc
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lm_eval_longbench.metrics.reasoning import answer_of

if TYPE_CHECKING:
    from lm_eval_longbench.benchmarks.parts import Table, Task
    from lm_eval_longbench.benchmarks.sample import Sample, Scored


@dataclass(frozen=True)
class WrittenRun:
    """What official file names say of a run.

    Attributes:
        model: its name, without a folder.
        limit: longest prompt in tokens; 0: not known.
        repeats: answers to each question.
    """

    model: str
    limit: int
    repeats: int


class OfficialFiles(abc.ABC):
    """One benchmark's official files."""

    @abc.abstractmethod
    def path(self, table: Table, task: Task, run: WrittenRun, repeat: int) -> str:
        """Return the file that an answer belongs into, relative, with "/"."""

    @abc.abstractmethod
    def row(self, sample: Sample, scored: Scored, reasoning: str) -> dict[str, Any] | None:
        """Return an answer's row; None: the official scripts would not have written it.

        Args:
            sample: the answer, with the question as it was read.
            scored: what it is worth.
            reasoning: policy by which it was scored.
        """

    def numbered(self, row: dict[str, Any], repeat: int) -> dict[str, Any]:
        """Return a row that says which answer to its question it is, where official ones do."""
        return row

    def figures_path(self, table: Table, run: WrittenRun) -> str:
        """Return the file for the official figures of a table; "": there is none."""
        return ""

    def figures_beside(self, path: Path) -> Path | None:
        """Return where the official scripts put the figures of a file's answers; None: nowhere."""
        return None

    def model_of(self, path: Path) -> str:
        """Return the name of the model in the path of an official file."""
        return path.parent.name


def scored_text(sample: Sample, reasoning: str) -> str:
    """Return the text of an answer that was scored: without its reasoning, where that is dropped.

    The official evaluations take nothing out, so that they must not find what was not scored.
    """
    return answer_of(sample.response or "", reasoning)


def known_fields(sample: Sample, names: tuple[str, ...]) -> dict[str, Any]:
    """Return those fields of the question as it was read that the official files have."""
    doc: Mapping[str, Any] = sample.doc or {}
    return {name: doc[name] for name in names if doc.get(name) is not None}
