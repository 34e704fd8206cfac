"""T7, conflicts, broken rules and errors."""

from datetime import date
from random import Random

from sample_text.bank import PLACES
from sample_text.pro_row import ProRow, check, chinese, english

HOSTEL = [
    "The hostel stands at 1,840 metres above the sea and is open from 1 May to 31 October.",
    "It has four dormitories with ten beds each, and no other beds.",
    "Supper is served at seven. Those who come later get bread and cheese.",
    "Dogs may sleep in the wood shed, but are not allowed in the house.",
    "Water comes from the spring behind the house and may be drunk without boiling.",
    "The warden is Ilse Brandt, who has lived in the house for nineteen summers.",
    "Boots are left in the porch, on the shelf with the number of one's bed.",
    "When all forty-six beds are taken, guests may sleep on the tables.",
    "A bed costs 18 crowns, for members 12. Children pay half of either.",
    "Lights go out at ten. A candle may be had from the warden against a promise.",
    "The telephone is for emergencies and for the weather report.",
    "Whoever drinks from the spring must boil its water first for five minutes.",
    "A dog may lie under its master's bed if it has dry feet.",
    "The path to the pass starts at the flagpole and takes two hours.",
    "On the last day of the season, 31 October, the warden locks up and walks down with the flag.",
]
# The conflicts: forty or forty-six beds; dogs out of or in the house; water as it is or boiled.
HOSTEL_CONFLICTS = ["2-8", "4-13", "5-12"]

FACTORY = [
    "本厂生产竹编提篮，厂址在河西街，一共有工人三十二名。",
    "上班时间为早上八点到下午五点，中午休息一小时。",
    "提篮分大、中、小三种，小号不单卖，只成套出售。",
    "竹子一律在立冬以后砍，其他季节砍的竹子不用。",
    "每只提篮都由编的人在底部刻上自己的姓。",
    "门市部每天开门，只有春节放假三天。",
    "小号提篮每只二十八元，可以单独购买。",
    "厂里有一只猫，负责看守竹库。",
    "参观请提前一天打电话，每批不超过十人。",
    "今年的新品用春天砍的嫩竹编成，竹子由本厂在三月砍下。",
    "提篮可以水洗，但是要阴干，不能放在太阳下晒。",
    "门市部每逢周一关门盘点，请顾客注意。",
    "旧提篮可以送回来修，第一次不收钱。",
]
FACTORY_CONFLICTS = ["3-7", "4-10", "6-12"]


def hostel() -> ProRow:
    """T7.1: pairs of rules that contradict each other."""
    return english("t7_1").row(
        "Hard",
        "Handbook of the Garnet Pass hostel\n\n"
        + "\n\n".join(f"{number}. {text}" for number, text in enumerate(HOSTEL, start=1)),
        "Find all pairs of paragraphs of the handbook that contradict each other.",
        "each pair as two numbers with a hyphen between them, the smaller number first, one pair on each line",
        ["21-25", "22-24"],
        HOSTEL_CONFLICTS,
    )


def factory() -> ProRow:
    """T7.1: pairs of statements that contradict each other."""
    return chinese("t7_1").row(
        "Hard",
        "竹编厂介绍\n\n"
        + "\n".join(f"第{number}条　{text}" for number, text in enumerate(FACTORY, start=1))
        + "\n",
        "请找出这份介绍中互相矛盾的条目，每两条组成一对，全部列出。",
        "逐行输出每一对的编号，用短横线连接，小的编号在前",
        ["21-25", "22-24"],
        FACTORY_CONFLICTS,
    )


def quay(rng: Random) -> ProRow:
    """T7.2: entries of a log that break one of several rules; found by code."""
    rules = """Rules of the north quay

Rule 1. Every boat pays five crowns a night, fishing boats three.
Rule 2. A boat longer than 12 metres may berth only with a pilot on board. Between 06:00 and 18:00, both times included, it needs no pilot.
Rule 3. Dogs stay on board until the harbour master has patted them.
Rule 4. A boat that carries tar berths at the outer end.
"""
    entries, broken = [], []
    names = rng.sample(PLACES, 28)
    for number, place in enumerate(names, start=1):
        length = rng.choice([7, 9, 11, 12, 13, 14, 17])
        hour, minute = rng.randrange(24), rng.choice([0, 10, 25, 40, 55])
        if number in (5, 19):
            length, hour, minute = (12, 22, 10) if number == 5 else (14, 18, 0)
        pilot = rng.random() < 0.4
        entries.append(
            f"N{number:02d}. {hour:02d}:{minute:02d}, the Lady of {place}, {length} metres, "
            f"{'pilot on board' if pilot else 'no pilot'}, {rng.choice(['carrying salt', 'carrying tar, outer end', 'carrying wool', 'empty', 'with a dog, patted'])}."
        )
        by_day = 6 * 60 <= hour * 60 + minute <= 18 * 60
        if length > 12 and not by_day and not pilot:
            broken.append(f"N{number:02d}")
    check(3 <= len(broken) <= 10, f"some entries break rule 2, not {len(broken)}")
    return english("t7_2").row(
        "Moderate",
        rules + "\nArrivals in the first week of May\n\n" + "\n".join(entries) + "\n",
        "Which arrivals broke rule 2?",
        "their labels, one on each line",
        ["N81", "N82"],
        broken,
    )


TITLES = [
    "山中来信",
    "养蜂手册",
    "河工旧事",
    "木偶戏考",
    "海图入门",
    "童谣一百首",
    "修表匠",
    "星空图说",
]
READERS = [
    "甲一",
    "甲二",
    "甲三",
    "乙一",
    "乙二",
    "乙三",
    "丙一",
    "丙二",
    "丙三",
    "丁一",
    "丁二",
    "丁三",
]


