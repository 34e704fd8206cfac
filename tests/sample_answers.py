"""Whether the answers of the embedded sample are right, from its rows alone.

Answers that follow from the text (sums, orders, counts, code, rules) are worked out here again.
Where only a reader can tell, the passages from which the answer follows must be there. A reference
summary is held to what it may not invent: names and numbers.
"""

from __future__ import annotations

import ast
import csv
import datetime
import difflib
import hashlib
import json
import re
import subprocess
import sys
import tempfile
from collections import Counter, defaultdict
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any

import longbench_pro_facts as catalog_pro
import longbench_v2_facts as v2_facts
from longbench_v1_facts import DATASETS
from v1_tasks import E_TASKS, V1_TASKS

from lm_eval_longbench.benchmarks.base import Task
from lm_eval_longbench.benchmarks.longbench_pro import PRO as BENCHMARK_PRO
from lm_eval_longbench.benchmarks.longbench_v2 import V2 as BENCHMARK_V2

# Of all files of the sample and their names, and how many questions they hold.
SHA256 = "d48813ce99045e802ba73b39d8b4867c7abc03d3ceff998f36344f1514bc54e8"
QUESTIONS = 205
Row = dict[str, Any]


class WrongError(Exception):
    """Something in the sample is not as it must be."""


def need(holds: object, what: object) -> None:
    if not holds:
        raise WrongError(str(what))


def same(found: object, expected: object) -> None:
    need(found == expected, f"the answer is {expected!r}, and the text gives {found!r}")


def in_order(text: str, *quotes: str) -> None:
    """Check that the quotes stand in a text one after the other."""
    at = 0
    for quote in quotes:
        need(quote in text[at:], f"not there, or not in this order: {quote!r}")
        at = text.index(quote, at) + len(quote)


def one(pattern: str, text: str) -> str:
    """Return the group of the only match."""
    found = re.findall(pattern, text, re.DOTALL)
    need(len(found) == 1, f"{pattern!r} matches {len(found)} times, not once")
    return found[0]


def numbers(text: str) -> list[int]:
    return [int(number) for number in re.findall(r"\d+", text)]


def pairs(text: str) -> set[str]:
    return {text[at : at + 2] for at in range(len(text) - 1)}


def summary_is_of(summary: str, text: str) -> None:
    """Check that a summary invents no name and no number, and is about the text."""
    chinese = re.search("[\u4e00-\u9fff]", summary)
    if chinese:
        facts = set(re.findall(r"\d+", summary))
        words, known = pairs(summary), pairs(text)
    else:
        facts = set(re.findall(r"(?<![.?!] )(?<!^)\b[A-Z]\w+|\d[\d,.:]*\d|\d", summary))
        words = {word for word in re.findall(r"\w+", summary.lower()) if len(word) > 3}
        known = {word for word in words if word in text.lower()}
    need(not (made := [fact for fact in facts if fact not in text]), f"not in the text: {made}")
    least = 0.2 if chinese else 0.33  # of the texts here others have at most half of that, or 0.3
    need(len(words & known) >= least * len(words), f"not about this text: {summary[:60]!r}")


# ---------------------------------------------------------------------- LongBench v1 and E

# Answers that are no part of the text: the words of the question, and what must be said, or not.
INFERRED = {
    "How many oak paddles does the wheel still lack money": (
        ["Eighteen.", "18"],
        "paddles.*Ask me next year about the other eighteen",
    ),
    "Who notices that the map has to be looked at from the back": (
        ["Wilhelmina", "The narrator's sister Wilhelmina"],
        "It was Wilhelmina who noticed that the map was wrong",
    ),
    "Is the gain from LATE-TOP larger in the hilly": (["Yes"], "larger in the hilly town"),
    "Which programming language is": (["unanswerable"], "^(?!.*(language|Python|Java|written in))"),
    "Are the Ashlar Gazette and the Dunmore Letter both daily": (
        ["no", "No"],
        "Ashlar Gazette is a daily newspaper.*Dunmore Letter is a weekly newspaper",
    ),
    "Do the rivers Ellen Water and Thrush Brook flow into the same": (
        ["yes", "Yes"],
        "Ellen Water rises [^.]* into Lake Sorrel.*Thrush Brook [^:]* into Lake Sorrel",
    ),
}
# Questions of one type begin alike; what is said here must hold for all examples of a context.
TYPES = {
    "Distance": "How (far|wide)",
    "Person": "Who ",
    "Date of a birth": "(When|In what year) was .* born",
    "Date": "When was .* opened|On what day",
    "Place in the sky": "(What planet|Which constellation)",
    "Place": "Where|In which county|What town",
    "Number": "How many",
    "Number on a scale": "How (hot|cold|strong)",
    "Price": "(What does a .* cost|How much)",
    "Person's job": "What (was the trade|does .* do)",
    "Reason": "Why",
    "Animal": "(What animal|Which bird)",
    "Plant": "(What tree|Which flower)",
    "Food": "What (kind of cheese|soup)",
    "Colour": "What( is the)? colour",
    "Way to do something": "How (does one|is the)",
}
NEWS = {
    "体育": "足球|乒乓球|马拉松",
    "农业": "早稻|桃园",
    "教育": "中学新建|小学",
    "气象": "冷空气|台风",
}
# Words of an abstract, and those of the paragraph that it is of.
ABSTRACTS = {
    "closing works": "glass factory closed",
    "delivering mail": "mule named",
    "Estranged siblings": "Two brothers",
    "garden molluscs": "snails",
    "免费休息的座位": "空椅子",
    "遗失的物品": "行李员",
    "讲故事代替付款": "只收故事",
    "让信件安全过河": "邮递员",
}
SMALL_WORDS = "a an the of in it they that them from for was were are had to by on because than can"
SUMMARIES = {"gov_report", "qmsum", "multi_news", "vcsum", "dureader", "samsum"}


def question_type(question: str) -> str:
    """Return the type of a question; a longer name comes first, as it says more."""
    for name in sorted(TYPES, key=len, reverse=True):
        if re.match(TYPES[name], question):
            return name
    raise WrongError(f"no type for {question!r}")


