"""Ask the fault server many requests with the real client, in this process."""

import asyncio
import json

from fault_server import answer_to
from tqdm import tqdm

from lm_eval_longbench.records.answer import ANSWERED
from lm_eval_longbench.server.asking import Asker, Manners
from lm_eval_longbench.server.client import Client, Request
from lm_eval_longbench.server.server import CHAT, Server

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
            Manners(**{"patience": 20.0, "num_concurrent": 8, **own}),
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


# ---------------------------------------------------------------------- the table of faults

NUMBER = 9  # one more than are asked at a time
BAD = "question 3."  # the one whose requests meet a fault


def prompts(number=NUMBER):
    return [f"document {index} question {index}." for index in range(number)]


def all_good(asked):
    assert asked.error is None
    texts = [asked.kept[index].text for index in sorted(asked.kept)]
    assert texts == [answer_to(text, 1234) for text in prompts(len(texts))]
    assert set(asked.states()) == {ANSWERED}


def one_bad(asked, state, *words):
    """All are answered but BAD, which has a state and a reason."""
    assert asked.error is None
    assert asked.states() == [state if index == 3 else ANSWERED for index in range(len(asked.kept))]
    answer = asked.kept[3]
    assert answer.text == ""
    for word in words:
        assert word in answer.reason
    return answer
