"""A program that answers the rows of the conformance kit with the slow oracles, as officially or
with one fault planted. It takes nothing from the package but the official templates and which task
has which metric.

    python tests/conformance_reference.py [RULE]
"""

import functools
import json
import re
import sys
import unicodedata
from difflib import SequenceMatcher
from statistics import fmean

import jieba
import numpy as np
from oracles import classification as labels
from oracles import code_sim, numbers_share, pro_summary, qa_f1, qa_f1_zh, reasoning
from oracles import rouge_l as rouge
from oracles.rouge_l_google import rouge_l_google
from oracles.token_f1 import token_f1

from lm_eval_longbench.benchmarks.registry import find_task, tables

# ---------------------------------------------------------------------- prompts

MARKS = {"$DOC$": "context", "$Q$": "question"} | {f"$C_{a}$": f"choice_{a}" for a in "ABCD"}


def v2_prompt(task, row, fault):
    if fault == "prompt-v2-document-kept" and task.table == "longbench_v2_no_context":
        task = find_task("longbench_v2")
    text, fields = task.prompt, dict(MARKS)
    if fault == "prompt-v2-second-pass-document":
        text = text.replace("The text is too long and omitted here.", "$DOC$")
    if fault == "prompt-v2-apostrophe":
        text = text.replace("’", "'")
    if "$DOC$" not in text:
        del fields["$DOC$"]
    if "$COT$" in text:
        fields["$COT$"] = "cot"

    def value(mark):
        kept = fault == "prompt-v2-not-stripped" and mark != "$COT$"
        kept |= fault == "prompt-v2-reasoning-not-stripped" and mark == "$COT$"
        return row[fields[mark]] if kept else row[fields[mark]].strip()

    if fault == "prompt-v2-at-once":
        return re.sub("|".join(map(re.escape, fields)), lambda found: value(found[0]), text)
    for mark in fields:
        text = text.replace(mark, value(mark))
    return text


def pro_prompt(task, row, fault):
    thinking = task.table.endswith("thinking") != (fault == "prompt-pro-other-question")
    question = row["question_thinking" if thinking else "question_nonthinking"]
    parts = [row["context"], question]
    if fault == "prompt-pro-question-first":
        parts.reverse()
    text = ("\n\n" if fault == "prompt-pro-one-blank-line" else "\n\n\n\n").join(parts)
    return text if fault == "prompt-pro-not-stripped" else text.strip()


def v1_prompt(task, row, fault):
    if fault == "prompt-v1-in-turn":
        text = task.prompt.replace("{{context}}", row["context"])
        return text.replace("{{input}}", row["input"]).replace("{input}", row["input"])
    stripped = fault == "prompt-v1-fields-stripped"
    pieces = re.split(r"\{\{(\w+)\}\}", task.prompt)
    pieces[1::2] = [row[name].strip() if stripped else row[name] for name in pieces[1::2]]
    return "".join(pieces)


def whole(asked, fault):
    task, row = find_task(asked["task"]), asked["row"]
    if fault == "prompt-line-ends":
        plain = {name: re.sub("\r\n?", "\n", row[name]) for name in row if type(row[name]) is str}
        row = {**row, **plain}
    kinds = {"longbench_v1": v1_prompt, "longbench_v2": v2_prompt, "longbench_pro": pro_prompt}
    make = next(make for name, make in kinds.items() if task.table.startswith(name))
    text = make(task, row, fault)
    return text.rstrip() if fault == "prompt-end-stripped" else text


def prompts(asked, fault):
    return {"prompt": whole(asked, fault)}


# ---------------------------------------------------------------------- cuts


@functools.cache
def tokenizer_at(path):
    from tokenizers import Tokenizer

    return Tokenizer.from_file(path)


