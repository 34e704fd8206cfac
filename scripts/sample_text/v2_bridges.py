"""A long report on footbridges, whose ranking follows rules that the report gives."""

from random import Random
from typing import NamedTuple

from sample_text.bank import FIRST_NAMES, LAST_NAMES, PLACES
from sample_text.pro_row import check
from sample_text.summaries import BRIDGES
from sample_text.v2_row import V2Row, three

YEAR = 2019  # of the report
COUNT = 42
MATERIALS = ["timber", "steel", "stone", "concrete", "wrought-iron", "larch"]
BELOW = ["the mill race", "the Ash Brook", "the railway cutting", "the old canal", "the weir"]
CARRIES = [
    "the path to the allotments",
    "a bridleway",
    "the shortest way to the station",
    "a towpath",
    "the way to the cemetery",
    "a milk round and a paper round",
]
FINDINGS = {
    "A": ["found nothing to object to", "called it as sound as a bell", "tightened one bolt"],
    "B": [
        "noted some rust on the railing",
        "asked for new planks within five years",
        "found moss on the steps and had it brushed off",
    ],
    "C": [
        "found rot in two of the bearers",
        "measured a sag of three centimetres in the middle",
        "could push a penknife into the northern post up to the handle",
    ],
    "D": [
        "closed it with a chain on the same afternoon",
        "found that only habit was holding it up",
    ],
}
REMARKS = [
    "Anglers lean on its eastern railing, which is bowed from it.",
    "A heron stands under it in the mornings and does not mind inspectors.",
    "Its lamp was paid for by a brass band and is still polished by the trombones.",
    "Cyclists are asked to dismount and do so when somebody is looking.",
    "The name of the builder is cut into the third step, with a spelling mistake.",
    "In summer children jump from it, in spite of two signs and one uncle.",
    "Swallows nest below the deck, and painting has to wait until they have left.",
    "A petition asks for a handrail that is warm in winter.",
    "The parish sweeps it on the first Monday of the month.",
    "Sheep cross it in October in the one direction and in April in the other.",
    "It was moved here from another stream and is a little too long.",
    "Skaters use it as a grandstand when the water is frozen.",
    "It hums in a west wind, at about the pitch of a bee.",
    "A bench halfway across is let to the bird club on Sundays.",
]

INTRODUCTION = f"""The Office of Footbridges: report for the year {YEAR}

1. Introduction

The auditors looked at our work last year, and what they found is printed in the annex. We have filled the two empty posts, and the register now shows the year of each inspection beside each grade. This report gives, for the first time, the grade, the year and the number of crossings of every bridge that was on the provisional list of the Upland district, so that anybody can check in which order the repairs will be made.

Crossings were counted by volunteers from dawn to dusk on four days, one in each season. The figure given below is the mean of a day. Volunteers were issued with a folding chair, a tally counter and a flask. One counter was dropped into the water and went on counting.

2. How repairs are ranked

A grade is valid if the inspection on which it rests was made in {YEAR - 1} or {YEAR}. A bridge whose grade is older than that is inspected first of all, and it has no rank until then, whatever its old grade may be.

Bridges of the grades A and B are maintained and not repaired. A bridge of grade D is closed and is rebuilt from the emergency fund, and so it has no place in the ranking either. The ranking is therefore a ranking of bridges with a valid grade C.

These are ranked by the number of crossings a day, the largest number first. Where a bridge lies on the way to a school, its crossings count double, since a child who finds a bridge closed will wade. Nothing else counts: neither the age of a bridge, nor its beauty, nor who has written to us about it.

3. The bridges

"""


class Bridge(NamedTuple):
    """One entry of the report."""

    place: str
    grade: str
    year: int
    crossings: int
    school: bool

    @property
    def weight(self) -> int:
        """What the bridge is ranked by."""
        return self.crossings * (2 if self.school else 1)

    @property
    def is_ranked(self) -> bool:
        """Whether the bridge has a place in the ranking."""
        return self.grade == "C" and self.year >= YEAR - 1


def made(rng: Random) -> list[Bridge]:
    """Return bridges of which some would come first but for one rule each."""
    places = rng.sample(PLACES, COUNT)
    # First by the rules; then an old grade, a closed bridge, and one with more crossings as such.
    fixed = [("C", YEAR, 236, True), ("C", YEAR - 3, 561, False), ("D", YEAR, 498, True)]
    fixed.append(("C", YEAR - 1, 417, False))
    bridges = [Bridge(place, *rest) for place, rest in zip(places[:4], fixed, strict=True)]
    for place in places[len(fixed) :]:
        grade = rng.choice("AABBBBCCC")
        year = rng.choice([YEAR, YEAR, YEAR - 1, YEAR - 1, YEAR - 2])
        bridges.append(Bridge(place, grade, year, rng.randrange(12, 200), rng.random() < 0.2))
    rng.shuffle(bridges)
    return bridges


def entry(rng: Random, number: int, bridge: Bridge) -> str:
    """Return the paragraph about a bridge."""
    inspector = f"{rng.choice(FIRST_NAMES)} {rng.choice(LAST_NAMES)}"
    finding = rng.choice(FINDINGS[bridge.grade])
    below = rng.choice(BELOW)
    first = rng.choice(
        [
            f"This {rng.choice(MATERIALS)} bridge of {rng.randrange(6, 48)} metres carries {rng.choice(CARRIES)} over {below}.",
            f"Over {below}, {rng.randrange(6, 48)} metres long, with a deck of {rng.choice(MATERIALS)} work; it carries {rng.choice(CARRIES)}.",
        ]
    )
    inspected = rng.choice(
        [
            f"{inspector} inspected it in {bridge.year} and {finding}: grade {bridge.grade}.",
            f"Grade {bridge.grade}, from the inspection in {bridge.year}, when {inspector} {finding}.",
        ]
    )
    counted = rng.choice(
        [
            f"It is crossed {bridge.crossings} times a day.",
            f"The volunteers counted {bridge.crossings} crossings a day.",
        ]
    )
    school = (
        rng.choice(["It lies on the way to a school.", "Children cross it on their way to school."])
        if bridge.school
        else "It is on no child's way to school."
    )
    remark = rng.choice(REMARKS)
    return f"3.{number} {bridge.place}. {first} {inspected} {counted} {school} {remark}"


def row(rng: Random, domain: str) -> V2Row:
    """Return the question which bridge is repaired first."""
    bridges = made(rng)
    ranked = sorted(filter(lambda b: b.is_ranked, bridges), key=lambda b: b.weight, reverse=True)
    check(ranked[0].weight > ranked[1].weight, "one bridge is first")
    by_crossings = max(ranked, key=lambda b: b.crossings)
    overdue = max(
        (b for b in bridges if b.grade == "C" and not b.is_ranked), key=lambda b: b.weight
    )
    closed = max((b for b in bridges if b.grade == "D"), key=lambda b: b.weight)
    check(min(overdue.weight, closed.weight) > ranked[0].weight, "only a rule keeps them out")
    entries = [entry(rng, number, bridge) for number, bridge in enumerate(bridges, start=1)]
    return V2Row(
        domain,
        "Governmental",
        "hard",
        "long",
        INTRODUCTION
        + "\n\n".join(entries)
        + f"\n\nAnnex: from the report of the auditors\n\n{BRIDGES}",
        "By the rules of chapter 2, which bridge of chapter 3 is repaired first?",
        f"The bridge at {ranked[0].place}",
        three(f"The bridge at {b.place}" for b in (overdue, by_crossings, closed)),
    )
