"""Similarity of the first line of code: with difflib, and for short texts without it."""

import difflib


def first_line(prediction):
    while prediction[:1] == "\n":
        prediction = prediction[1:]
    for line in prediction.split("\n"):
        if "`" in line or "#" in line or "//" in line:
            continue
        return line
    return ""


def code_sim(prediction, answer):
    line = first_line(prediction)
    if line == answer:
        return 1.0
    if line == "" or answer == "":
        return 0.0
    return round(100 * difflib.SequenceMatcher(None, line, answer).ratio()) / 100


def matched(first, second):
    """Characters in matching blocks: the longest one, earliest in `first`, then in `second`;
    the same again on both sides of it. What difflib does below 200 characters."""
    for size in range(min(len(first), len(second)), 0, -1):
        for i in range(len(first) - size + 1):
            j = second.find(first[i : i + size])
            if j >= 0:
                return (
                    matched(first[:i], second[:j])
                    + size
                    + matched(first[i + size :], second[j + size :])
                )
    return 0


def code_sim_by_blocks(prediction, answer):
    line = first_line(prediction)
    assert len(answer) < 200, "longer answers need the autojunk rule"
    if line == answer:
        return 1.0
    return round(100 * (2.0 * matched(line, answer) / (len(line) + len(answer)))) / 100
