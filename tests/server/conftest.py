import pytest
from api_asking import ask, prompts, request
from fault_server import FaultServer

from lm_eval_longbench.records.answer import ANSWERED
from lm_eval_longbench.server import pace


@pytest.fixture(autouse=True)
def short_waits(monkeypatch):
    monkeypatch.setattr(pace, "FIRST_WAIT", 0.02)


@pytest.fixture(autouse=True)
def no_key(monkeypatch):
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)


@pytest.fixture
def run(endpoint, concurrent):
    """Ask a server with a plan; see that nothing is lost and nothing is asked twice."""

    def asking(plan, number=9, *, requests=None, good=None, **more):
        options = {name: more.pop(name) for name in ("knows_n", "streams") if name in more}
        requests = requests or [request(text, endpoint) for text in prompts(number)]
        with FaultServer(plan, **options) as server:
            asked = ask(server, requests, endpoint, **{"num_concurrent": concurrent, **more})
        asked.server = server
        # "?" is how a server is asked whether it is there.
        answered = [one for one in server.answered if one[0] != "?"]
        assert len(answered) == len(set(answered)), "paid twice"
        told = [answer.text for answer in asked.kept.values() if answer.state == ANSWERED]
        assert len(told) == (len(answered) if good is None else good), "paid and lost"
        if "timeout" not in more:  # a server does not see that it is waited for no more
            assert server.most_in_flight <= more.get("num_concurrent", concurrent)
        if asked.error is None:
            assert sorted(asked.kept) == list(range(len(requests)))
        return asked

    return asking