def check_class(row: Row) -> None:
    (gold,) = row["answers"]
    need(gold in row["all_classes"], f"{gold!r} is none of the classes")
    if row["dataset"] == "trec":
        examples = re.findall(r"Question: (.*?) \?\nType: (.*)\n", row["context"])
        for question, label in examples:
            same(question_type(question), label)
        same(question_type(one(r"Question: (.*) \?\nType:", row["input"])), gold)
    else:
        examples = re.findall(r"新闻内容：(.*)\n类别：(.*)\n", row["context"])
        need(re.search(NEWS[gold], row["input"]), f"the news is not about {gold}")
        same({label for text, label in examples if re.search(NEWS[gold], text)}, {gold})
    need({label for _, label in examples} <= set(row["all_classes"]), "an example has no class")
    need(len(examples) > 5, "examples are missing")


def check_paragraph(row: Row) -> None:
    """The question of a passage is about it, or is how many different ones there are."""
    parts = re.split(r"(?:^|\n\n)(?:Paragraph |段落)(\d+)(?:: |：)", row["context"])[1:]
    texts, (gold,) = parts[1::2], row["answers"]
    same(list(map(int, parts[::2])), list(range(1, len(texts) + 1)))
    if row["dataset"] == "passage_count":
        same(str(len(set(texts))), gold)
        return
    (mark,) = (text for words, text in ABSTRACTS.items() if words in row["input"])
    (place,) = (number for number, text in enumerate(texts, 1) if mark in text)
    same(f"段落{place}" if row["dataset"].endswith("_zh") else f"Paragraph {place}", gold)


def check_code(row: Row) -> None:
    """The next line is one line, in names that the code has; with it Python can be parsed."""
    (line,) = row["answers"]
    code = row["input"] or row["context"]
    names = set(re.findall(r"[A-Za-z_]\w*", row["context"] + row["input"]))
    strange = set(re.findall(r"[A-Za-z_]\w*", line)) - names
    need(line.strip() and "\n" not in line and not strange, f"not the next line: {line!r}")
    need(line.strip() not in code.splitlines()[-1], "the line stands there already")
    # The code may end within the indentation of the next line; what it lacks are closing brackets.
    if re.search(r"^(def|class) .*:$", code, re.MULTILINE):
        try:
            ast.parse(code.rpartition("\n")[0] + "\n" + line + "\n")
        except SyntaxError as error:
            raise WrongError(f"not the next line: {line!r}") from error


def content(text: str) -> set[str]:
    """Return the words of a question or text that tell what it is about."""
    words = {word for word in re.findall(r"\w+", text) if len(word) > 3 and word.isascii()}
    words |= {pair for pair in pairs(text) if re.fullmatch("[\u4e00-\u9fff]{2}", pair)}
    return words - {"what", "which", "that", "with", "from", "does", "were", "they", "have"}


def check_stated(row: Row) -> None:
    """Some form of the answer stands in the text, word for word or in its words."""
    # The few-shot examples of triviaqa are other passages, and its own is asked with the question.
    text = row["input" if row["dataset"] == "triviaqa" else "context"]
    for words, (answers, quote) in INFERRED.items():
        if row["input"].startswith(words):
            need(re.search(quote, row["context"], re.DOTALL), f"not in the text: {quote}")
            return same(answers, row["answers"])
    bare = [answer.strip(".。") for answer in row["answers"]]
    said = "|".join(
        rf"(?<![A-Za-z\d])(?i:{answer[0]}){re.escape(answer[1:])}(?![A-Za-z\d])" for answer in bare
    )
    if re.search(said, text):
        # Of several passages the one with the answer need not have a word of the question.
        asked = content(row["input"].lower().rpartition("question:\n")[2])
        sentences = ["", *re.split("[.?!。]", text)]
        near = [f"{before} {own}" for before, own in pairwise(sentences) if re.search(said, own)]
        return need(
            row["dataset"] in ("hotpotqa", "2wikimqa", "musique")
            or any(asked & content(part.lower()) for part in near),
            f"only beside what has nothing to do with the question: {bare}",
        )
    text, bare = text.lower(), [answer.lower() for answer in bare]
    small = set(re.findall(r"\w+", SMALL_WORDS))
    words = set(re.findall(r"\w+", bare[0])) - small
    if row["language"] == "zh":
        words, text = pairs(bare[0].removeprefix("因为").replace("他要", "")), set(pairs(text))
        return need(len(words & text) > 0.6 * len(words), f"not in the text: {bare}")
    need(len(words) > 3, f"not in the text: {bare}")
    return need(words <= set(re.findall(r"\w+", text)), f"not in the text: {bare}")


def check_v1_file(split: Task, rows: list[Row], plain: list[Row]) -> None:
    """Check a file of v1 or E; `plain`: that of v1."""
    need(len(rows) >= 4, "fewer than four questions")
    if rows is plain:
        return
    sizes = [row["length"] for row in rows]
    need(sizes == sorted(sizes), "E's texts do not get longer")
    if split.label == "trec" or split.label.startswith("passage_"):
        return
    for own, row in zip(rows, plain, strict=True):
        need(own["input"] == row["input"], "E asks something else than v1")
        # A summary of a longer text may say one thing more.
        longer = map(str.startswith, own["answers"], row["answers"])
        need(all(longer), "E's answers are others than v1's")


def check_v1(split: Task, number: int, row: Row) -> None:
    """Check a question of LongBench v1 or E; `number` counts those of a file from 0."""
    stem, name, chinese = split.dataset, split.label, DATASETS[split.label].language == "zh"
    same(row["_id"], hashlib.sha256(f"{stem}:{number}".encode()).hexdigest()[:48])
    same((row["dataset"], row["language"]), (name, "zh" if chinese else "en"))
    same(len(row["context"]) if chinese else len(row["context"].split()), row["length"])
    need(row["answers"] and all(row["answers"]), "no answer")
    need((row["all_classes"] is not None) == (name in ("trec", "lsht")), "classes")
    if name in SUMMARIES:
        for answer in row["answers"]:
            summary_is_of(answer, row["input" if name == "samsum" else "context"])
    elif name in ("trec", "lsht"):
        check_class(row)
    elif name.startswith("passage_"):
        check_paragraph(row)
    elif name in ("lcc", "repobench-p"):
        check_code(row)
    else:
        check_stated(row)


# ---------------------------------------------------------------------- LongBench v2


