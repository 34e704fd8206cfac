"""A real HTTP server on loopback that answers as OpenAI's API does, and fails as it is told to.

A plan is a function of a request (its number from 0, its decoded body) that returns None for a good
answer or one of the faults below: a function of the handler and the body that replies, or does not.
"""

import json
import re
import socket
import struct
import threading
import time
import zlib
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

MODEL = "tiny"
LIST = {"object": "list", "data": [{"id": MODEL}]}


def asked_text(body):
    """The prompt of a request's body, whatever the endpoint."""
    return body["messages"][-1]["content"] if "messages" in body else body["prompt"]


def answer_to(text, seed=None, number=0):
    """The one answer to a prompt, a seed, and the place among several answers."""
    seed = "none" if seed is None else seed + number
    return f"answer to {text[-40:]} with {seed}"


class FaultServer(ThreadingHTTPServer):
    """Keeps all that it was asked and all that it answered in full."""

    daemon_threads = True
    request_queue_size = 128

    def __init__(self, plan=None, *, knows_n=True, streams=True, delay=0.0):
        super().__init__(("127.0.0.1", 0), _Handler)
        self.plan = plan or (lambda number, body: None)
        self.knows_n = knows_n
        self.streams = streams
        self.delay = delay  # seconds before a good answer
        self.model = MODEL
        self.bodies = []
        self.headers = []
        self.answered = []  # (prompt, seed) of each good answer
        self.at = []  # when each request came
        self.in_flight = self.most_in_flight = 0
        self.prompt_tokens = 0  # of good answers: words
        self.closing = threading.Event()
        self.lock = threading.Lock()

    def __enter__(self):
        self._thread = threading.Thread(target=self.serve_forever, args=(0.02,), daemon=True)
        self._thread.start()
        return self

    def __exit__(self, *error):
        self.closing.set()
        self.shutdown()
        self.server_close()
        self._thread.join()

    def handle_error(self, request, client_address):
        """Say nothing of connections that a fault or a client has broken."""

    @property
    def base(self):
        return f"http://127.0.0.1:{self.server_port}/v1"


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    wbufsize = -1
    disable_nagle_algorithm = True

    def do_GET(self):
        self.is_over = True
        send_json(self, 200, LIST)

    def do_POST(self):
        server = self.server
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        with server.lock:
            number = len(server.bodies)
            server.bodies.append(body)
            server.headers.append(dict(self.headers))
            server.at.append(time.monotonic())
            server.in_flight += 1
            server.most_in_flight = max(server.most_in_flight, server.in_flight)
            self.is_over = False
        try:
            fault = server.plan(number, body)
            if fault is None:
                good(self, body)
            else:
                fault(self, body)
            self.wfile.flush()
        finally:
            self.over()

    def over(self):
        """Count this request as in flight no more: the client may go on with what it has read."""
        with self.server.lock:
            self.server.in_flight -= not self.is_over
            self.is_over = True

    def log_message(self, *arguments):
        pass


# ---------------------------------------------------------------------- replies


def send(handler, status, raw, kind="application/json", headers=()):
    handler.over()
    handler.send_response(status)
    handler.send_header("Content-Type", kind)
    handler.send_header("Content-Length", str(len(raw)))
    for name, value in headers:
        handler.send_header(name, value)
    handler.end_headers()
    handler.wfile.write(raw)


def send_json(handler, status, value, headers=()):
    send(handler, status, json.dumps(value).encode(), headers=headers)


def begin_stream(handler):
    handler.send_response(200)
    handler.send_header("Content-Type", "text/event-stream")
    handler.send_header("Transfer-Encoding", "chunked")
    handler.end_headers()


def event(handler, value, field="data"):
    text = value if isinstance(value, str) else json.dumps(value)
    raw = f"{field}: {text}\n\n".encode()
    handler.wfile.write(b"%x\r\n%s\r\n" % (len(raw), raw))
    handler.wfile.flush()


def end_stream(handler):
    handler.over()
    event(handler, "[DONE]")
    handler.wfile.write(b"0\r\n\r\n")


def choice(body, index, text, finish_reason, *, part=False):
    if "messages" not in body:
        return {"index": index, "text": text, "finish_reason": finish_reason}
    message = {"role": "assistant", "content": text}
    own = {"delta" if part else "message": message}
    return {"index": index, "finish_reason": finish_reason, **own}


def usage_of(body, texts):
    return {
        "prompt_tokens": len(asked_text(body).split()),
        "completion_tokens": sum(len(text.split()) for text in texts),
        "prompt_tokens_details": {"cached_tokens": 1},
        "completion_tokens_details": {"reasoning_tokens": 2},
    }


