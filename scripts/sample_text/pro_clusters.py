"""T6, clusters, one cluster among others, and frequencies."""

from collections import Counter
from random import Random

from sample_text.bank import FIRST_NAMES, LAST_NAMES, Bank
from sample_text.pro_row import ProRow, check, chinese, english

# Word in the title of a note of the bank, and the name of the cluster.
SUBJECTS = {
    "bakery": "Bakeries",
    "Choir": "Choirs",
    "Bird count": "Bird counts",
    "Chess Club": "Chess clubs",
    "orchard": "Orchards",
}


def listed(numbers: list[int]) -> str:
    """Return the numbers in ascending order with commas."""
    return ", ".join(map(str, sorted(numbers)))


def village_notes(rng: Random) -> ProRow:
    """T6.1: notes without titles, by subject."""
    bank = Bank(rng)
    clusters: dict[str, list[int]] = {name: [] for name in SUBJECTS.values()}
    texts: list[str] = []
    while len(texts) < 24:
        note = bank.note()
        name = next((name for word, name in SUBJECTS.items() if word in note.title), None)
        if name:
            texts.append(note.text)
            clusters[name].append(len(texts))
    check(all(len(numbers) > 1 for numbers in clusters.values()), "each cluster has notes")
    names = ", ".join(SUBJECTS.values())
    return english("t6_1").row(
        "Moderate",
        "\n\n".join(f"Note {number}: {text}" for number, text in enumerate(texts, start=1)),
        f"Sort all notes by what they are about into these groups: {names}. Each note belongs to exactly one group.",
        "one line for each group, with its name, a colon and the numbers of its notes in ascending order, separated by commas",
        ["Bakeries: 51, 52", "Choirs: 53, 54"],
        [f"{name}: {listed(numbers)}" for name, numbers in clusters.items()],
    )


NEWS = [
    ("天气", "北风今夜到明天转大，山区的气温会降到零下，菜农要盖好大棚。"),
    ("交通", "东门大桥明天夜里检修，十一点到五点不能通行，车辆请走西门。"),
    ("体育", "县里的龙舟赛昨天落幕，渔业队第三次拿到冠军，奖品是一头猪。"),
    ("天气", "雨已经下了六天，气象站说周末会停，衣服可以等一等再洗。"),
    ("体育", "中学女子排球队连输四场以后，昨晚终于赢了一场，全队去吃了火锅。"),
    ("交通", "开往县城的早班车改为六点半发车，票价不变，站点增加两个。"),
    ("天气", "今年第一场霜比去年早到九天，柿子正好变甜。"),
    ("体育", "七十二岁的老周跑完了半程马拉松，他说最难的是最后系鞋带。"),
    ("交通", "火车站前的路口装了新的红绿灯，绿灯时间比原来长八秒。"),
    ("交通", "渡轮因为换发动机停航三天，乘客可以凭票免费坐公交车。"),
    ("天气", "大雾从凌晨持续到上午十点，江面上看不见对岸。"),
    ("体育", "象棋擂台赛进入第三天，十岁的小选手守擂成功。"),
]


def news() -> ProRow:
    """T6.1: news, by subject."""
    names = list(dict.fromkeys(name for name, _ in NEWS))
    clusters = {
        name: [number for number, (label, _) in enumerate(NEWS, start=1) if label == name]
        for name in names
    }
    return chinese("t6_1").row(
        "Easy",
        "一句话新闻\n\n"
        + "\n".join(f"新闻{number}：{text}" for number, (_, text) in enumerate(NEWS, start=1))
        + "\n",
        "请把全部新闻按内容分为三类：天气、交通、体育。每条新闻只属于一类。",
        "每类输出一行，写类名、冒号和新闻的编号，编号从小到大，用逗号加空格隔开，冒号用中文冒号",
        ["天气：51, 52", "交通：53, 54"],
        [f"{name}：{listed(numbers)}" for name, numbers in clusters.items()],
    )


# True: the letter complains about noise.
COMPLAINTS = [
    (False, "The bins in Cooper Lane have not been emptied since the fair. The foxes are content."),
    (
        True,
        "Every Tuesday at five in the morning the brewery rolls barrels over the cobbles, and the whole street is awake.",
    ),
    (False, "The lamp at the corner of Mill Street has been dark since Easter."),
    (False, "I should like to praise the brass band, whose rehearsals I enjoy through the wall."),
    (True, "My neighbour practises the tuba with the window open. It is always the same march."),
    (False, "The new benches are too low for anyone above the age of six."),
    (True, "The pump behind the swimming pool hums on one note, day and night, and it is B flat."),
    (False, "Someone has painted a face on the letter box. It is a good likeness of the postman."),
    (False, "The pavement before the bank is slippery when it rains."),
    (True, "Since the bypass was closed, lorries thunder past the nursery during the midday nap."),
    (False, "The library’s reading room smells of onions on Thursdays. Please look into this."),
    (False, "The church clock is too quiet: from the allotments one cannot hear it strike."),
    (
        True,
        "At the weekend the quay sounds like a fairground until two in the morning. I cannot sleep.",
    ),
    (False, "A bus ticket costs more than a bicycle tyre. I have compared."),
    (False, "There is a hole in Weaver Street in which my son has lost a boot."),
]


def noise() -> ProRow:
    """T6.2: one group of letters."""
    return english("t6_2").row(
        "Easy",
        "Letters to the town hall\n\n"
        + "\n\n".join(f"Letter {n}: {text}" for n, (_, text) in enumerate(COMPLAINTS, start=1)),
        "Which letters belong to the group “complaints that something is too loud”? Letters that speak of sounds without complaining of loudness do not belong to it.",
        "these letters, one on each line",
        ["Letter 51", "Letter 52"],
        [f"Letter {n}" for n, (is_noise, _) in enumerate(COMPLAINTS, start=1) if is_noise],
    )