def run_repository(text: str, *command: str) -> str:
    """Write the files of a repository and return what a command prints there."""
    parts = re.split(r"^Path: (.*)\n", text, flags=re.MULTILINE)[1:]
    with tempfile.TemporaryDirectory() as name:
        for path, content in zip(parts[::2], parts[1::2], strict=True):
            file = Path(name, path)
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(content.strip("\n") + "\n", encoding="utf-8")
        done = subprocess.run(
            [sys.executable, "-B", *command], cwd=name, capture_output=True, text=True, check=True
        )
    return done.stdout.strip()


def bodies(code: str) -> dict[str, ast.FunctionDef]:
    return {
        node.name: node for node in ast.walk(ast.parse(code)) if isinstance(node, ast.FunctionDef)
    }


def callers(functions: dict[str, ast.FunctionDef], changed: set[str], but: str = "") -> list[str]:
    """Return who calls a changed function, directly or not; `but`: no call with this argument."""
    reached = set(changed)
    while True:
        more = {
            name
            for name, node in functions.items()
            for call in ast.walk(node)
            if isinstance(call, ast.Call) and ast.unparse(call.func) in reached
            if not but or but not in map(ast.unparse, call.args)
        }
        if more <= reached:
            return [name for name in functions if name in reached - changed]
        reached |= more


def files_of(text: str, *paths: str) -> str:
    return "\n".join(
        one(rf"Path: {re.escape(path)}\n(.*?)(?=\n\nPath: |\Z)", text) for path in paths
    )


def battery(text: str, row: Row) -> str:
    before = one(r"(0\.\d+) in Vande under the old", text)
    return f"{float(one(r'LATE-TOP it was 0.94 and (0.[0-9]+)', text)) - float(before):.2f}"


def bridge(text: str, row: Row) -> str:
    weights = {}
    for entry in re.findall(r"^3\.\d+ .*$", text, re.MULTILINE):
        grade, year = one(r"[gG]rade ([A-D])", entry), int(one(r"\bin (20\d\d)", entry))
        if grade == "C" and year >= 2018:
            free = "is on no child's way to school" in entry
            crossings = int(one(r"(\d+) (?:times|crossings) a day", entry))
            weights[one(r"^3\.\d+ (\w+)\.", entry)] = crossings * (1 if free else 2)
    need(len(weights) > 5, "bridges are missing")
    return f"The bridge at {max(weights, key=weights.__getitem__)}"


def power_cut(text: str, row: Row) -> str:
    in_order(text, "on Saturday at nine", "Power returned at 10:40", "swan had flown into a line")
    return "100 minutes; a swan had flown into a power line"


def papers(text: str, row: Row) -> str:
    names = {"HOPPER": "Paper 1", "NIGHTJAR": "Paper 2", "SHELF, ECHO and BOTH": "Paper 3"}
    results = [
        re.findall(r"(?:F1 of|against|reaches) (\d\d\.\d)", text),
        re.findall(r"finds (\d\d)%", text),
        re.findall(r"for (\d\d)% of the pairs, ECHO for (\d\d)%, and BOTH for (\d\d)%", text)[0],
    ]
    spread = [max(map(float, own)) - min(map(float, own)) for own in results]
    return "; ".join(sorted(names, key=dict(zip(names, spread, strict=True)).__getitem__)[::-1])


def pier(text: str, row: Row) -> str:
    def number(pattern: str) -> int:
        return int(one(pattern, text).replace(",", ""))

    metres = number(r"carried away (\d+) metres") - number(r"that (\d+) of these metres")
    paid = number(r"voted ([\d,]+) crowns") + number(r"worth ([\d,]+) crowns")
    lacking = metres * number(r"for (\d+) crowns a metre, she") - paid
    return f"{lacking + number(r'value of ([0-9,]+) crowns'):,} crowns"


def velmish(text: str, row: Row) -> str:
    book = dict(re.findall(r"^\d+\. (.*) = (.*)$", text, re.MULTILINE))
    for said, meant in {
        "Lodon lompek dikil.": "The weaver hid the teacher.",
        "Liman rudosh dikil.": "The weaver will paint the ferry.",
        "Makabon lomposh dikil.": "The weaver will hide the herons.",
        "Kirul lompek kabon.": "The heron hid the millers.",
    }.items():
        same(book.get(said), meant)
    return "Maliman lompek dikil."  # liman in the plural as kabon; hid as above; weaver last


def types_of_questions(text: str, row: Row) -> str:
    numbered = defaultdict(set)
    for question, label in re.findall(r"Question: (.*?) \?\nType: (type \d+)\n", text):
        numbered[question_type(question)].add(label)
    need(all(len(labels) == 1 for labels in numbered.values()), "types are mixed")
    asked = [question_type(line) for line in row["question"].strip().splitlines()[1:]]
    return ", ".join(next(iter(numbered[name])) for name in asked)


def purse(text: str, row: Row) -> str:
    purses: Counter[str] = Counter()
    for game in text.split("[Round ")[1:]:
        said = re.findall(r"^(\w+): (\{.*\})$", game, re.MULTILINE)
        gifts = {player: json.loads(reply)["give"] for player, reply in said}
        share = int(one(r"each of you gets (\d+)\.", game))
        same(share * 4, sum(gifts.values()) * 2)
        for player, gift in gifts.items():
            purses[player] += 10 - gift + share
    (first, most), (_, second), *_ = purses.most_common()
    need(most > second, "two players have the most")
    return first


def boathouse(text: str, row: Row) -> str:
    """The key goes where it is received; who is asked, or gets another key, has not got it."""
    holder = None
    for name, said in re.findall(r"^\[[^]]*\] (\w+): (.*)$", text, re.MULTILINE):
        if re.search("I have the (only )?key|boathouse key, \\w+, it lay heavy", said):
            holder = name
    in_order(text, "What came through my door is the key of the tea hut")
    return str(holder)


def evening(text: str, row: Row) -> str:
    return run_repository(text, "evening.py")


def pigeons(text: str, row: Row) -> str:
    return run_repository(text, "-m", "pigeonpost", "letters/first.txt")


def goats(text: str, row: Row) -> str:
    functions = bodies(files_of(text, "ferry/prices.py", "ferry/board.py"))
    reached = callers(functions, {"goat_fare"}, but="0")
    # The waiting room has the board at the goat pen among others.
    return ", ".join(reached[:-1]) + f" and {reached[-1]}"


