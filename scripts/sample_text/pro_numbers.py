"""T8, tables and numbers; every answer is worked out by code."""

import json
from random import Random

from sample_text.bank import DAYS
from sample_text.pro_row import ProRow, check, chinese, english

# Item: ordered, delivered, invoiced.
STORES = {
    "lamp oil": (15, 12, 15),
    "rope": (40, 40, 40),
    "candles": (96, 96, 90),
    "nails": (500, 500, 500),
    "paint": (8, 8, 8),
    "tea": (24, 20, 24),
    "soap": (30, 30, 30),
    "matches": (60, 72, 66),
    "canvas": (5, 5, 5),
    "brushes": (14, 14, 12),
}


def stores() -> ProRow:
    """T8.1: an order, a delivery note and an invoice."""
    order = "\n".join(f"| {item} | {counts[0]} |" for item, counts in STORES.items())
    delivery = json.dumps(
        {"note": "D-117", "items": {item: STORES[item][1] for item in sorted(STORES)}}, indent=2
    )
    invoice = "\n".join(f"{item};{STORES[item][2]}" for item in sorted(STORES, reverse=True))
    answer = [
        f"{item}: {max(counts) - min(counts)}"
        for item, counts in STORES.items()
        if len(set(counts)) > 1
    ]
    check(len(answer) == 5, "five items differ")
    return english("t8_1").row(
        "Moderate",
        f"Source 1: order of the lighthouse\n\n| item | pieces |\n|---|---|\n{order}\n\nSource 2: delivery note of the supply boat\n\n{delivery}\n\nSource 3: invoice of the chandler\n\nitem;pieces\n{invoice}\n",
        "Compare the three sources. For each item whose number of pieces is not the same in all of them, state the item and the difference between its largest and its smallest number.",
        "one line for each such item: its name, a colon, a space and the difference",
        ["sugar: 31", "flour: 27"],
        answer,
    )


# Name: hours by the rota, hours by the gate clock, hours by the pay slip.
SHIFTS = {
    "邵长庚": (40, 40, 40),
    "樊秀禾": (36, 34, 36),
    "桑子衡": (42, 42, 42),
    "阮玉梅": (38, 41, 41),
    "柴守拙": (40, 40, 35),
    "鲍晓岚": (30, 30, 30),
    "费冬生": (44, 45, 44),
    "凌若水": (28, 28, 28),
}


def shifts() -> ProRow:
    """T8.1: hours in three sources."""
    rota = "；".join(f"{name}{hours[0]}小时" for name, hours in SHIFTS.items())
    clock = "\n".join(f"{name}\t{SHIFTS[name][1]}" for name in reversed(SHIFTS))
    pay = json.dumps(
        [{"姓名": name, "工时": hours[2]} for name, hours in sorted(SHIFTS.items())],
        ensure_ascii=False,
    )
    answer = [
        f"{name}：{max(hours) - min(hours)}"
        for name, hours in SHIFTS.items()
        if len(set(hours)) > 1
    ]
    check(len(answer) == 4, "four persons differ")
    return chinese("t8_1").row(
        "Moderate",
        f"来源一：值班表（第十四周）\n\n{rota}。\n\n来源二：门口打卡机的导出（姓名、小时）\n\n{clock}\n\n来源三：工资系统的记录\n\n{pay}\n\n说明：三份资料记的是同一个星期，单位都是小时，午休时间已经扣除。值班表由组长在上一个星期写好，打卡机每天夜里导出，工资系统由会计录入。\n",
        "请核对三份资料。对于工时在三份资料中不完全相同的每个人，求出最大值与最小值的差。",
        "每人输出一行，写姓名、中文冒号和差（小时数）",
        ["路子衡：31", "卞玉梅：27"],
        answer,
    )


