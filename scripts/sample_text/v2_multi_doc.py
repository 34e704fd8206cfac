"""Multi-Document QA: two newspaper reports, three papers and a folder of cuttings."""

import re
from datetime import date, timedelta
from random import Random

from sample_text.bank import Bank
from sample_text.pro_row import check
from sample_text.row import Passage, count_words, numbered
from sample_text.single_doc import LIBRARY, OWLS, PARSER
from sample_text.summaries import MULTI_NEWS
from sample_text.v2_row import V2Row, three

DOMAIN = "multi_document_qa"


def swan() -> V2Row:
    """Three reports on a power cut; each gives a part of the answer."""
    context = MULTI_NEWS[1].row().context
    check("on Saturday at nine" in context and "returned at 10:40" in context, "the times")
    check("a swan had flown into a line" in context, "the cause")
    minutes = (10 * 60 + 40) - 9 * 60
    return V2Row(
        DOMAIN,
        "Multi-news",
        "easy",
        "short",
        context,
        "For how long was the Sandry night market without power, and what had caused it?",
        f"{minutes} minutes; a swan had flown into a power line",
        (
            f"{minutes} minutes; the stallholders' candles had set fire to a line",
            f"{minutes - 60} minutes; a swan had flown into a power line",
            "The whole evening; the traders' union had asked for an evening without light",
        ),
    )


EDITOR = """Proceedings of the Third Workshop on Small Systems

Editor's note. Three short papers were chosen for this volume out of eleven. What they have in common is modesty: a parser that could be trained over a weekend, a detector that runs on sunlight, and a search for books whose readers remember only the colour of the boat. Each of the papers sets the system that its authors prefer against at least one other, and two of them find that their own is the better one. The third finds that a much larger rival does better by a little and costs a great deal, and prints the figure anyway, which is why the committee gave it the prize.

A word on the figures. The papers measure different things: the first reports F1 scores, the second the share of calls that are found, the third the share of requests with the right book among the first ten. All of these lie between 0 and 100, and so the differences within a paper can be given in points, but a score of the one paper must never be set against a score of another. At the workshop this was nevertheless done, over dinner, with raised voices.
"""
# What stands around the figures of the compared systems: (paper, weakest, best).
FIGURES = {
    "HOPPER": (PARSER, r"against (\d+\.\d) for a baseline", r"its training, it reaches (\d+\.\d)"),
    "NIGHTJAR": (OWLS, r"NIGHTJAR finds (\d+)%", r"parameters finds (\d+)%"),
    "SHELF, ECHO and BOTH": (LIBRARY, r"for (\d+)% of the pairs", r"and BOTH for (\d+)%"),
}


def papers() -> V2Row:
    """Three papers, to be ranked by how far apart their compared systems are."""
    gaps = {}
    for name, (text, weakest, best) in FIGURES.items():
        low, high = (re.findall(pattern, text) for pattern in (weakest, best))
        check(len(low) == len(high) == 1, f"one weakest and one best system of {name}")
        gaps[name] = float(high[0]) - float(low[0])
    check(len(set(gaps.values())) == 3, "three different gaps")
    first, second, third = sorted(gaps, key=gaps.get, reverse=True)
    orders = [(first, third, second), (second, first, third), (third, second, first)]
    documents = [EDITOR, f"Paper 1\n\n{PARSER}", f"Paper 2\n\n{OWLS}", f"Paper 3\n\n{LIBRARY}"]
    return V2Row(
        DOMAIN,
        "Academic",
        "hard",
        "medium",
        "\n\n".join(documents),
        "For each paper, take the difference in points between the best and the weakest of the systems that it compares (for the first paper, a system is the same model with or without added target data, or the baseline). Which order of the papers, named by their systems, goes from the largest difference to the smallest?",
        "; ".join((first, second, third)),
        three("; ".join(order) for order in orders),
    )


