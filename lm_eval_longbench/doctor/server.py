"""The server of an API model: reachable, with the wanted model, long enough."""

from __future__ import annotations

import difflib
import json
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit, urlunsplit

from lm_eval_longbench.bounded import body_of, within
from lm_eval_longbench.doctor.line import ERROR, OK, WARNING, Line
from lm_eval_longbench.errors import LongBenchError, few
from lm_eval_longbench.harness.preflight_facts import MESSAGES, TEXT, Backend, PlannedRun, TaskFacts
from lm_eval_longbench.secrets import masked_url

# ---------------------------------------------------------------------- its addresses

# What follows the base of an OpenAI-compatible address, the longest first.
_ENDPOINTS = ("/chat/completions", "/completions", "/messages", "/generate")


def endpoint_of(base_url: str) -> str | None:
    """Return the endpoint that an address ends in; None if it ends in none that is known."""
    path = urlsplit(base_url).path.rstrip("/")
    return next((endpoint for endpoint in _ENDPOINTS if path.endswith(endpoint)), None)


def models_url(base_url: str) -> str:
    """Return where the server lists its models: .../v1/chat/completions -> .../v1/models."""
    parts = urlsplit(base_url)
    path = parts.path.rstrip("/")
    endpoint = endpoint_of(base_url)
    if endpoint is not None:
        path = path.removesuffix(endpoint)
    if endpoint == "/generate" and not path.endswith("/v1"):  # sglang's own, beside /v1
        path += "/v1"
    return urlunsplit(parts._replace(path=f"{path}/models", fragment=""))


# ---------------------------------------------------------------------- one GET of the list

# Seconds without an answer; the whole of it may take twice as long.
TIMEOUT = 10.0
# Bytes of the longest list of models.
_MOST = 2**24
# Where servers tell a model's length: vLLM and sglang; OpenRouter; LM Studio; Groq; others.
_LENGTHS = (
    "max_model_len",
    "context_length",
    "max_context_length",
    "context_window",
    "max_sequence_length",
)


@dataclass(frozen=True)
class ServerReply:
    """What came of it.

    Attributes:
        status: HTTP status; None: there was no answer.
        problem: why there was none, or why it cannot be read; "": none.
        models: objects that describe the models, each with an "id"; None: no such list.
    """

    status: int | None
    problem: str = ""
    models: tuple[Mapping[str, Any], ...] | None = None


def get_models(
    url: str, headers: Mapping[str, str], verify: bool | str = True, timeout: float = TIMEOUT
) -> ServerReply:
    """Return a server's answer to one GET of the list.

    It may be silent for `timeout` seconds, and take twice as long in all. The headers are those of
    the backend, and are neither kept nor shown; `verify` is whether, or with which file, the
    certificate is checked.

    Raises:
        LongBenchError: the package `requests` is missing.
    """
    try:
        import requests
    except ImportError as error:
        raise LongBenchError(
            'Asking a server needs the package requests: pip install "lm-eval-longbench[api]"'
        ) from error

    def asked() -> ServerReply:
        reply = requests.get(
            url,
            headers=dict(headers),
            verify=verify,
            timeout=timeout,
            allow_redirects=False,  # perhaps to another host, which has no business with the key
            stream=True,
        )
        if reply.status_code != 200:
            return ServerReply(reply.status_code)
        models = _models(body_of(reply, _MOST))
        return ServerReply(200, "" if models is not None else "no list of models", models)

    try:
        return within(2 * timeout, asked)
    except TimeoutError as error:
        return ServerReply(None, str(error))
    except (requests.RequestException, UnicodeError, OSError) as error:
        # Not the error's own words: they may quote a header or the address with its query.
        return ServerReply(None, type(error).__name__)


def _models(body: bytes) -> tuple[Mapping[str, Any], ...] | None:
    """Read {"data": [{"id": ...}, ...]}; None if it is something else."""
    try:
        data = json.loads(body)["data"]
    except (ValueError, KeyError, TypeError):
        return None
    if not isinstance(data, list):
        return None
    objects = (item for item in data if isinstance(item, dict))
    return tuple(item for item in objects if isinstance(item.get("id"), str))


def length_of(model: Mapping[str, Any]) -> int | None:
    """Return the longest request in tokens, answer included, that a server tells of a model."""
    for name in _LENGTHS:
        value = model.get(name)
        if isinstance(value, int) and not isinstance(value, bool) and value > 0:
            return value
    return None


# ---------------------------------------------------------------------- what it says

TOPIC = "server"
_SHOWN = 5
# What to do about some exceptions of `requests`, by name.
_PROBLEMS = {
    "InvalidHeader": "The key holds line breaks or blanks, which no key has: set it again.",
    "ProxyError": "Set NO_PROXY to the server's host, or correct the proxy.",
    "SSLError": "Give ca_cert_path=FILE in --model_args, or verify_certificate=False.",
}