def cut(text, tokenizer, limit, apart, fault):
    special = fault != "cut-special-not-counted"
    ids = tokenizer.encode(text, add_special_tokens=special).ids
    if len(ids) < limit or (len(ids) == limit and fault != "cut-at-limit"):
        return text
    if fault == "cut-left":
        return tokenizer.decode(ids[-limit:])
    if fault == "cut-right":
        return tokenizer.decode(ids[:limit])
    skip, half = fault != "cut-special-shown", limit // 2
    head, tail = half, half if apart else limit - half
    if apart:
        tail += limit % 2 if fault == "cut-v1-odd" else 0
        apart = fault != "cut-v1-together"
    else:
        tail -= limit % 2 if fault in ("cut-ends-odd", "cut-ends-head") else 0
        head += limit % 2 if fault == "cut-ends-head" else 0
        apart = fault == "cut-ends-apart"
    parts = [ids[:head], ids[len(ids) - tail :]]
    parts = parts if apart else [parts[0] + parts[1]]
    return "".join(tokenizer.decode(part, skip_special_tokens=skip) for part in parts)


def cuts(asked, fault):
    tokenizer, limit = tokenizer_at(asked["tokenizer"]), asked["limit"]
    apart, text = asked["task"].startswith("longbench_v1"), whole(asked, None)
    if fault == "cut-characters":
        half = limit // 2
        return {"prompt": text if len(text) <= limit else text[:half] + text[-half:]}
    if fault == "cut-document":
        bare = {**asked, "row": {**asked["row"], "context": ""}}
        limit -= len(tokenizer.encode(whole(bare, None)).ids)
        short = cut(asked["row"]["context"], tokenizer, limit, apart, None) if limit > 1 else ""
        return {"prompt": whole({**asked, "row": {**asked["row"], "context": short}}, None)}
    return {"prompt": cut(text, tokenizer, limit, apart, fault)}


# ---------------------------------------------------------------------- answers

WORDS = "The correct answer is "


def letter(text, fault):
    plain = text if fault == "letter-stars" else text.replace("*", "")
    if fault == "letter-full-width":
        plain = unicodedata.normalize("NFKC", plain)
    found = []
    forms = [rf"{WORDS}\(([A-D])\)", rf"{WORDS}([A-D])"]
    if fault == "letter-whole-word":
        forms[1] += r"\b"
    if fault == "letter-between":
        forms = [
            r"The correct answer is\s*:?\s*\(\s*([A-D])\s*\)",
            r"The correct answer is\s*:?\s*([A-D])",
        ]
    if fault == "letter-no-brackets-needed":
        forms = [rf"{WORDS}\(?([A-D])\)?"]
    if fault == "letter-brackets-only":
        forms = forms[:1]
    for form in forms:
        found = re.findall(form, plain, re.I if fault == "letter-case" else 0)
        if found:
            break
    if fault == "letter-last" and found:
        return found[-1]
    if found:
        return found[0].upper()
    lone = re.search(r"\b([A-D])\b", plain) if fault == "letter-lone" else None
    return lone[1] if lone else None


def qa(prediction, gold, fault):
    def tokens(text):
        text = text if fault == "qa-case" else text.lower()
        if fault == "qa-punctuation":
            kept = text
        else:
            kept = "".join(c for c in text if c not in qa_f1.ASCII_PUNCTUATION)
        return (
            kept.split() if fault == "qa-articles" else re.sub(r"\b(a|an|the)\b", " ", kept).split()
        )

    ours, theirs = tokens(prediction), tokens(gold)
    if fault == "qa-sets":
        ours, theirs = sorted(set(ours)), sorted(set(theirs))
    if fault == "qa-exact":
        return float(ours == theirs)
    return token_f1(ours, theirs)


def qa_zh(prediction, gold, fault):
    def tokens(text):
        if fault == "qa-zh-characters":
            return qa_f1_zh_characters(text)
        if fault == "qa-zh-punctuation":
            return [t for c in jieba.cut(text.lower()) if (t := c.strip())]
        return qa_f1_zh.tokens(text)

    return token_f1(tokens(prediction), tokens(gold))


def qa_f1_zh_characters(text):
    return [c for c in text.lower() if c not in qa_f1_zh.DROPPED and not c.isspace()]


