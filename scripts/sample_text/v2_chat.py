"""A long chat of a club in which a key changes hands, or nearly does."""

from datetime import datetime, timedelta
from random import Random

from sample_text.bank import FIRST_NAMES
from sample_text.few_shot import made_chat
from sample_text.pro_row import check
from sample_text.row import count_words
from sample_text.v2_row import V2Row, three

# What happens to the key: handed over, left somewhere for somebody, offered in vain, or mistaken.
PLAN = ["given", "declined", "left", "mistaken", "given", "left", "declined", "mistaken"]
WORDS = 2900


def talk(kind: str, holder: str, other: str) -> list[str]:
    """Return what is said about the key that `holder` has."""
    return {
        "given": [
            f"{other}: Thanks for the boathouse key, {holder}, it lay heavy in my pocket all the way home",
            f"{holder}: Glad to be rid of it. Mind the lock, it turns the wrong way",
        ],
        "left": [
            f"{holder}: I cannot wait any longer. The boathouse key is in the tin under the slip. {other}, it is yours now",
            f"{other}: Found the tin. There was a toad on it, but I have the key",
        ],
        "declined": [
            f"{holder}: {other}, would you take the boathouse key for a while?",
            f"{other}: I would, but I am away until the end of the month",
            f"{holder}: Never mind, then it stays where it is",
        ],
        "mistaken": [
            f"{holder}: The boathouse key is with {other} from today, I put it through the door",
            f"{other}: What came through my door is the key of the tea hut 🔑",
            f"{holder}: So it is. Please put it back through mine. At least I know now what I have on my own hook",
        ],
    }[kind]


def row(rng: Random, domain: str) -> V2Row:
    """Return the question who has the key in the end."""
    people = rng.sample(FIRST_NAMES, len(PLAN) + 1)
    holders, others = [people[0]], people[1:]
    scenes = [
        [
            f"{people[0]}: A new year on the river! For the record, I have the only key of the boathouse. Whoever wants to row early, ask me",
            f"{others[0]}: Happy new year!",
        ]
    ]
    for kind, other in zip(PLAN, others, strict=True):
        scenes.append(talk(kind, holders[-1], other))
        if kind in ("given", "left"):
            holders.append(other)
    check(PLAN[-2:] == ["declined", "mistaken"], "the last two scenes change nothing")
    check(holders[-1] == others[PLAN.index("left", 3)], "the last one who got the key")
    chats, words = [], sum(count_words(" ".join(scene)) for scene in scenes)
    while words < WORDS:
        chats.append(made_chat(rng).dialogue.replace("\r\n", "\n").split("\n"))
        # Two more words in each line are the time.
        words += count_words(" ".join(chats[-1])) + 3 * len(chats[-1])
    check("key" not in str(chats), "only the scenes are about a key")
    # The scenes keep their order; as many chats stand after each of them.
    share = len(chats) // len(scenes)
    mixed = []
    for number, scene in enumerate(scenes):
        last = None if scene is scenes[-1] else (number + 1) * share
        mixed += [scene, *chats[number * share : last]]
    day, parts = datetime(2021, 1, 1), []
    for chat in mixed:
        time = day + timedelta(minutes=rng.randrange(8 * 60, 21 * 60))
        lines = []
        for line in chat:
            lines.append(f"[{time.day} {time:%B %H:%M}] {line}")
            time += timedelta(minutes=rng.randrange(1, 9))
        parts.append("\n".join(lines))
        day += timedelta(days=rng.randrange(1, 4))
    return V2Row(
        domain,
        "Dialogue history QA",
        "hard",
        "long",
        "Chat of the rowing club\n\n" + "\n\n".join(parts) + "\n",
        "Who has the key of the boathouse after the last message of this chat?",
        holders[-1],
        three([holders[-2], others[-2], others[-1]]),
    )
