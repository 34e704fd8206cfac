"""One answer of a model, with what is known of how it came about."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

# What became of a request. Only the first is an answer; a later run asks the others again.
ANSWERED, EMPTY, FILTERED, FAILED = "answered", "empty", "filtered", "failed"
STATES = (ANSWERED, EMPTY, FILTERED, FAILED)
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
        fingerprint: `system_fingerprint` of the reply; None: it gives none.
        left_out: parameters of the request that the server refused and that were not sent.
        at: when it came, seconds since 1970.
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
