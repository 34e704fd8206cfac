"""English or Chinese: the language of headings, reasons and notes that are printed.

`chinese.json` beside this module is the catalogue: Chinese by English text. `{}` in a text is what
is filled in; {0}, {1}, ... in its Chinese are what stands at each {}. The catalogue is asked where
a sentence is made: `sentence` returns the English text, which knows its Chinese. JSON, CSV and logs
hold it in English, whatever the user's language; `told` chooses where a person reads it.

Names of tasks, figures and options are the same in both; so are JSON, CSV, LaTeX and errors.
"""

from __future__ import annotations

import functools
import json
import locale
import os
from collections.abc import Iterable, Mapping
from pathlib import Path

from lm_eval_longbench.errors import UnknownNameError

ENGLISH, CHINESE = "en", "zh"
LANGUAGES = (ENGLISH, CHINESE)
VARIABLE = "LONGBENCH_LANG"


@functools.cache
def catalogue() -> Mapping[str, str]:
    """Return the Chinese by English text."""
    path = Path(__file__).with_name("chinese.json")
    texts: Mapping[str, str] = json.loads(path.read_text(encoding="utf-8"))
    return texts


# ---------------------------------------------------------------------- sentences


class Sentence(str):
    """An English text that knows its Chinese."""

    chinese: str

    def __new__(cls, english: str, chinese: str = "") -> Sentence:
        """Return the English text with its Chinese; "": the same in both."""
        made = super().__new__(cls, english)
        made.chinese = chinese or english
        return made


def in_chinese(value: object) -> str:
    """Return a value in Chinese as far as it knows it."""
    return value.chinese if isinstance(value, Sentence) else str(value)


def sentence(text: str, *parts: object) -> Sentence:
    """Return a text of ours with its Chinese, its `{}` filled in; parts may be sentences."""
    chinese = catalogue().get(text, text)
    if not parts:
        return Sentence(text, chinese)
    return Sentence(text.format(*parts), chinese.format(*map(in_chinese, parts)))


def listed(texts: Iterable[str], mark: str = ", ", chinese: str = "、") -> Sentence:
    """Return texts with a mark between them, and another one in Chinese."""
    texts = list(texts)
    return Sentence(mark.join(texts), chinese.join(map(in_chinese, texts)))


def several(texts: Iterable[str]) -> Sentence:
    """Return reasons or notes in one line; those that are empty are left out."""
    return listed(filter(None, texts), "; ", "；")


# ---------------------------------------------------------------------- the user's language


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


def told(text: str) -> str:
    """Return a text in the user's language as far as it knows its Chinese."""
    return in_chinese(text) if language() == CHINESE else str(text)


def said(text: str, *parts: object) -> str:
    """Return a text of ours in the user's language, its `{}` filled in."""
    return told(sentence(text, *parts))
