"""Union ROUGE-L on distinct words: every pair of pieces, the whole table, the stated walk."""

import jieba


def pieces(text):
    out = []
    for piece in text.split("."):
        if piece == "":
            continue
        words = piece.split()
        out.append(words if words else [""])
    return out


def lcs_table(first, second):
    table = [[0] * (len(second) + 1) for _ in range(len(first) + 1)]
    for i, one in enumerate(first, 1):
        row, above = table[i], table[i - 1]
        for j, other in enumerate(second, 1):
            row[j] = above[j - 1] + 1 if one == other else max(above[j], row[j - 1])
    return table


def walk(reference, hypothesis):
    table = lcs_table(reference, hypothesis)
    i, j = len(reference), len(hypothesis)
    words = []
    while i > 0 and j > 0:
        if reference[i - 1] == hypothesis[j - 1]:
            words.append(reference[i - 1])
            i, j = i - 1, j - 1
        elif table[i - 1][j] > table[i][j - 1]:
            i -= 1
        else:
            j -= 1
    assert len(words) == table[-1][-1], "the walk must find a longest common subsequence"
    return words


def f_of(recall, precision):
    return 2 * precision * recall / (precision + recall + 1e-8)


def rouge_l(prediction, answer):
    reference, hypothesis = pieces(answer), pieces(prediction)
    if reference == [] or hypothesis == []:
        return 0.0
    union = set()
    for ref in reference:
        for hyp in hypothesis:
            union.update(walk(ref, hyp))
    recall = len(union) / len({word for piece in reference for word in piece})
    precision = len(union) / len({word for piece in hypothesis for word in piece})
    return f_of(recall, precision)


def rouge_l_zh(prediction, answer):
    return rouge_l(" ".join(jieba.cut(prediction)), " ".join(jieba.cut(answer)))
