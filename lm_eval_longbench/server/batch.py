"""Files of batch APIs: requests that are written, and the results that come back.

The forms are those of OpenAI's Batch API, which vLLM and SGLang read too, and of Anthropic's
Message Batches.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from lm_eval_longbench.errors import OptionError
from lm_eval_longbench.records.answer import BATCH, Answer
from lm_eval_longbench.server.client import Request, Taken
from lm_eval_longbench.server.faults import Fault, shortened
from lm_eval_longbench.server.reply import Reply, as_answer, tokens_of
from lm_eval_longbench.server.server import CHAT, PATHS, Server

OPENAI, ANTHROPIC, VLLM = "openai", "anthropic", "vllm"


# Rows and bytes that a file may hold: of OpenAI's Batch and Anthropic's Message Batches, November
# 2026.
LIMITS = {
    OPENAI: (50_000, 200_000_000),
    ANTHROPIC: (100_000, 256_000_000),
    VLLM: (50_000, 200_000_000),
}
FORMATS = tuple(LIMITS)
# Generation arguments as Anthropic calls them.
_ANTHROPIC = {"max_tokens": "max_tokens", "temperature": "temperature", "top_p": "top_p"}
_ANTHROPIC |= {"top_k": "top_k", "stop": "stop_sequences", "seed": ""}
_ENDS = {"end_turn": "stop", "stop_sequence": "stop", "max_tokens": "length"}
_ENDS |= {"refusal": "content_filter", "model_context_window_exceeded": "length"}


def custom_id(identity: str, key: str, repeat: int) -> str:
    """Return the name of a request, of 52 letters, digits and hyphens at most.

    Args:
        identity: of the model, so that results of another one are foreign.
        key: of all else that changes the answer, see `answer_key`.
        repeat: which of several answers, from 0.
    """
    return f"{hashlib.sha256(f'{identity} {key}'.encode()).hexdigest()[:48]}-{repeat}"


# ---------------------------------------------------------------------- requests


def request_row(form: str, name: str, server: Server, request: Request) -> dict[str, Any]:
    """Return a request as a row of a file.

    Raises:
        OptionError: the provider does not take it.
    """
    taken = Taken()
    taken.left_out |= {"stream"}
    if "api.openai.com" in server.base:
        taken.left_out |= {"max_tokens"}  # newer models of OpenAI take max_completion_tokens alone
    body = taken.body(server, request, 1)
    if form != ANTHROPIC:
        url = f"/v1{PATHS[server.endpoint]}"
        return {"custom_id": name, "method": "POST", "url": url, "body": body}
    if server.endpoint != CHAT:
        raise OptionError("Anthropic's batches take chat messages: give endpoint=chat.")
    messages = body.pop("messages")
    own = {"model": body.pop("model")}
    for parameter, value in body.items():
        if parameter not in _ANTHROPIC and parameter in request.parameters:
            raise OptionError(
                f"Anthropic's batches do not take {parameter}: leave it out of gen_kwargs."
            )
        own[_ANTHROPIC.get(parameter, parameter)] = value
    own.pop("", None)  # the seed
    system = "\n\n".join(one["content"] for one in messages if one["role"] == "system")
    own |= {"system": system} if system else {}
    own["messages"] = [one for one in messages if one["role"] != "system"]
    return {"custom_id": name, "params": own}


def left_out(form: str, request: Request) -> tuple[str, ...]:
    """Return the parameters of a request that its row does not have."""
    return ("seed",) if form == ANTHROPIC and request.seed is not None else ()


def files_of_rows(form: str, rows: Iterator[Mapping[str, Any]]) -> Iterator[Iterator[bytes]]:
    """Yield the files that some requests need, each as its pieces; read one before the next."""
    most_rows, most_bytes = LIMITS[form]
    first, between, last = (
        (b'{"requests": [', b",\n", b"]}\n") if form == ANTHROPIC else (b"", b"\n", b"\n")
    )
    coming = (
        json.dumps(row, ensure_ascii=False).encode("utf-8", "backslashreplace") for row in rows
    )
    row = next(coming, None)

    def one_file() -> Iterator[bytes]:
        nonlocal row
        before, number, size = first, 0, len(last)
        while row is not None:
            number, size = number + 1, size + len(before) + len(row)
            if number > 1 and (number > most_rows or size > most_bytes):
                break
            yield before + row
            before, row = between, next(coming, None)
        yield last

    while row is not None:
        yield one_file()


# ---------------------------------------------------------------------- results


@dataclass(frozen=True)
class Result:
    """One row of a result file.

    Attributes:
        name: its `custom_id`.
        reply: what answers are read of; None: the request failed.
        reason: why it failed, in the provider's words.
    """

    name: str
    reply: Mapping[str, Any] | None
    reason: str = ""

    def answer(self, stops: Sequence[str], left_out: Sequence[str]) -> Answer:
        """Return the answer; Fault: there is none."""
        if self.reply is None:
            raise Fault("", self.reason)
        reply = Reply(chat=True)
        choices = self.reply.get("choices")
        if isinstance(choices, list) and choices and isinstance(choices[0], Mapping):
            reply.chat = "message" in choices[0]
        if not reply.add(self.reply):
            raise Fault("", "no choices in the reply")
        answer = as_answer(reply.choices[min(reply.choices)], stops, streamed=False)
        return replace(
            answer,
            **tokens_of(reply.usage),
            server_model=reply.model,
            fingerprint=reply.fingerprint,
            left_out=tuple(left_out),
            via=BATCH,
        )


def result_of(row: Any) -> Result | None:
    """Return what a row of a result file says; None: it is none of a batch."""
    if not isinstance(row, Mapping) or not isinstance(row.get("custom_id"), str):
        return None
    name = row["custom_id"]
    own = row.get("result")
    if isinstance(own, Mapping):
        message = own.get("message")
        if own.get("type") == "succeeded" and isinstance(message, Mapping):
            return Result(name, _of_anthropic(message))
        return Result(name, None, _reason(own.get("type"), own.get("error")))
    response = row.get("response")
    if not isinstance(response, Mapping):
        return Result(name, None, _reason(None, row.get("error"))) if "error" in row else None
    body, status = response.get("body"), response.get("status_code")
    if row.get("error") or status != 200 or not isinstance(body, Mapping):
        told = body.get("error") if isinstance(body, Mapping) else None
        return Result(name, None, _reason(f"HTTP {status}", row.get("error") or told or body))
    return Result(name, body)


def _reason(what: Any, error: Any) -> str:
    """Return why a request failed: a status, and the innermost message or code."""
    while isinstance(error, Mapping):
        inner = error.get("error")
        error = inner if isinstance(inner, Mapping) else error.get("message") or error.get("code")
    parts = [str(part) for part in (what, error) if part]
    return shortened(": ".join(parts)) or "no reason is given"


def _of_anthropic(message: Mapping[str, Any]) -> dict[str, Any]:
    """Return a message of Anthropic as the reply of a chat server."""
    usage = message.get("usage") if isinstance(message.get("usage"), Mapping) else {}
    counts = {name: usage.get(name) or 0 for name in usage}  # type: ignore[union-attr]
    cached = counts.get("cache_read_input_tokens", 0)
    prompt = counts.get("input_tokens", 0) + cached + counts.get("cache_creation_input_tokens", 0)
    end = message.get("stop_reason")
    content = message.get("content")
    texts = content if isinstance(content, list) else []
    return {
        "model": message.get("model"),
        "choices": [
            {
                "message": {"content": [one for one in texts if one.get("type") == "text"]},
                "finish_reason": _ENDS.get(str(end), end),
            }
        ],
        "usage": {
            "prompt_tokens": prompt,
            "completion_tokens": counts.get("output_tokens"),
            "prompt_tokens_details": {"cached_tokens": cached},
        }
        if counts
        else {},
    }
