"""Paragraphs for passage_retrieval_en and passage_count."""

from random import Random

from sample_text.bank import Bank
from sample_text.row import Row

# A paragraph that is unlike any of the bank's, and an abstract of it.
TARGETS = [
    (
        "When the glass factory closed, its last furnace was kept alight for one more day so that every worker could blow a single piece to take home. Some made bowls, and one made a duck. The foreman, who had not blown glass in twenty years, made a ball so thin that it broke when he laughed, and he kept the largest splinter in a matchbox.",
        "On the last day of a closing works, its employees were each allowed to shape one object from hot material as a keepsake; the supervisor's delicate piece shattered, and he saved a fragment of it.",
    ),
    (
        "The post office on the pass is served by a mule named Constance. She knows the nine stops by heart and waits at each for as long as it takes to drink a glass of water. In the year in which the carrier broke his leg, she walked the round alone for six days with the letters in her bags, and the farmers took out what was theirs.",
        "An animal used for delivering mail in the mountains completed its usual route without its injured handler for nearly a week, while the recipients helped themselves.",
    ),
    (
        "Two brothers quarrelled over a fence and did not speak for eleven years. Each had a half of their mother's recipe for plum dumplings, since the page had been torn in the quarrel. At a wedding, someone sat them next to each other and served dumplings without any taste at all. By the end of the evening they had put the two halves of the page together on the tablecloth.",
        "Estranged siblings, each holding part of a family cooking instruction, were reconciled at a celebration after being served a bland version of the dish.",
    ),
    (
        "To learn whether snails come back to the garden from which they are thrown, a retired dentist marked two hundred of them with nail varnish and carried them across the lane. Red snails were taken ten metres, yellow ones twenty, and blue ones fifty. Within a month most of the red and a third of the yellow snails were back among the lettuces, and not a single blue one.",
        "A former health professional tested the homing of garden molluscs with coloured marks and found that fewer returned from greater distances, and none from the farthest.",
    ),
]


def numbered_paragraphs(paragraphs: list[str]) -> str:
    """Return the paragraphs in the layout of LongBench's synthetic sets."""
    return "\n\n".join(f"Paragraph {n}: {text}" for n, text in enumerate(paragraphs, start=1))


def retrieval(rng: Random, target: int, count: int, words: int) -> Row:
    """Return `count` paragraphs of about `words` words in all, one of them the target's."""
    paragraph, abstract = TARGETS[target]
    bank = Bank(rng)
    # The last bits of filler go to the paragraphs in turn, so that the total is hit closely.
    fillers = [bank.note().text for _ in range(count - 1)]
    turn = 0
    while sum(len(text.split()) for text in [paragraph, *fillers]) + 2 * count < words:
        fillers[turn % len(fillers)] += " " + bank.note().text
        turn += 1
    place = rng.randrange(count)
    fillers.insert(place, paragraph)
    return Row(abstract, numbered_paragraphs(fillers), [f"Paragraph {place + 1}"])


def counting(rng: Random, words: int, share: float) -> Row:
    """Return at least `words` words of paragraphs, about `share` of them unique."""
    bank = Bank(rng)
    unique = [bank.note().text]
    paragraphs = list(unique)
    while sum(len(text.split()) + 2 for text in paragraphs) < words:
        if len(unique) <= share * len(paragraphs):
            unique.append(bank.note().text)
            paragraphs.append(unique[-1])
        else:
            paragraphs.append(rng.choice(unique))
    rng.shuffle(paragraphs)
    return Row("", numbered_paragraphs(paragraphs), [str(len(unique))])