def delivery(text: str, row: Row) -> str:
    ordered = {item: int(number) for item, number in re.findall(r"\| (\w[\w ]+) \| (\d+) \|", text)}
    came = json.loads(one(r"boat\n\n(\{.*?\n\})\n", text))["items"]
    return max(ordered, key=lambda item: ordered[item] - came[item]).capitalize()


def loans(text: str, row: Row) -> str:
    branch = row["question"].split("分馆")[0]
    table = csv.DictReader(text[text.index("编号") :].splitlines())
    counts = [
        int(line["册数"])
        for line in table
        if (line["分馆"], line["类别"], line["日期"][5:7]) == (branch, "童书", "05")
    ]
    need(len(counts) > 2, "loans are missing")
    return f"{sum(counts)}册"


def valley(text: str, row: Row) -> str:
    person = one(r"the teacher of (.+)’s teacher live", row["question"])
    triples = [tuple(line.split(" | ")) for line in text.splitlines()[2:]]
    need(len(triples) > 300, "triples are missing")
    for relation in ("apprentice_of", "apprentice_of", "lives_in", "lies_in_the_valley_of"):
        found = [line[2] for line in triples if line[:2] == (person, relation)]
        need(len(found) == 1, f"{person} {relation}: {found}")
        (person,) = found
    return f"In the valley of {person}"


def quoted(answer: str, *quotes: str) -> Callable[[str, Row], str]:
    """What a reader concludes from some passages, which stand in this order."""

    def conclude(text: str, row: Row) -> str:
        in_order(text, *quotes)
        return answer

    return conclude


# Words of a question, and what works its answer out.
V2: dict[str, Callable[[str, Row], str]] = {
    "mean health of the batteries": battery,
    "took the brass pelican": quoted(
        "Ivo Brandt, because his receipt was stamped earlier than it says",
        "It said 8.20",
        "he compared the clock on the wall with his watch",
    ),
    "which bridge of chapter 3": bridge,
    "Sandry night market": power_cut,
    "difference in points": papers,
    "council of Skerry": pier,
    "hears two stations": quoted(
        "To move the aerial to a tap nearer to the earth end of the coil",
        "if you hear two stations at once, move it to a tap nearer to the earth end",
    ),
    "in Velmish": velmish,
    "Of which types": types_of_questions,
    "米饭在哪里": quoted("柜子上", "米饭好了，我把它端到窗台上了", "端回来了，放在柜子上"),
    "most coins in the purse": purse,
    "key of the boathouse": boathouse,
    "python evening.py": evening,
    "goat_fare is changed": goats,
    "python -m pigeonpost": pigeons,
    "missing from the delivery": delivery,
    "多少册童书": loans,
    "In which valley": valley,
}


def check_v2_file(rows: list[Row]) -> None:
    same(len({row["_id"] for row in rows}), 18)
    for domain in v2_facts.DOMAINS.values():
        own = [row for row in rows if row["domain"] == domain]
        same(sorted(row["length"] for row in own), sorted(v2_facts.COUNTS["length"]))
        same({row["difficulty"] for row in own}, set(v2_facts.COUNTS["difficulty"]))
    letters = Counter(row["answer"] for row in rows)
    same(set(letters), set(v2_facts.CHOICES))
    need(max(letters.values()) - min(letters.values()) <= 1, "a letter is right too often")
    sizes = {
        name: [len(row["context"].encode()) for row in rows if row["length"] == name]
        for name in v2_facts.COUNTS["length"]
    }
    for short, long in (("short", "medium"), ("medium", "long")):
        need(max(sizes[short]) < min(sizes[long]), f"a {short} text is longer than a {long} one")
    same(sorted(words for words in V2 for row in rows if words in row["question"]), sorted(V2))


def check_v2(number: int, row: Row) -> None:
    """Check a question of LongBench v2; `number` counts them from 0."""
    need(not (problem := BENCHMARK_V2.row_problem(row)), problem)
    same(row["_id"], hashlib.sha256(f"longbench_v2:{number}".encode()).hexdigest()[:24])
    choices = {letter: row[f"choice_{letter}"].strip() for letter in v2_facts.CHOICES}
    need(len(set(choices.values())) == 4, "two choices are the same")
    (derive,) = (own for words, own in V2.items() if words in row["question"])
    same(derive(row["context"], row), choices[row["answer"]])


# ---------------------------------------------------------------------- LongBench Pro

Derive = Callable[[Row], list[str]]
CHINESE_DIGITS = {sign: value for value, sign in enumerate("零一二三四五六七八九")}


def chinese_number(text: str) -> int:
    """Return a number up to 99 万, such as 十二万五千, or a quarter of an hour's minutes."""
    total = part = digit = 0
    for sign in text:
        if sign in CHINESE_DIGITS:
            digit = CHINESE_DIGITS[sign]
        elif sign == "万":
            total, part, digit = (part + digit) * 10_000, 0, 0
        else:
            part += max(digit, 1) * {"十": 10, "百": 100, "千": 1000}[sign]
            digit = 0
    return total + part + digit


def labelled(pattern: str, row: Row) -> dict[str, str]:
    """Return the parts of a document by label; the pattern's groups are label and text."""
    return dict(re.findall(pattern, row["context"], re.MULTILINE))


def marked(parts: str, mark: str, label: str = "{}") -> Derive:
    """The labels of the parts in which a pattern is found, in the document's order."""
    return lambda row: [
        label.format(name) for name, text in labelled(parts, row).items() if re.search(mark, text)
    ]


def ranked(parts: str, value: Callable[[str], int]) -> Derive:
    """The labels of the parts that have a value above 0, the greatest first."""

    def derive(row: Row) -> list[str]:
        values = {name: value(text) for name, text in labelled(parts, row).items()}
        kept = {name: number for name, number in values.items() if number > 0}
        need(len(set(kept.values())) == len(kept), "two have the same rank")
        return sorted(kept, key=kept.__getitem__, reverse=True)

    return derive


def nights(text: str) -> int:
    words = {"a fortnight": 14, "a single night": 1, "nine": 9, "six": 6, "four": 4, "two": 2}
    found = re.search(r"a fortnight|a single night|(\w+)(?= nights)", text)
    return words[found[0]] if found and "great tide of 9 March" in text else 0


