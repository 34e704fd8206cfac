"""A server that lists models and embeds."""

from json_server import JsonHandler, JsonServer


class ModelsServer(JsonServer):
    """Lists models and embeds, and keeps what it was asked.

    Attributes:
        models: what /v1/models lists.
        status: of the reply to it.
        body: bytes of that reply; None: the list.
        asked: method and path of every request.
        keys: Authorization of every request.
    """

    def __init__(self):
        super().__init__(_Handler)
        self.models = [{"id": "tiny", "object": "model", "max_model_len": 40960}]
        self.status = 200
        self.body = None
        self.asked = []
        self.keys = []


class _Handler(JsonHandler):
    def do_GET(self):
        self.note()
        status, body = self.server.status, self.server.body
        listed = {"object": "list", "data": self.server.models}
        moved = {"Location": "/elsewhere"} if status == 302 else {}
        self.reply(status, listed if body is None else body, moved)

    def do_POST(self):
        self.note()
        vectors = range(len(self.body()["input"]))
        data = [{"index": number, "embedding": [1.0, 0.0]} for number in vectors]
        self.reply(200, {"data": data})

    def note(self):
        self.server.asked.append((self.command, self.path))
        self.server.keys.append(self.headers.get("Authorization"))
