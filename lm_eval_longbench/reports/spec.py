"""A figure with its place in the report."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from lm_eval_longbench.errors import DataError
from lm_eval_longbench.reports.figure import Figure, Unit
from lm_eval_longbench.reports.measure import Tree, figure_of


@dataclass(frozen=True, eq=False)
class Spec:
    """One named figure of one table.

    Attributes:
        section, name: its place; together they are its name across runs.
        tree: how it is computed.
        unit: how it is given.
        detail: shown in CSV and JSON only.
        in_official: whether the official result file has it.
        official: its value there, in the benchmark's unit and rounded as there.
    """

    section: str
    name: str
    tree: Tree
    unit: Unit
    detail: bool = False
    in_official: bool = False
    official: float | None = None

    @property
    def place(self) -> tuple[str, str]:
        """Section and name."""
        return self.section, self.name

    def figure(self, folder: Path) -> Figure:
        """Return the figure.

        Raises:
            DataError: the official result of the folder is another one than its samples give.
        """
        figure = figure_of(self.tree, self.official)
        if self.in_official and not self._agrees(figure.value):
            raise DataError(
                f"{folder}: report.json has {self.official} as {self.section} {self.name}, and "
                f"samples.jsonl gives {self.unit.scaled(figure.value)}: they are not of one run. "
                "Score the predictions again with `lm-eval-longbench score`."
            )
        return figure

    def _agrees(self, value: float | None) -> bool:
        if value is None or self.official is None:
            return value is self.official
        # Half a unit of the last official digit; official shares are not rounded.
        rounding = 0.5 * 10**-self.unit.decimals if self.unit.factor != 1 else 0.0
        return abs(self.unit.factor * value - self.official) <= rounding + 1e-9
