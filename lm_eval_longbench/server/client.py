"""One request to a server, and its reply."""

from __future__ import annotations

import asyncio
import contextlib
import json
import logging
import ssl
import time
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field, replace
from types import TracebackType
from typing import Any, TypeVar

from lm_eval_longbench.console import warn_once
from lm_eval_longbench.errors import OptionError
from lm_eval_longbench.records.answer import Answer
from lm_eval_longbench.secrets import hush_requests
from lm_eval_longbench.server.faults import (
    FATAL,
    NOT_TAKEN,
    REFUSED,
    TROUBLE,
    WITHHELD,
    Fault,
    of_connection,
    of_status,
    shortened,
)
from lm_eval_longbench.server.reply import Events, Reply, as_answer, decoded, tokens_of
from lm_eval_longbench.server.server import (
    CHAT,
    NO_KEY,
    PATHS,
    Server,
    api_key,
    headers,
    openai_package,
)

logger = logging.getLogger(__name__)

# Characters of a prompt for which its first token is waited for one second longer.
_CHARACTERS_A_SECOND = 1000
# Tokens of an answer for which a reply that is not streamed is waited for one second longer.
_TOKENS_A_SECOND = 10
# Times a server may be silent that it may take for a part of an answer while other bytes come.
_MOST_COMMENTS = 6
# Seconds that a token of a stream, or of a reply that comes drop by drop, may take.
_SLOWEST = 1.0
# Seconds after the end of an answer that its counts are waited for.
_COUNTS = 10.0
# Bytes that a reply may have: of itself, for each token of an answer (in an event of its own, with
# what servers put beside it), and for each character of a prompt that is given back; last, that are
# read of a reply with an error status.
_REPLY_BYTES, _TOKEN_BYTES, _CHARACTER_BYTES, _ERROR_BYTES = 2**20, 2**12, 8, 2**16
# Stop strings that a request may have.
_MOST_STOPS = 4
_T = TypeVar("_T")
Heard = Callable[[bool], None]

# ---------------------------------------------------------------------- the request


@dataclass(frozen=True)
class Request:
    """One question to the model.

    Attributes:
        prompt: text, or the JSON of chat messages where the server takes these.
        parameters: as servers call them: max_tokens, temperature, stop, ...; no seed, no n.
        seed: None: none is sent.
        document: questions with the same are asked one after the other; None: not known.
    """

    prompt: str = field(repr=False)
    parameters: Mapping[str, Any]
    seed: int | None = None
    document: str | None = None


class Taken:
    """Which parameters a server takes, as far as it has been found out.

    Attributes:
        left_out: parameters that are not sent any more.
        streams: whether it streams its answers.
        gives_n: whether it has given several answers to one request.
    """

    def __init__(self) -> None:
        self.left_out: set[str] = set()
        self.streams = True
        self.gives_n = False

    @property
    def knows_n(self) -> bool:
        """Whether one request may ask for several answers."""
        return "n" not in self.left_out

    def leave_out(self, parameter: str, reason: str) -> None:
        """Send a parameter no more, and say so once."""
        if parameter in self.left_out:
            return
        self.left_out.add(parameter)
        instead = {
            "n": ": each answer is a request of its own",
            "stop": "; answers are cut at the first stop string here, which gives the same text",
            "max_tokens": "; max_completion_tokens is sent instead",
            "seed": ": repeats differ as the server samples",
            "temperature": ": the server's own holds",
        }.get(parameter, "")
        logger.warning(f"The server does not take {parameter}. It is left out{instead}. {reason}")

    def body(self, server: Server, request: Request, number: int) -> dict[str, Any]:
        """Return a request's body.

        Args:
            server: with the model's name.
            request: what is asked.
            number: answers that are asked for.
        """
        body: dict[str, Any] = {"model": server.model}
        if server.endpoint == CHAT:
            body["messages"] = json.loads(request.prompt)
        else:
            body["prompt"] = request.prompt
        body |= {"stream": True, "stream_options": {"include_usage": True}}
        body |= {**request.parameters, **server.extra}
        stops = body.pop("stop", None)
        if stops:
            body["stop"] = list(stops)[:_MOST_STOPS]
        if request.seed is not None:
            body["seed"] = request.seed
        if number > 1:
            body["n"] = number
        if "max_tokens" in self.left_out and "max_tokens" in body:
            body["max_completion_tokens"] = body.pop("max_tokens")
        left_out = self.left_out | ({"stream_options"} if "stream" in self.left_out else set())
        return {name: value for name, value in body.items() if name not in left_out}

    def missing(self, request: Request) -> tuple[str, ...]:
        """Return what is left out of a request, in order."""
        would = {"stream", "stream_options", *request.parameters}
        if request.seed is not None:
            would.add("seed")
        if not request.parameters.get("stop"):
            would.discard("stop")
        return tuple(sorted((self.left_out - {"max_tokens"}) & would))