def reply(handler, body, texts, *, finish_reason="stop", model=None, pause=0.0, usage=None):
    """Send texts as the choices of a good reply, streamed where that is asked for."""
    server = handler.server
    head = {"id": "x", "model": model or server.model, "system_fingerprint": "fp_1"}
    if not (body.get("stream") and server.streams):
        choices = [choice(body, place, text, finish_reason) for place, text in enumerate(texts)]
        usage = usage or usage_of(body, [text or "" for text in texts])
        send_json(handler, 200, {**head, "choices": choices, "usage": usage})
        return
    begin_stream(handler)
    for place, text in enumerate(texts):
        for part in re.findall(r"\S+\s*", text or "") or [text]:
            event(handler, {**head, "choices": [choice(body, place, part, None, part=True)]})
            time.sleep(pause)
        last = choice(body, place, "", finish_reason, part=True)
        if text is None:  # nothing at all came
            last["delta" if "messages" in body else "text"] = (
                {"content": None} if "messages" in body else None
            )
        event(handler, {**head, "choices": [last]})
    if (body.get("stream_options") or {}).get("include_usage"):
        usage = usage or usage_of(body, [text or "" for text in texts])
        event(handler, {**head, "choices": [], "usage": usage})
    end_stream(handler)


def good(handler, body, **more):
    server = handler.server
    time.sleep(server.delay)
    number = body.get("n", 1) if server.knows_n else 1
    seed = body.get("seed")
    texts = [answer_to(asked_text(body), seed, place) for place in range(number)]
    for stop in body.get("stop", ()):
        texts = [text.split(stop)[0] for text in texts]
    reply(handler, body, texts, **more)
    with server.lock:
        server.prompt_tokens += len(asked_text(body).split())
        server.answered += [
            (asked_text(body), None if seed is None else seed + place) for place in range(number)
        ]


# ---------------------------------------------------------------------- faults


def status(number, message="", headers=(), **more):
    """An error of the API with a message."""
    return lambda handler, body: send_json(
        handler, number, {"error": {"message": message, **more}}, headers
    )


def raw(code, text, kind="text/html"):
    return lambda handler, body: send(handler, code, text.encode(), kind)


def reset(handler, body):
    """The connection is reset without a byte."""
    handler.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    handler.connection.close()
    handler.wfile = _Nowhere()
    handler.close_connection = True


class _Nowhere:
    closed = False

    def write(self, data):
        return len(data)

    def flush(self):
        pass

    def close(self):
        pass


def hang(handler, body):
    """No byte ever comes."""
    handler.server.closing.wait(30)
    handler.close_connection = True


def slow_headers(handler, body):
    """A byte of the headers comes now and then, and they never end."""
    for byte in b"HTTP/1.1 200 OK\r\nX-Slow: " + b"a" * 600:
        handler.wfile.write(bytes([byte]))
        handler.wfile.flush()
        if handler.server.closing.wait(0.05):
            break
    handler.close_connection = True


def broken_stream(handler, body):
    """The stream ends in the middle of an answer."""
    begin_stream(handler)
    head = {"id": "x", "model": MODEL}
    event(handler, {**head, "choices": [choice(body, 0, "half an", None, part=True)]})
    reset(handler, body)


def mixed(handler, body):
    """Several answers come as parts of one, word by word, as from the litellm proxy."""
    begin_stream(handler)
    for word in range(3):
        for place in range(body["n"]):
            text = f"{word} of {place} "
            event(handler, {"choices": [choice(body, 0, text, None, part=True)]})
    event(handler, {"choices": [choice(body, 0, "", "stop", part=True)]})
    end_stream(handler)


def one_end(handler, body):
    """Several answers come, and an end is named for one of them alone."""
    begin_stream(handler)
    for place in range(body["n"]):
        event(handler, {"choices": [choice(body, place, f"{place}", None, part=True)]})
    event(handler, {"choices": [choice(body, 0, "", "stop", part=True)]})
    end_stream(handler)


def slow_stream(handler, body):
    """Each word takes a while; all of it takes longer than a server may be silent."""
    good(handler, body, pause=0.16)


def kept_open(handler, body):
    """Comments come for longer than a server may be silent, then a good answer."""
    begin_stream(handler)
    for _ in range(15):
        event(handler, "keep-alive", field="")
        if handler.server.closing.wait(0.1):
            break
    _answer(handler, body)
    end_stream(handler)


def for_ever(value, field="data", pause=0.0):
    """A stream of one event, given as a function of the request's body, that never ends."""

    def fault(handler, body):
        begin_stream(handler)
        while not handler.server.closing.wait(pause):
            event(handler, value(body), field=field)

    return fault


