"""Ask the fault server many requests with the real client, in this process."""

import asyncio
import json

from tqdm import tqdm

from lm_eval_longbench.api.asking import Asker, Manners
from lm_eval_longbench.api.client import Client, Request
from lm_eval_longbench.api.server import CHAT, Server

PARAMETERS = {"max_tokens": 20, "temperature": 1.0}


def request(text, endpoint, *, seed=1234, document=None, **more):
    if endpoint == CHAT:
        text = json.dumps([{"role": "user", "content": text}])
    return Request(text, {**PARAMETERS, **more}, seed, document)


class Asked:
    """What came of asking: what was kept, in order, and the error that ended it."""

    def __init__(self):
        self.kept = {}
        self.order = []
        self.error = None

    def keep(self, index, answer):
        assert index not in self.kept, "one request has two answers"
        self.kept[index] = answer
        self.order.append(index)

    def states(self):
        return [self.kept[index].state for index in sorted(self.kept)]


def ask(server, requests, endpoint, *, stopping=lambda: False, keep=None, **more):
    """Ask a fault server; what ends the run is kept, not raised."""
    asked = Asked()
    own = {name: more.pop(name) for name in list(more) if name in Manners.__annotations__}
    base, model = more.pop("base", server.base), more.pop("model", "tiny")
    client = Client(Server(base, endpoint, model, **{"timeout": 10.0, **more}))
    with tqdm(total=len(requests), disable=True) as bar:
        asker = Asker(
            client,
            requests,
            Manners(**{"patience": 3.0, "num_concurrent": 8, **own}),
            keep or asked.keep,
            stopping,
            bar,
        )
        try:
            answers = asyncio.run(asker.run())
        except Exception as error:
            asked.error = error
        else:
            if keep is None:
                assert answers == [asked.kept[index] for index in range(len(requests))]
    return asked