class Client:
    """Asks a server; open it with `async with` in the event loop that uses it.

    Attributes:
        server: that is asked.
        taken: what it takes.
        has_answered: whether it has given any reply, be it an error.

    Raises:
        LongBenchError: the package openai is missing.
        OptionError: a key or header cannot be sent, or the certificate file cannot be read.
    """

    def __init__(self, server: Server) -> None:
        self.server = server
        self.taken = Taken()
        self.has_answered = False
        self._proof: asyncio.Task[None] | None = None
        self._package = openai_package()
        self._headers = headers(server)
        self._verify: bool | ssl.SSLContext = bool(server.verify)
        if isinstance(server.verify, str):
            try:
                self._verify = ssl.create_default_context(cafile=server.verify)
            except (OSError, ssl.SSLError) as error:
                raise OptionError(
                    f"ca_cert_path: no certificates can be read from {server.verify} ({error})."
                ) from None
        hush_requests()

    async def __aenter__(self) -> Client:
        package = self._package
        self._openai = package.AsyncOpenAI(
            api_key=api_key() or NO_KEY,
            base_url=self.server.base,
            # Each reply ends its connection: what came behind it would be taken for the answer to
            # the next request. Nothing needs packing.
            default_headers={"Connection": "close", "Accept-Encoding": "identity", **self._headers},
            default_query=dict(self.server.query),
            max_retries=0,
            http_client=package.DefaultAsyncHttpxClient(
                verify=self._verify,
                # Another host has no business with the key.
                follow_redirects=False,
                # The clock that counts is ours.
                timeout=package.Timeout(None, connect=60.0),
                event_hooks={"response": [_begin]},
            ),
        )
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._proof is not None:
            self._proof.cancel()
            await asyncio.gather(self._proof, return_exceptions=True)
        await self._openai.close()

    async def ask(
        self,
        request: Request,
        number: int = 1,
        heard: Heard = lambda part: None,
    ) -> list[Answer | Fault]:
        """Return the answers to one request, in the order of their indices.

        Parameters that the server refuses are left out, and the request is sent again.

        Args:
            request: what is asked.
            number: answers that are asked for; there may come fewer or more.
            heard: called whenever bytes come, with whether they are a part of an answer.

        Raises:
            Fault: there is no answer at all; NOT_TAKEN only for `n`.
        """
        if number > 1 and self.taken.knows_n and not self.taken.gives_n:
            if self._proof is None or self._proof.done():
                self._proof = asyncio.create_task(self._prove_n(request))
            await asyncio.shield(self._proof)  # many requests wait for it
        return await self._ask_until_taken(request, number, heard)

    async def is_alive(self, request: Request) -> bool:
        """Whether the server answers a tiny request with the same model, which tells it is there.

        Args:
            request: whose parameters the tiny one has.
        """
        try:
            found = await self.ask(self._tiny(request))
        except Fault as fault:
            return fault.kind in (REFUSED, WITHHELD)
        return isinstance(found[0], Answer)

    def _tiny(self, request: Request) -> Request:
        chat = self.server.endpoint == CHAT
        prompt = json.dumps([{"role": "user", "content": "?"}]) if chat else "?"
        return replace(request, prompt=prompt, parameters={**request.parameters, "max_tokens": 1})

    async def _prove_n(self, request: Request) -> None:
        """See once with a tiny request that several answers to one come apart and whole.

        Some servers mix them up: the litellm proxy streams all of them as one text.

        Raises:
            Fault: NOT_TAKEN: they do not; another: nothing is known yet.
        """
        told = "Asked for two answers to a tiny request, it gave"
        try:
            found = await self._ask_until_taken(self._tiny(request), 2, lambda part: None)
        except Fault as fault:
            if fault.kind not in (REFUSED, WITHHELD):
                raise
            told = f"{told} none: {fault.reason}"
        else:
            whole = sum(isinstance(one, Answer) for one in found)
            self.taken.gives_n = whole == len(found) == 2
            told = f"{told} {whole}, and {len(found) - whole} in parts."
        if not self.taken.gives_n:
            self.taken.leave_out("n", told)
            raise Fault(NOT_TAKEN, told, parameter="n")

    async def _ask_until_taken(
        self, request: Request, number: int, heard: Heard
    ) -> list[Answer | Fault]:
        while True:
            body = self.taken.body(self.server, request, number)
            try:
                return await self._ask(request, body, number, heard)
            except Fault as fault:
                fault.reason = shortened(self.server.hide(fault.reason))
                if fault.kind == FATAL:
                    fault.reason = f"{self.server.shown}: {fault.reason}"
                if fault.kind != NOT_TAKEN:
                    raise fault from None
                self.taken.leave_out(fault.parameter, fault.reason)
                if fault.parameter == "n":
                    raise fault from None

    async def _ask(
        self, request: Request, body: dict[str, Any], number: int, heard: Heard
    ) -> list[Answer | Fault]:
        began = time.monotonic()
        left_out = self.taken.missing(request)
        reply, streamed = await self._reply(request, body, number, heard)
        if not reply.choices:
            raise Fault(TROUBLE, "no choices in the reply")
        if reply.model is not None and reply.model != self.server.model:
            warn_once(
                logger,
                f"{self.server.shown} {self.server.model} {reply.model}",
                f"The server was asked for the model {self.server.model!r}, and its replies name "
                f"{reply.model!r}. Make sure that it is the model you mean.",
            )
        stops = request.parameters.get("stop") or ()
        seconds = time.monotonic() - began
        tokens = tokens_of(reply.usage)
        found: list[Answer | Fault] = []
        for _, choice in sorted(reply.choices.items()):
            try:
                answer = as_answer(choice, stops, streamed)
            except Fault as fault:
                found.append(fault)
                continue
            known = replace(
                answer,
                seconds=seconds,
                server_model=reply.model,
                fingerprint=reply.fingerprint,
                left_out=left_out,
                at=time.time(),
            )
            # The counts are of the whole request.
            found.append(known if found else replace(known, **tokens))
        return found

    def allowance(self, request: Request) -> float:
        """Return the seconds that a request may take to begin, beyond what any may."""
        own = len(request.prompt) / _CHARACTERS_A_SECOND
        return own if self.taken.streams else own + _budget(request.parameters) / _TOKENS_A_SECOND

    async def _reply(
        self, request: Request, body: dict[str, Any], number: int, heard: Heard
    ) -> tuple[Reply, bool]:
        """Return the reply to one request, and whether it was streamed."""
        reply = Reply(self.server.endpoint == CHAT, body)
        quiet = self.server.timeout + self.allowance(request)
        tokens = number * _budget(body)
        began = time.monotonic()
        stream = await self._within(
            quiet,
            self._openai.post(
                PATHS[self.server.endpoint],
                cast_to=object,
                body=body,
                stream=True,
                stream_cls=self._package.AsyncStream[object],
            ),
            body,
        )
        self.has_answered = True
        response = stream.response
        most = _REPLY_BYTES + tokens * _TOKEN_BYTES + len(request.prompt) * _CHARACTER_BYTES
        room = most
        streamed = "text/event-stream" in response.headers.get("content-type", "")
        self.taken.streams = self.taken.streams and streamed
        events, whole, chunks = Events(), bytearray(), response.aiter_bytes()
        last = part = began
        end = began + _MOST_COMMENTS * quiet + tokens * _SLOWEST
        try:
            while not events.done:
                limits = {
                    end: Fault(REFUSED, f"the answer is not at its end after {end - began:.3g} s"),
                    part + _MOST_COMMENTS * quiet: Fault(
                        TROUBLE, f"no part of an answer for {_MOST_COMMENTS * quiet:.3g} s"
                    ),
                    last + quiet: Fault(TROUBLE, f"silent for {quiet:.3g} s"),
                }
                until = min(limits)
                left = max(0.0, until - time.monotonic())
                chunk = await self._within(left, anext(chunks, b""), body, limits[until])
                if not chunk:
                    break
                last, room = time.monotonic(), room - len(chunk)
                if room < 0:
                    told = f"{most / 2**20:.3g} MB, more than {tokens} tokens need"
                    raise Fault(REFUSED, f"the reply is larger than {told}")
                if streamed:
                    # Not any(): each of them is added.
                    is_part = sum(reply.add(event) for event in events.feed(chunk)) > 0
                else:
                    whole += chunk
                    is_part = not chunk.isspace()
                heard(is_part)
                if is_part:
                    part, quiet = last, self.server.timeout
                if reply.is_complete(number):
                    end = min(end, last + min(self.server.timeout, _COUNTS))
            if not streamed:
                reply.add(decoded(bytes(whole)))
        except Fault as fault:
            # The answer is there, and only the connection was not closed in order.
            if fault.kind not in (TROUBLE, REFUSED) or not reply.is_complete(number):
                raise
        finally:
            with contextlib.suppress(Exception):
                await chunks.aclose()
                await stream.close()
        return reply, streamed

    async def _within(
        self, seconds: float, what: Awaitable[_T], body: dict[str, Any], late: Fault | None = None
    ) -> _T:
        """Return what the library returns within some seconds; its errors become faults."""
        try:
            return await asyncio.wait_for(what, seconds)
        except asyncio.TimeoutError:
            raise late or Fault(TROUBLE, f"silent for {seconds:.3g} s") from None
        except self._package.APIStatusError as error:
            self.has_answered = True
            raise of_status(error.status_code, error.body, error.response.headers, body) from None
        except UnicodeError:
            raise Fault(REFUSED, "the prompt has characters that cannot be sent") from None
        except Fault:
            raise
        except Exception as error:  # of the connection, by openai or the HTTP library beneath it
            raise of_connection(error, has_answered=self.has_answered) from None


async def _begin(response: Any) -> None:
    """Leave of a reply with an error status its beginning; the package would read all of it."""
    if not response.is_success:
        response._content = await anext(response.aiter_bytes(_ERROR_BYTES), b"")
        await response.aclose()


def _budget(parameters: Mapping[str, Any]) -> int:
    """Return the tokens that an answer may have."""
    return int(parameters.get("max_tokens") or parameters.get("max_completion_tokens") or 0)
