"""Writes the data of lm_eval_longbench/conformance: `python tests/conformance_writer.py`.

Official values are what examples/conformance_program.py answers, which is the package. What a
program would answer that breaks a rule is said by conformance_reference.py with that fault; where
both are equal, the row does not name the rule.
"""

import importlib.util
import itertools
import json
import random
import re
from pathlib import Path

import conformance_reference as reference
from conformance_rules import RULES
from oracles import hand_worked
from small_tokenizers import byte_level_bpe

import lm_eval_longbench as lb
from lm_eval_longbench.benchmarks.registry import find_task, tables
from lm_eval_longbench.conformance import __main__ as kit
from lm_eval_longbench.prompts.render import text_sha256
from lm_eval_longbench.shapes import leaves

ROOT = Path(__file__).resolve().parents[1]
PROGRAM = ROOT / "examples" / "conformance_program.py"
_SPEC = importlib.util.spec_from_file_location("conformance_program", PROGRAM)
program = importlib.util.module_from_spec(_SPEC)
_SPEC.loader.exec_module(program)
KINDS = {"prompt": "prompts", "cut": "cuts", "figures": "figures"}
# Counts of answers.
NOT_COMPARED = re.compile("n|unparsed|failed|.*_num|inference_iterations")
SHORT = 450  # characters of a prompt that is written out
V2_MODES = (
    "longbench_v2",
    "longbench_v2_no_context",
    "longbench_v2_cot",
    "longbench_v2_cot_answer",
)
TABLES = ("longbench_v1", "longbench_v1_e", *V2_MODES, "longbench_pro", "longbench_pro_thinking")


def kind_of(rule):
    return KINDS.get(rule.partition("-")[0], "answers")


def expected_of(sent):
    """What the package says to a row."""
    reply = program.reply(sent)
    if "prompt" in reply:
        whole = sent["kind"] == "cuts" or len(reply["prompt"]) <= SHORT
        text = {"text": reply["prompt"]} if whole else {}
        return {"sha256": text_sha256(reply["prompt"]), **text}
    if "figures" in reply:
        flat = {"/".join(place): value for place, value in leaves(reply["figures"])}
        known = {name: value for name, value in flat.items() if value is not None}
        return {"figures": {n: v for n, v in known.items() if not NOT_COMPARED.fullmatch(n)}}
    return reply


def finished(number, kind, ask):
    """A row of the kit."""
    row = {"id": f"{kind}-{number}", "kind": kind, "ask": ask}
    sent = kit.asked(row)
    row |= {"expected": expected_of(sent), "wrong": {}}
    for rule in RULES:
        if kind_of(rule) != kind:
            continue
        _, value, official = kit.told(row, reference.reply(sent, rule))
        if kit.same(value, official):
            continue
        if isinstance(value, dict):
            value = {n: value.get(n) for n in official if value.get(n) != official[n]}
        row["wrong"][rule] = value
    return row


# ---------------------------------------------------------------------- prompts

ODD_TEXT = (
    " \n\u3000A {input} and {{context}}, \\frac{1}{2}, $Q$ $C_A$ $DOC$ $COT$, "
    "café 🙂 全角。\r\nEnd \n"
)


def shortened(row, size=160):
    return {**row, "context": row["context"][:size]}


def rows_of_prompts():
    for table in TABLES:
        for name in tables()[table].tasks:
            documents = [dict(one) for one in lb.load(name, data_dir="sample")]
            several = table.startswith("longbench_v2")
            for row in map(shortened, documents[: 2 if several else 1]):
                odd = {"context": ODD_TEXT + row["context"][:40], "cot": " I think\n$Q$ (B). \n"}
                for change in ({"cot": "\nFirst, A.  "}, odd):
                    own = {**row, **change}
                    if change is odd:
                        asked = [n for n in own if n.startswith(("input", "question", "choice"))]
                        own |= {n: f"\n {own[n]}\r\n$C_B$ {{context}} \t" for n in asked}
                        if not (several or name.endswith(("lcc", "t1_1", "samsum", "qasper"))):
                            continue
                    if not name.endswith("cot_answer"):
                        own.pop("cot")
                    yield {"task": name, "row": own}


# ---------------------------------------------------------------------- cuts

TEXT = (
    "the quick brown fox jumps over the lazy dog. def f(x):\n    return {x: 'the'}\n"
    "今天天气很好，我们去公园。会议记录：预算。🙂🙃 naïve Ünïcode {input} {{x}}\n"
)
PARTS = (
    "the fox ",
    "今天天气很好，",
    "会议",
    "🙂",
    "👩\u200d👧",
    "naïve",
    "{input}",
    "\n\n",
    " ",
    "漢",
)


def tokenizer(bos):
    return byte_level_bpe([TEXT] * 3, vocabulary=330, bos=bos, clean_up_tokenization_spaces=False)


