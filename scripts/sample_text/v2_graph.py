"""A knowledge graph of craftspeople as lines of triples."""

from random import Random

from sample_text.bank import FIRST_NAMES, LAST_NAMES, PLACES
from sample_text.pro_row import check
from sample_text.v2_row import V2Row, three

PEOPLE = 136
VALLEYS = ["Upper Marrin", "Lower Marrin", "the Brack", "the Calder", "the Tarn", "the Ferrow"]
CRAFTS = ["bell founder", "potter", "bookbinder", "cooper", "glazier", "weaver", "clockmaker"]
TAUGHT, LIVES, WORKS, LIES = "apprentice_of", "lives_in", "works_as", "lies_in_the_valley_of"


def made(rng: Random) -> list[tuple[str, str, str]]:
    """Return the triples of a graph in which each person was taught by an older one."""
    names = [f"{first} {last}" for first in FIRST_NAMES for last in LAST_NAMES]
    people = rng.sample(names, PEOPLE)
    villages = rng.sample(PLACES, 36)
    triples = [(village, LIES, rng.choice(VALLEYS)) for village in villages]
    for number, person in enumerate(people):
        triples.append((person, LIVES, rng.choice(villages)))
        triples.append((person, WORKS, rng.choice(CRAFTS)))
        if number >= 8:
            triples.append((person, TAUGHT, people[rng.randrange(number)]))
    rng.shuffle(triples)
    return triples


def row(rng: Random, domain: str) -> V2Row:
    """Return the question where the teacher of somebody's teacher lives."""
    triples = made(rng)
    facts = {(subject, relation): thing for subject, relation, thing in triples}
    check(len(facts) == len(triples), "one object for each subject and relation")

    def valleys(person: str | None) -> list[str]:
        """Return the valleys of a person, of the teacher, of the teacher's teacher and so on."""
        found = []
        while person is not None:
            found.append(facts[facts[person, LIVES], LIES])
            person = facts.get((person, TAUGHT))
        return found

    people = [subject for subject, relation, _ in triples if relation == LIVES]
    # All four valleys of a chain are to differ, so that each is a choice.
    chains = ((person, valleys(person)) for person in people)
    person, chain = next((p, c) for p, c in chains if len(c) >= 4 and len(set(c[:4])) == 4)
    own, teacher, right, beyond = chain[:4]
    lines = [f"{subject} | {relation} | {thing}" for subject, relation, thing in triples]
    return V2Row(
        domain,
        "Knowledge graph reasoning",
        "hard",
        "long",
        "Graph of the craftspeople of six valleys. Each line is a triple: subject | relation | object. Nobody was the apprentice of two people, nobody lives in two villages, and the lines are in no order. Whose apprentice somebody was is called this person’s teacher.\n\n"
        + "\n".join(lines)
        + "\n",
        f"{person} had a teacher, who was once an apprentice too. In which valley does the teacher of {person}’s teacher live?",
        f"In the valley of {right}",
        three(f"In the valley of {valley}" for valley in (own, teacher, beyond)),
    )