def waiting(text: str) -> int:
    found = re.search(r"(整整一个小时|一刻钟|[一二三四五六七八九十]+(?=分钟))", text)
    if not found or "十二路" not in text:
        return 0
    return {"整整一个小时": 60, "一刻钟": 15}.get(found[0]) or chinese_number(found[0])


def rebuilding(text: str) -> int:
    found = re.search(r"([一二三四五六七八九十百千万]+)元", text)
    return chinese_number(found[1]) if found and "重修" in text and "桥：" in text else 0


def dated(parts: str, years: dict[str, tuple[str, int]]) -> Derive:
    """The labels by year; a year is what the quoted words of a part say."""

    def derive(row: Row) -> list[str]:
        texts = labelled(parts, row)
        same(set(texts), set(years))
        for name, (quote, _) in years.items():
            need(quote in texts[name], f"{name} does not say {quote!r}")
        return sorted(years, key=lambda name: years[name][1])

    return derive


def chain(*events: tuple[str, str]) -> Derive:
    """Letters of events, the first cause first; the quotes stand in the text from last to first."""

    def derive(row: Row) -> list[str]:
        in_order(row["context"], *[quote for _, quote in events[::-1]])
        return [one(rf"(\w)\. [^\n]*{event}", row["question_nonthinking"]) for event, _ in events]

    return derive


def told(pattern: str, *quotes: str) -> Derive:
    """The group of a pattern, as an answer or as the option that names it."""

    def derive(row: Row) -> list[str]:
        in_order(row["context"], *quotes)
        said = one(pattern, row["context"])
        options = re.findall(r"^([A-F])\. (.*)$", row["question_nonthinking"], re.MULTILINE)
        return [letter for letter, text in options if text == said] if options else [said]

    return derive


def option(words: str, *quotes: str) -> Derive:
    """The only option with some words, where passages stand in the text in this order."""

    def derive(row: Row) -> list[str]:
        in_order(row["context"], *quotes)
        return [one(rf"([A-F])\. {words}\n", row["question_nonthinking"])]

    return derive


def summaries(longest: int) -> Derive:
    def derive(row: Row) -> list[str]:
        need(len(set(row["answer"])) == 3, "not three references")
        for text in row["answer"]:
            summary_is_of(text, row["context"])
            size = len(text) if row["language"] == "Chinese" else len(text.split())
            need(size <= longest, "a reference is longer than was asked for")
            need(str(longest) in row["question_nonthinking"], "another length was asked for")
        return row["answer"]

    return derive


def grouped(parts: str, groups: dict[str, str], colon: str) -> Derive:
    """One line a group: the numbers of the parts in which its pattern, and no other, is found."""

    def derive(row: Row) -> list[str]:
        own: dict[str, list[str]] = {name: [] for name in groups}
        for number, text in labelled(parts, row).items():
            (name,) = (name for name, pattern in groups.items() if re.search(pattern, text))
            own[name].append(number)
        return [f"{name}{colon}{', '.join(found)}" for name, found in own.items()]

    return derive


def counted(pattern: str) -> Derive:
    def derive(row: Row) -> list[str]:
        counts = Counter(re.findall(pattern, row["context"], re.MULTILINE))
        need(len(set(counts.values())) == len(counts), "two are equally frequent")
        return [name for name, _ in counts.most_common()]

    return derive


def contradicting(parts: str, *quotes: tuple[str, str]) -> Derive:
    def derive(row: Row) -> list[str]:
        texts = labelled(parts, row)
        return [
            "-".join(number for quote in pair for number, text in texts.items() if quote in text)
            for pair in quotes
        ]

    return derive


def without_pilot(row: Row) -> list[str]:
    entry = r"^(N\d\d)\. (\d\d):(\d\d), .*?, (\d+) metres, (pilot on board|no pilot)"
    return [
        name
        for name, hour, minute, length, pilot in re.findall(entry, row["context"], re.MULTILINE)
        if int(length) > 12
        and pilot == "no pilot"
        and not 360 <= 60 * int(hour) + int(minute) <= 1080
    ]


def overdue(row: Row) -> list[str]:
    entry = r"^(\d\d号)：读者..（(教师|普通读者)），.*?，(\d+)月(\d+)日借出，(\d+)月(\d+)日归还"
    found = re.findall(entry, row["context"], re.MULTILINE)
    return [
        name
        for name, kind, *days in found
        for taken, back in [(datetime.date(2023, *map(int, own)) for own in (days[:2], days[2:]))]
        if (back - taken).days > (45 if kind == "教师" else 30)
    ]


def misspelt(row: Row) -> list[str]:
    right = ["wicker", "beginning", "separate", "brambles", "committee", "government"]
    right.append("necessary")
    words = re.findall(r"[a-z]+", row["context"])
    need(not set(right) & set(words), "a word is spelt right, too")
    near = {word: difflib.get_close_matches(word, right, 1, 0.85) for word in words}
    return [word for word in words if near[word] and words.count(word) == 1]


def wrong_entries(row: Row) -> list[str]:
    prices = dict(
        re.findall(r"([\u4e00-\u9fff]{2,3})(\d+)元[，。]", one("价目：(.*?。)", row["context"]))
    )
    entry = r"^(账\d\d)：(\d+)月(\d+)日，(.*?)，单价(\d+)元，(\d+)件，合计(\d+)元"
    return [
        name
        for name, month, day, goods, price, amount, total in re.findall(
            entry, row["context"], re.MULTILINE
        )
        if int(day) > {4: 30, 5: 31, 6: 30}[int(month)]
        or price != prices[goods]
        or int(price) * int(amount) != int(total)
    ]


def differing(names: str, after: str, colon: str) -> Derive:
    """By how much the sources differ, where they do; each has a number after each name."""

    def derive(row: Row) -> list[str]:
        found = []
        for name in re.findall(names, row["context"], re.MULTILINE):
            own = [int(n) for n in re.findall(rf"{name}{after}(\d+)", row["context"])]
            same(len(own), 3)
            if len(set(own)) > 1:
                found.append(f"{name}{colon}{max(own) - min(own)}")
        return found

    return derive


