"""A mirror of one file on loopback: whole, in parts, and in every way it can go wrong."""

import contextlib
import time
from http.server import BaseHTTPRequestHandler

from json_server import JsonServer, serving

# How it answers: the parts of a file as asked for, or all of it whatever is asked, or not well.
RANGES, WHOLE, CUT, BUSY, MISSING, HANG, DRIP = (
    *("ranges", "whole", "cut", "busy", "missing", "hang", "drip"),
)


class Mirror:
    """What a mirror has, and what it was asked.

    Attributes:
        content: of the file; only the file's last name in a path matters.
        how: it answers each request, the last for all later ones.
        asked: (path, Range header) of each request.
        keys: Authorization header of each request.
    """

    def __init__(self, content, how):
        self.content, self.how = content, list(how)
        self.asked, self.keys = [], []
        self.url = ""

    def next(self):
        return self.how.pop(0) if len(self.how) > 1 else self.how[0]


def _handler(mirror):
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self):
            wanted = self.headers["Range"]
            mirror.asked.append((self.path, wanted))
            mirror.keys.append(self.headers["Authorization"])
            with contextlib.suppress(BrokenPipeError, ConnectionResetError):
                self.answer(mirror.next(), wanted)

        def answer(self, how, wanted):
            if how.startswith("to "):
                self.send_response(302)
                self.send_header("Location", how[3:])
                self.send_header("Content-Length", "0")
                self.end_headers()
                return
            if how in (MISSING, BUSY):
                self.send_error(404 if how == MISSING else 503)
                return
            if how == HANG:
                time.sleep(8)
                return
            start = int(wanted[6:-1]) if wanted and how != WHOLE else 0
            size = len(mirror.content)
            if start >= size:
                self.send_error(416)
                return
            self.send_response(206 if start else 200)
            if start:
                self.send_header("Content-Range", f"bytes {start}-{size - 1}/{size}")
            self.send_header("Content-Length", str(size - start))
            self.end_headers()
            rest = mirror.content[start:]
            if how == CUT:
                rest = rest[: len(rest) // 2]
            if how == DRIP:
                for at in range(8):
                    self.wfile.write(rest[at : at + 1])
                    time.sleep(0.2)
                return
            self.wfile.write(rest)

        def log_message(self, *arguments):
            pass

    return Handler


@contextlib.contextmanager
def mirroring(content, *how):
    """Yield a mirror while it serves."""
    mirror = Mirror(content, how or (RANGES,))
    with serving(JsonServer(_handler(mirror))) as server:
        mirror.url = server.url()
        yield mirror
