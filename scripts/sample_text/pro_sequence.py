"""T2, sequencing: items in the order of time or of cause and effect."""

from random import Random

from sample_text.pro_row import ProRow, check, chinese, english

# The year that follows from the texts, and the text of each find.
THEATRE = {
    "A": (
        1902,
        "A newspaper cutting of 3 February 1902: “Last night the gas was turned off for good, and the stage was lit by two hundred electric lamps. A lady in the gallery fainted, and was found to have done so in good taste, between the acts.”",
    ),
    "B": (
        1911,
        "From a letter of the manager to his sister: “The water stood in row F this morning. It is nine years since the electric lamps were put in, and now they shine on fish.”",
    ),
    "C": (1887, "Engraved on a silver trowel: “Pellworth Theatre, 2 April 1887. The first stone.”"),
    "D": (
        1912,
        "A programme, printed in red: “Grand reopening, a year to the day after the flood! New seats, a new curtain, and the same soprano.”",
    ),
    "E": (
        1888,
        "The bill of a carpenter, dated 5 November 1888: “For one trapdoor, to be ready for the opening night in two weeks’ time. Paid, with thanks, and with two tickets.”",
    ),
    "F": (
        1931,
        "A notice of the police, 1931: “The gallery is closed to the public until its beams have been replaced.”",
    ),
    "G": (
        1919,
        "Minutes of the town council, 1919: “It is resolved that the theatre be let as a picture house for five years, the piano to remain where it is.”",
    ),
    "H": (
        1924,
        "A note on the back of a photograph: “The last film was shown on the day on which the five years of the lease ran out. On the next morning we rehearsed a play again.”",
    ),
}


def theatre() -> ProRow:
    """T2.1: undated and dated finds."""
    return english("t2_1").row(
        "Moderate",
        "Finds for a history of the Pellworth Theatre, in the order in which they came out of the cupboard\n\n"
        + "\n\n".join(f"[{label}] {text}" for label, (_, text) in THEATRE.items())
        + "\n\nThe editor adds: each find was made or written at the time of the event that it tells of. The cupboard had not been opened for thirty years; its key had been in the piano.\n",
        "Put all finds in the order in which the events that they tell of took place, the earliest first.",
        "the letters of the finds, one on each line",
        ["K", "J", "L"],
        sorted(THEATRE, key=lambda label: THEATRE[label][0]),
    )


VILLAGE = {
    "甲": (1958, "一九五八年春，全村人挑土修成了北塘水库。那一年雨水少，水库到秋天才蓄满。"),
    "乙": (1965, "水库修成后的第七年，小学从祠堂搬进了新盖的砖房，孩子们第一次有了玻璃窗。"),
    "丙": (1985, "村里通电那一年，砖房小学正好用了二十年。第一盏电灯就装在小学的门口。"),
    "丁": (1949, "一九四九年秋天，渡口来了第一条机器船，船老大让每个孩子都摸了一下发动机。"),
    "戊": (2003, "二〇〇三年，公路修到了村口，渡口从此停了，摆渡的人改开小卖部。"),
    "己": (1998, "公路修到村口的五年以前，一场大水冲走了渡口的老槐树，只留下半截树根。"),
    "庚": (1987, "通电两年以后，空着的祠堂改成了图书室，书是从县里借来的。"),
}


def village() -> ProRow:
    """T2.1: a chronicle with years that follow from others."""
    return chinese("t2_1").row(
        "Hard",
        "石塘村村志札记（按抄录的先后排列，不按年代）\n\n"
        + "\n\n".join(f"〔{label}〕{text}" for label, (_, text) in VILLAGE.items())
        + "\n\n抄录人注：各条原来写在不同的本子上，有的没有写年份，只能从别的条目推算。\n",
        "请把札记中的七条按事情发生的时间从早到晚排列。",
        "逐行输出各条的编号",
        ["壬", "辛", "癸"],
        sorted(VILLAGE, key=lambda label: VILLAGE[label][0]),
    )


