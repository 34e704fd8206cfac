"""T5, citations: the sentences or entries that support a statement."""

from random import Random

from sample_text.pro_row import ProRow, chinese, english

LAKE = [
    "Lake Immer covers forty hectares and is nowhere deeper than six metres.",
    "Until 2009 its outflow ran freely over a sill of slate.",
    "In the spring of that year beavers built a dam on the sill, and the outflow all but stopped.",
    "The beavers were popular with visitors, and postcards of them were sold at the kiosk.",
    "With the outflow blocked the water stood still, and by August it was five degrees warmer than in earlier summers.",
    "The kiosk sold more ice cream than ever before.",
    "Perch do not spawn in water so warm, and from 2010 on no young perch were caught.",
    "Pike were not affected, since they spawn early in the year.",
    "The anglers asked for the dam to be removed, which the county refused.",
    "Instead, a pipe was laid through the dam in 2014, and the outflow began to run again.",
    "The pipe is cleaned every month by a volunteer in a diving suit.",
    "In 2016 young perch were caught once more.",
    "The beavers have tried twice since then to close the pipe, without success.",
    "A new postcard shows the volunteer.",
]

WETLAND = [
    "月湖湿地在城南，面积约一百二十公顷。",
    "二十年前这里是一片鱼塘，塘与塘之间有土堤隔开。",
    "二〇〇六年，鱼塘的承包期满，市里决定不再续包。",
    "当年冬天，工人挖开了土堤，让江水重新流进来。",
    "挖土的时候挖出了一条旧船，现在放在展览馆门口。",
    "江水带来了泥沙和草籽，三年以后，浅水处长满了芦苇。",
    "附近的孩子用芦苇叶吹哨子。",
    "芦苇丛里有了小鱼和虾，二〇一〇年冬天，第一批野鸭在这里过冬。",
    "湿地门口的餐馆改了名字，叫“野鸭饭店”，不过不卖野鸭。",
    "二〇一五年的冬天，数到的野鸭超过了八千只。",
    "参观的人可以走木栈道，但是不许带狗。",
    "望远镜由志愿者提供，押金十元。",
]

REVIEWS = [
    "Easy to put up, even for one person and in the dark. The bag is too small for it afterwards.",
    "Two nights of rain. The cloth held, but water came in along the seams above my feet.",
    "A lovely green. My neighbours on the camp site could not find me, which I count as a merit.",
    "The poles are light and have survived my nephew.",
    "It rained while we were away, and everything was dry when we came back. We had parked a trailer over it, I should add.",
    "After an hour under the garden hose there were drops all along the stitching; the panels themselves stayed dry.",
    "Pegs bend. Take others with you.",
    "Warm at night, damp in the morning: it is our breath, since the vents are small.",
    "I sealed every seam with wax after the first wet week, in which each of them had leaked. Since then not a drop.",
    "Arrived a week late, but with an apology and a bar of chocolate.",
]

NIGHT_BUSES = [
    "公交公司：从本月起，夜班车由十条减为六条。",
    "乘客甲：晚上十一点以后等不到车，只能打车回家，一个月要多花三百元。",
    "调度员：现在夜班缺二十三名司机，剩下的人每周要上六个夜班，再多就违反规定了。",
    "统计科：今年夜班车的乘客人数比去年多一成，末班车常常坐满。",
    "乘客乙：车站的灯太暗，看不清站牌。",
    "工会：已有十一名夜班司机辞职，去了货运公司；公司至今没有招到人顶班。",
    "出租车司机：夜里的生意比以前好了。",
    "公交公司：只要招满司机，十条线路马上恢复，乘客一直是够的。",
    "乘客丙：希望车上不要放音乐，下夜班的人想睡一会儿。",
]


def sentences(texts: list[str]) -> str:
    """Return the English sentences with a number in brackets before each."""
    return " ".join(f"[{number}] {text}" for number, text in enumerate(texts, start=1))


def lake() -> ProRow:
    """T5.1: all sentences behind a statement of several parts."""
    return english("t5_1").row(
        "Hard",
        "Perch in Lake Immer\n\n" + sentences(LAKE) + "\n",
        "Statement: “Beavers blocked the outflow of the lake, so that the water grew warmer and perch no longer spawned; after a pipe had set the outflow running again, young perch returned.” Which sentences state a part of this statement? Cite each of them, and no sentence that says something else.",
        "the numbers of these sentences in brackets, one on each line",
        ["[21]", "[22]"],
        ["[3]", "[5]", "[7]", "[10]", "[12]"],
    )


def wetland() -> ProRow:
    """T5.1: all sentences behind a statement of several parts."""
    text = "".join(f"〔{number}〕{sentence}" for number, sentence in enumerate(WETLAND, start=1))
    return chinese("t5_1").row(
        "Hard",
        f"月湖湿地的来历\n\n{text}\n",
        "陈述：“鱼塘停包以后，土堤被挖开，江水流进来，几年后长出芦苇，引来野鸭过冬，后来野鸭达到八千多只。”文中哪些句子直接说明了这个陈述的某一部分？请全部找出，不要列出与陈述无关的句子。",
        "逐行输出句子的编号",
        ["第21句", "第22句"],
        ["第3句", "第4句", "第6句", "第8句", "第10句"],
    )


def reviews() -> ProRow:
    """T5.2: the entries behind one key statement."""
    return english("t5_2").row(
        "Moderate",
        "What buyers say of the tent “Moss 2”\n\n"
        + "\n\n".join(f"R{number}: {text}" for number, text in enumerate(REVIEWS, start=1)),
        "Which reviews report of their own experience that the tent lets water through at its seams? Water that has another source does not count.",
        "the labels of these reviews, one on each line",
        ["R21", "R22"],
        ["R2", "R6", "R9"],
    )


def night_buses() -> ProRow:
    """T5.2: the entries behind one key statement."""
    return chinese("t5_2").row(
        "Moderate",
        "夜班车座谈会发言摘要\n\n"
        + "\n".join(f"发言{number}　{text}" for number, text in enumerate(NIGHT_BUSES, start=1))
        + "\n",
        "陈述：“夜班车减少，是因为司机不够，而不是因为乘客少。”哪些发言可以作为这个陈述的依据（说明司机不够，或者说明乘客并不少）？只选发言中明确说到的，推测的不算。",
        "逐行输出发言的编号",
        ["发言21", "发言22"],
        ["发言3", "发言4", "发言6", "发言8"],
    )


def rows(rng: Random) -> list[ProRow]:
    """Return the rows of T5."""
    return [lake(), wetland(), reviews(), night_buses()]
