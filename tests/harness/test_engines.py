"""Engines in a process of their own: one that is killed ends the run, one at a time is said."""

import multiprocessing
import os
import queue
import signal
import subprocess
import sys
import threading
from types import SimpleNamespace

import pytest
from answering_model import AnsweringModel

from lm_eval_longbench.errors import HarnessError, RunStopped
from lm_eval_longbench.harness.evaluate import Captured, evaluated
from lm_eval_longbench.harness.interrupt import Stopping
from lm_eval_longbench.harness.kept_answers import KeptAnswers
from lm_eval_longbench.harness.run import explained
from lm_eval_longbench.records.identity import model_identity
from lm_eval_longbench.records.store import AnswerStore

TREC = "longbench_v1_trec"


class EngineDeadError(Exception):
    """As vLLM names it."""


def serve(asked, answers, most):
    """The engine: answers so many requests, and then works on the next one for ever."""
    for _ in range(most):
        answers.put(f"answer {len(asked.get())}")
    threading.Event().wait()


class VLLM(AnsweringModel):
    """Hands requests to a real process, and knows of its end what vLLM knows.

    It waits without an end, as vLLM does; where it `raises`, as where its engine could still say.
    """

    def __init__(self, most, *, raises=False, batch_size=8):
        super().__init__(None)
        context = multiprocessing.get_context("fork")
        self._raises, self.batch_size = raises, batch_size
        self._asked, self._answers = context.Queue(), context.Queue()
        self._engine = context.Process(target=serve, args=(self._asked, self._answers, most))
        self._engine.daemon = True
        self._engine.start()
        self._out = queue.Queue()
        self._resources = SimpleNamespace(engine_dead=False)
        core = SimpleNamespace(resources=self._resources)
        self.model = SimpleNamespace(llm_engine=SimpleNamespace(engine_core=core))
        self.model_args = {"max_num_seqs": 1}
        threading.Thread(target=self._pump, daemon=True).start()
        threading.Thread(target=self._monitor, daemon=True).start()

    def _pump(self):
        while True:
            self._out.put(self._answers.get())

    def _monitor(self):
        self._engine.join()
        self._resources.engine_dead = True

    def generate_until(self, requests, disable_tqdm=False):
        found = []
        for request in requests:
            self._asked.put(request.args[0])
        for request in requests:
            if len(self.told) == self.dies_at:
                os.kill(self._engine.pid, signal.SIGKILL)
                if self._raises:
                    self._engine.join()
                    raise EngineDeadError("EngineCore encountered an issue.")
            text = self._out.get()
            self.told.append(text)
            self.cache_hook.add_partial("generate_until", request.args, text)
            found.append(text)
        return found

    dies_at = 3

    @property
    def told(self):
        return self.__dict__.setdefault("_told", [])


@pytest.mark.parametrize("raises", [False, True])
def test_a_killed_engine_ends_the_run_with_what_is_kept(evaluate, tmp_path, raises):
    """Without the watch this test never ends: nothing else wakes the queue."""
    stopping = Stopping()
    store = AnswerStore(tmp_path, "answers_vllm_00000000", model_identity("vllm", {}))
    keeping = KeptAnswers(store, stopping)
    model = VLLM(3, raises=raises)
    with (
        pytest.raises(RunStopped, match="The engine of the model has died"),
        stopping.watched(),
        evaluated(keeping),
    ):
        evaluate(model, [TREC])
    assert keeping.count().startswith("3 of 5 answers are there")
    store.close()


def test_requests_one_at_a_time_are_said(evaluate, tmp_path, caplog):
    def warned(size):
        caplog.clear()
        store = AnswerStore(tmp_path / str(size), "answers_vllm_00000000", "{}")
        model = VLLM(5, batch_size=size)
        model.dies_at = None
        with evaluated(KeptAnswers(store, Stopping())):
            evaluate(model, [TREC])
        store.close()
        model._engine.kill()
        return [one.message for one in caplog.records if "--batch_size auto" in one.message]

    assert warned("auto") == []
    (said,) = warned(1)
    assert said.startswith("--batch_size 1: the engine gets 1 request at a time")


# An engine's process as vLLM starts it: it logs as the variable says, and fails.
ENGINE = """
import json, logging.config, os
with open(os.environ["VLLM_LOGGING_CONFIG_PATH"]) as file:
    logging.config.dictConfig(json.load(file))
try:
    raise ValueError("To serve one request, 4.0 GiB of cache are needed.")
except ValueError:
    logging.getLogger("vllm.engine").exception("EngineCore failed to start. See root cause below.")
"""


def test_an_engine_that_cannot_start_says_why(monkeypatch):
    """vLLM raises that its engine failed, and the engine's own process alone knows why."""
    own = {"class": "logging.NullHandler"}
    config = {"version": 1, "disable_existing_loggers": False, "handlers": {"vllm": own}}
    config["loggers"] = {"vllm": {"handlers": ["vllm"], "level": "INFO"}}
    vllm = SimpleNamespace(DEFAULT_LOGGING_CONFIG=config)
    monkeypatch.setitem(sys.modules, "vllm", SimpleNamespace(logger=vllm))
    monkeypatch.setitem(sys.modules, "vllm.logger", vllm)
    before = dict(os.environ)
    with pytest.raises(HarnessError) as raised, explained("vllm", Captured(), debug=False):
        subprocess.run([sys.executable, "-c", ENGINE], check=True)
        raise RuntimeError("Engine core initialization failed. See root cause above.")
    assert "Its engine said: ValueError: To serve one request, 4.0 GiB" in str(raised.value)
    assert os.environ == before
    assert config["handlers"] == {"vllm": own}
    with pytest.raises(HarnessError) as raised, explained("hf", Captured(), debug=False):
        raise RuntimeError("No engine.")
    assert "Its engine" not in str(raised.value)
