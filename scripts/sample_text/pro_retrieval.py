"""T1, retrieval and ranking: the most relevant item comes first."""

from random import Random

from sample_text.bank import Bank
from sample_text.pro_bank_zh import ChineseBank
from sample_text.pro_row import ProRow, check, chinese, english, place_of, scatter

# Nights for which a place was cut off, and its report; None: not cut off by that tide.
TIDE = [
    (
        14,
        "Marl Sound. After the great tide of 9 March nobody reached Marl Sound for a fortnight. The causeway lay under a metre of sand, and it was dug out with shovels that had been borrowed from the salt works.",
    ),
    (
        9,
        "Low Haven. Low Haven counted nine nights alone after the great tide of 9 March. Milk was sent across on a raft, and school was held in the net loft.",
    ),
    (
        6,
        "Cray. The great tide of 9 March took the chain of the ferry with it. For six nights the only way of speaking with Cray was to shout across the water.",
    ),
    (
        4,
        "The lane to Osmer. For four nights after the great tide of 9 March the lane to Osmer was a river, and there was no other road. The doctor waited at the inn for the whole of that time.",
    ),
    (
        2,
        "Tarn End. Tarn End could be reached again two nights after the great tide of 9 March, when a tractor had pushed the wreck of a hay barn off the bridge.",
    ),
    (
        1,
        "Pell Bridge. The great tide of 9 March cut off Pell Bridge for a single night. In the morning the water had gone, and there was a seal on the bowling green.",
    ),
    (
        None,
        "Sandle. The great tide of 9 March did no harm at Sandle. Its road lies on a bank, and the bus ran throughout.",
    ),
    (
        None,
        "Hob Corner. In the storm of 2 November Hob Corner was cut off for eleven nights. The great tide in the spring of that year had not closed its road.",
    ),
]


def great_tide(rng: Random) -> ProRow:
    """T1.1: reports of a flood among reports of other things."""
    bank = Bank(rng)

    def filler() -> str:
        note = bank.note()
        return f"{note.title}. {note.text}"

    reports = scatter(rng, [text for _, text in TIDE], filler, 26)
    cut_off = sorted(((nights, text) for nights, text in TIDE if nights), reverse=True)
    return english("t1_1").row(
        "Hard",
        "\n\n".join(f"Report {number}. {text}" for number, text in enumerate(reports, start=1)),
        "Find the reports of all places that were cut off by the great tide of 9 March, and rank them by the number of nights for which the place was cut off, the greatest number first.",
        "the reports in this order, one on each line",
        ["Report 91", "Report 92", "Report 93"],
        [f"Report {place_of(text, reports)}" for _, text in cut_off],
    )


# Minutes of waiting for bus 12, and the letter; None: no such wait is told.
LETTERS = [
    (
        25,
        "我每天坐十二路车上班。上周一我在钟楼站等十二路，等了二十五分钟，上了车还没有座位，只好抱着栏杆站到终点。",
    ),
    (
        None,
        "图书馆门前的路灯坏了两盏，晚上看不清台阶。我母亲上个星期差一点摔倒，请有关部门尽快派人修理。",
    ),
    (
        40,
        "十二路车周末更慢。上周六我带孩子去动物园，在站台上等十二路足足等了四十分钟，孩子都睡着了😴。",
    ),
    (None, "菜市场门口的十二路站牌重新画过了，上面有萝卜，也有鱼，非常好看。谢谢画画的同学们！"),
    (
        15,
        "我是第三中学的学生，放学的时候十二路最挤。昨天我等了一刻钟，终于来了一辆，我是最后一个挤上去的。",
    ),
    (
        None,
        "八路车也让人着急。我昨天赶火车，等八路等了五十分钟，差一点误了车，最后是邻居骑车送我去的。",
    ),
    (60, "下大雨那天傍晚，我在江边站等十二路，整整一个小时没有来一辆，我只好撑着伞走回家。"),
    (5, "我要表扬十二路的早班车。今天早上我只等了五分钟它就来了，司机还帮我提菜篮。"),
    (None, "建议在江边步道增加几条长凳，让走累了的老人可以歇一歇，看看江上的船。"),
]


