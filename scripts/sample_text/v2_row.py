"""The parts of a LongBench v2 sample row that its author chooses, and what its choices must be."""

from collections.abc import Iterable
from typing import NamedTuple

from sample_text.pro_row import check

LETTERS = "ABCD"


class V2Row(NamedTuple):
    """One question with four choices about one text.

    Attributes:
        domain: short form of the domain's name, a key of the catalog's DOMAINS.
        difficulty: "easy" or "hard".
        length: "short", "medium" or "long".
        right: the right choice.
        wrong: the three others, in the order in which they are to stand.
    """

    domain: str
    sub_domain: str
    difficulty: str
    length: str
    context: str
    question: str
    right: str
    wrong: tuple[str, str, str]

    def choices(self, letter: str) -> dict[str, str]:
        """Return the choices by letter, the right one at the given letter.

        Raises:
            ValueError: two choices are the same, up to whitespace around them.
        """
        texts = list(self.wrong)
        texts.insert(LETTERS.index(letter), self.right)
        check(len({text.strip() for text in texts}) == 4, f"four different choices, not {texts}")
        return dict(zip(LETTERS, texts, strict=True))


def three(texts: Iterable[str]) -> tuple[str, str, str]:
    """Return exactly three wrong choices; ValueError if there are more or fewer."""
    found = tuple(texts)
    check(len(found) == 3, f"three wrong choices, not {found}")
    return found