HAT = """When the mayor’s hat was found in the nest of a jackdaw on the town hall, nobody could say how it had come there. “It flew,” said the baker’s boy, and for once he was nearly right.

The mayor had lost it out of his bedroom window, where he wore it because he was bald and the night was cold. He had opened the window because the bell was ringing at four in the morning, and the wind had done the rest.

The bell, as the verger found when he came back, was being rung by a goat, who had taken a liking to the taste of the rope. A goat has no business in a bell tower; but the door of the tower stood open, and in the square there was nothing to eat. It stood open because the verger had run out without closing it, to see where the smoke came from.

The smoke came from the bakery. Forty-eight rolls had turned to charcoal in the oven, since the baker, who never in his life had left an oven alone, was at that time running along the canal in his slippers. He was running after the cat. The cat had shot out of the bakery as if the devil were behind her, and what had been behind her was a shutter: the wind had torn it from its hinge and thrown it down beside her saucer.

“So it was the wind,” said the mayor. “It was the hinge,” said the baker’s boy, who had been told to mend it in the spring.
"""
HAT_EVENTS = {
    "A": "The rolls burn in the oven.",
    "B": "The mayor loses his hat.",
    "C": "A shutter falls down.",
    "D": "A goat rings the bell.",
    "E": "The cat runs out of the bakery.",
    "F": "The verger leaves the door of the tower open.",
}


def hat() -> ProRow:
    """T2.2: a chain that the story tells backwards."""
    events = "\n".join(f"{label}. {text}" for label, text in HAT_EVENTS.items())
    answer = ["C", "E", "A", "F", "D", "B"]
    check(sorted(answer) == sorted(HAT_EVENTS), "all events of the chain")
    return english("t2_2").row(
        "Easy",
        HAT,
        f"Each of these events led to the next one in a chain of causes:\n{events}\nPut them in order, from the first cause to the last effect.",
        "the letters, one on each line",
        ["H", "G", "J"],
        answer,
    )


NOODLES = """磨坊镇的米粉如今很有名，周末来吃的人要排半条街。可是三年以前，镇上没有一家店卖米粉，大家只吃面。

说起来，要感谢一篇文章。省城的一位记者路过这里，本来想吃碗面，结果吃到了米粉。他写了一篇短文，题目叫《意外的一碗》，登在报纸上，客人就是这样来的。

记者为什么没有吃到面呢？因为那个星期，镇上的面馆全都改卖米粉了。面馆老板老关说，他也不愿意改，可是面粉断了，店总不能关门。

面粉断了，是因为水磨停了。镇上的面粉都靠河边的水磨来磨，水磨一停，五天以后就一袋也没有了。水磨的主人说，磨没有坏，是水渠里没有水。

水渠里没有水，是因为上游被堵住了。一棵两百年的枫杨横在渠口，带着一大团枯枝和泥沙，水都从旁边流走了。至于那棵枫杨，是前一天夜里的雷雨刮倒的。

十天以后，枫杨被锯成了板，水磨又转了起来。老关却没有改回去。他用枫杨板做了一块招牌，上面写着两个字：米粉。
"""
NOODLE_EVENTS = {
    "A": "面馆改卖米粉",
    "B": "水磨停转",
    "C": "记者的文章登在报纸上",
    "D": "雷雨刮倒枫杨",
    "E": "面粉断货",
    "F": "水渠被堵住",
}


def noodles() -> ProRow:
    """T2.2: a chain that the report tells backwards."""
    events = "\n".join(f"{label}. {text}" for label, text in NOODLE_EVENTS.items())
    answer = ["D", "F", "B", "E", "A", "C"]
    check(sorted(answer) == sorted(NOODLE_EVENTS), "all events of the chain")
    return chinese("t2_2").row(
        "Easy",
        NOODLES,
        f"下面六件事组成一条因果链：\n{events}\n请把它们从最初的原因到最后的结果排列。",
        "逐行输出字母",
        ["H", "G", "J"],
        answer,
    )


def rows(rng: Random) -> list[ProRow]:
    """Return the rows of T2."""
    return [theatre(), village(), hat(), noodles()]
