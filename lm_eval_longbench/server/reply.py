"""A reply: its events, choices and counts, and its answers."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from lm_eval_longbench.records.answer import ANSWERED, EMPTY, FILTERED, Answer
from lm_eval_longbench.server.faults import TROUBLE, Fault, of_error

# What servers write while an answer is not at its end.
_NO_REASONS = (None, "", "null")
# No prompt and no answer has so many.
_MOST_TOKENS = 10**9
# Why there is no answer where a stream ended in order, without a finish_reason.
CUT_OFF = "the stream ended before its answer"


class Events:
    """The events of a stream, as its bytes come in.

    Attributes:
        done: whether the stream has said that it is at its end.
    """

    def __init__(self) -> None:
        self.done = False
        self._line: list[bytes] = []  # parts of one that is not at its end
        self._data: list[bytes] = []

    def feed(self, chunk: bytes) -> Iterator[Any]:
        """Yield what the events that end with some bytes hold; comments hold nothing."""
        *lines, rest = chunk.split(b"\n")
        for line in lines:
            line = b"".join([*self._line, line]).removesuffix(b"\r")
            self._line = []
            name, _, value = line.partition(b":")
            if name == b"data":
                self._data.append(value.strip())
            if line:
                continue
            data, self._data = b"\n".join(self._data), []
            if data.startswith(b"[DONE]"):
                self.done = True
                return
            if data:
                yield decoded(data)
        self._line.append(rest)


def decoded(raw: bytes) -> Any:
    """Return what JSON of a reply with status 200 holds.

    Raises:
        Fault: it is none.
    """
    try:
        return json.loads(raw)
    except ValueError:
        page = raw.lstrip()[:1] == b"<"
        what = "an HTML page" if page else "no JSON" if raw.strip() else "empty"
        raise Fault(TROUBLE, f"the reply with status 200 is {what}") from None


@dataclass
class Choice:
    """One answer as it comes in."""

    text: str | None = None
    finish_reason: str | None = None
    has_message: bool = False

    def add(self, choice: Mapping[str, Any], chat: bool) -> None:
        """Add a choice of a reply, or of an event of a stream."""
        part = choice.get("delta", choice.get("message")) if chat else choice
        if isinstance(part, Mapping) and (chat or "text" in part):
            self.has_message = True
            text = _plain(part.get("content" if chat else "text"))
            if text is not None:
                self.text = (self.text or "") + text
        if choice.get("finish_reason") not in _NO_REASONS:
            self.finish_reason = str(choice["finish_reason"])


@dataclass
class Reply:
    """A reply as it comes in.

    Attributes:
        chat: whether it has messages.
        sent: the request's body.
        choices: its answers by their index.
        model, fingerprint: the server's own; None: it does not say.
        usage: its counts.
    """

    chat: bool
    sent: Mapping[str, Any] = field(default_factory=dict)
    choices: dict[int, Choice] = field(default_factory=dict)
    model: str | None = None
    fingerprint: str | None = None
    usage: Mapping[str, Any] = field(default_factory=dict)

    def add(self, data: Any) -> bool:
        """Add a whole reply, or an event of a stream; return whether it has a part of an answer.

        Raises:
            Fault: it is no reply of such a server, or an error.
        """
        if not isinstance(data, Mapping):
            raise Fault(TROUBLE, "no object in the reply")
        if data.get("error"):
            raise of_error(data, self.sent)
        if isinstance(data.get("model"), str) and data["model"]:
            self.model = data["model"]
        if isinstance(data.get("system_fingerprint"), str):
            self.fingerprint = data["system_fingerprint"] or None
        if isinstance(data.get("usage"), Mapping):
            self.usage = data["usage"]
        choices = data.get("choices")
        choices = choices if isinstance(choices, list) else []
        for place, choice in enumerate(choices):
            if not isinstance(choice, Mapping):
                raise Fault(TROUBLE, "a choice of the reply is no object")
            if choice.get("error"):
                raise of_error(choice, self.sent)
            index = choice.get("index")
            own = index if isinstance(index, int) else place
            self.choices.setdefault(own, Choice()).add(choice, self.chat)
        return bool(choices)

    def is_complete(self, number: int) -> bool:
        """Whether nothing of the answers is missing."""
        ended = [choice for choice in self.choices.values() if choice.finish_reason is not None]
        return len(ended) == len(self.choices) >= number


def _plain(content: Any) -> str | None:
    """Return content as a text: some servers give it in parts."""
    if isinstance(content, list):
        parts = [part.get("text") for part in content if isinstance(part, Mapping)]
        texts = [part for part in parts if isinstance(part, str)]
        return "".join(texts) if texts else None
    return content if isinstance(content, str) else None


def _number(value: Any) -> int | None:
    """Return a count; None where it is none that any model could reach."""
    known = isinstance(value, int) and not isinstance(value, bool) and 0 <= value < _MOST_TOKENS
    return value if known else None


def tokens_of(usage: Mapping[str, Any]) -> dict[str, Any]:
    """Return the counts of an answer from a reply's `usage`."""
    prompt, completion = (usage.get(f"{name}_tokens_details") for name in ("prompt", "completion"))
    prompt = prompt if isinstance(prompt, Mapping) else {}
    completion = completion if isinstance(completion, Mapping) else {}
    cached = prompt.get("cached_tokens", usage.get("prompt_cache_hit_tokens"))
    return {
        "prompt_tokens": _number(usage.get("prompt_tokens")),
        "cached_tokens": _number(cached),
        "completion_tokens": _number(usage.get("completion_tokens")),
        "reasoning_tokens": _number(completion.get("reasoning_tokens")),
    }


def _cut(text: str, stops: Sequence[str]) -> str:
    """Return a text up to the first stop string."""
    places = [text.find(stop) for stop in stops if stop]
    return text[: min((place for place in places if place >= 0), default=len(text))]


def as_answer(choice: Choice, stops: Sequence[str], streamed: bool) -> Answer:
    """Return the answer that a choice is, without what is known of the whole reply.

    Raises:
        Fault: it is none.
    """
    reason = choice.finish_reason
    if not choice.has_message and reason != "content_filter":
        raise Fault(TROUBLE, "no message in the reply")
    if reason == "error":
        raise Fault(TROUBLE, "finish_reason error")
    if streamed and reason is None:
        raise Fault(TROUBLE, CUT_OFF)
    if reason == "content_filter":
        return Answer("", FILTERED, "finish_reason content_filter", reason)
    whole = choice.text or ""
    text = _cut(whole, stops)
    if len(text) < len(whole):
        reason = "stop"
    if not text:
        content = "null" if choice.text is None else "empty"
        return Answer("", EMPTY, f"content is {content}, finish_reason {reason}", reason)
    return Answer(text, ANSWERED, finish_reason=reason)
