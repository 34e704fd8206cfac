"""English or Chinese: the language of headings, reasons and notes that are printed.

`chinese.json` beside this module holds the Chinese by the English text, in two parts: "headings"
and "notes".

The package makes each sentence once, in English: JSON, CSV and logs hold it, whatever the user's
language. Where a person reads it, `in_chinese` finds the template that it was made from. `{}` in a
template is what was filled in: it stays, or is a sentence itself; {0}, {1}, ... in its Chinese are
what stands at each {}.

Names of tasks, figures and options are the same in both; so are JSON, CSV, LaTeX and errors.
"""

from __future__ import annotations

import functools
import json
import locale
import os
import re
from collections.abc import Mapping, Sequence
from pathlib import Path

from lm_eval_longbench.errors import UnknownNameError


@functools.cache
def _texts() -> Mapping[str, Mapping[str, str]]:
    texts: Mapping[str, Mapping[str, str]] = json.loads(
        Path(__file__).with_name("chinese.json").read_text(encoding="utf-8")
    )
    return texts


def chinese_of(part: str) -> Mapping[str, str]:
    """Return a part of chinese.json: Chinese by English text."""
    return _texts()[part]


# ---------------------------------------------------------------------- Chinese of notes


class Phrases:
    """Templates with their Chinese, and the one that a text was made from."""

    def __init__(self, templates: Mapping[str, str]) -> None:
        self._templates = templates

    @functools.cached_property
    def _words(self) -> list[tuple[list[str], str]]:
        """The words of each template between what is filled in, longest first; its Chinese."""
        ordered = sorted(self._templates.items(), key=lambda own: -len(own[0].replace("{}", "")))
        return [(english.split("{}"), chinese) for english, chinese in ordered]

    def fitting(self, text: str) -> tuple[str, tuple[str, ...]] | None:
        """Return the Chinese template of a text, and what was filled in; None: it has none."""
        for words, chinese in self._words:
            slots = _slots(words, text)
            if slots is not None:
                return chinese, slots
        return None


def _slots(words: Sequence[str], text: str) -> tuple[str, ...] | None:
    """Return what stands between words in a text, each as short as can be and never empty.

    No regular expression: of a forged name it might try every way to share it out.
    """
    first, last = words[0], words[-1]
    if len(words) == 1:
        return () if text == first else None
    if not text.startswith(first) or not text.endswith(last):
        return None
    start, end, slots = len(first), len(text) - len(last), []
    for word in words[1:-1]:
        place = text.find(word, start + 1, end)
        if place < 0:
            return None
        slots.append(text[start:place])
        start = place + len(word)
    return (*slots, text[start:end]) if start < end else None


@functools.cache
def _notes() -> Phrases:
    return Phrases(chinese_of("notes"))


_COLUMN_NOTE = re.compile(r"(.+?): (data .+?)\.(?: Signature (.+))?", re.DOTALL)
_IN_TASKS = re.compile(r"(.+) in (?:([a-z0-9_]+(?:, [a-z0-9_]+)*)|(\d+) of (\d+) tasks)")
_MORE = re.compile(r"(.+) and (\d+) more(?: tasks)?")
_ANY_OF = re.compile(r"([\d, ]+) or (\d+)")


def _filled(fitting: tuple[str, tuple[str, ...]]) -> str:
    chinese, slots = fitting
    return chinese.format(*map(in_chinese, slots))


def _listed(text: str) -> str | None:
    """Return a list of words, or of texts from one template, in Chinese; None for what is none."""
    parts = text.split(", ")
    words = [chinese_of("notes").get(part, part if part.isidentifier() else "") for part in parts]
    if len(parts) > 1 and all(words) and words != parts:
        return "、".join(words)
    fitting = [_notes().fitting(part) for part in parts]
    known = [own for own in fitting if own is not None]
    if len(known) < max(2, len(fitting)) or len({chinese for chinese, _ in known}) > 1:
        return None
    return "，".join(map(_filled, known))


# What stands before a note of any kind: a note that begins with a number would take it in.
_LABELS = ("Warning, {}: {}.", "Warning: {}.", "Remark: {}")


def in_chinese(text: str) -> str:
    """Return a reason or a note of the package in Chinese; what it does not know, as it is."""
    for label in _LABELS:
        slots = _slots(label.split("{}"), text)
        if slots is not None:
            return _filled((chinese_of("notes")[label], slots))
    note = _COLUMN_NOTE.fullmatch(text)
    if note:
        label, parts, signature = note.groups()
        end = f"签名 {signature}" if signature else ""
        return f"{label}：{'；'.join(map(in_chinese, parts.split('; ')))}。{end}"
    if "; " in text and not text.endswith(".") and text not in chinese_of("notes"):
        return "；".join(map(in_chinese, text.split("; ")))
    listed, fitting = _listed(text), _notes().fitting(text)
    if listed is not None or fitting is not None:
        return listed or _filled(fitting or ("", ()))
    found = _IN_TASKS.fullmatch(text)
    if found and in_chinese(found[1]) != found[1]:
        where = f"{found[4]} 个任务中的 {found[3]} 个"
        if found[2]:
            where = "、".join(found[2].split(", "))
        return f"{where}：{in_chinese(found[1])}"
    if _ANY_OF.fullmatch(text):
        return text.replace(", ", "、").replace(" or ", " 或 ")
    found = _MORE.fullmatch(text)
    return f"{in_chinese(found[1])}，另有 {found[2]} 项" if found else text


# ---------------------------------------------------------------------- the user's language

ENGLISH, CHINESE = "en", "zh"
LANGUAGES = (ENGLISH, CHINESE)
VARIABLE = "LONGBENCH_LANG"


def language() -> str:
    """Return the language of the user: LONGBENCH_LANG, or else that of the locale.

    Raises:
        UnknownNameError: LONGBENCH_LANG names none that there is.
    """
    own = os.environ.get(VARIABLE)
    if own:
        if own not in LANGUAGES:
            raise UnknownNameError(f"language in {VARIABLE}", own, LANGUAGES)
        return own
    for name in ("LC_ALL", "LC_MESSAGES", "LANG"):
        if os.environ.get(name):
            return CHINESE if os.environ[name].lower().startswith("zh") else ENGLISH
    found = locale.getlocale()[0] or ""
    return CHINESE if found.lower().startswith(("zh", "chinese")) else ENGLISH


def said(text: str, *parts: object) -> str:
    """Return a text of ours in the user's language, its `{}` filled in."""
    if language() == CHINESE:
        text = chinese_of("headings")[text]
    return text.format(*parts) if parts else text


def told(text: str) -> str:
    """Return a reason or a note, made elsewhere in English, in the user's language."""
    return in_chinese(text) if language() == CHINESE else text
