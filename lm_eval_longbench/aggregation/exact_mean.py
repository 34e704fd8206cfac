"""A mean that is added up exactly, value by value, in a few numbers of memory."""

from __future__ import annotations

import math


class ExactMean:
    """The mean of the values added so far: the same, bit for bit, in any order of them.

    The sum is kept as floats that do not overlap, the highest last (Shewchuk 1997, as in
    `math.fsum`), so that rounding happens once, at the end.
    """

    def __init__(self) -> None:
        self._parts: list[float] = []
        self._number = 0
        self._unknown = False

    def add(self, value: float | None) -> None:
        """Add a finite value; None, a value that is not known, makes the mean None."""
        if value is None:
            self._unknown = True
            return
        self._number += 1
        parts = []
        for part in self._parts:
            if abs(value) < abs(part):
                value, part = part, value
            high = value + part
            low = part - (high - value)
            if low:
                parts.append(low)
            value = high
        self._parts = [*parts, value]

    @property
    def value(self) -> float | None:
        """The mean; None without a value or with one that is not known."""
        if self._unknown or not self._number:
            return None
        return math.fsum(self._parts) / self._number