def crossings(row: Row) -> list[str]:
    table = re.findall(r"^\| \d+ \| (\w+) \| (\w+) \| (\d+) \|$", row["context"], re.MULTILINE)
    rows = [(day, ferry, int(number)) for day, ferry, number in table]
    same(len(rows), 48)
    return [
        f"Marigold: {sum(number for _, ferry, number in rows if ferry == 'Marigold')}",
        f"Sundays: {sum(number for day, _, number in rows if day == 'Sunday')}",
        f"Heron: {max(number for _, ferry, number in rows if ferry == 'Heron')}",
    ]


def teahouse(row: Row) -> list[str]:
    found = re.findall(r"^(\d+)日，(..)(\d+)碗，每碗(\d+)元", row["context"], re.MULTILINE)
    sold = [(int(day), tea, int(bowls), int(price)) for day, tea, bowls, price in found]
    same(len(sold), 36)
    return [
        f"红茶：{sum(bowls for _, tea, bowls, _ in sold if tea == '红茶')}碗",
        f"收入：{sum(bowls * price for day, _, bowls, price in sold if day <= 3)}元",
        f"姜茶：{len({day for day, tea, *_ in sold if tea == '姜茶'})}天",
    ]


def stored(steps: str, names: str, start: int, line: str) -> Derive:
    """What is on each shelf at the end; a step's groups are from where, how many and to where."""

    def derive(row: Row) -> list[str]:
        amounts = dict.fromkeys(names, start)
        done = 0
        for step in re.finditer(steps, row["context"]):
            groups = step.groupdict()
            done += 1
            if groups.get("one"):
                one, other = groups["one"], groups["other"]
                amounts[one], amounts[other] = amounts[other], amounts[one]
                continue
            source = groups["from"] or groups["out"]
            target = groups["to"] or groups["into"]
            number = int(groups["n1"] or groups["n2"] or groups["n3"])
            if source and amounts[source] < number:
                continue
            if source:
                amounts[source] -= number
            if target:
                amounts[target] += number
        same(done, len(re.findall(r"^(?:Step \d+\.|第\d+步：)", row["context"], re.MULTILINE)))
        return [line.format(name, amount) for name, amount in amounts.items()]

    return derive


def versions(text: str, heading: str) -> list[str]:
    return re.split(heading, text, flags=re.MULTILINE)[1:]


def affected(row: Row) -> list[str]:
    first, *_, last = map(bodies, versions(row["context"], r"^### Version .*$"))
    changed = {
        name for name in last if name not in first or ast.dump(first[name]) != ast.dump(last[name])
    }
    return [name for name in callers(last, changed) if name in first]


def modules(row: Row) -> list[str]:
    first, *_, last = map(json.loads, versions(row["context"], r"^// 版本 .*$"))
    reached = changed = {
        name for name in last if first[name]["interface"] != last[name]["interface"]
    }
    while (more := {n for n, own in last.items() if reached & set(own["uses"])}) - reached:
        reached = reached | more
    return [name for name in last if name in reached - changed]


def parameters(row: Row) -> list[str]:
    before, after = map(bodies, versions(row["context"], r"^# lamp\.py .*$"))
    return [name for name in before if ast.dump(before[name].args) != ast.dump(after[name].args)]


def signatures(row: Row) -> list[str]:
    before, after = (
        {
            name: (kind, given)
            for kind, name, given in re.findall(r"^    (\S+) (\w+)\((.*)\);", text, re.MULTILINE)
        }
        for text in versions(row["context"], "^// 文件 .*$")
    )
    return [name for name in before if before[name] != after[name]]


def plurals(row: Row) -> list[str]:
    examples = re.findall(r"one (\w+), two (\w+)", row["context"])

    def change(single: str, plural: str) -> str:
        if plural.endswith(single):
            return plural.removesuffix(single) + "{}"
        stem = single if plural.startswith(single) else single[:-1]
        return ("{}" if stem == single else "{:.%d}") + plural.removeprefix(stem)

    rules = defaultdict(set)
    for single, plural in examples:
        rules[single[-1]].add(change(single, plural))
    found = []
    for word in re.search(r"words: (.*)\?", row["question_nonthinking"])[1].split(", "):
        need(word not in dict(examples), f"{word} is an example")
        (rule,) = rules[word[-1]]
        found.append(rule.replace("{:.%d}", word[:-1]).replace("{}", word))
    return found


def parcels(row: Row) -> list[str]:
    parcel = r"(\d+)公斤，(不?易碎)，寄往(..)"
    examples = re.findall(parcel + "：(.*区)", row["context"])
    heavy = min(int(weight) for weight, *_, zone in examples if zone == "重货区")

    def case(weight: str, kind: str, place: str) -> object:
        return "heavy" if int(weight) >= heavy else kind if kind == "易碎" else place

    zones = defaultdict(set)
    for *own, zone in examples:
        zones[case(*own)].add(zone)
    asked = re.findall(f"([甲乙丙丁戊])，{parcel}", row["question_nonthinking"])
    need(all(len(zones[case(*own)]) == 1 for _, *own in asked), "the examples do not tell")
    return [f"{name}：{next(iter(zones[case(*own)]))}" for name, *own in asked]


def scrambled(row: Row) -> list[str]:
    def change(word: str) -> str:
        return re.sub("[aeiou]", "*", word)

    examples = re.findall(r"^\$Q\$ (\w+)  =>  (\S+)$", row["context"], re.MULTILINE)
    need(len(examples) > 4, "examples are missing")
    for word, shown in examples:
        same(change(word), shown)
    return [change(word) for word in re.findall(r"\$Q\$ (\w+)", row["question_nonthinking"])]


def renumbered(row: Row) -> list[str]:
    examples = re.findall(r"乙类牌号(\d+)，改写为(\d+)", row["context"])
    need(len(examples) > 4, "examples are missing")
    for old, new in examples:
        same(2 * int(old) + 1, int(new))
    return [str(2 * n + 1) for n in numbers(one("乙类牌号(.*?)应", row["question_nonthinking"]))]


