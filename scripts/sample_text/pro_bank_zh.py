"""Short Chinese notes made from sentence templates: filler that never holds a gold answer."""

from random import Random
from typing import NamedTuple

HEADS = [
    "青石",
    "白果",
    "乌桕",
    "芦花",
    "石门",
    "竹溪",
    "杨梅",
    "松岭",
    "桐子",
    "鹿鸣",
    "荷塘",
    "雁来",
]
TAILS = ["坪", "湾", "坞", "寨", "埠", "岗"]
PLACES = [head + tail for head in HEADS for tail in TAILS]
SURNAMES = ["邵", "樊", "桑", "阮", "柴", "鲍", "费", "凌", "路", "卞"]
GIVEN_NAMES = ["长庚", "秀禾", "子衡", "玉梅", "守拙", "晓岚", "冬生", "若水"]
DAYS = ["周一", "周二", "周三", "周四", "周五", "周六", "周日"]


class Kind(NamedTuple):
    """The templates of one sort of note: one alternative of each sentence is taken."""

    title: str
    sentences: list[list[str]]
    things: list[str]


KINDS = [
    Kind(
        "{place}的豆腐坊",
        [
            [
                "{place}的豆腐坊由{person}打理，已经有{m}年了。",
                "在{place}，做豆腐的是{person}，这门手艺学了{m}年。",
            ],
            [
                "每天凌晨{hour}点开始磨豆子，天亮时门口已经排起了队。",
                "磨豆子从凌晨{hour}点开始，邻居们早已习惯了石磨的声音。",
            ],
            [
                "平常的日子能卖{n}块豆腐，{thing}总是最先卖完。",
                "店里最有名的是{thing}，一天要卖{n}份。",
            ],
            ["剩下的豆渣送给{other}喂鸡。", "{other}每个{day}来帮忙洗豆子。"],
            ["墙上的算盘比这座房子还要老。", "门上的铜铃有一道裂纹，响声有些沙哑。"],
        ],
        ["烟熏豆干", "嫩豆花", "油炸豆泡", "千张", "腐乳", "五香豆干"],
    ),
    Kind(
        "{place}的戏班",
        [
            [
                "{place}的戏班有{m}个人，每逢{day}晚上在晒谷场排戏。",
                "每到{day}晚上，{place}戏班的{m}个人就聚到晒谷场上。",
            ],
            ["班主{person}用{thing}打拍子。", "因为鼓槌丢了，班主{person}只好用{thing}代替。"],
            [
                "最长的一出戏要唱{hour}个小时，中间要喝两次茶。",
                "去年一共演了{n}场，只有一场遇上下雨。",
            ],
            ["{other}管着戏箱，每年把戏服晒一次。", "戏箱的钥匙由{other}保管。"],
            ["新来的人不必识谱，但是要不怕冷。", "小孩子可以坐在台边，只是不许跟着唱。"],
        ],
        ["竹筷", "铜勺", "旧木尺", "半截扁担", "蒲扇柄"],
    ),
    Kind(
        "{place}的晴雨记录",
        [
            [
                "{person}在{place}记录天气，一共记了{m}年。",
                "{place}的天气由{person}记录，本子已经写满了{m}本。",
            ],
            ["雨量最大的一个月，雨筒里接了{n}毫米。", "最多的一个月下了{n}毫米雨。"],
            ["温度计挂在{thing}的北面。", "为了避开太阳，温度计挂在{thing}后面。"],
            [
                "{person}出门的时候，由{other}代记，数字总是取整。",
                "每到年底，{other}帮忙核对一遍。",
            ],
            ["打雷的日子画一面小鼓。", "风的大小用文字写，从“树不动”到“吹走帽子”。"],
        ],
        ["柿子树", "羊圈", "水缸", "院墙", "门廊", "柴房"],
    ),
    Kind(
        "{place}的修理铺",
        [
            [
                "{place}的修理铺每逢{day}开门，{person}修收音机，{other}补锅。",
                "每个{day}，{person}和{other}在{place}的旧仓库里替人修东西。",
            ],
            [
                "上个月收了{n}件东西，只有{m}件没有修好。",
                "上次一共来了{n}件，除了{m}件以外都修好了。",
            ],
            ["其中最旧的是一台{thing}。", "有人抱来一台{thing}，围观的人不少。"],
            ["修东西不收钱，桌上放着一个装点心的罐子。", "等的人可以帮着扫地，也可以吃点心。"],
            ["修不好的就拆开，螺丝按大小分类放好。", "铺子的规矩是：螺丝不许扔。"],
        ],
        ["手摇电话", "留声机", "缝纫机", "座钟", "脚踏风琴", "幻灯机"],
    ),
    Kind(
        "{place}的果园",
        [
            [
                "{place}的果园有{n}棵树，其中{m}棵是{thing}。",
                "在{place}的果园里，{n}棵树中有{m}棵是{thing}。",
            ],
            [
                "每年二月由{person}剪枝，要剪一个星期。",
                "{person}在二月的最后一周剪枝，带着两个帮手。",
            ],
            ["落在地上的果子谁都可以捡，梯子要向{other}借。", "梯子和钥匙都在{other}那里。"],
            ["收果子那天是{day}，大家抽签分。", "收果子定在一个{day}，先称重再分。"],
            ["果园里的羊只吃得到最低的树枝。", "大家说起马蜂的时候都压低声音。"],
        ],
        ["青皮梨", "糖罐柿", "晚熟桃", "酸枣", "红心柚"],
    ),
]


class ChineseBank:
    """Notes in a random order that repeats no subject within one bank."""

    def __init__(self, rng: Random):
        self._rng = rng
        self._subjects = [(kind, place) for kind in KINDS for place in PLACES]
        rng.shuffle(self._subjects)

    def note(self) -> str:
        """Return the next note: a title, a colon and the text."""
        rng = self._rng
        kind, place = self._subjects.pop()
        surnames = rng.sample(SURNAMES, 2)
        fields = {
            "place": place,
            "person": surnames[0] + rng.choice(GIVEN_NAMES),
            "other": surnames[1] + rng.choice(GIVEN_NAMES),
            "n": rng.randrange(40, 400),
            "m": rng.randrange(5, 38),
            "hour": rng.choice(["两", "三", "四"]),
            "day": rng.choice(DAYS),
            "thing": rng.choice(kind.things),
        }
        text = kind.title + "：" + "".join(rng.choice(choices) for choices in kind.sentences)
        return text.format(**fields)
