"""Servers of JSON on loopback."""

import contextlib
import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


class JsonServer(ThreadingHTTPServer):
    """A server on a free port."""

    daemon_threads = True

    def __init__(self, handler):
        super().__init__(("127.0.0.1", 0), handler)

    def url(self, path=""):
        return f"http://127.0.0.1:{self.server_port}{path}"


class JsonHandler(BaseHTTPRequestHandler):
    """Reads and writes JSON, and prints nothing."""

    def body(self):
        return json.loads(self.rfile.read(int(self.headers["Content-Length"])))

    def reply(self, status, value, headers=()):
        """Answer with bytes, or with a value as JSON; return whether the client took it."""
        raw = value if isinstance(value, bytes) else json.dumps(value).encode()
        # Some tests want a client that gives up.
        with contextlib.suppress(BrokenPipeError, ConnectionResetError):
            self.send_response(status)
            for name, own in {"Content-Type": "application/json", **dict(headers)}.items():
                self.send_header(name, own)
            self.send_header("Content-Length", str(len(raw)))
            self.end_headers()
            self.wfile.write(raw)
            return True
        return False

    def log_message(self, *arguments):
        pass


@contextlib.contextmanager
def serving(server):
    """Yield a server while it serves."""
    thread = threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True)
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
