"""A phrase book of Velmish, whose grammar has to be found from its sentences.

The words and their plurals are made by the rules of `pro_rules`.
"""

from random import Random
from typing import NamedTuple

from sample_text.pro_row import check
from sample_text.pro_rules import ENDINGS, made_words, plural
from sample_text.v2_row import V2Row, three

NOUNS = [
    "goat",
    "lantern",
    "potter",
    "ferry",
    "baker",
    "bell",
    "heron",
    "miller",
    "ladder",
    "teacher",
    "onion",
    "sailor",
    "wagon",
    "carpenter",
    "hat",
    "bridge",
    "weaver",
    "kettle",
]
LIVING = {"goat", "potter", "baker", "heron", "miller", "teacher", "sailor", "carpenter", "weaver"}
VERBS = {
    "carry": "carried",
    "find": "found",
    "paint": "painted",
    "follow": "followed",
    "sell": "sold",
    "hide": "hid",
}
VERB_STEMS = ["dap", "mig", "rud", "vesk", "lomp", "zirt"]
PAST, FUTURE = "ek", "osh"
ENGLISH_PLURALS = {"ferry": "ferries"}


class Sentence(NamedTuple):
    """Who did, or will do, what to whom; the nouns in English, with their number."""

    subject: str
    subject_is_plural: bool
    verb: str
    is_past: bool
    object: str
    object_is_plural: bool

    def english(self) -> str:
        """Return the sentence in English."""
        subject, thing = (
            ENGLISH_PLURALS.get(noun, noun + "s") if is_plural else noun
            for noun, is_plural in (
                (self.subject, self.subject_is_plural),
                (self.object, self.object_is_plural),
            )
        )
        verb = VERBS[self.verb] if self.is_past else f"will {self.verb}"
        return f"The {subject} {verb} the {thing}."

    def nouns(self) -> set[tuple[str, bool]]:
        """Return both nouns, each with whether it is plural."""
        return {(self.subject, self.subject_is_plural), (self.object, self.object_is_plural)}


class Velmish:
    """The words of the language: object first, then the verb with its tense, then the subject."""

    def __init__(self, rng: Random):
        words = made_words(rng, [ENDINGS[number % len(ENDINGS)] for number in range(len(NOUNS))])
        stems = rng.sample(VERB_STEMS, len(VERBS))
        self.nouns = dict(zip(NOUNS, words, strict=True))
        self.verbs = dict(zip(VERBS, stems, strict=True))

    def noun(self, noun: str, is_plural: bool) -> str:
        """Return a noun in one of its two forms."""
        return plural(self.nouns[noun]) if is_plural else self.nouns[noun]

    def verb(self, verb: str, is_past: bool) -> str:
        """Return a verb with its tense."""
        return self.verbs[verb] + (PAST if is_past else FUTURE)

    def words(self, sentence: Sentence) -> list[str]:
        """Return the three words of a sentence."""
        return [
            self.noun(sentence.object, sentence.object_is_plural),
            self.verb(sentence.verb, sentence.is_past),
            self.noun(sentence.subject, sentence.subject_is_plural),
        ]


def as_line(words: list[str]) -> str:
    """Return words as a sentence."""
    return " ".join(words).capitalize() + "."


def made(rng: Random) -> Sentence:
    """Return a sentence whose subject lives."""
    subject = rng.choice(sorted(LIVING))
    thing = rng.choice([noun for noun in NOUNS if noun != subject])
    return Sentence(
        subject,
        rng.random() < 0.5,
        rng.choice(list(VERBS)),
        rng.random() < 0.5,
        thing,
        rng.random() < 0.5,
    )


def row(rng: Random, domain: str) -> V2Row:
    """Return the question how a sentence is said of which one noun was never heard in the plural."""
    language = Velmish(rng)
    # A noun with each kind of plural is among the other words, so that the rule can be found.
    asked_noun = next(
        noun for noun in NOUNS if noun not in LIVING and language.nouns[noun][-1] == "n"
    )
    asked = Sentence("weaver", False, "hide", True, asked_noun, True)
    sentences: list[Sentence] = []
    while len(sentences) < 72:
        sentence = made(rng)
        if sentence not in sentences and (asked_noun, True) not in sentence.nouns():
            sentences.append(sentence)
    heard = set().union(*(sentence.nouns() for sentence in sentences))
    check({(noun, False) for noun in NOUNS} <= heard, "every noun was heard in the singular")
    kinds = {language.nouns[noun][-1] for noun, is_plural in heard if is_plural}
    check(kinds == set(ENDINGS), "a plural of each ending was heard")
    check({sentence.verb for sentence in sentences} == set(VERBS), "every verb was heard")
    lines = [f"{as_line(language.words(item))} = {item.english()}" for item in sentences]
    thing, verb, subject = language.words(asked)
    singular = language.noun(asked_noun, False)
    check(not any(thing in line.casefold() for line in lines), "the plural is in no line")
    # Wrong: the plural of words on other consonants; the order of English; the other tense.
    wrong = [
        [singular + "o" + singular[-1], verb, subject],
        [subject, verb, thing],
        [thing, language.verb(asked.verb, not asked.is_past), subject],
    ]
    return V2Row(
        domain,
        "New language translation",
        "hard",
        "medium",
        "A phrase book of Velmish\n\nVelmish has four living speakers, who are sisters and correct each other. The sentences below were written down in one winter, in the kitchen, as they were said. The sisters hold that their language has no exceptions. It has no word for “the” and no small words at all, so that a sentence of this book is always made of three words.\n\n"
        + "\n".join(f"{number}. {line}" for number, line in enumerate(lines, start=1))
        + "\n",
        f"How do the speakers say “{asked.english()}” in Velmish?",
        as_line([thing, verb, subject]),
        three(map(as_line, wrong)),
    )