def numbers(prediction, gold, fault):
    found = numbers_share.numbers(prediction)
    if gold is None:
        return 0.0
    if fault == "numbers-first":
        return float(found[:1] == [gold])
    if fault == "numbers-any":
        return float(gold in found)
    if fault == "numbers-values":
        same = [int(one) == int(gold) for one in found] if gold.isdecimal() else []
        return sum(same) / len(same) if same else 0.0
    return numbers_share.count(prediction, gold)


def classes(prediction, gold, all_classes, fault):
    found = [name for name in all_classes if name in prediction]
    if fault == "class-any":
        return float(gold in found)
    if fault == "class-exact":
        return float(prediction.strip() == gold)
    if fault == "class-filter":
        left = [name for name in found if name == gold or name not in gold]
        return 1 / len(left) if gold in left else 0.0
    return labels.classification(prediction, gold, all_classes)


def code(prediction, gold, fault):
    line = code_sim.first_line(prediction)
    if fault == "code-comments":
        line = prediction.lstrip("\n").split("\n")[0]
    if fault == "code-whole":
        line = prediction
    if line == gold or "" in (line, gold):
        return float(line == gold)
    ratio = SequenceMatcher(None, line, gold, autojunk=fault != "code-autojunk").ratio()
    return ratio if fault == "code-not-rounded" else round(100 * ratio) / 100


def v1_metric(name, prediction, gold, all_classes, fault):
    if name == "classification":
        return classes(prediction, gold, all_classes or [], fault)
    if name == "rouge_l" and fault == "rouge-google":
        return rouge_l_google(prediction, gold)
    if name == "rouge_l_zh" and fault == "rouge-zh-not-cut":
        return rouge.rouge_l(prediction, gold)
    if name in ("count", "retrieval", "retrieval_zh"):
        word = {"retrieval": "Paragraph ", "retrieval_zh": "段落"}.get(name)
        return numbers(prediction, numbers_share.after(word, gold) if word else gold, fault)
    own = {"qa_f1": qa, "qa_f1_zh": qa_zh, "code_sim": code}.get(name)
    if own:
        return own(prediction, gold, fault)
    return getattr(rouge, name)(prediction, gold)


def v1_score(task, asked, text, fault):
    if task.first_line if fault != "v1-first-line-everywhere" else task.metric != "code_sim":
        if fault == "v1-first-line-missing" and task.first_line:
            pass
        elif fault == "v1-newlines-kept":
            text = text.split("\n")[0]
        elif fault == "v1-stripped":
            text = text.strip().split("\n")[0].strip()
        else:
            text = text.lstrip("\n").split("\n")[0]
    elif fault == "v1-stripped":
        text = text.strip()
    golds = asked["golds"][:1] if fault == "v1-first-gold" else asked["golds"]
    scores = [v1_metric(task.metric, text, one, asked.get("all_classes"), fault) for one in golds]
    return fmean(scores) if fault == "v1-mean-gold" else max(scores)


def pro_area(text, fault):
    if fault == "pro-mark-case":
        text = re.sub(r"\[answer\]", "[Answer]", text, flags=re.I)
    marks = [mark for mark in ("[Answer]", "[答案]") if mark in text]
    if not marks:
        return "" if fault == "pro-mark-needed" else text
    if fault == "pro-later-mark":
        marks.sort(key=text.rfind, reverse=True)
    if fault == "pro-first-mark":
        return text.split(marks[0], 1)[1]
    return text.split(marks[0])[-1]


