"""Chinese token F1, character by character."""

import jieba

from oracles.qa_f1 import ASCII_PUNCTUATION
from oracles.token_f1 import token_f1

# spec/zh_punctuation.json as numbers: ranges are inclusive
CODE_POINTS = [
    point
    for first, last in [
        (0xFF01, 0xFF0D),
        (0xFF0F, 0xFF0F),
        (0xFF1A, 0xFF20),
        (0xFF3B, 0xFF40),
        (0xFF5B, 0xFF64),
        (0x3001, 0x3003),
        (0x300B, 0x3011),
        (0x3014, 0x301F),
        (0x3030, 0x3030),
        (0x303E, 0x303F),
        (0x2013, 0x2014),
        (0x2018, 0x2019),
        (0x201B, 0x201F),
        (0x2026, 0x2027),
        (0xFE4F, 0xFE4F),
        (0x002E, 0x002E),
    ]
    for point in range(first, last + 1)
]
DROPPED = ASCII_PUNCTUATION | {chr(point) for point in CODE_POINTS}


def tokens(text):
    bare = (
        "".join(c for c in token.lower() if c not in DROPPED and not c.isspace())
        for token in jieba.cut(text)
    )
    return [token for token in bare if token != ""]


def qa_f1_zh(prediction, answer):
    return token_f1(tokens(prediction), tokens(answer))
