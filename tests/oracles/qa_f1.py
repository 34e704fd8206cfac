"""English token F1, character by character."""

from itertools import groupby

from oracles.token_f1 import token_f1

ASCII_PUNCTUATION = {chr(code) for code in range(33, 127) if not chr(code).isalnum()}


def is_word_character(character):
    return character.isalnum() or character == "_"


def tokens(text):
    kept = [character for character in text.lower() if character not in ASCII_PUNCTUATION]
    parts = ["".join(run) for _, run in groupby(kept, key=is_word_character)]
    return "".join(" " if part in ("a", "an", "the") else part for part in parts).split()


def qa_f1(prediction, answer):
    return token_f1(tokens(prediction), tokens(answer))
