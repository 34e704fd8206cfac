"""T10, rules that have to be found from examples; the answers follow the rule in the code."""

from random import Random

from sample_text.pro_row import ProRow, check, chinese, english

VOWELS = "aeiou"


def plural(word: str) -> str:
    """Return the plural of a word of the made-up language."""
    if word[-1] in VOWELS:
        return word[:-1] + "ul"
    if word[-1] == "n":
        return "ma" + word
    return word + "o" + word[-1]


ENDINGS = [*VOWELS, *"nnkrstl"]


def made_words(rng: Random, endings: list[str]) -> list[str]:
    """Return different made-up words with these endings, in a random order."""
    words: set[str] = set()
    for ending in endings:
        word = ""
        while not word or word in words:
            stem = [rng.choice("bdfgklmprvz") + rng.choice(VOWELS) for _ in range(2)]
            word = "".join(stem)[: 3 if ending in VOWELS else 4] + ending
        words.add(word)
    ordered = sorted(words)
    rng.shuffle(ordered)
    return ordered


def velmish(rng: Random) -> ProRow:
    """T10.1: a grammar from many examples."""
    words = made_words(rng, 9 * ENDINGS)
    asked = [next(word for word in words if word[-1] == ending) for ending in "anse"]
    shown = [word for word in words if word not in asked]
    check({word[-1] for word in shown} == set(ENDINGS), "all endings shown")
    examples = "\n".join(f"one {word}, two {plural(word)}" for word in shown)
    return english("t10_1").row(
        "Hard",
        f"From a notebook on Velmish, a language with strict rules and four living speakers. Each line gives the singular and the plural of one word, as the speakers said them. They have never been heard to make an exception.\n\n{examples}\n",
        f"What are the plurals of these words: {', '.join(asked)}?",
        "the four plurals in the order of the question, one on each line and nothing else on the line",
        ["fubira", "gonolo"],
        [plural(word) for word in asked],
    )


def zone(weight: int, fragile: bool, town: str) -> str:
    """Return the zone to which a parcel goes."""
    if weight > 10:
        return "重货区"
    if fragile:
        return "软垫区"
    return "北区" if town in ("云梯", "白沙", "石门") else "南区"


def parcels(rng: Random) -> ProRow:
    """T10.1: where parcels go, from many examples."""
    towns = ["云梯", "白沙", "石门", "落雁", "双柳", "青崖"]
    shown = [(10, False, "云梯"), (11, False, "双柳"), (11, True, "白沙"), (10, True, "落雁")]
    shown += [(weight, False, town) for town in towns for weight in (2, 7)]
    shown += [(rng.randrange(1, 21), rng.random() < 0.4, rng.choice(towns)) for _ in range(34)]
    rng.shuffle(shown)
    asked = {
        "甲": (10, False, "石门"),
        "乙": (17, True, "云梯"),
        "丙": (4, True, "白沙"),
        "丁": (9, False, "青崖"),
        "戊": (12, False, "落雁"),
    }

    def text(weight: int, fragile: bool, town: str) -> str:
        return f"{weight}公斤，{'易碎' if fragile else '不易碎'}，寄往{town}"

    examples = "\n".join(
        f"{number}. {text(*parcel)}：{zone(*parcel)}"
        for number, parcel in enumerate(shown, start=1)
    )
    questions = "；".join(f"{name}，{text(*parcel)}" for name, parcel in asked.items())
    return chinese("t10_1").row(
        "Moderate",
        f"分拣站记录。每行是一个包裹和它被送到的区。分拣的规则没有写下来，但是从来没有变过。重量都是整公斤。\n\n{examples}\n",
        f"请从记录中归纳规则，判断下列包裹应送到哪个区：{questions}。",
        "每个包裹输出一行，写编号、中文冒号和区名",
        ["甲：东区", "乙：西区"],
        [f"{name}：{zone(*parcel)}" for name, parcel in asked.items()],
    )


MARKS = {
    "{%s}": lambda word: word[::-1].upper(),
    "$Q$ %s": lambda word: "".join("*" if letter in VOWELS else letter for letter in word),
    "<%s>": lambda word: f"{len(word)}{word[0]}",
    "~%s~": lambda word: word[1:] + word[0],
}
WORDS = ["lantern", "goat", "ferry", "salt", "bridge", "onion", "beacon", "hat", "cellar", "plum"]


def marks(rng: Random) -> ProRow:
    """T10.2: one of several notations."""
    examples = [
        f"{mark % word}  =>  {rule(word)}" for mark, rule in MARKS.items() for word in WORDS
    ]
    rng.shuffle(examples)
    asked = ["kettle", "mirror", "island"]
    rule = MARKS["$Q$ %s"]
    check(not set(asked) & set(WORDS), "no example is asked for")
    return english("t10_2").row(
        "Moderate",
        "Output of the program scramble, found on the back of a menu. On the left is what was typed in, on the right what came out. The program knows four marks; a mark does the same to every word.\n\n"
        + "\n".join(examples)
        + "\n",
        "What comes out if these three lines are typed in: `$Q$ kettle`, `$Q$ mirror`, `$Q$ island`?",
        "what comes out, one on each line, in this order",
        ["first output", "second output"],
        [rule(word) for word in asked],
    )


CODES = {
    "甲类": lambda number: int(str(number)[::-1]),
    "乙类": lambda number: 2 * number + 1,
    "丙类": lambda number: sum(map(int, str(number))),
}


def codes(rng: Random) -> ProRow:
    """T10.2: one of several kinds of code."""
    asked = [137, 264, 405]
    numbers = [num for num in range(112, 480) if num % 10 and num not in asked]
    lines = [
        f"{kind}牌号{number}，改写为{rule(number)}"
        for kind, rule in CODES.items()
        for number in rng.sample(numbers, 12)
    ]
    rng.shuffle(lines)
    return chinese("t10_2").row(
        "Easy",
        "门牌改写登记。牌子分甲、乙、丙三类，每一类有自己固定的改写办法。\n\n"
        + "\n".join(f"（{number}）{line}。" for number, line in enumerate(lines, start=1))
        + "\n",
        "按照登记中乙类牌子的改写办法，乙类牌号137、264、405应分别改写为多少？",
        "按这个顺序逐行输出三个数",
        ["1001", "1002"],
        [str(CODES["乙类"](number)) for number in asked],
    )


def rows(rng: Random) -> list[ProRow]:
    """Return the rows of T10."""
    return [velmish(rng), parcels(rng), marks(rng), codes(rng)]
