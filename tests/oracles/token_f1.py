"""F1 of two token lists as multisets, by crossing tokens off one by one."""


def token_f1(prediction, answer):
    left = list(answer)
    common = 0
    for token in prediction:
        if token in left:
            left.remove(token)
            common += 1
    if common == 0:
        return 0.0
    # 2PR/(P+R) with P = common/len(prediction) and R = common/len(answer)
    return 2 * common / (len(prediction) + len(answer))
