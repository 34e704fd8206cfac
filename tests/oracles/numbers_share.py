"""Share of the numbers of a text that equal a gold number as strings."""

from itertools import groupby


def numbers(text):
    return ["".join(run) for digit, run in groupby(text, key=str.isdecimal) if digit]


def count(prediction, answer):
    found = numbers(prediction)
    return sum(number == answer for number in found) / len(found) if found else 0.0


def after(word, answer):
    """The first number that directly follows `word`; None without one."""
    for start in range(len(answer)):
        rest = answer[start:]
        if rest.startswith(word) and rest[len(word) : len(word) + 1].isdecimal():
            return numbers(rest[len(word) :])[0]
    return None


def retrieval(prediction, answer, word="Paragraph "):
    gold = after(word, answer)
    return 0.0 if gold is None else count(prediction, gold)


def retrieval_zh(prediction, answer):
    return retrieval(prediction, answer, "段落")
