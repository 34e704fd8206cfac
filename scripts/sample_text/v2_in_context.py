"""Long In-context Learning: a guide, a made-up language and a many-shot classification."""

from random import Random

from sample_text import few_shot, v2_velmish
from sample_text.few_shot import TREC_CLASSES, TREC_E_QUESTIONS, TREC_QUESTIONS
from sample_text.pro_row import check
from sample_text.row import fill
from sample_text.single_doc import RADIO
from sample_text.v2_row import V2Row, three

DOMAIN = "long_in_context_learning"


def radio() -> V2Row:
    """A guide with braces in it, and spaces at its end."""
    advice = "if you hear two stations at once, move it to a tap nearer to the earth end"
    check(advice in RADIO, "the advice")
    check("{0} and {1}" in RADIO and RADIO.endswith("   "), "braces, and spaces at the end")
    return V2Row(
        DOMAIN,
        "User guide QA",
        "easy",
        "short",
        RADIO,
        "Somebody has built the Wren and hears two stations at the same time. What does the guide advise?",
        "To move the aerial to a tap nearer to the earth end of the coil",
        (
            "To take the terminal {0} for the aerial instead of the terminal {1}",
            "To replace the germanium diode with a silicon one, which needs a higher voltage",
            "To scrape the enamel from the tap in use, since no current passes otherwise",
        ),
    )


def types(rng: Random) -> V2Row:
    """Many questions with their types under names that say nothing; three have to be named."""
    names = [f"type {number:02d}" for number in range(1, len(TREC_CLASSES) + 1)]
    rng.shuffle(names)
    name_of = dict(zip(TREC_CLASSES, names, strict=True))

    def example() -> str:
        question, label = few_shot.trec_example(rng).removesuffix("\n").split("\nType: ")
        return f"{question}\nType: {name_of[label]}\n"

    context = (
        "Below are questions that readers sent to a village almanac, each with the type under which it was filed. The types have numbers only, but they were given with care: questions of one type ask for the same sort of thing.\n\n"
        + "".join(fill(example, 2900))
    )
    check(all(f"Type: {name}\n" in context for name in names), "every type is shown")
    labels = dict(TREC_QUESTIONS + TREC_E_QUESTIONS)
    asked = [
        "Who painted the ceiling of the town hall ?",
        "How cold was it on the night of the great frost ?",
        "What was the trade of the man who dug the well ?",
    ]
    check(not any(question in context for question in asked), "no asked question is an example")
    right = [labels[question] for question in asked]
    wrong = [
        [right[2], right[1], right[0]],
        [right[0], "Number", right[2]],
        [right[0], right[1], "Reason"],
    ]
    return V2Row(
        DOMAIN,
        "Many-shot learning",
        "easy",
        "long",
        context,
        "Of which types are these three questions, in this order?\n" + "\n".join(asked),
        ", ".join(name_of[label] for label in right),
        three(", ".join(name_of[label] for label in labels) for labels in wrong),
    )


def rows(rng: Random) -> list[V2Row]:
    """Return the rows of the domain."""
    return [radio(), v2_velmish.row(rng, DOMAIN), types(rng)]