def token(body):
    """An event with one more token, and much beside it."""
    return {"id": "x" * 500, "choices": [choice(body, 0, "more ", None, part=True)]}


def unpacking(megabytes, kind="application/json"):
    """A packed reply that begins well, and unpacks to so many megabytes."""
    begin = b'data: {"choices": [{"index": 0, "text": "' if "event" in kind else b'{"choices": "'

    def fault(handler, body):
        packer = zlib.compressobj(wbits=31)
        head = packer.compress(begin) + packer.flush(zlib.Z_FULL_FLUSH)
        part = packer.compress(b"0" * 2**20) + packer.flush(zlib.Z_FULL_FLUSH)
        handler.send_response(200)
        handler.send_header("Content-Type", kind)
        handler.send_header("Content-Encoding", "gzip")
        handler.end_headers()
        handler.wfile.write(head)
        for _ in range(megabytes):
            handler.wfile.write(part)  # each is the same: nothing before a full flush is used
        handler.close_connection = True

    return fault


def twice(handler, body):
    """A good answer, and a whole second reply that nobody has asked for."""
    good(handler, body)
    reply(handler, body, ["an answer to nothing"])


def drop_by_drop(handler, body):
    """A good answer that is not streamed, of which a few bytes come now and then."""
    text = answer_to(asked_text(body), body["seed"])
    data = {"id": "x", "model": MODEL, "choices": [choice(body, 0, text, "stop")]}
    raw = json.dumps(data).encode()
    handler.send_response(200)
    handler.send_header("Content-Type", "application/json")
    handler.send_header("Content-Length", str(len(raw)))
    handler.end_headers()
    size = len(raw) // 20 + 1
    for start in range(0, len(raw), size):
        handler.wfile.flush()
        handler.server.closing.wait(0.1)
        if start + size >= len(raw):
            handler.over()
            handler.server.answered.append((asked_text(body), body["seed"]))
        handler.wfile.write(raw[start : start + size])


def counting(**usage):
    """A good answer whose counts are these."""
    return lambda handler, body: good(handler, body, usage=usage)


def error_in_stream(message, code, after=""):
    """An error in a stream with status 200, as of litellm; `after` a part of an answer."""

    def fault(handler, body):
        begin_stream(handler)
        if after:
            event(handler, {"choices": [choice(body, 0, after, None, part=True)]})
        error = {"message": message, "type": "None", "param": "None", "code": code}
        handler.over()
        event(handler, {"error": error})
        end_stream(handler)

    return fault


def odd_chunks(handler, body):
    """A good answer between chunks without choices; nothing says how many tokens it has."""
    begin_stream(handler)
    event(handler, {"choices": [], "prompt_filter_results": []})
    _answer(handler, body)
    event(handler, {"choices": None, "usage": None})
    event(handler, {"id": "x"})
    end_stream(handler)


def _answer(handler, body):
    """The event that is all of a good answer."""
    seed = body["seed"]
    text = answer_to(asked_text(body), seed)
    event(handler, {"choices": [choice(body, 0, text, "stop", part=True)]})
    handler.server.answered.append((asked_text(body), seed))


def half(finish_reason):
    """Half an answer, and a stream that ends in order; each chunk has this finish_reason."""

    def fault(handler, body):
        begin_stream(handler)
        event(handler, {"choices": [choice(body, 0, "half an", finish_reason, part=True)]})
        end_stream(handler)

    return fault


def interrupted(handler, body):
    """A good answer after a while, unless another request comes, which ends it; as llama.cpp's."""
    server = handler.server
    own = len(server.bodies)
    until = time.monotonic() + 0.1
    while time.monotonic() < until:
        if len(server.bodies) > own:
            begin_stream(handler)
            event(handler, {"choices": [choice(body, 0, "half an", None, part=True)]})
            end_stream(handler)
            return
        server.closing.wait(0.005)
    good(handler, body)


def texts(*given, **more):
    """A reply with these texts as its choices."""
    return lambda handler, body: reply(handler, body, list(given), **more)


def whole(**more):
    """A reply in one piece with these keys."""
    return lambda handler, body: send_json(handler, 200, {"id": "x", "model": MODEL, **more})


def refuses(parameter, message=None, code=400):
    """A plan of a server that does not take a parameter."""
    said = message or f"Unsupported parameter: '{parameter}' is not supported with this model."

    def plan(number, body):
        return status(code, said, param=parameter) if parameter in body else None

    return plan


def first(number_of_faults, fault):
    """A plan: the first requests meet a fault, the others do not."""
    return lambda number, body: fault if number < number_of_faults else None


def for_prompt(text, fault):
    """A plan: requests whose prompt has this text meet a fault, always."""
    return lambda number, body: fault if text in asked_text(body) else None
