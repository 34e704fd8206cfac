"""Code Repository Understanding: a class, a ferry's tickets and a loft of pigeons."""

import json
from random import Random

from sample_text import v2_ferry, v2_pigeons
from sample_text.pro_code import LAMP_OLD
from sample_text.pro_row import check
from sample_text.v2_repository import as_text, output_of, replaced
from sample_text.v2_row import V2Row, three

DOMAIN = "code_repository"
LAMP = {
    "README.md": "# lamp\n\nOne class and nothing to install. A lamp starts switched off. Its level is given in per cent, its energy in watt-hours. It was written for a shop window in which a row of lamps had to look asleep at night and awake in the morning, and has since found its way into two theatres and a henhouse.\n",
    "lamp.py": LAMP_OLD,
    "evening.py": """from lamp import Lamp

hall = Lamp("amber")
hall.switch_on(60)
hall.dim(50)
spare = hall.copy()
spare.switch_on(30)
hall.dim(80)
print(hall.energy(2))
""",
}


def lamp() -> V2Row:
    """A class and a program; it is run, also with what a hasty reader may take it for."""
    shown = output_of(LAMP, "evening.py")
    wrong = [
        # dim() sets the level; the copy is the same lamp; the first dim() is overlooked.
        replaced(LAMP, "lamp.py", "min(self.level, level)", "level"),
        replaced(LAMP, "evening.py", "hall.copy()", "hall"),
        replaced(LAMP, "evening.py", "hall.dim(50)\n", ""),
    ]
    return V2Row(
        DOMAIN,
        "Code repo QA",
        "easy",
        "short",
        as_text(LAMP),
        "What does `python evening.py` print?",
        shown,
        three(output_of(files, "evening.py") for files in wrong),
    )


def listed(names: list[str]) -> str:
    """Return names as a list in words."""
    return f"{', '.join(names[:-1])} and {names[-1]}"


def ferry() -> V2Row:
    """Which functions return something else after a change; they are called on a grid of inputs."""
    files = v2_ferry.FILES
    changed = replaced(files, "ferry/prices.py", "return 3 * goats", "return 5 * goats")
    before, after = (
        json.loads(output_of(repository, "-c", v2_ferry.CALL_ALL))
        for repository in (files, changed)
    )
    affected = [name for name in before if before[name] != after[name] and name != "goat_fare"]
    # Calls a function that is affected, but always for no goats at all.
    tempting = ["family_price", "family_notice"]
    direct = ["ticket_price", "goat_notice"]
    check({*direct, "receipt"} < set(affected), "what calls the function, and what calls that")
    check(not {*tempting} & {*affected} and {*tempting} < before.keys(), "families have no goats")
    orders = [
        [name for name in before if name in {*affected, *tempting}],
        direct,
        [name for name in before if name in {*direct, *tempting}],
    ]
    return V2Row(
        DOMAIN,
        "Code repo QA",
        "hard",
        "medium",
        as_text(files),
        "In ferry/prices.py the function goat_fare is changed so that it returns 5 * goats, and nothing else is touched. Which other functions of ferry/prices.py and ferry/board.py then return something else than before for at least one valid input?",
        listed(affected),
        three(map(listed, orders)),
    )


def rows(rng: Random) -> list[V2Row]:
    """Return the rows of the domain."""
    return [lamp(), ferry(), v2_pigeons.row(rng, DOMAIN)]