def pro_score(task, asked, text, fault):
    def clean(item):
        return " ".join((item if fault == "pro-case" else item.lower()).split())

    area = pro_area(text, fault).strip()
    lines = re.split("[\n,]", area) if fault == "pro-commas" else area.split("\n")
    items = [clean(line) for line in lines]
    if fault == "pro-empty-lines":
        items = [item for item in items if item]
    golds = [clean(gold) for gold in asked["golds"]]
    if not text or (fault == "pro-mark-needed" and not area) or not golds:
        return 0.0
    if task.metric == "accuracy":
        return float(golds[0] in items if fault == "pro-accuracy-any" else items[:1] == golds[:1])
    if task.metric == "f1":
        if fault == "pro-f1-repeats":
            return token_f1(items, golds)
        return 2 * len(set(items) & set(golds)) / (len(set(items)) + len(set(golds)))
    if task.metric == "sub_em":
        inside = fault == "pro-subem-inside"
        return fmean(any(g in i if inside else g == i for i in items) for g in golds)
    first = fault == "pro-first-place"
    order = list(dict.fromkeys(items if first else items[::-1]))
    order = order if first else order[::-1]
    if task.metric == "ndcg":
        gains = {gold: len(golds) - place for place, gold in enumerate(golds)}
        if fault == "pro-ndcg-exponential":
            gains = {gold: 2**gain - 1 for gold, gain in gains.items()}
        if fault == "pro-ndcg-binary":
            gains = dict.fromkeys(gains, 1)

        def dcg(values):
            return sum(value / np.log2(rank + 2) for rank, value in enumerate(values))

        found = [gains.get(item, 0) for item in order]
        found = found if fault == "pro-ndcg-all-ranks" else found[: len(golds)]
        return float(dcg(found) / dcg(sorted(gains.values(), reverse=True)))
    places = {item: place for place, item in enumerate(order)}
    number = len(golds) if fault == "pro-pairs-of-gold" else len(items)
    if len(items) < 2 or len(golds) < 2:
        return 0.0
    pairs = [(a, b) for i, a in enumerate(golds) for b in golds[i + 1 :]]
    right = sum(a in places and b in places and places[a] < places[b] for a, b in pairs)
    score = right / (number * (number - 1) / 2)
    return score if score <= 1 or fault == "pro-above-one" else 0.0


def answers(asked, fault):
    text, task = asked["answer"], find_task(asked["task"])
    dropped = asked["reasoning"] == "drop"
    dropped = {"think-dropped": True, "think-kept": False}.get(fault, dropped)
    text = reasoning.strip_reasoning(text) if dropped else text
    if task.metric == "letter":
        return {"letter": letter(text, fault)}
    own = pro_score if task.table.startswith("longbench_pro") else v1_score
    return {"score": own(task, asked, text, fault)}


# ---------------------------------------------------------------------- figures


def percent(scores, digits, divided):
    total = 0.0
    for score in scores:
        total += score
    return round(100 * (total / len(scores)) if divided else 100 * total / len(scores), digits)


def v1_figures(asked, fault):
    scores = asked["scores"]
    rounded = {
        name: percent(own, 2, fault == "figures-v1-divided-first") for name, own in scores.items()
    }
    means = {name: 100 * fmean(own) for name, own in scores.items()}
    if fault == "figures-v1-rounded-first":
        means = rounded
    found = {"datasets": rounded, "headline": {}}
    own = tables()["longbench_v1"].tasks.values()
    for language, title in (("en", "English"), ("zh", "Chinese")):
        with_code = ["", language] if fault == "figures-v1-without-code" else ["", "code", language]
        parts = {}
        for task in own:
            code = task.category.lower().startswith("code")
            if ("code" if code else task.language) in with_code:
                parts.setdefault(task.category, []).append(means.get(task.label))
        if fault == "figures-v1-datasets":
            parts = {"": [one for values in parts.values() for one in values]}
        if all(None not in values for values in parts.values()):
            found["headline"][title] = fmean(map(fmean, parts.values()))
    return found


def e_figures(asked, fault):
    def name(length):
        if fault == "figures-e-edges":
            return "0-4k" if length <= 4000 else "4-8k" if length <= 8000 else "8k+"
        return "0-4k" if length < 4000 else "4-8k" if length < 8000 else "8k+"

    def mean(values):
        share = 100 * np.mean(values)
        return float(round(float(share) if fault == "figures-e-rounding" else share, 2))

    found = {}
    for dataset, pairs in asked["scores"].items():
        buckets = {}
        for length, score in pairs:
            buckets.setdefault(name(length), []).append(score)
        found[dataset] = {one: mean(values) for one, values in buckets.items()}
    return found


