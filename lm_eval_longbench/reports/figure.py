"""What stands in one cell of a report."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Unit:
    """How a figure is given.

    Attributes:
        name: "percent", "share" or "relative".
        factor: from a share in [0, 1] to the value in JSON.
        shown_factor: from a share to the number in tables and CSV.
        decimals: of the shown number, rounded as officially.
        signed: whether a plus sign is shown.
    """

    name: str
    factor: float
    shown_factor: float
    decimals: int
    signed: bool = False

    def shown(self, value: float | None, *, signed: bool = False) -> str:
        """Return a share as the number in a table; "-" for None."""
        if value is None:
            return "-"
        text = f"{self.shown_factor * value:.{self.decimals}f}"
        if float(text) == 0:
            text = text.removeprefix("-")
        return f"+{text}" if (signed or self.signed) and float(text) > 0 else text

    def scaled(self, value: float | None) -> float | None:
        """Return a share as the value in JSON, unrounded."""
        return None if value is None else self.factor * value


V1_PERCENT = Unit("percent", 100, 100, 2)
V2_PERCENT = Unit("percent", 100, 100, 1)
# Official Pro summaries are shares; the published tables print them times 100, two decimals.
PRO_SHARE = Unit("share", 1, 100, 2)
RELATIVE = Unit("relative", 1, 100, 2, signed=True)


@dataclass(frozen=True)
class Figure:
    """One figure of one run.

    Attributes:
        value: share in [0, 1] (relative figures: x/y - 1); None where it cannot be given: a
            dataset is missing, a sample is unscored, or there is no question.
        n: questions it is made of.
        low, high: ends of the 95% interval; None where there is none.
        method: of the interval: "bootstrap", "wilson" or "none".
        reason: why a figure with a value has no interval; "" otherwise.
        documents: that the questions are about and that are resampled; None where each question
            counts as having its own.
        unscored: samples without a score among them.
        failed: samples without an answer among them.
        official: the same figure in the run's official result file, rounded as there and in the
            benchmark's unit; None where that file has none.
    """

    value: float | None
    n: int
    low: float | None
    high: float | None
    method: str
    unscored: int
    failed: int
    official: float | None = None
    reason: str = ""
    documents: int | None = None

    def shown(self, unit: Unit) -> str:
        """Return the number in a table: the official one where there is one.

        The official sum is in the order of the samples and this one exact; at a tie they could
        round apart.
        """
        return unit.shown(self.value if self.official is None else self.official / unit.factor)


@dataclass(frozen=True)
class Difference:
    """Second column less the first, on the questions that both have.

    Attributes:
        value: difference of the shares; None where a question they share is unscored or a part has
            none in common.
        n: questions shared.
        low, high: ends of the 95% interval, see `intervals.t_interval`; None where there is none.
        p_value: two-sided, see `intervals.two_sided_p`; None where there is no interval.
        reason: why a difference with a value has no interval; "" otherwise.
    """

    value: float | None
    n: int
    low: float | None
    high: float | None
    p_value: float | None
    reason: str = ""
