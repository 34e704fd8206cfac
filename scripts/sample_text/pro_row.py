"""The parts of a LongBench Pro sample row that its author chooses, and its two questions."""

from collections.abc import Callable
from random import Random
from typing import NamedTuple


class ProRow(NamedTuple):
    """One question about one text.

    Attributes:
        task: code of the secondary task, such as "t1_1".
        language: "English" or "Chinese".
        difficulty: "Easy", "Moderate", "Hard" or "Extreme".
        ask: what is asked; ends in a full stop or question mark.
        output: what is to stand after the identifier; continues a sentence.
        example: lines of an example of the output, not of the answer.
    """

    task: str
    language: str
    difficulty: str
    context: str
    ask: str
    output: str
    example: list[str]
    answer: list[str]

    def question(self, thinking: bool) -> str:
        """Return the question with the format of the answer."""
        example = "\n".join(self.example)
        has_options = "\n" in self.ask
        if self.language == "Chinese":
            if thinking:
                how = f"请一步一步思考并写出思考过程，最后输出“[答案]”标识符，然后{self.output}，其后不要再写别的内容。"
            else:
                how = f"请先输出“[答案]”标识符，然后{self.output}，不要写别的内容。"
            gap = "\n\n" if has_options else ""
            return f"{self.ask}{gap}{how}\n\n输出示例：\n[答案]\n{example}"
        if thinking:
            how = f'Think step by step and write down your thoughts, then output the "[Answer]" identifier and after it {self.output}, and nothing more.'
        else:
            how = f'Output the "[Answer]" identifier first and after it {self.output}, with no other text.'
        gap = "\n\n" if has_options else " "
        return f"{self.ask}{gap}{how}\n\nAn example of the output:\n[Answer]\n{example}"


class Maker(NamedTuple):
    """Makes rows of one task in one language."""

    task: str
    language: str

    def row(
        self,
        difficulty: str,
        context: str,
        ask: str,
        output: str,
        example: list[str],
        answer: list[str],
    ) -> ProRow:
        """Return the row."""
        return ProRow(self.task, self.language, difficulty, context, ask, output, example, answer)


def english(task: str) -> Maker:
    """Return the maker of a task's English rows."""
    return Maker(task, "English")


def chinese(task: str) -> Maker:
    """Return the maker of a task's Chinese rows."""
    return Maker(task, "Chinese")


def check(is_right: bool, what: str) -> None:
    """Raise ValueError if a gold answer does not agree with its text."""
    if not is_right:
        raise ValueError(f"gold answer of the sample is wrong: {what}")


def scatter(rng: Random, texts: list[str], make: Callable[[], str], pieces: int) -> list[str]:
    """Return the texts in a random order among that many pieces of filler."""
    mixed = [*texts, *(make() for _ in range(pieces))]
    rng.shuffle(mixed)
    return mixed


def place_of(part: str, parts: list[str]) -> int:
    """Return the number, from 1, of the one element that is equal to the part."""
    check(parts.count(part) == 1, f"not exactly once: {part}")
    return parts.index(part) + 1
