"""Money for tokens."""

from __future__ import annotations

from dataclasses import dataclass

from lm_eval_longbench.errors import OptionError


@dataclass(frozen=True)
class Price:
    """Money for a million tokens.

    Attributes:
        prompt, answer: of each kind.
        cached: of a prompt's tokens that the server has read before; None: as others.
    """

    prompt: float
    answer: float
    cached: float | None = None

    def of(self, prompt: int, cached: int, answer: int) -> float:
        """Return the cost of some tokens; `cached` is a part of `prompt`."""
        again = self.prompt if self.cached is None else self.cached
        return ((prompt - cached) * self.prompt + cached * again + answer * self.answer) / 1e6


def read_price(text: str) -> Price:
    """Return the price that a user gives as "in,out" or "in,out,cached".

    Raises:
        OptionError: it is none.
    """
    try:
        numbers = [float(part) for part in text.split(",")]
        if not 2 <= len(numbers) <= 3 or not all(0 <= number < 1e9 for number in numbers):
            raise ValueError
    except ValueError:
        raise OptionError(
            f"--price is in,out or in,out,cached, money for a million tokens such as 2.5,10,1.25; "
            f"not {text!r}."
        ) from None
    return Price(*numbers)
