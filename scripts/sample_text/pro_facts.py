"""T3, questions with one answer: a fact, or the letter of an option."""

from random import Random

from sample_text.bank import Bank
from sample_text.pro_bank_zh import ChineseBank
from sample_text.pro_row import ProRow, check, chinese, english, scatter

KILNS = """Document 1: Directory of potters

There are three kilns in the valley. The blue kiln, which burns olive stones, belongs to Ruta Selm. The red kiln belongs to Hob Carrow and the white kiln to the school of design, which lets it by the day. Visitors are asked not to lean on anything.

Document 2: From the diary of a postman

Ruta Selm lives at Nether Fold. She is up before I am, and I meet her every morning on the Weir Bridge, on her way to her kiln with a loaf under each arm. Hob Carrow sleeps next to his kiln and crosses nothing at all. The director of the school of design comes by the Chain Bridge and is always late.

Document 3: Bridges of the valley

The Chain Bridge was opened in 1911 by a minister, who got wet. The Weir Bridge followed in 1926; it carries a path and a water pipe. The Mill Bridge, the only one for carts, was opened in 1937. A fourth bridge was planned in 1931 and never built, although its tollkeeper was already employed.
"""


def kilns() -> ProRow:
    """T3.1: three documents have to be joined."""
    return english("t3_1").row(
        "Moderate",
        KILNS,
        "In which year was the bridge opened over which the owner of the blue kiln walks to her kiln?\nA. 1911\nB. 1926\nC. 1931\nD. 1937",
        "the letter of the right option on a line of its own",
        ["F"],
        ["B"],
    )


PAINTER = """文档一：画展目录

本次展出的《秋渡》是一幅长卷，画的是渡口的早晨，作者是陆青禾。同室展出的《冬猎》出自她的师弟魏远之手。两幅画都由县图书馆借出。

文档二：陆青禾自述

我十四岁开始学画。第一位老师是我的舅舅，只教了我三个月，他说教不了。后来我一直跟段怀石先生学习，先后九年，所以别人问我老师是谁，我只说段先生。魏远是段先生最小的学生，我们都叫他小魏。

文档三：段怀石先生小传

段怀石，生在云梯镇，青年时在白沙镇教书，中年时在省城办过画报。六十岁以后，他搬到落雁镇，住在一座临水的小楼里，直到去世。他的学生每年清明都到落雁镇去看那座小楼。魏远后来在白沙镇开了一家画馆。
"""


def painter() -> ProRow:
    """T3.1: three documents have to be joined."""
    check("落雁镇" in PAINTER, "town of the teacher")
    return chinese("t3_1").row(
        "Moderate",
        PAINTER,
        "《秋渡》的作者说，别人问起时她只说一位先生是自己的老师。这位先生晚年住在哪个镇？",
        "在单独一行里输出镇的名称，与原文一致",
        ["清水镇"],
        ["落雁镇"],
    )


SPARE_KEY = "The harbour office of Skerry. The harbour office of Skerry is a hut with two doors, of which one is painted on. Its spare key lies in a tin marked BUTTONS, behind the tide tables, and everybody in the village knows it. The tins marked SUGAR and NAILS hold sugar and nails. The clerk is in on weekdays until the herring come."


def spare_key(rng: Random) -> ProRow:
    """T3.2: one fact amid notes, in a text that starts with blank lines."""
    bank = Bank(rng)

    def filler() -> str:
        note = bank.note()
        return f"{note.title}. {note.text}"

    notes = scatter(rng, [SPARE_KEY], filler, 32)
    context = "\n\n\n" + "\n\n".join(notes) + "\n"
    check(context.count("marked BUTTONS") == 1, "the tin")
    return english("t3_2").row(
        "Easy",
        context,
        "What is written on the tin in which the harbour office of Skerry keeps its spare key?",
        "this word on a line of its own",
        ["MATCHES"],
        ["BUTTONS"],
    )


LAST_BOAT = "青崖渡的船：青崖渡一天开十二班船，头班船早上六点开，末班船晚上九点一刻开。夏天人多，末班船会多等十分钟。船票两元，自行车不另收钱，鸭子要买半票。"


def last_boat(rng: Random) -> ProRow:
    """T3.2: one fact amid notes."""
    bank = ChineseBank(rng)
    notes = scatter(rng, [LAST_BOAT], bank.note, 26)
    check(sum("末班船" in note for note in notes) == 1, "the last boat")
    return chinese("t3_2").row(
        "Easy",
        "\n\n".join(notes) + "\n",
        "按照文中的船期，青崖渡的末班船几点开？\nA. 六点\nB. 八点三刻\nC. 九点一刻\nD. 十二点",
        "在单独一行里输出正确选项的字母",
        ["F"],
        ["C"],
    )


def rows(rng: Random) -> list[ProRow]:
    """Return the rows of T3."""
    return [kilns(), painter(), spare_key(rng), last_boat(rng)]