def v2_figures(asked, fault):
    rows = [r for r in asked["answers"] if not r["failed"] or fault == "figures-v2-failed-counted"]

    def block(unparsed):
        def worth(row):
            return unparsed if row["letter"] is None else float(row["letter"] == row["gold"])

        kept = [r for r in rows if r["letter"] or fault != "figures-v2-unparsed-left-out"]
        groups = {"overall": kept}
        for row in kept:
            for one in (row["difficulty"], row["length"]):
                groups.setdefault(one, []).append(row)
            groups.setdefault(f"domain/{row['domain']}", []).append(row)
        divided = fault == "figures-v2-divided-first"
        own = {name: percent([worth(r) for r in g], 1, divided) for name, g in groups.items()}
        if fault == "figures-v2-mean-of-groups":
            own["overall"] = round(fmean([own["easy"], own["hard"]]), 1)
        return own

    plain, compensated = block(0.25 if fault == "figures-v2-compensated" else 0.0), block(0.25)
    return plain | {
        "compensated": {name: own for name, own in compensated.items() if "/" not in name}
    }


def pro_figures(asked, fault):
    rows, runs = asked["rows"], max(row["bon_idx"] for row in asked["rows"])
    values = {
        name: list(dict.fromkeys(row[name] for row in rows)) for name in pro_summary.DIMENSIONS
    }
    if fault == "figures-pro-pass-summaries":
        rows = [{**r, "primary_task": "", "was": r["primary_task"]} for r in rows]
    found = pro_summary.summary(rows, runs, values)
    if fault == "figures-pro-pass-summaries":
        rows = [{**r, "primary_task": r["was"]} for r in rows]
        found = pro_summary.summary(rows, runs, values) | {
            name: found[name] for name in found if name.startswith("pass@")
        }
    if fault == "figures-pro-samples":
        found["average_overall_metric"] = fmean(row["metric"] for row in rows)
    best = {}
    for row in rows:
        best.setdefault(row["id"], []).append(row)
    for run in range(1, runs + 1):
        own = [[r["metric"] for r in b if r["bon_idx"] <= run] for b in best.values()]
        if fault == "figures-pro-best-of-means":
            found[f"BoN-{run}"]["overall_metric"] = max(
                found[f"inference_iteration_{one}_overall_metric"] for one in range(1, run + 1)
            )
        if fault == "figures-pro-pass-mean":
            passed = [
                [
                    r["metric"] > 0.65
                    if r["primary_task"] == pro_summary.SUMMARY
                    else r["metric"] == 1
                    for r in b
                    if r["bon_idx"] <= run
                ]
                for b in best.values()
            ]
            found[f"pass@{run}"] = fmean(fmean(one) for one in passed if one)
        if fault == "figures-pro-pass-bound":
            high = [
                max(o) >= (0.65 if b[0]["primary_task"] == pro_summary.SUMMARY else 1)
                for b, o in zip(best.values(), own, strict=True)
                if o
            ]
            found[f"pass@{run}"] = fmean(high)
    return {name: value for name, value in found.items() if not name.endswith(("_num", "ations"))}


def figures(asked, fault):
    ways = {
        "longbench_v1": v1_figures,
        "longbench_v1_e": e_figures,
        "longbench_v2": v2_figures,
        "longbench_pro": pro_figures,
    }
    return {"figures": ways[asked["table"]](asked, fault)}


def reply(row, fault=None):
    kinds = {"prompts": prompts, "cuts": cuts, "answers": answers, "figures": figures}
    return kinds[row["kind"]](row, fault)


def main():
    fault = sys.argv[1] if len(sys.argv) > 1 else None
    jieba.setLogLevel("ERROR")
    for line in sys.stdin:
        sys.stdout.write(json.dumps(reply(json.loads(line), fault)) + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