def crossings(rng: Random) -> ProRow:
    """T8.2: sums over a table."""
    table = [
        (
            number,
            DAYS[(number // 3) % 7],
            rng.choice(["Marigold", "Heron", "Patience"]),
            rng.randrange(5, 60),
        )
        for number in range(48)
    ]
    marigold = [people for _, _, boat, people in table if boat == "Marigold"]
    sundays = [people for _, day, _, people in table if day == "Sunday"]
    heron = max(people for _, _, boat, people in table if boat == "Heron")
    lines = [f"| {number + 1} | {day} | {boat} | {people} |" for number, day, boat, people in table]
    return english("t8_2").row(
        "Hard",
        "Crossings of the three ferries in sixteen days\n\n| crossing | day | ferry | passengers |\n|---|---|---|---|\n"
        + "\n".join(lines)
        + "\n\nThe Marigold has room for sixty passengers, the Heron for eighty, and the Patience for as many as dare.\n",
        "Work out from the table: (1) the number of passengers of the Marigold on all its crossings together; (2) the number of passengers on all Sundays together; (3) the largest number of passengers of the Heron on one crossing.",
        "three lines in the form of the example, with the right numbers",
        ["Marigold: 12345", "Sundays: 23456", "Heron: 34567"],
        [f"Marigold: {sum(marigold)}", f"Sundays: {sum(sundays)}", f"Heron: {heron}"],
    )


def teahouse(rng: Random) -> ProRow:
    """T8.2: sums over an account book."""
    kinds = {"绿茶": 6, "红茶": 8, "花茶": 7, "姜茶": 5}
    book = [
        (day, kind, rng.randrange(4, 40))
        for day in range(1, 13)
        for kind in rng.sample(list(kinds), 3)
    ]
    lines = [f"{day}日，{kind}{bowls}碗，每碗{kinds[kind]}元。" for day, kind, bowls in book]
    bowls = sum(n for _, kind, n in book if kind == "红茶")
    money = sum(n * kinds[kind] for day, kind, n in book if day <= 3)
    days = sum(kind == "姜茶" for _, kind, _ in book)
    return chinese("t8_2").row(
        "Hard",
        "青石巷茶馆十月一日到十二日的账本\n\n" + "\n".join(lines) + "\n",
        "请根据账本计算：（1）红茶一共卖了多少碗；（2）一日到三日这三天一共收入多少元；（3）有几天卖了姜茶。",
        "按示例的形式输出三行，换成正确的数字",
        ["红茶：12345碗", "收入：23456元", "姜茶：34567天"],
        [f"红茶：{bowls}碗", f"收入：{money}元", f"姜茶：{days}天"],
    )


SHELVES = ["A", "B", "C", "D", "E"]


def jars(rng: Random) -> ProRow:
    """T8.3: a long procedure, carried out by code."""
    state = dict.fromkeys(SHELVES, 12)
    steps, skipped = [], 0
    for number in range(1, 86):
        source, target = rng.sample(SHELVES, 2)
        count = rng.randrange(1, 11)
        kind = rng.random()
        if kind < 0.7:
            text = f"Move {count} jars from shelf {source} to shelf {target}."
            if count <= state[source]:
                state[source] -= count
                state[target] += count
            else:
                skipped += 1
        elif kind < 0.8:
            text = f"Put {count} new jars on shelf {target}."
            state[target] += count
        elif kind < 0.9:
            text = f"Sell {count} jars from shelf {source}."
            if count <= state[source]:
                state[source] -= count
            else:
                skipped += 1
        else:
            text = f"Swap all jars of shelf {source} with all jars of shelf {target}."
            state[source], state[target] = state[target], state[source]
        steps.append(f"Step {number}. {text}")
    check(skipped > 2, "some steps are left out")
    return english("t8_3").row(
        "Extreme",
        "Instructions for the pantry\n\nAt the start there are twelve jars on each of the shelves A, B, C, D and E. Carry out the steps one after the other. A step that asks for more jars of a shelf than are on it at that moment is left out altogether.\n\n"
        + "\n".join(steps)
        + "\n",
        "How many jars are on each shelf after the last step?",
        "one line for each shelf, from A to E, in the form of the example",
        ["A: 101", "B: 102"],
        [f"{shelf}: {count}" for shelf, count in state.items()],
    )


def granary(rng: Random) -> ProRow:
    """T8.3: a procedure, carried out by code."""
    stores = ["东仓", "西仓", "南仓"]
    state = dict.fromkeys(stores, 20)
    steps, skipped = [], 0
    for number in range(1, 41):
        source, target = rng.sample(stores, 2)
        count = rng.randrange(2, 16)
        kind = rng.random()
        if kind < 0.25:
            text = f"{target}进粮{count}袋。"
            state[target] += count
        elif kind < 0.5:
            text = f"{source}出粮{count}袋。"
            enough = count <= state[source]
            state[source] -= count if enough else 0
            skipped += not enough
        else:
            text = f"从{source}搬{count}袋到{target}。"
            enough = count <= state[source]
            state[source] -= count if enough else 0
            state[target] += count if enough else 0
            skipped += not enough
        steps.append(f"第{number}步：{text}")
    check(skipped > 0, "some steps are left out")
    return chinese("t8_3").row(
        "Extreme",
        "粮仓调度单\n\n开始时东仓、西仓、南仓各有粮二十袋。请按顺序执行下面的步骤；如果一步要取出的袋数超过该仓当时的袋数，这一步整个作废。\n\n"
        + "\n".join(steps)
        + "\n",
        "全部步骤执行完以后，三个仓各有多少袋粮？",
        "按东仓、西仓、南仓的顺序各输出一行，形式同示例",
        ["东仓：101袋", "西仓：102袋"],
        [f"{store}：{count}袋" for store, count in state.items()],
    )


def rows(rng: Random) -> list[ProRow]:
    """Return the rows of T8."""
    return [stores(), shifts(), crossings(rng), teahouse(rng), jars(rng), granary(rng)]