def server_lines(run: PlannedRun, backend: Backend, tasks: Sequence[TaskFacts]) -> Iterator[Line]:
    """Yield the lines on the server that the tasks are sent to; it gets one GET request."""
    if backend.kind not in (TEXT, MESSAGES):
        return
    if backend.key_problem:
        todo = f"Set the environment variable {backend.key_variable}."
        yield Line(ERROR, TOPIC, f"{backend.name} does not start without a key", todo)
        return
    if not backend.base_url:
        if "litellm" not in backend.name and "azure" not in backend.name:
            todo = "Give base_url=http://HOST:PORT/v1/completions in --model_args."
            yield Line(ERROR, TOPIC, f"{backend.name} has no address", todo)
        return
    try:
        url = models_url(backend.base_url)
    except ValueError as error:
        todo = "Give base_url=http://HOST:PORT/v1/completions in --model_args."
        yield Line(ERROR, TOPIC, f"base_url is no address: {error}", todo)
        return
    yield from _endpoint_lines(backend)
    try:
        reply = get_models(url, backend.headers, backend.verify)
    except LongBenchError:  # the lines on packages say it
        return
    yield from _reply_lines(backend, masked_url(url), reply)
    if reply.models is not None:
        yield from _model_lines(run, reply.models, tasks)


def _endpoint_lines(backend: Backend) -> Iterator[Line]:
    """Yield a line if the address is not one that the backend can post to."""
    base_url = str(backend.base_url)
    known, chat = endpoint_of(base_url), backend.kind == MESSAGES
    wanted = "/v1/chat/completions" if chat else "/v1/completions"
    other = "/completions" if chat else "/chat/completions"
    if known is None:
        what = f"base_url {masked_url(base_url)} names no endpoint; requests go there as it stands"
        yield Line(WARNING, TOPIC, what, f"It most likely has to end in {wanted}.")
    elif known == other:
        what = f"{backend.name} posts to {masked_url(base_url)}, which takes other requests"
        yield Line(ERROR, TOPIC, what, f"Let base_url end in {wanted}.")


def _reply_lines(backend: Backend, url: str, reply: ServerReply) -> Iterator[Line]:
    if reply.status is None:
        todo = _PROBLEMS.get(reply.problem, "Start the server, or correct base_url.")
        yield Line(ERROR, TOPIC, f"{url} does not answer ({reply.problem})", todo)
    elif reply.status in (401, 403):
        yield Line(ERROR, TOPIC, f"{url} answers with status {reply.status}", _key_todo(backend))
    elif reply.models is None:
        what = f"{url} is reachable and lists no models (status {reply.status})"
        todo = "If base_url is right, the server just has no such list; its length is not checked."
        yield Line(WARNING, TOPIC, what, todo)
    else:
        yield Line(OK, TOPIC, f"{url} answers; {len(reply.models)} models")


def _key_todo(backend: Backend) -> str:
    variable = backend.key_variable
    if variable is None:
        return "It refuses the header that --model_args gives: correct it."
    if os.environ.get(variable):
        return f"It refuses the key in the environment variable {variable}: set another."
    return f"It wants a key: set the environment variable {variable}."


def _model_lines(
    run: PlannedRun, models: Sequence[Mapping[str, Any]], tasks: Sequence[TaskFacts]
) -> Iterator[Line]:
    wanted = str(run.model_args.get("model") or run.model_args.get("pretrained") or "")
    names = [str(model["id"]) for model in models]
    listed = few(names, _SHOWN) or "none"
    if not wanted:
        yield Line(ERROR, TOPIC, "--model_args names no model", f"Add model={listed}.")
        return
    if wanted not in names:
        near = difflib.get_close_matches(wanted, names, n=1, cutoff=0.0)
        hint = f"Did you mean model={near[0]}? " if near else ""
        yield Line(
            WARNING,
            TOPIC,
            f"the model {wanted!r} is not among those listed: {listed}",
            f"{hint}Some servers answer under any name; most refuse.",
        )
        return
    length = length_of(models[names.index(wanted)])
    if length is None:
        yield Line(OK, TOPIC, f"it has the model {wanted!r}; it does not tell its length")
        return
    yield from _length_lines(wanted, length, tasks)


def _length_lines(wanted: str, length: int, tasks: Sequence[TaskFacts]) -> Iterator[Line]:
    yield Line(OK, TOPIC, f"it has the model {wanted!r}, which takes {length:,} tokens")
    for facts in tasks:
        if facts.limit is None:
            continue
        budget, own = facts.generation["max_gen_toks"], (facts.name,)
        todo = f"Give max_length={length} in --model_args, or a lower truncate_to."
        if facts.limit.tokens is None:
            what = f"prompts go out whole, and requests over {length:,} tokens will be refused"
            yield Line(WARNING, TOPIC, what, todo, own)
        elif facts.limit.tokens + budget > length:
            what = (
                f"prompts of {facts.limit.tokens:,} tokens and answers of {budget:,} do not fit "
                f"the {length:,} tokens that the server tells: it will refuse the longest"
            )
            yield Line(ERROR, TOPIC, what, todo, own)
        elif facts.limit.assumed:
            what = f"it takes {length:,} tokens, and the harness assumes fewer"
            yield Line(WARNING, TOPIC, what, f"Give max_length={length} in --model_args.", own)
