"""Long-dialogue History Understanding: a kitchen, a game of four agents and a club's chat."""

import json
from random import Random

from sample_text import v2_chat
from sample_text.pro_dialogue import KITCHEN
from sample_text.pro_row import check
from sample_text.v2_row import V2Row, three

DOMAIN = "long_dialogue_history"


def kitchen() -> V2Row:
    """A talk in Chinese; where the rice is at its end."""
    check("端回来了，放在柜子上" in KITCHEN, "the last place of the rice")
    moves = [KITCHEN.index(place) for place in ("端到窗台上", "放在柜子上")]
    check(moves == sorted(moves), "the rice goes from the window to the cupboard")
    return V2Row(
        DOMAIN,
        "Dialogue history QA",
        "easy",
        "short",
        KITCHEN,
        "对话结束的时候，米饭在哪里？",
        "柜子上",
        ("窗台上", "灶上的右边", "空出来的白盆里"),
    )


PLAYERS = ["Ash", "Birch", "Cedar", "Dogwood"]
COINS, ROUNDS = 10, 10
THOUGHTS = [
    "The others gave little last time, and so shall I.",
    "If everybody gives, everybody gains.",
    "I keep what I need and give the rest.",
    "Somebody has to begin.",
    "I follow the average of the last round.",
    "It would be foolish to give everything.",
    "I said that I would give more, and I keep my word.",
    "There is no reason to change what worked.",
    "I am saving for the end.",
    "The pot is doubled only if there is something in it.",
]


def pot(rng: Random) -> V2Row:
    """A log of agents in a game of shared money; the payoffs are worked out by code."""
    kept = dict.fromkeys(PLAYERS, 0)
    given = dict.fromkeys(PLAYERS, 0)
    parts = []
    for number in range(1, ROUNDS + 1):
        gifts = {player: rng.randrange(0, COINS + 1) for player in PLAYERS}
        if sum(gifts.values()) % 2:  # so that the share of each is a whole number
            gifts["Ash"] += 1 if gifts["Ash"] < COINS else -1
        share = 2 * sum(gifts.values()) // len(PLAYERS)
        for player, gift in gifts.items():
            given[player] += gift
            kept[player] += COINS - gift + share
        says = [
            f"{player}: {json.dumps({'reasoning': rng.choice(THOUGHTS), 'give': gift})}"
            for player, gift in gifts.items()
        ]
        parts.append(
            "\n".join(
                [
                    f"[Round {number}]",
                    f"Host: Each of you gets {COINS} coins. How many do you give?",
                    *says,
                    f"Host: The pot holds {sum(gifts.values())} coins. It is doubled, and each of you gets {share}.",
                ]
            )
        )
    ranking = sorted(PLAYERS, key=kept.get, reverse=True)
    check(len(set(kept.values())) == 4, "no two players have the same")
    check(ranking == sorted(PLAYERS, key=given.get), "who gave least has most")
    intro = f"Host: Welcome. You are four agents: {', '.join(PLAYERS)}. We play {ROUNDS} rounds. In each of them everyone gets {COINS} coins and gives some of them to the pot; what is not given is kept. The pot is doubled and shared out equally among the four of you, whoever gave. Answer in JSON. Coins of earlier rounds stay in your purse and cannot be given any more."
    return V2Row(
        DOMAIN,
        "Agent history QA",
        "easy",
        "medium",
        "\n\n".join([intro, *parts, "Host: The game is over. Please do not tell each other."])
        + "\n",
        "Which player has the most coins in the purse after the last round?",
        ranking[0],
        three(player for player in PLAYERS if player != ranking[0]),
    )


def rows(rng: Random) -> list[V2Row]:
    """Return the rows of the domain."""
    return [kitchen(), pot(rng), v2_chat.row(rng, DOMAIN)]