REPORTS, LETTERS = r"^(Report \d+)\. (.*)", r"^(来信\d+)：(.*)"
NUMBERED, SENTENCES = r"^(\d+)\. (.*)", r"\[(\d+)\] ([^\[]*)"
ZH_SENTENCES, ZH_ENTRIES = "〔(.+?)〕([^〔]*)", "^第(\\d+)条\u3000(.*)"
STEP = (
    r"Step \d+\. (?:Move (?P<n1>\d+) jars from shelf (?P<from>\w) to shelf (?P<to>\w)"
    r"|Put (?P<n2>\d+) new jars on shelf (?P<into>\w)|Sell (?P<n3>\d+) jars from shelf (?P<out>\w)"
    r"|Swap all jars of shelf (?P<one>\w) with all jars of shelf (?P<other>\w))\."
)
ZH_STEP = (
    r"第\d+步：(?:从(?P<from>.)仓搬(?P<n1>\d+)袋到(?P<to>.)仓|(?P<into>.)仓进粮(?P<n2>\d+)袋"
    r"|(?P<out>.)仓出粮(?P<n3>\d+)袋)"
)
# For each secondary task what works out the answer: in English, and in Chinese.
PRO: dict[str, tuple[Derive, Derive]] = {
    "t1_1": (ranked(REPORTS, nights), ranked(LETTERS, waiting)),
    "t1_2": (
        ranked(
            r"^(Paragraph \d+): (.*)",
            lambda text: next(
                (
                    3 - place
                    for place, quote in enumerate(
                        ("“is due to nests", "a wisp of straw in the teeth", "went back to losing")
                    )
                    if quote in text
                ),
                0,
            ),
        ),
        ranked("^(第\\d+段)\u3000(.*)", rebuilding),
    ),
    "t2_1": (
        dated(
            r"^\[(\w)\] (.*)",
            {
                "A": ("3 February 1902", 1902),
                "B": ("It is nine years since the electric lamps", 1902 + 9),
                "C": ("2 April 1887", 1887),
                "D": ("a year to the day after the flood", 1902 + 9 + 1),
                "E": ("5 November 1888", 1888),
                "F": ("1931", 1931),
                "G": ("1919: “It is resolved that the theatre be let as a picture house", 1919),
                "H": ("the five years of the lease ran out", 1919 + 5),
            },
        ),
        dated(
            "〔(.)〕(.*)",
            {
                "甲": ("一九五八年", 1958),
                "乙": ("水库修成后的第七年", 1958 + 7),
                "丙": ("砖房小学正好用了二十年", 1958 + 7 + 20),
                "丁": ("一九四九年", 1949),
                "戊": ("二〇〇三年，公路修到了村口", 2003),
                "己": ("公路修到村口的五年以前", 2003 - 5),
                "庚": ("通电两年以后", 1958 + 7 + 20 + 2),
            },
        ),
    ),
    "t2_2": (
        chain(
            ("shutter", "was a shutter: the wind had torn it"),
            ("The cat", "The cat had shot out of the bakery"),
            ("rolls burn", "rolls had turned to charcoal"),
            ("verger leaves", "the verger had run out without closing it"),
            ("goat rings", "was being rung by a goat"),
            ("mayor loses", "The mayor had lost it"),
        ),
        chain(
            ("雷雨", "是前一天夜里的雷雨刮倒的"),
            ("水渠被堵住", "水渠里没有水，是因为上游被堵住了"),
            ("水磨停转", "面粉断了，是因为水磨停了"),
            ("面粉断货", "可是面粉断了"),
            ("面馆改卖", "面馆全都改卖米粉了"),
            ("记者的文章", "登在报纸上"),
        ),
    ),
    "t3_1": (
        told(
            r"Weir Bridge followed in (\d+)",
            "The blue kiln, which burns olive stones, belongs to Ruta Selm",
            "on the Weir Bridge, on her way to her kiln",
        ),
        told(
            "他搬到(落雁镇)，", "《秋渡》是一幅长卷", "作者是陆青禾", "我只说段先生", "段怀石，生在"
        ),
    ),
    "t3_2": (
        told(r"tin marked (\w+)", "harbour office of Skerry"),
        told("末班船晚上(.*?)开", "青崖渡的船"),
    ),
    "t4_1": (summaries(80), summaries(150)),
    "t4_2": (summaries(80), summaries(120)),
    "t5_1": (
        marked(
            SENTENCES,
            "built a dam on|With the outflow|do not spawn|pipe was laid|once more",
            "[{}]",
        ),
        marked(ZH_SENTENCES, "承包期满|挖开了|长满了芦苇|第一批野鸭|超过了八千只", "第{}句"),
    ),
    "t5_2": (
        marked(r"^(R\d+): (.*)", "along the seams|along the stitching|seam .* leaked"),
        marked("^(发言\\d+)\u3000(.*)", "缺二十三名司机|多一成|辞职|乘客一直是够的"),
    ),
    "t6_1": (
        grouped(
            r"^Note (\d+): (.*)",
            {
                "Bakeries": r"\bloaf|\bloaves|\bbread",
                "Choirs": r"\bsings\b|\bsingers|choir",
                "Bird counts": "birds|Birds|bird count",
                "Chess clubs": "chess|king's pawn",
                "Orchards": "orchard",
            },
            ": ",
        ),
        grouped(
            r"^新闻(\d+)：(.*)",
            {
                "天气": "北风|雨|霜|大雾",
                "交通": "大桥|早班车|红绿灯|渡轮",
                "体育": "赛|排球|马拉松",
            },
            "：",
        ),
    ),
    "t6_2": (
        marked(
            r"^(Letter \d+): (.*)",
            "street is awake|practises the tuba|hums .* day and night|thunder past|cannot sleep",
        ),
        lambda row: [
            name
            for name, text in labelled("^(菜谱\\d+)\u3000.*?：(.*)", row).items()
            if not re.search("[煮炒蒸烤炭焖]|热油|烧开|开水里", text)
        ],
    ),
    "t6_3": (counted(r": one (\w+),"), counted("，[^，]*?(..)一件。$")),
    "t7_1": (
        contradicting(
            NUMBERED,
            ("ten beds each, and no other", "all forty-six beds"),
            ("not allowed in the house", "under its master's bed"),
            ("without boiling", "must boil its water"),
        ),
        contradicting(
            ZH_ENTRIES,
            ("小号不单卖", "可以单独购买"),
            ("其他季节砍的竹子不用", "春天砍的嫩竹"),
            ("门市部每天开门", "逢周一关门"),
        ),
    ),
    "t7_2": (without_pilot, overdue),
    "t7_3": (misspelt, wrong_entries),
    "t8_1": (
        differing(r"^\| ([a-z][a-z ]+) \| \d", '(?: \\| |": |;)', ": "),
        differing(r"([\u4e00-\u9fff]{3})\d+小时[；。]", '(?:|\t|", "工时": )', "："),
    ),
    "t8_2": (crossings, teahouse),
    "t8_3": (stored(STEP, "ABCDE", 12, "{}: {}"), stored(ZH_STEP, "东西南", 20, "{}仓：{}袋")),
    "t9_1": (affected, modules),
    "t9_2": (parameters, signatures),
    "t10_1": (plurals, parcels),
    "t10_2": (scrambled, renumbered),
    "t11_1": (
        option(
            "The accordion and the benches",
            "the mice have not left the paper alone. I can bring my accordion instead",
            "Put me down for lanterns as well",
            "The accordion comes too",
            "Benches are fine, my brother says yes",
            "Maren: I’ll take the soup",
        ),
        lambda row: (
            in_order(row["context"], "老方：值班换好了", "小于：还没有，正好还给你") or ["老方"]
        ),
    ),
    "t11_2": (
        option(
            "The round one, nine crowns",
            "The round one runs, but it strikes thirteen",
            "Thirteen is a rare fault. I’ll keep that one here until Friday",
            "nine on Friday for the other",
        ),
        told("(豆腐)放在哪里", "白盆里是藕", "藕下好了，白盆空了", "就放在空出来的那个盆里"),
    ),
}


