"""Anatomy of a prompt: chat markup, paragraphs, instructions around the material."""

from __future__ import annotations

import re

# How a chat template opens the model's turn: tags, bracket marks, a role name.
_CLOSING_MARK = re.compile(
    r"(?:<[^<>\s]{1,40}>"
    r"|\[/?[A-Z_]{2,20}\]"
    r"|#{1,4} ?(?:Response|Assistant|ASSISTANT):?"
    r"|(?:Assistant|ASSISTANT):"
    r"|(?<=[\n>])(?:assistant|model))\Z"
)
_MOST_MARKS = 20
_LONGEST_MARK = 60  # characters

# How it opens the user's turn. White space belongs to the mark before it: were it a mark of its
# own, a line of spaces could be read in exponentially many ways.
_MARKUP = (
    r"\s*(?:(?:<[^<>\s]{1,40}>(?:system\b|user\b)?|\[/?[A-Z_]{2,20}\]|USER:|User:|Human:)\s*){0,20}"
)
_OPENING = re.compile(_MARKUP)
_INSTRUCTION = re.compile(
    rf"{_MARKUP}(?:\Z|(?:You are|You will|Now|Answer|Read|Please|Here (?:is|are)|The following"
    r"|Summari[sz]e|Write|Complete)\b|现在请|请|阅读|以下|下面)"
)
# The heading that opens the material, alone on its line or with the material after it.
_HEADING = re.compile(
    r"\s*(?:Story|Article|Report|News|Transcript|Passages?|Text|Context|Document"
    r"|文章|新闻|会议记录|材料|文本)[:：]\s*"
)
_MOST_LINES = 12
_LONGEST_LINE = 1000  # characters
_BLANK_LINES = re.compile(r"\n[ \t\r]*\n\s*")


def strip_markup(prompt: str) -> str:
    """Return the prompt without white space and chat markup at its two ends."""
    opening = _OPENING.match(prompt)
    text = prompt[opening.end() if opening else 0 :].rstrip()
    for _ in range(_MOST_MARKS):
        tail = text[-_LONGEST_MARK:]
        mark = _CLOSING_MARK.search(tail)
        if mark is None:
            break
        text = text[: len(text) - len(mark.group())].rstrip()
    return text


def paragraphs(text: str) -> list[str]:
    """Return the blocks of text between blank lines, stripped; none of them is empty."""
    blocks = (block.strip() for block in _BLANK_LINES.split(text))
    return [block for block in blocks if block]


def last_match(pattern: re.Pattern[str], text: str, start: int = 0) -> re.Match[str] | None:
    """Return the last match of `pattern` in `text` at or after position `start`, None if none."""
    found = None
    for match in pattern.finditer(text, start):
        found = match
    return found


def material(text: str) -> str:
    """Return `text` without the instruction lines, and the heading, at its two ends.

    Only short lines that open like an instruction go, a dozen at either end at most; what is left
    may be empty.
    """
    lines = text.split("\n")
    first, end = 0, len(lines)
    while first < min(end, _MOST_LINES) and _instructs(lines[first]):
        first += 1
    floor = max(first, end - _MOST_LINES)
    while end > floor and _instructs(lines[end - 1]):
        end -= 1
    body = "\n".join(lines[first:end])
    heading = _HEADING.match(body)
    return body[heading.end() :] if heading else body


def _instructs(line: str) -> bool:
    return len(line) <= _LONGEST_LINE and _INSTRUCTION.match(line) is not None
