"""Single-Document QA: a paper, a detective story and a long report."""

import re
from random import Random

from sample_text import v2_bridges
from sample_text.pro_row import check
from sample_text.single_doc import BATTERY
from sample_text.v2_row import V2Row, three

DOMAIN = "single_document_qa"


def battery() -> V2Row:
    """A paper whose formulas hold the literal that stands for the question in a template."""
    (old, new) = re.findall(r"(0\.\d\d) (?:in Ostrel )?and (0\.\d\d)", BATTERY)
    check((old, new) == (("0.91", "0.84"), ("0.94", "0.90")), "mean health of both towns")
    health = {"flat": (old[0], new[0]), "hilly": (old[1], new[1])}
    check("Ostrel is flat" in BATTERY and "Let $Q$ be" in BATTERY, "towns and formula")
    gains = {town: float(after) - float(before) for town, (before, after) in health.items()}
    gaps = [float(flat) - float(hilly) for flat, hilly in (old, new)]
    return V2Row(
        DOMAIN,
        "Academic",
        "easy",
        "short",
        BATTERY,
        "By how much was the mean health of the batteries in the hilly town higher under LATE-TOP than under the old rule?",
        f"{gains['hilly']:.2f}",
        three(f"{value:.2f}" for value in (gains["flat"], gaps[1], gaps[0])),
    )


def clock(minutes: int) -> str:
    """Return minutes after eight in the evening as a time."""
    return f"{8 + minutes // 60}.{minutes % 60:02d}"


# Minutes after eight, for the text and for the reasoning.
LOCKED, SEEN_ON_HOOK, WAXED, NEEDED = 5, 30, 35, 10
BILLIARDS = (0, 40)
FERRY_LANDED, WALK = 22, 12
WINDOW_SEAT = (3, 33)
RECEIPT, CLOCK_IS_FAST = 20, 30