CODES = {task.name: task.code for task in catalog_pro.SECONDARY_TASKS.values()}


def check_pro_file(rows: list[Row]) -> None:
    same(len({row["id"] for row in rows}), len(rows))
    asked = Counter((row["secondary_task"], row["language"]) for row in rows)
    same(asked, Counter((name, own) for name in CODES for own in ("English", "Chinese")))
    same(set(PRO), set(CODES.values()))
    for dimension in ("difficulty", "token_length", "contextual_requirement"):
        same({row[dimension] for row in rows}, set(catalog_pro.DIMENSIONS[dimension]))


def check_pro(number: int, row: Row) -> None:
    """Check a question of LongBench Pro; `number` counts those of a language from 0."""
    need(not (problem := BENCHMARK_PRO.row_problem(row)), problem)
    name = f"longbench_pro:{row['language']}:{number}"
    same(row["id"], hashlib.sha256(name.encode()).hexdigest())
    chinese = row["language"] == "Chinese"
    mark = "[答案]" if chinese else "[Answer]"
    for question in (row["question_nonthinking"], row["question_thinking"]):
        need(question.count(mark) == 2, f"{mark} is not asked for and shown")
        shown = question.rpartition(mark)[2].strip().splitlines()
        need(not set(shown) & set(row["answer"]), "the example gives part of the answer")
    need(len(set(row["answer"])) == len(row["answer"]), "part of the answer stands twice")
    same(PRO[CODES[row["secondary_task"]]][chinese](row), row["answer"])


# ---------------------------------------------------------------------- all of it

Check = tuple[str, Callable[..., None], tuple[Any, ...]]


def checks_of_questions(folder: Path) -> list[Check]:
    """Return for each question its name, its check, and the arguments, of which the last is it."""
    found: list[Check] = []
    for split in (*V1_TASKS, *E_TASKS):
        for number, row in enumerate(v1_rows(folder, split.dataset)):
            found.append((f"{split.dataset} {number}", check_v1, (split, number, row)))
    for number, row in enumerate(array(folder, "v2")):
        found.append((f"v2 {number}", check_v2, (number, row)))
    seen: Counter[str] = Counter()
    for row in array(folder, "pro"):
        language = row["language"]
        name = f"pro {row['secondary_task'].split()[0]} {language}"
        found.append((name, check_pro, (seen[language], row)))
        seen[language] += 1
    return found


def v1_rows(folder: Path, stem: str) -> list[Row]:
    text = (folder / "longbench_v1" / f"{stem}.jsonl").read_text(encoding="utf-8")
    return [json.loads(line) for line in text.split("\n")[:-1]]


def array(folder: Path, benchmark: str) -> list[Row]:
    name = {"v2": "longbench_v2/data.json", "pro": "longbench_pro/longbench_pro.json"}[benchmark]
    content = (folder / name).read_text(encoding="utf-8")
    rows = json.loads(content)
    need(content == json.dumps(rows, indent=1, ensure_ascii=False) + "\n", f"layout of {name}")
    return rows


def checks_of_files(folder: Path) -> list[Check]:
    plain = {split.label: v1_rows(folder, split.dataset) for split in V1_TASKS}
    found: list[Check] = [
        (split.dataset, check_v1_file, (split, plain[split.label], plain[split.label]))
        for split in V1_TASKS
    ]
    for split in E_TASKS:
        rows = v1_rows(folder, split.dataset)
        found.append((split.dataset, check_v1_file, (split, rows, plain[split.label])))
    found.append(("v2", check_v2_file, (array(folder, "v2"),)))
    found.append(("pro", check_pro_file, (array(folder, "pro"),)))
    return found


def problem(check: Check) -> str | None:
    """Make one check; return what is wrong."""
    name, function, arguments = check
    try:
        function(*arguments)
    except WrongError as error:
        return f"{name}: {error}"
    except Exception as error:  # a row that is not as a check expects it is wrong, too
        return f"{name}: {type(error).__name__}: {error}"
    return None


def digest(folder: Path) -> str:
    """Return a hash of all files of a sample and of their names."""
    lines = [
        f"{hashlib.sha256(file.read_bytes()).hexdigest()}  {file.relative_to(folder).as_posix()}\n"
        for file in sorted(folder.rglob("*"))
        if file.is_file()
    ]
    return hashlib.sha256("".join(lines).encode()).hexdigest()


def problems(folder: Path) -> list[str]:
    """Return all that is wrong with a sample; nothing only if every question was checked."""
    questions = checks_of_questions(folder)
    found = [said for check in (*questions, *checks_of_files(folder)) if (said := problem(check))]
    if len(questions) != QUESTIONS:
        found.append(f"{len(questions)} questions were checked, not {QUESTIONS}")
    if digest(folder) != SHA256:
        found.append(f"the files are not those of the sample: {digest(folder)}")
    return found