def letters() -> ProRow:
    """T1.1: readers' letters about a bus."""
    texts = [text for _, text in LETTERS]
    waits = sorted(((minutes, text) for minutes, text in LETTERS if minutes), reverse=True)
    return chinese("t1_1").row(
        "Easy",
        "读者来信选登\n\n"
        + "\n\n".join(f"来信{number}：{text}" for number, text in enumerate(texts, start=1)),
        "请找出所有写明了自己等十二路公交车等了多久的来信，并按等车时间从长到短排列。",
        "按这个顺序逐行输出来信的编号",
        ["来信31", "来信32", "来信33"],
        [f"来信{place_of(text, texts)}" for _, text in waits],
    )


CLOCK = """Paragraph 1: For forty years the clock on the corn exchange at Wendle had lost three minutes a week, and nobody had minded. In the dry summer it began to lose an hour a day.

Paragraph 2: The council wrote to the maker of the clock, whose firm had closed, and then to a maker of church organs, who replied with a price list for organs.

Paragraph 3: On the first of August Miss Okafor, who taught physics, sat down in the tower at six in the morning with a thermos flask. At ten past two she saw swifts fly in through the louvre; when they had left, there was a wisp of straw in the teeth of the great wheel.

Paragraph 4: The exchange was built in 1861 from stone that had been meant for a prison. Its steps are worn hollow on the left side, where the shade is.

Paragraph 5: “The loss of time,” Miss Okafor wrote in her report, “is due to nests. Swifts build behind the great wheel, and their straw catches in its teeth and brakes it.”

Paragraph 6: Other towns set their clocks by the railway. Wendle has no railway, although a station was painted there once, for a play.

Paragraph 7: In October a wooden box with a hole was hung under the eaves, and wire was put over the louvre. The swifts moved into the box in May, and the clock went back to losing three minutes a week.

Paragraph 8: Miss Okafor was given the freedom of the town, which includes a right to graze two sheep on the green. She has borrowed the sheep.
"""


def clock() -> ProRow:
    """T1.2: the paragraphs that explain one thing."""
    return english("t1_2").row(
        "Moderate",
        CLOCK,
        "Which three paragraphs tell why the clock lost so much time in the dry summer? Rank them: first the one that states the cause outright, then the one in which the cause is being observed, then the one in which it is removed.",
        "the three paragraphs in this order, one on each line",
        ["Paragraph 11", "Paragraph 12", "Paragraph 13"],
        ["Paragraph 5", "Paragraph 3", "Paragraph 7"],
    )


# The cost of rebuilding an old bridge in yuan, and the note; None: no rebuilding of a bridge.
BRIDGES = [
    (125000, "白石桥：白石桥的重修前后用了两年，账上记着十二万五千元，最后一笔是买石灰的钱。"),
    (86000, "望江桥：重修望江桥一共用了八万六千元，其中一半是木料钱。完工那天，桥头摆了三十桌。"),
    (42000, "双柳桥：为了重修双柳桥，三个村子凑了四万二千元，剩下的力气活由年轻人包了。"),
    (9000, "落虹桥：落虹桥的重修只花了九千元，因为石头是现成的，工匠又都是本村人。"),
    (None, "公路桥：去年新建的公路桥用了三百万元，它与旧桥相距一里，旧桥没有动过。"),
    (None, "古井：村口古井的重修用了一万元，井沿换成了青石，井绳也换了新的。"),
]


def bridges(rng: Random) -> ProRow:
    """T1.2: the few notes that matter, among many."""
    bank = ChineseBank(rng)
    notes = scatter(rng, [text for _, text in BRIDGES], bank.note, 30)
    costs = sorted(((cost, text) for cost, text in BRIDGES if cost), reverse=True)
    check(len(costs) == 4, "four bridges were rebuilt")
    return chinese("t1_2").row(
        "Hard",
        "\n".join(f"第{number}段　{text}" for number, text in enumerate(notes, start=1)),
        "请找出写明了一座旧桥的重修费用的段落，按费用从高到低排列。新建的桥和不是桥的东西不算。",
        "按这个顺序逐行输出段落编号",
        ["第91段", "第92段", "第93段"],
        [f"第{place_of(text, notes)}段" for _, text in costs],
    )


def rows(rng: Random) -> list[ProRow]:
    """Return the rows of T1."""
    return [great_tide(rng), letters(), clock(), bridges(rng)]