PELICAN = f"""The Pelican of Marl Quay

The yacht club of Marl Quay owned nothing of value but a brass pelican, which stood on the mantelpiece of the committee room and looked at every new member as if he were a small fish. On the evening of the second of November it was stolen.

Inspector Hale came over on the last ferry, in oilskins, and asked for tea and for the facts. He got the tea first.

“I polished it myself,” said the secretary, Mr Pym. “I locked the committee room at {clock(LOCKED)}, and the pelican was there. There is one key. I hung it on its hook behind the bar, as I always do, and went home to my supper. When the commodore wanted the room at half past nine, he fetched the key from the hook and found the mantelpiece bare.”

“Can the hook be reached by anybody?”

“By anybody who can lean on a bar,” said Mr Pym with some bitterness. “That is everybody.”

The inspector measured the way. To take the key, walk down the long corridor, unlock the stiff door, wrap up eleven pounds of brass, lock the door again and bring back the key took him {NEEDED} minutes, and he was out of breath. “Nobody does it in less,” he wrote.

Then he spoke to the barmaid, Nell Otter. She had gone to the cellar at eight to tap a barrel and had come up again at exactly {clock(SEEN_ON_HOOK)}. She was sure of the minute, for she had wound her watch and hung it on the next hook, beside the key. From then on she had stood at the bar all evening with the key at her elbow, until the commodore came for it. “And before you ask,” she added, “I was not alone in the cellar. The brewer's man was with me, and he talked the whole time.”

“So the key was used before {clock(SEEN_ON_HOOK)},” said the inspector, “and not after the door had been locked for the first time. That is not a long while. What about the corridor?”

The corridor had been waxed that evening. The steward, Ivo Brandt, had begun with it at {clock(WAXED)}, and wax takes an hour to dry. There was one set of footprints in it, large ones, and they were the commodore's. “It fits,” said the inspector. “Our thief had been and gone.”

Four people had been in the club that night besides the barmaid and were unable to produce eleven pounds of innocence: Captain Rusk, Miss Lark, Mrs Teal and Ivo Brandt himself.

Captain Rusk had played billiards. He and the doctor had started at {clock(BILLIARDS[0])} and finished at {clock(BILLIARDS[1])}, and neither had left the table, because neither trusted the other with the score. The doctor, who had lost, confirmed it sourly.

Miss Lark, who drew the harbour charts, had been at sea. The mate of the ferry had helped her ashore with her instruments when it landed at {clock(FERRY_LANDED)}. From the landing stage to the club one walks for {WALK} minutes, and Miss Lark, who had a bad knee, walked for longer. “I am told that I missed all the excitement,” she said, not quite truthfully, since she had arrived in time to see the commodore turn purple.

Mrs Teal, the treasurer, had been reading in the window seat of the library, alone. She had disliked the pelican for years and said so. “I would have sold it,” she said, “but I would have entered it in the books.” The inspector thought little of people who read alone, until the harbour watchman mentioned over a second cup of tea that from {clock(WINDOW_SEAT[0])} to {clock(WINDOW_SEAT[1])} he had stood across the road under the lamp, sheltering from the rain, and had watched a lady turn pages in the library window. He had wondered how the book would end. She had not once stood up.

There remained Ivo Brandt. He had gone to the ship chandler's next door to buy the wax, and he had a receipt to prove it. The chandler stamps the time on each receipt from his own clock. It said {clock(RECEIPT)}. “He is slow with his parcels,” said Ivo. “He talked a little, I walked back, and I was on my knees in the corridor at {clock(WAXED)}, as everybody knows. When should I have stolen a bird?”

The inspector held the receipt against the lamp. It was a good receipt. He went next door and bought a ball of string that he did not need, and while the chandler wrapped it, he compared the clock on the wall with his watch.

“Your clock is fast,” he said.

“By {CLOCK_IS_FAST} minutes,” said the chandler proudly. “It has been for twenty years. I am an old man, and I like to shut early without feeling that I do. Everyone in Marl Quay knows it. They just come sooner.”

The inspector thanked him, put the string in his pocket and walked back to the club through the rain. The steward was on his knees in the corridor, polishing out the commodore's footprints. The tin of wax stood beside him. It was a very large tin, the inspector now noticed, for so little wax.

“Lift the lid, please,” he said.
"""


def pelican() -> V2Row:
    """A detective story; the alibis are worked out from the times in the text."""
    start, end = LOCKED, SEEN_ON_HOOK
    busy = {
        "Captain Rusk": BILLIARDS,
        "Miss Lark": (0, FERRY_LANDED + WALK),
        "Mrs Teal": WINDOW_SEAT,
        "Ivo Brandt": (0, max(0, RECEIPT - CLOCK_IS_FAST)),
    }
    # Everyone's other time lies before or after the one stretch that is accounted for.
    free = {
        name: max(min(since, end) - start, end - max(until, start))
        for name, (since, until) in busy.items()
    }
    able = [name for name, minutes in free.items() if minutes >= NEEDED]
    check(able == ["Ivo Brandt"], f"only one person had the time, not {able}")
    reasons = {
        "Ivo Brandt": "Ivo Brandt, because his receipt was stamped earlier than it says",
        "Miss Lark": "Miss Lark, because the ferry landed before the key was seen on its hook ",
        "Mrs Teal": "Mrs Teal, because nobody was with her in the library",
        "Captain Rusk": "Captain Rusk, because the game ended only after the corridor had been waxed",
    }
    return V2Row(
        DOMAIN,
        "Detective",
        "hard",
        "medium",
        PELICAN,
        "\n Who took the brass pelican, and what gives that person away?\n",
        reasons.pop("Ivo Brandt"),
        three(reasons.values()),
    )


def rows(rng: Random) -> list[V2Row]:
    """Return the rows of the domain."""
    return [battery(), pelican(), v2_bridges.row(rng, DOMAIN)]