LOST, FOUND_LATER, PRICE, EARLY_PRICE = 84, 6, 900, 850
COUNCIL, LOTTERY, PRIZES = 30_000, 24_000, 1_200
CUTTINGS = {
    date(2007, 2, 6): Passage(
        "Storm takes the pier of Skerry",
        f"The storm of Sunday night has carried away {LOST} metres of the pier of Skerry, more than a third of its length. The ice-cream kiosk was last seen going north. The harbour master measured the gap by lantern with a knotted rope and asks that nobody walk out to look.",
    ),
    date(2007, 2, 27): Passage(
        "What a new pier would cost",
        f"An engineer from the county, Ms Lindqvist, has looked at the stumps of the pier of Skerry. The missing part can be rebuilt in oak for {PRICE} crowns a metre, she said, everything included. The piles that still stand are good for another fifty years.",
    ),
    date(2007, 3, 13): Passage(
        "Council opens its purse",
        f"The council of Skerry has voted {COUNCIL:,} crowns towards the pier. The vote was unanimous, since the member who is against everything had missed the boat for want of a pier to board it from.",
    ),
    date(2007, 3, 20): Passage(
        "Correction",
        f"In our report of 6 February we gave the damage to the pier of Skerry as it had been measured in the night. A survey by daylight has shown that {FOUND_LATER} of these metres are still standing. They were hidden by a bank of sand that the storm had thrown up and that has since been dug away.",
    ),
    date(2007, 4, 3): Passage(
        "Offer of a timber merchant",
        f"The merchant who is to supply the oak for the pier of Skerry has offered to do the whole work for {EARLY_PRICE} crowns a metre instead of the engineer's price, provided that he has the order in his hands by the last day of April. After that, he said, the old price stands.",
    ),
    date(2007, 5, 8): Passage(
        "A lottery for the pier",
        f"Tickets worth {LOTTERY:,} crowns were sold at the pier lottery on Saturday. Prizes to the value of {PRIZES:,} crowns were paid out of this, the first of them a goat; the rest goes to the pier. The winner of the goat has asked whether it may be exchanged.",
    ),
    date(2007, 6, 12): Passage(
        "The pier is ordered",
        "Yesterday the council of Skerry at last signed the order for the missing part of its pier, after a debate of four hours about the colour of the railing, which will be white. How the sum that is still lacking is to be raised will be discussed when the members have slept.",
    ),
}


def cuttings(rng: Random) -> V2Row:
    """A folder of newspaper cuttings in no order; seven of them tell of one matter."""
    metres, paid = LOST - FOUND_LATER, COUNCIL + LOTTERY - PRIZES
    check(max(CUTTINGS) > date(2007, 5, 1), "the order came too late for the offer")
    lacking = metres * PRICE - paid
    wrong = [LOST * PRICE - paid, metres * EARLY_PRICE - paid, metres * PRICE - COUNCIL - LOTTERY]
    bank = Bank(rng)
    found = list(CUTTINGS.items())
    while count_words("".join(cutting.text for _, cutting in found)) < 2700:
        note = bank.note()
        day = date(2007, 1, 2) + timedelta(weeks=rng.randrange(26))
        found.append((day, Passage(note.title, note.text)))
    check(not any("pier" in cutting.text for _, cutting in found[len(CUTTINGS) :]), "other matters")
    rng.shuffle(found)
    passages = [
        Passage(f"{cutting.title} (Skerry Weekly, {day.day} {day:%B %Y})", cutting.text)
        for day, cutting in found
    ]
    return V2Row(
        DOMAIN,
        "Multi-news",
        "hard",
        "long",
        numbered(passages),
        "When the council of Skerry signed the order for the missing part of the pier, how much money was still lacking?",
        f"{lacking:,} crowns",
        three(f"{value:,} crowns" for value in wrong),
    )


def rows(rng: Random) -> list[V2Row]:
    """Return the rows of the domain."""
    return [swan(), papers(), cuttings(rng)]
