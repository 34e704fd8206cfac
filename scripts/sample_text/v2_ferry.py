"""A repository of medium size about a ferry's tickets; its prices are those of `pro_code`."""

from sample_text.pro_code import PRICES

README = """# ferry

Works out what the passengers of the island ferry have to pay and what is written on the two boards, the one at the quay and the one in the waiting room. It has no dependencies. Prices are whole crowns; there has never been a coin that is smaller.

## Use

    python -m ferry ticket far 9 2
    python -m ferry family middle 41 39 10
    python -m ferry boards

The first command prices a ticket to the far island for a child of nine with two goats. The second prices a family. Families travel without goats: a family that has a goat buys the goat a ticket through one of its members, with the first command. The third prints both boards.

## Layout

- `ferry/prices.py`: all prices. Every other file asks it and never adds up anything by itself.
- `ferry/board.py`: the texts on the boards and on the receipt of a family.
- `ferry/__main__.py`: the command line.
- `tests/`: what we check before each season.

## Changing a price

Change one number in `ferry/prices.py`, run the tests, and walk down to the quay with a wet cloth and a piece of chalk. A test that fails because of the new price is to be changed by whoever changed the price, and by nobody else.
"""

BOARD = '''"""What is written on the boards, and the family's receipt."""

from ferry.prices import (
    ISLANDS,
    base_fare,
    family_price,
    goat_notice,
    mooring_notice,
    ticket_price,
)


def fare_lines():
    """One line for each island: its name and the fare of a grown person."""
    return [f"{island}: {base_fare(island)}" for island in ISLANDS]


def child_lines():
    """One line for each island: its name and the fare of a child of nine without goats."""
    return [f"{island}: {ticket_price(island, 9, 0)}" for island in ISLANDS]


def quay_board():
    """The board at the quay: fares, then what a berth costs."""
    return "\\n".join([*fare_lines(), mooring_notice(8), mooring_notice(12)])


def goat_board():
    """The board at the goat pen, which is read mostly by goats."""
    return "\\n".join(goat_notice(goats) for goats in (1, 2, 5))


def waiting_room():
    """The board in the waiting room: all of the above that is not about boats."""
    return "\\n".join([*fare_lines(), *child_lines(), goat_board()])


def family_notice(island, ages):
    """Text that is handed to a family."""
    return f"{len(ages)} to the {island} island: {family_price(island, ages)} crowns"
'''

MAIN = '''"""The command line of the ferry."""

import sys

from ferry import board, prices


def main(arguments):
    """Print what is asked for; return the exit status."""
    match arguments:
        case ["ticket", island, age, goats]:
            print(prices.receipt(island, int(age), int(goats)))
        case ["family", island, *ages]:
            print(board.family_notice(island, [int(age) for age in ages]))
        case ["boards"]:
            print(board.quay_board())
            print("---")
            print(board.waiting_room())
        case _:
            print("usage: ferry ticket ISLAND AGE GOATS | family ISLAND AGE... | boards")
            return 2
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
'''

TESTS = '''"""Checked before each season, with a cup of tea."""

from ferry import board, prices


def test_the_far_island_costs_most():
    fares = {island: prices.base_fare(island) for island in prices.ISLANDS}
    assert max(fares, key=fares.get) == "far"


def test_a_child_pays_less():
    assert prices.ticket_price("near", 11, 0) < prices.ticket_price("near", 12, 0)


def test_a_family_is_the_sum_of_its_members():
    whole = prices.family_price("middle", [41, 39, 10])
    assert whole == sum(prices.ticket_price("middle", age, 0) for age in (41, 39, 10))


def test_a_season_ticket_is_worth_it_for_those_who_sail_often():
    assert prices.season_ticket("near") < 40 * prices.base_fare("near")


def test_the_board_at_the_quay_names_every_island():
    assert all(island in board.quay_board() for island in prices.ISLANDS)


def test_goats_are_not_free():
    assert prices.ticket_price("near", 30, 1) > prices.ticket_price("near", 30, 0)
'''

CHANGES = """# Changes

## 1.3

- The boards are made by a program. Until now the harbour master wrote them from memory, and the memory of the harbour master was cheaper than the price list.
- A receipt for families.

## 1.2

- The season ticket is no longer printed on the back of the tide table, since people bought the tide table for it.

## 1.1

- Goats have a price of their own and are no longer counted as children under two.
"""

FILES = {
    "README.md": README,
    "CHANGES.md": CHANGES,
    "ferry/__init__.py": '"""The tickets and boards of the island ferry."""\n',
    "ferry/prices.py": PRICES,
    "ferry/board.py": BOARD,
    "ferry/__main__.py": MAIN,
    "tests/test_prices.py": TESTS,
}

# Prints what every function returns for many valid inputs.
CALL_ALL = """
import inspect, itertools, json
from ferry import board, prices

VALUES = {
    "island": list(prices.ISLANDS), "age": range(0, 91, 5), "goats": range(6),
    "ages": [[], [7], [41, 39, 10], [80]], "length": range(3, 30), "nights": range(4),
}
found = {}
for module in (prices, board):
    for name, function in vars(module).items():
        if inspect.isfunction(function) and function.__module__ == module.__name__:
            names = inspect.signature(function).parameters
            grid = itertools.product(*(VALUES[parameter] for parameter in names))
            found[name] = [function(*values) for values in grid]
print(json.dumps(found))
"""
