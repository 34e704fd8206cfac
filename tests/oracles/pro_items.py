"""Items of LongBench Pro, and the metrics on them, read off the definitions."""

import itertools
import math


def area(text):
    for mark in ("[Answer]", "[答案]"):
        if mark in text:
            return text.split(mark)[-1].strip()
    return text.strip()


def normalized(text):
    words, word = [], ""
    for character in text.lower() + " ":
        if character.isspace():
            words += [word] if word else []
            word = ""
        else:
            word += character
    return " ".join(words)


def predicted(text):
    return [normalized(line) for line in area(text).split("\n")]


def golden(answers):
    return [normalized(answer) for answer in answers]


def last_index(items, item):
    return max(position for position, other in enumerate(items) if other == item)


def accuracy(prediction, answers):
    return 1.0 if answers and predicted(prediction)[0] == golden(answers)[0] else 0.0


def item_f1(prediction, answers):
    found, gold = set(predicted(prediction)), set(golden(answers))
    # 2PR/(P+R) with P = common/found and R = common/gold
    return 2 * len(found & gold) / (len(found) + len(gold))


def sub_em(prediction, answers):
    gold = golden(answers)
    if not gold:
        return 0.0
    return len([item for item in gold if item in predicted(prediction)]) / len(gold)


def run_and_gains(prediction, answers):
    """What trec_eval is given: a similarity for each item, higher is earlier; and the gains."""
    items, gold = predicted(prediction), golden(answers)
    similarity = {item: float(last_index(items, item)) for item in items}
    top = len(items)
    similarity = {item: top - position for item, position in similarity.items()}
    gains = {item: len(gold) - last_index(gold, item) for item in gold}
    return similarity, gains


def ndcg(prediction, answers):
    similarity, gains = run_and_gains(prediction, answers)
    cutoff = len(answers)
    if not cutoff:
        return 0.0
    dcg = 0.0
    for item, gain in gains.items():
        if item in similarity:
            rank = 1 + sum(other > similarity[item] for other in similarity.values())
            dcg += gain / math.log2(rank + 1) if rank <= cutoff else 0.0
    best = sorted(gains.values(), reverse=True)
    return dcg / sum(gain / math.log2(rank + 1) for rank, gain in enumerate(best, 1))


def pairwise_accuracy(prediction, answers):
    items, gold = predicted(prediction), golden(answers)
    if len(items) < 2 or len(gold) < 2:
        return 0.0
    right = 0
    for first, second in itertools.combinations(gold, 2):
        if first in items and second in items:
            right += last_index(items, first) < last_index(items, second)
    return right / len(list(itertools.combinations(items, 2)))
