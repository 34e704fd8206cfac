"""Why a submission is refused, in Chinese: what `verify` says, locks, files that are not read.

As in `language`, the package makes each reason once, in English, and `{}` is what was filled in.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Sequence

from lm_eval_longbench.language import Phrases, chinese_of


@functools.cache
def _phrases() -> Phrases:
    return Phrases({**chinese_of("refusals"), **chinese_of("words")})


@functools.cache
def _meanings() -> Phrases:
    """Return what a difference can mean: no template that anything could begin."""
    templates = chinese_of("refusals")
    return Phrases(
        {own: chinese for own, chinese in templates.items() if own[0] in "`'" or own[0].isupper()}
    )


_DIFFERENT = re.compile(r"different: (.+?): found (.+)", re.DOTALL)
_OPEN = re.compile(r"not checkable: ([^:]+): ([^:]+): (.+)", re.DOTALL)
_LOCKED = re.compile(r"(.+?) is not of this run: (.+)", re.DOTALL)
_COUNTED = re.compile(r"(\d+) of (\d+): (.+)", re.DOTALL)
_EXPECTED = ", expected "
# Characters of a reason that is looked at: two values of 300, their place and what they mean.
_LONGEST = 3000
# Without it the parts of a forged text would be looked at again and again.
_CACHED = 1 << 12
_VALUE = re.compile(r"'.*'|\".*\"|\[.*\]|\{.*\}", re.DOTALL)


def refusal_in_chinese(text: str) -> str:
    """Return a reason of a refusal in Chinese; what it does not know, as it is."""
    if len(text) > _LONGEST:
        return text
    try:
        return _told(text)
    except RecursionError:  # a forged text in which one thing is in another, many times
        return text


@functools.lru_cache(_CACHED)
def _told(text: str) -> str:
    return _line(text) or _known(text) or text


@functools.lru_cache(_CACHED)
def _known(text: str) -> str | None:
    """Return a text in Chinese; None where neither it nor all of its parts are known."""
    if _VALUE.fullmatch(text):
        return None
    listed = _all_known(text.split("; "))
    if listed is not None:
        return listed
    counted = _COUNTED.fullmatch(text)
    if counted is not None:
        return f"{counted[2]} 行中有 {counted[1]} 处：{_told(counted[3])}"
    return _filled(_phrases().fitting(text)) or _meaning(text)


def _filled(found: tuple[str, tuple[str, ...]] | None) -> str | None:
    return None if found is None else found[0].format(*map(_told, found[1]))


def _all_known(parts: Sequence[str]) -> str | None:
    """Return two or more parts in Chinese, or None; the last may be cut short."""
    known: list[str | None] = [_known(part) for part in parts] if len(parts) > 1 else [None]
    if known[-1] is None and parts[-1].endswith("..."):
        known[-1] = "……"
    return None if None in known else "；".join(own or "" for own in known)


@functools.lru_cache(_CACHED)
def _meaning(text: str) -> str | None:
    """Return one or more sentences in Chinese, or None: a full stop may be inside of one."""
    for place in re.finditer(r"\. ", text):
        first = _filled(_meanings().fitting(text[: place.start() + 1]))
        rest = _meaning(text[place.end() :]) if first is not None else None
        if first is not None and rest is not None:
            return first + rest
    return _filled(_meanings().fitting(text))


def _line(text: str) -> str | None:
    """Return a line about a lock or a check in Chinese: where, what, found, expected, meaning."""
    found = _LOCKED.fullmatch(text)
    if found is not None:
        return f"{found[1]} 不属于这次运行：{_told(found[2])}"
    found = _DIFFERENT.fullmatch(text)
    if found is not None:
        where, _, title = found[1].rpartition(": ")
        values, meaning = _before_meaning(found[2])
        value, mark, expected = values.rpartition(_EXPECTED)
        if not mark:
            value, expected = expected, ""
        wanted = f"，应为：{_told(expected)}" if mark else ""
        value = _told(value)
        return f"不符：{_where(where)}：{_title(title)}：现为：{value}{wanted}。{meaning}"
    found = _OPEN.fullmatch(text)
    if found is None:
        return None
    return f"无法检查：{_where(found[1])}：{_title(found[2])}：{_told(found[3])}"


def _before_meaning(text: str) -> tuple[str, str]:
    """Split what was found from its meaning, in Chinese: what was found may hold full stops."""
    ends = [place.span() for place in re.finditer(r"\. ", text)]
    for start, end in ends:
        meaning = _meaning(text[end:])
        if meaning is not None:
            return text[:start], meaning
    start, end = ends[0] if ends else (len(text), len(text))
    return text[:start], text[end:]


def _where(text: str) -> str:
    return "，".join(map(_told, text.split(", ")))


def _title(text: str) -> str:
    """Return what a check is of, and its name."""
    known = chinese_of("kinds")
    kinds = [kind for kind in known if text == kind or text.startswith(f"{kind} ")]
    kind = max(kinds, key=len, default="")
    name = text[len(kind) :].strip()
    return " ".join(filter(None, (known.get(kind, ""), _told(name) if name else "")))
