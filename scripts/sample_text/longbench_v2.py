"""The rows of the LongBench v2 sample, with the letters of their right choices."""

from random import Random

from sample_text import (
    v2_code,
    v2_data,
    v2_dialogue,
    v2_in_context,
    v2_multi_doc,
    v2_single_doc,
)
from sample_text.pro_row import check
from sample_text.v2_row import LETTERS, V2Row

# In the official order of the domains.
MODULES = (v2_single_doc, v2_multi_doc, v2_in_context, v2_dialogue, v2_code, v2_data)
# What stands for a question's parts in the official templates.
MARKS = ("$DOC$", "$Q$", "$C_A$", "$C_B$", "$C_C$", "$C_D$", "$COT$")


def rows(seed: str) -> list[tuple[V2Row, str]]:
    """Return all rows, each with the letter of its right choice.

    Raises:
        ValueError: a row cannot be right; see the checks of its module.
    """
    found = [
        row
        for module in MODULES
        for row in module.rows(Random(f"{seed}:{module.__name__}"))  # noqa: S311
    ]
    check(sum("$Q$" in row.context for row in found) == 1, "one document holds the literal $Q$")
    check(not any(mark in str(_fixed(row)) for row in found for mark in MARKS), "no other mark")
    rng = Random(f"{seed}:letters")  # noqa: S311
    # Each letter is right in as many rows as any other, or in one more.
    letters = [LETTERS[number % len(LETTERS)] for number in range(len(found))]
    rng.shuffle(letters)
    return list(zip(found, letters, strict=True))


def _fixed(row: V2Row) -> tuple[str, ...]:
    """Return the texts of a row, its document without the one mark that is meant to be there."""
    return (row.context.replace("$Q$", ""), row.question, row.right, *row.wrong)