def library(rng: Random) -> ProRow:
    """T7.2: loans that broke one of several rules; found by code."""
    rules = """借书规则

一、每次最多借三本，押金二十元。
二、普通读者的借期为三十天，教师的借期为四十五天。借出的第二天算第一天，最后一天还书不算超期。
三、书上不许画线，弄湿的书要晾干再还。
四、工具书不外借。
"""
    teachers = rng.sample(READERS, 4)
    others = [reader for reader in READERS if reader not in teachers]
    lines, late = [], []
    for number in range(1, 25):
        is_teacher = number == 11 or (number != 4 and rng.random() < 0.4)
        taken = date(2023, 3, 1).toordinal() + rng.randrange(60)
        days = rng.choice([9, 18, 27, 29, 33, 38, 44, 46, 52])
        if number in (4, 11):
            days = 30 if number == 4 else 45
        back = date.fromordinal(taken + days)
        taken_on = date.fromordinal(taken)
        lines.append(
            f"{number:02d}号：读者{rng.choice(teachers if is_teacher else others)}（{'教师' if is_teacher else '普通读者'}），"
            f"《{rng.choice(TITLES)}》，{taken_on.month}月{taken_on.day}日借出，{back.month}月{back.day}日归还。"
        )
        if days > (45 if is_teacher else 30):
            late.append(f"{number:02d}号")
    check(3 <= len(late) <= 12, f"some loans are late, not {len(late)}")
    return chinese("t7_2").row(
        "Extreme",
        rules + "\n二〇二三年春季借书记录\n\n" + "\n".join(lines) + "\n",
        "哪些借书记录违反了第二条规则（超期归还）？三月有三十一天，四月有三十天，五月有三十一天，六月有三十天。",
        "逐行输出记录的编号",
        ["81号", "82号"],
        late,
    )


SALT = """The salt road to Brennock is older than the town. It was first used by carriers who brought salt from the coast in wicker baskets, two on each mule, and took home cheese. A mule walked at the head of the line with a bell, and the others followed the sound even in a fog.

At the top of the pass there is a hut with walls a metre thick. Travellers who were caught by snow could stay there without payment, but they were expected to leave as much firewood as they had burnt. In the beginning of the last century a schoolmaster counted the names that are cut into its door, and found eleven hundred. Some are separate, others run into each other like handwriting.

When the railway came, the road was forgotten. Its bridges were used as quarries, and brambles grew across the steps. It was a committee of retired mule drivers who cleared it again, with government money and their own saws. Today it is marked with a white bell on every hundredth stone, and it is necessary to book a bed in the hut.
"""
# The right word, which occurs once, and the wrong one that takes its place.
MISSPELLED = {
    "wicker": "wiker",
    "beginning": "begining",
    "separate": "seperate",
    "brambles": "brambels",
    "committee": "comittee",
    "government": "goverment",
    "necessary": "neccessary",
}


def salt_road() -> ProRow:
    """T7.3: misspelt words, put in by code."""
    text = SALT
    for right, wrong in MISSPELLED.items():
        check(SALT.count(right) == 1, f"{right} occurs once")
        text = text.replace(right, wrong)
    return english("t7_3").row(
        "Moderate",
        text,
        "The text holds several misspelt words. Find all of them.",
        "each misspelt word exactly as it stands in the text, one on each line",
        ["freind", "recieve"],
        list(MISSPELLED.values()),
    )


GOODS = {"竹匾": 18, "麻绳": 7, "油纸伞": 45, "陶罐": 26, "草帽": 12, "木屐": 33}
MONTH_DAYS = {4: 30, 5: 31, 6: 30}


def ledger(rng: Random) -> ProRow:
    """T7.3: a ledger with wrong sums, prices and dates; found again by code."""
    records = []
    for number in range(1, 27):
        name = rng.choice(list(GOODS))
        amount = rng.randrange(2, 20)
        month = 4 + (number - 1) // 9
        day = 1 + 3 * ((number - 1) % 9)
        records.append(
            [f"账{number:02d}", month, day, name, GOODS[name], amount, GOODS[name] * amount]
        )
    records[3][6] += 10  # wrong sum
    records[8][2] = 31  # 31 April
    records[13][6] -= 9  # wrong sum
    records[20][2] = 31  # 31 June
    records[17][4] += 2  # wrong price, and a sum that agrees with it
    records[17][6] = records[17][4] * records[17][5]
    wrong = [
        label
        for label, month, day, name, price, amount, total in records
        if day > MONTH_DAYS[month] or price != GOODS[name] or total != price * amount
    ]
    check(wrong == ["账04", "账09", "账14", "账18", "账21"], "the errors put in")
    prices = "，".join(f"{name}{price}元" for name, price in GOODS.items())
    lines = [
        f"{label}：{month}月{day}日，{name}，单价{price}元，{amount}件，合计{total}元。"
        for label, month, day, name, price, amount, total in records
    ]
    return chinese("t7_3").row(
        "Extreme",
        f"杂货铺账本（四月到六月）\n\n价目：{prices}。价目三个月没有变过，也不打折。\n\n"
        + "\n".join(lines)
        + "\n",
        "请检查整本账，找出所有有错的记录：日期不存在、单价与价目不符，或者合计算错，都算有错。记录没有按日期排列不算错。",
        "逐行输出有错的记录的编号",
        ["账81", "账82"],
        wrong,
    )


def rows(rng: Random) -> list[ProRow]:
    """Return the rows of T7."""
    return [hostel(), factory(), quay(rng), library(rng), salt_road(), ledger(rng)]