def rows_of_cuts():
    draw = random.Random(28)
    known = {"plain.json": tokenizer(bos=False), "bos.json": tokenizer(bos=True)}
    tasks = ("longbench_v1_lcc", "longbench_v1_e_lcc", "longbench_v2", "longbench_pro_t1_1")
    for task, name in itertools.product((*tasks, "longbench_pro_thinking_t1_1"), known):
        for number in range(10):
            row = dict(lb.load(task, data_dir="sample")[number % 2])
            row["context"] = "".join(draw.choice(PARTS) for _ in range(30))
            row |= {n: "漢" * 3 + "🙂 fox?" for n in row if n.startswith(("input", "question"))}
            whole = lb.prompt(task, row)
            tokens = len(known[name](whole)["input_ids"])
            limit = [tokens, tokens - 1, tokens, 16, 17][number] if number < 5 else 0
            limit = limit or draw.randint(18, tokens - 1)
            yield {"task": task, "row": row, "tokenizer": name, "limit": limit}


# ---------------------------------------------------------------------- answers

# Answers that are odd, by what they are asked for.
ODD = json.loads((ROOT / "tests" / "conformance_answers.json").read_text(encoding="utf-8"))
POLICIES = ("keep", "drop")
IS = "The correct answer is "
HAND = {
    "qa_f1": "longbench_v1_qasper", "qa_f1_zh": "longbench_v1_multifieldqa_zh",
    "retrieval": "longbench_v1_passage_retrieval_en", "count": "longbench_v1_passage_count",
    "retrieval_zh": "longbench_v1_passage_retrieval_zh", "classification": "longbench_v1_trec",
    "code_sim": "longbench_v1_lcc", "rouge_l": "longbench_v1_gov_report",
    "rouge_l_zh": "longbench_v1_dureader", "accuracy": "longbench_pro_t3_1",
    "item_f1": "longbench_pro_t5_1", "sub_em": "longbench_pro_t6_1", "ndcg": "longbench_pro_t1_1",
    "pairwise_accuracy": "longbench_pro_t2_1",
}  # fmt: skip


def judged(task, answer, golds, classes=None, policy="keep"):
    own = find_task(task)
    ask = {"task": task, "answer": answer, "golds": golds, "reasoning": policy}
    ask |= {"all_classes": classes} if classes is not None else {}
    pro = own.table.startswith("longbench_pro")
    return ask | ({"secondary_task": own.label} if pro else {"dataset": own.label})


def letters():
    draw = random.Random(28)
    pieces = (
        IS,
        IS,
        "(A)",
        "(",
        ")",
        "B",
        "C",
        "(D)",
        "E",
        "*",
        " ",
        "\n",
        "The",
        "（",
        "x",
        "or ",
    )
    mixed = ["".join(draw.choice(pieces) for _ in range(draw.randint(2, 9))) for _ in range(90)]
    plain = [(text, "keep") for text in dict.fromkeys((*ODD["letters"], *mixed))]
    for text, policy in (*plain, *itertools.product(ODD["letters with reasoning"], POLICIES)):
        yield {"task": "longbench_v2", "answer": text, "reasoning": policy}


def rows_of_answers():
    yield from letters()
    for name, task in HAND.items():
        for case in hand_worked.METRICS[name][3].values():
            answer, gold, *classes = case[:-1]
            if classes == [[]]:  # no row of the data
                continue
            yield judged(task, answer, gold if isinstance(gold, list) else [gold], *classes)
    for task, own in (ODD["few-shot"] | ODD["other tasks of v1"]).items():
        golds = own["golds"]
        yield from (judged(task, answer, golds, own["classes"]) for answer in own["answers"])
        if task in ODD["few-shot"]:
            continue
        for before, policy in itertools.product(("<think>x y</think>\n", "x</think>"), POLICIES):
            yield judged(task, before + golds[0], golds, policy=policy)
    golds = ODD["Pro"]["golds"]
    for code in ("t1_1", "t2_1", "t3_1", "t5_1", "t6_1", "t6_2"):
        task = f"longbench_pro_{code}"
        yield from (judged(task, answer, golds) for answer in ODD["Pro"]["answers"])
        for answer, policy in itertools.product(ODD["Pro"]["with reasoning"], POLICIES):
            yield judged(task, answer, golds, policy=policy)


# ---------------------------------------------------------------------- figures


def v1_tables():
    draw = random.Random(28)
    names = [task.label for task in tables()["longbench_v1"].tasks.values()]
    values = (0.0, 0.25, 1 / 3, 0.5, 2 / 3, 1.0)
    yield {"passage_count": [1.0] * 27 + [0.0] * 172 + [0.25]}
    for _ in range(3):
        yield {name: [draw.choice(values) for _ in range(draw.randint(3, 7))] for name in names}
    yield {name: [1 / 3, 2 / 3, draw.choice(values)] for name in names if name != "qasper"}
    yield {"lcc": [0.12, 0.38, 0.99], "trec": [0.5]}


