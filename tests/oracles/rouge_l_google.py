"""Sentence-level rougeL: ASCII letters and digits in lower case, length of the longest match."""

from itertools import groupby

from oracles.rouge_l import lcs_table

KEPT = set("abcdefghijklmnopqrstuvwxyz0123456789")


def tokens(text):
    return ["".join(run) for kept, run in groupby(text.lower(), key=KEPT.__contains__) if kept]


def rouge_l_google(prediction, answer):
    hypothesis, reference = tokens(prediction), tokens(answer)
    common = lcs_table(reference, hypothesis)[-1][-1]
    return 2 * common / (len(hypothesis) + len(reference)) if common else 0.0
