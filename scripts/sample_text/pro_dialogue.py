"""T11, what was said and promised in a conversation."""

from random import Random

from sample_text.bank import Bank
from sample_text.pro_bank_zh import ChineseBank
from sample_text.pro_row import ProRow, check, chinese, english

# Talk about a party, in its order; other talk goes between the lines.
PARTY = [
    "Maren: The summer party is on Saturday week. Who brings what? 🎉",
    "Tobi: I’ll bring the lanterns. Nineteen of them, if the mice have left the paper alone.",
    "Anouk: Then I’ll make the soup.",
    "Maren: And I’ll see to the benches, since I have the van.",
    "Tobi: Bad news about the lanterns: the mice have not left the paper alone. I can bring my accordion instead 🪗",
    "Anouk: Please do. Who takes the lanterns, then?",
    "Maren: I could borrow some from the school. Put me down for lanterns as well as benches.",
    "Anouk: My stove has died. No soup from me, sorry. I’ll bring bread and three kinds of cheese.",
    "Tobi: I can make the soup! Pea, with mint. The accordion comes too, of course.",
    "Maren: The van is at the garage until Monday. Tobi, may I give you the benches? Your brother has a trailer.",
    "Tobi: Benches are fine, my brother says yes. But then somebody has to relieve me of the soup.",
    "Maren: I’ll take the soup. It’ll be lentil, I can’t do pea.",
    "Anouk: So we have everything. See you on Saturday week!",
]


def party(rng: Random) -> ProRow:
    """T11.1: promises that change hands in a long chat."""
    bank = Bank(rng)
    speakers = ["Maren", "Tobi", "Anouk"]
    openings = ["Did you read this?", "By the way, from the paper:", "My aunt sends this:"]
    lines = []
    for line in PARTY:
        lines.append(line)
        for _ in range(2):
            note = bank.note()
            lines.append(f"{rng.choice(speakers)}: {rng.choice(openings)} {note.text}")
    return english("t11_1").row(
        "Extreme",
        "\n\n".join(lines) + "\n",
        "After all changes in this chat, which of these is the complete list of what Tobi is going to bring or see to?\nA. The lanterns and the accordion\nB. The accordion and the soup\nC. The benches and the soup\nD. The accordion and the benches\nE. The benches, the lanterns and the soup",
        "the letter of the right option on a line of its own",
        ["F"],
        ["D"],
    )


TRIP = [
    "老方：下个月去看瀑布，我来管车票。",
    "小于：那我管帐篷，我表哥有两顶。",
    "阿梅：我负责做饭，锅和米都由我带。",
    "老方：糟糕，我那几天要值班，买不了票。谁替我买？",
    "小于：我来买车票吧，帐篷的事请阿梅的弟弟帮忙。",
    "阿梅：我弟弟说帐篷可以，不过他要一起去。",
    "老方：值班换好了，我还是能去。车票小于已经买了吗？",
    "小于：还没有，正好还给你，我去借照相机。📷",
    "阿梅：锅太重，我一个人背不动，米我背，锅请老方背。",
    "老方：锅我背不了，腰不好。小于，你年轻，锅归你。",
    "小于：行，锅归我，照相机也还是我去借。",
]


def trip(rng: Random) -> ProRow:
    """T11.1: promises that change hands in a chat."""
    bank = ChineseBank(rng)
    speakers = ["老方", "小于", "阿梅"]
    openings = ["顺便说一句，我抄到一段闲话。", "你们看看这个：", "报上说，"]
    lines = []
    for line in TRIP:
        lines.append(line)
        for _ in range(2):
            lines.append(f"{rng.choice(speakers)}：{rng.choice(openings)}{bank.note()}")
    return chinese("t11_1").row(
        "Hard",
        "\n".join(lines) + "\n",
        "聊天结束的时候，车票由谁负责买？",
        "在单独一行里输出这个人在聊天中的名字",
        ["小李"],
        ["老方"],
    )


WORKSHOP = """Customer: Good morning. I have brought two clocks, a tall one and a round one.

Clockmaker: Good morning. What is the matter with them?

Customer: The tall one stops at night. The round one runs, but it strikes thirteen.

Clockmaker: Thirteen is a rare fault. I’ll keep that one here until Friday. The other only needs oil; you may wait for it.

Customer: Thank you. My sister wants to buy one of them from me, the one that stops.

Clockmaker: After the oil it will not stop any more. Is she aware of that?

Customer: She says that she sleeps better when it is quiet. I shall give her the round one, then, if you cannot cure it.

Clockmaker: I can cure it. I’ll take out the thirteenth pin, which somebody has put in as a joke.

Customer: Then put the pin into a bag for me. It was my grandfather’s joke, and I should like to keep it.

Clockmaker: It will be four crowns for the oil now, and nine on Friday for the other. The bag is free.
"""


def workshop() -> ProRow:
    """T11.2: what a short reference stands for."""
    check("strikes thirteen" in WORKSHOP, "the fault")
    return english("t11_2").row(
        "Moderate",
        WORKSHOP,
        "Which clock does the clockmaker keep until Friday, and how much is to be paid for it then?\nA. The tall one, four crowns\nB. The tall one, nine crowns\nC. The round one, four crowns\nD. The round one, nine crowns\nE. The round one, thirteen crowns",
        "the letter of the right option on a line of its own",
        ["F"],
        ["D"],
    )


KITCHEN = """师傅：先把灶上的两口锅分清楚，左边是汤，右边是油。

徒弟：左边的已经开了。

师傅：把它关小。萝卜切好了吗？

徒弟：切好了，在蓝盆里。白盆里是藕。

师傅：先下藕。藕要煮久一点，另一样过一刻钟再下。

徒弟：是下到汤里吗？

师傅：当然。油锅是炸豆腐用的，先不要动它。

徒弟：藕下好了，白盆空了。豆腐放在哪里？

师傅：就放在空出来的那个盆里，撒一点盐。

徒弟：好了。师傅，蓝盆里的现在可以下了吗？

师傅：才过了五分钟，再等十分钟。你先去看看米饭。

徒弟：米饭好了，我把它端到窗台上了。

师傅：端回来！窗台上有猫。

徒弟：端回来了，放在柜子上。猫只闻了闻。
"""


def kitchen() -> ProRow:
    """T11.2: what a short reference stands for, and the state at the end."""
    return chinese("t11_2").row(
        "Easy",
        KITCHEN,
        "对话结束的时候，白盆里放的是什么？",
        "在单独一行里输出这样东西的名称",
        ["鸡蛋"],
        ["豆腐"],
    )


def rows(rng: Random) -> list[ProRow]:
    """Return the rows of T11."""
    return [party(rng), trip(rng), workshop(), kitchen()]