# True: the dish needs no fire.
DISHES = [
    (False, "葱花面：面煮三分钟，捞出以后浇热油，撒葱花和盐。"),
    (True, "拌黄瓜：黄瓜拍碎，加蒜末、醋、盐和香油，拌匀就能吃。"),
    (False, "炒豆角：豆角切段，大火炒五分钟，加一点酱油再焖一会儿。"),
    (False, "蛋花汤：水烧开，把打匀的鸡蛋慢慢倒进去，加紫菜。"),
    (True, "糖渍西红柿：西红柿切片，一层一层撒上白糖，放一刻钟。"),
    (True, "泡萝卜：萝卜切条，放进凉盐水的坛子里，盖好，三天以后取出。"),
    (False, "蒸南瓜：南瓜切块，上锅蒸二十分钟，不放糖也很甜。"),
    (False, "凉拌木耳：木耳泡发以后在开水里煮两分钟，捞出晾凉，再拌醋。"),
    (True, "薄荷水：薄荷叶洗净揉一揉，放进凉白开里，加蜂蜜，在井里放一小时。"),
    (False, "烤红薯：红薯埋在炭火里，四十分钟以后翻出来，拍掉灰。"),
    (True, "腌姜：嫩姜切片，用盐抹过，装进瓶子里，倒满米醋，放一个星期。"),
    (False, "茶叶蛋：鸡蛋煮熟，敲出裂纹，和茶叶、酱油再煮半小时。"),
]


def dishes() -> ProRow:
    """T6.2: one group of recipes."""
    return chinese("t6_2").row(
        "Moderate",
        "食堂菜谱摘抄（原料都按已经备好计算）\n\n"
        + "\n".join(f"菜谱{n}　{text}" for n, (_, text) in enumerate(DISHES, start=1))
        + "\n",
        "哪些菜谱的做法从头到尾都不需要加热（不煮、不炒、不蒸、不烤，也不用热油）？",
        "逐行输出菜谱的编号",
        ["菜谱51", "菜谱52"],
        [f"菜谱{n}" for n, (is_cold, _) in enumerate(DISHES, start=1) if is_cold],
    )


BIRDS = {
    "merlin": 31,
    "bittern": 26,
    "smew": 22,
    "garganey": 17,
    "whimbrel": 13,
    "ruff": 8,
    "spoonbill": 4,
}


def bird_log(rng: Random) -> ProRow:
    """T6.3: entries of a log, counted by code."""
    birds = [bird for bird, times in BIRDS.items() for _ in range(times)]
    rng.shuffle(birds)
    entries = []
    for number, bird in enumerate(birds):
        who = f"{rng.choice(FIRST_NAMES)} {rng.choice(LAST_NAMES)}"
        bank = rng.choice(["north bank", "south bank", "weir", "reed bed", "old jetty"])
        doing = rng.choice(["on the mud", "flying west", "asleep", "feeding", "in the rain"])
        entries.append(f"Day {number // 4 + 1}, {who}, {bank}: one {bird}, {doing}.")
    context = "Log of the hide. Each line is one sighting.\n\n" + "\n".join(entries) + "\n"
    counts = Counter(line.split(": one ")[1].split(",")[0] for line in entries)
    check(len(set(counts.values())) == len(counts), "no two birds equally frequent")
    check(
        all(context.count(f"one {bird},") == times for bird, times in counts.items()), "frequencies"
    )
    return english("t6_3").row(
        "Extreme",
        context,
        "Count the sightings of each kind of bird in the whole log, and put the kinds in order, the most frequent first.",
        "the names of the birds in this order, one on each line",
        ["heron", "curlew", "plover"],
        [bird for bird, _ in counts.most_common()],
    )


TOOLS = {"雨伞": 24, "帽子": 19, "钥匙": 15, "手套": 11, "眼镜": 7, "书包": 3}


def lost_things(rng: Random) -> ProRow:
    """T6.3: a register of lost things, counted by code."""
    things = [thing for thing, times in TOOLS.items() for _ in range(times)]
    rng.shuffle(things)
    entries = []
    for number, thing in enumerate(things, start=1):
        where = rng.choice(["候车室", "二号站台", "售票处", "小卖部", "楼梯上", "长凳下"])
        who = rng.choice(["旅客交来", "值班员拾到", "清洁工拾到", "学生交来"])
        colour = rng.choice(["黑色", "蓝色", "旧", "新", "红色"])
        entries.append(f"{number:03d}号，{where}，{who}，{colour}{thing}一件。")
    counts = {thing: sum(f"{thing}一件" in entry for entry in entries) for thing in TOOLS}
    check(len(set(counts.values())) == len(counts), "no two things equally frequent")
    check(sum(counts.values()) == len(entries), "every entry counted")
    return chinese("t6_3").row(
        "Hard",
        "南站失物登记簿（每行一件）\n\n" + "\n".join(entries) + "\n",
        "请统计登记簿中每种东西出现的次数，不分颜色和新旧，按次数从多到少排列。",
        "逐行输出东西的名称",
        ["茶杯", "围巾", "水壶"],
        sorted(counts, key=lambda thing: -counts[thing]),
    )


def rows(rng: Random) -> list[ProRow]:
    """Return the rows of T6."""
    return [village_notes(rng), news(), noise(), dishes(), bird_log(rng), lost_things(rng)]