def e_tables():
    draw = random.Random(28)
    for _ in range(4):
        lengths = [3999, 4000, 4001, 7999, 8000, 8001, *(draw.randint(1, 12000) for _ in range(20))]
        yield {
            name: [[one, draw.randint(0, 4) / 4] for one in lengths] for name in ("qasper", "trec")
        }
    found = 0
    while found < 4:  # where numpy's rounding and Python's differ
        own = {"lcc": [[100, draw.randint(0, 100) / 100] for _ in range(draw.randint(30, 80))]}
        asked = {"table": "longbench_v1_e", "scores": own}
        if reference.figures(asked, "figures-e-rounding") != reference.figures(asked, None):
            found += 1
            yield own


def v2_tables():
    draw = random.Random(28)
    domains = ("Single-Document QA", "Code Repository Understanding")
    for number in (80, 24, 25, 37, 60):
        yield [
            {
                "id": f"q{n}",
                "domain": draw.choice(domains),
                "difficulty": draw.choice(("easy", "hard")),
                "length": draw.choice(("short", "medium", "long")),
                "letter": None
                if (failed := draw.random() < 0.1)
                else draw.choice("ABCDBB")
                if draw.random() < 0.85
                else None,
                "gold": "B",
                "failed": failed,
            }
            for n in range(number)
        ]
    draw = random.Random(6)
    yield [
        {"id": f"q{n}", "domain": domains[0], "difficulty": "easy" if n % 2 else "hard",
         "length": "short", "letter": "B" if n < 23 else "A", "gold": "B", "failed": False}
        for n in range(80)
    ]  # fmt: skip


def pro_tables():
    draw = random.Random(28)
    tasks = ("T1. Retrieval & Ranking", "T4. Summarization & Synthesis", "T3. Evidence-Grounded QA")
    for number in (9, 12, 15, 6):
        rows = []
        for question in range(number):
            own = {
                "token_length": draw.choice(("8k", "256k")),
                "contextual_requirement": draw.choice(("Full", "Partial")),
                "difficulty": draw.choice(("Easy", "Extreme")),
                "primary_task": tasks[question % 3],
                "language": draw.choice(("English", "Chinese")),
            }
            for run in (1, 2, 3):
                score = draw.choice((0.0, 0.5, 0.65, 0.66, 1.0))
                if number != 12 or question % 4 or run != 2:
                    rows.append({"id": f"q{question}", "bon_idx": run, **own, "metric": score})
        yield rows


def rows_of_figures():
    yield from ({"table": "longbench_v1", "scores": scores} for scores in v1_tables())
    yield from ({"table": "longbench_v1_e", "scores": scores} for scores in e_tables())
    yield from ({"table": "longbench_v2", "answers": answers} for answers in v2_tables())
    yield from ({"table": "longbench_pro", "rows": rows} for rows in pro_tables())


# ---------------------------------------------------------------------- files


def files():
    """The text of each file of the kit by its name in its folder."""
    makers = {
        "prompts": rows_of_prompts,
        "cuts": rows_of_cuts,
        "answers": rows_of_answers,
        "figures": rows_of_figures,
    }
    found = {
        f"tokenizers/{name}.json": tokenizer(bos=name == "bos").backend_tokenizer.to_str()
        for name in ("plain", "bos")
    }
    for name, text in found.items():  # rows are made with the tokenizers that are in the kit
        (kit.FOLDER / name).parent.mkdir(exist_ok=True)
        if not (kit.FOLDER / name).exists():
            (kit.FOLDER / name).write_text(text, encoding="utf-8")
    said = [{"rule": rule, "says": says} for rule, says in RULES.items()]
    found["rules.jsonl"] = written(said)
    for kind, maker in makers.items():
        rows = {json.dumps(ask, sort_keys=True): ask for ask in maker()}
        found[f"{kind}.jsonl"] = written(
            finished(number, kind, ask) for number, ask in enumerate(rows.values(), 1)
        )
    return found


def rounded(value):
    """What stays the same on other machines, whose logarithms may differ in the last bit."""
    if isinstance(value, dict):
        return {name: rounded(own) for name, own in value.items()}
    return round(value, 12) if isinstance(value, float) else value


def written(rows):
    lines = (json.dumps(rounded(row), ensure_ascii=False, separators=(",", ":")) for row in rows)
    return "".join(f"{line}\n" for line in lines).replace("\u2028", "\\u2028")


if __name__ == "__main__":
    for name, text in files().items():
        (kit.FOLDER / name).write_text(text, encoding="utf-8", newline="\n")
