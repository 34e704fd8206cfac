"""One answer of a model: what is known of it, and what a sample log tells of it.

A reply is what `Answer.reply` gives. Logs are files that anybody can edit: a reply of another shape
tells nothing.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from lm_eval_longbench.language import Sentence, listed, sentence

# What became of a request. Only the first is an answer; a later run asks the others again.
ANSWERED, EMPTY, FILTERED, FAILED = "answered", "empty", "filtered", "failed"
STATES = (ANSWERED, EMPTY, FILTERED, FAILED)
# What an answer from a result file says in `via`, and the ingredient of that name.
BATCH = "batch"
# The finish reason of an answer that ended at its budget.
CAPPED = "length"


@dataclass(frozen=True)
class Answer:
    """What a model made of one request.

    Attributes:
        text: of the answer; "" where there is none.
        state: ANSWERED; EMPTY: the model said nothing; FILTERED: the server withheld the answer;
            FAILED: the request failed for good.
        reason: why there is no answer: HTTP status, message of the server; "" for an answer.
        finish_reason: as the server names it: "stop", CAPPED, ...; None: not known.
        prompt_tokens, cached_tokens, completion_tokens, reasoning_tokens: as the server counts
            them; None: not known. Of one request for several answers, the first has the prompt's.
        seconds: from sending the request to the end of its answer; None: not known.
        server_model: name of the model in the server's reply; None: it gives none.
        fingerprint: `system_fingerprint` of the reply; of a model in this process whether its
            tokenizer cleaned the text up, see `harness.backend`; None: there is none.
        left_out: parameters of the request that the server refused and that were not sent.
        at: when it came, seconds since 1970.
        via: "batch": it came in a result file; None: over the line, or from this process.
    """

    text: str
    state: str = ANSWERED
    reason: str = ""
    finish_reason: str | None = None
    prompt_tokens: int | None = None
    cached_tokens: int | None = None
    completion_tokens: int | None = None
    reasoning_tokens: int | None = None
    seconds: float | None = None
    server_model: str | None = None
    fingerprint: str | None = None
    left_out: tuple[str, ...] = ()
    at: float | None = None
    via: str | None = None

    def reply(self) -> dict[str, Any]:
        """Return what a sample log keeps of it beside the text: all that is known."""
        known = {name: value for name, value in asdict(self).items() if value not in (None, "", ())}
        known.pop("text", None)
        return {**known, "left_out": list(self.left_out)} if self.left_out else known


class AnswerText(str):
    """The text of an answer on its way through the harness, with the answer itself.

    It is a plain text wherever it is pickled: for the response cache and for other ranks.
    """

    answer: Answer

    def __new__(cls, answer: Answer) -> AnswerText:
        """Return the text of an answer."""
        text = super().__new__(cls, answer.text)
        text.answer = answer
        return text

    def __reduce__(self) -> tuple[type[str], tuple[str]]:
        return str, (str(self),)


def answer_of(text: str) -> Answer | None:
    """Return the answer that a text came from; None: only the text is known."""
    return text.answer if isinstance(text, AnswerText) else None


# ---------------------------------------------------------------------- what a log tells of it

# Field of a logged question: a reply an answer, in the order of repeats; {}: nothing is known.
REPLIES = "replies"
NOT_KNOWN, OTHERS = "not known", "other reasons"
# Different reasons that are counted, and that a sentence shows; the others are put together.
MOST, SHOWN = 20, 5

Reply = Mapping[str, Any]
_STATUS = re.compile(r"HTTP (\d{3})\b[\s:.,-]*")
# What servers say of a prompt that is longer than the model takes, and of one they do not answer.
TOO_LONG = re.compile(
    r"context.{0,9}(?:length|window|size)|maximum context|exceed.{0,40}context|input length"
    r"|(?:prompt|input).{0,30}(?:too long|exceed)|\bis too long|too many (?:input )?tokens"
    r"|string_above_max_length",
    re.IGNORECASE,
)
FILTER = re.compile(
    r"content.{0,3}(?:filter|policy|management)|safety|moderation|flagged|responsible ?ai",
    re.IGNORECASE,
)
_FILTERED = "content filter"
# What servers say in many words; the first that fits stands.
_KINDS = {"context length": TOO_LONG, _FILTERED: FILTER} | {
    kind: re.compile(pattern, re.IGNORECASE)
    for kind, pattern in (
        ("rate limit", r"rate.{0,3}limit|too many requests"),
        ("quota", r"quota|billing|credits?\b"),
        ("timeout", r"time.?out|timed out|deadline"),
        ("connection", r"connection|disconnected|unreachable"),
    )
}
# Numbers, and names with digits such as those of requests: they differ from answer to answer.
_NUMBERS = re.compile(r"\b(?=[a-z_-]*\d)[\w-]{8,}|\d+", re.IGNORECASE)
_READ, _LONGEST = 1000, 60


def replies_of(doc: Mapping[str, Any], number: int) -> list[Reply | None]:
    """Return what a logged question tells of each of `number` answers; None: nothing.

    Where it has another number of replies (a user's own filters make more or fewer answers) nobody
    knows which is whose.
    """
    replies = doc.get(REPLIES)
    if not isinstance(replies, list) or len(replies) != number:
        return [None] * number
    return [reply if isinstance(reply, Mapping) and reply else None for reply in replies]


def is_capped(reply: Reply | None) -> bool | None:
    """Return whether an answer ended at its budget; None: not known.

    A request that failed for good has no answer that could.
    """
    if reply is None:
        return None
    if reply.get("state") == FAILED:
        return False
    reason = reply.get("finish_reason")
    return reason == CAPPED if isinstance(reason, str) else None


def capped_share(replies: Sequence[Reply | None]) -> float | None:
    """Return the share of a question's answers that ended at the budget.

    None where it is not known of every answer, or there is none.
    """
    known = [capped for reply in replies if (capped := is_capped(reply)) is not None]
    return sum(known) / len(known) if known and len(known) == len(replies) else None


def failure(reply: Reply | None) -> str:
    """Return in a few words why an answer failed, the same words for the same reason.

    Args:
        reply: of an answer that counts as failed.
    """
    state = reply.get("state") if reply is not None else None
    if reply is None or state not in (ANSWERED, EMPTY, FILTERED, FAILED):
        return NOT_KNOWN
    if state == FAILED:
        return _shortened(reply.get("reason"))
    if state == FILTERED or reply.get("finish_reason") == "content_filter":
        return _FILTERED
    if is_capped(reply):
        return "ended at the budget"
    return "empty answer" if state == EMPTY else "nothing to score"


def _shortened(reason: Any) -> str:
    """Return what a server said in one short line; such as "HTTP 400 (context length)"."""
    if not isinstance(reason, str):
        return NOT_KNOWN
    # Halves of surrogate pairs cannot be stored.
    said = " ".join(reason[:_READ].encode("utf-8", "replace").decode("utf-8").split())
    status = _STATUS.match(said)
    said = said[status.end() :] if status else said
    kind = next((name for name, pattern in _KINDS.items() if pattern.search(said)), "")
    words = kind or _NUMBERS.sub("#", said.lstrip("=+-@ "))  # no formula in a table program
    words = words if len(words) <= _LONGEST else f"{words[: _LONGEST - 3].rstrip()}..."
    if status is None:
        return words or NOT_KNOWN
    return f"HTTP {status[1]} ({words})" if words else f"HTTP {status[1]}"


def counted(reasons: Mapping[str, int]) -> dict[str, int]:
    """Return failures by reason, the most frequent first; beyond MOST reasons they are OTHERS."""
    ordered = _ordered(reasons.items())
    found = Counter(dict(ordered[:MOST]))
    if len(ordered) > MOST:
        found[OTHERS] += sum(number for _, number in ordered[MOST:])
    return dict(_ordered(found.items()))


def _ordered(reasons: Iterable[tuple[str, int]]) -> list[tuple[str, int]]:
    last = (OTHERS, NOT_KNOWN)
    return sorted(reasons, key=lambda own: (own[0] in last, -own[1], own[0]))


def failed_text(failed: int, reasons: Mapping[str, int]) -> Sentence:
    """Return in print how many answers failed, and why as far as anything is known of it.

    Such as "failed 3: 2 x HTTP 400 (context length), 1 x content filter"; "3 failed" where no
    reason is known.
    """
    if not reasons.keys() - {NOT_KNOWN}:
        return sentence("{} failed", failed)
    ordered = _ordered(reasons.items())
    more = sum(number for _, number in ordered[SHOWN:])
    shown = [*ordered[:SHOWN], *([(OTHERS, more)] if more else [])]
    texts = (sentence("{} x {}", number, sentence(reason)) for reason, number in shown)
    return sentence("failed {}: {}", failed, listed(texts, chinese="，"))
