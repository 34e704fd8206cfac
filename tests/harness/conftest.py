"""Run tasks through the harness in this process, with our task folder alone indexed."""

import functools
import importlib
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from json_server import JsonHandler, JsonServer, serving
from lm_eval import simple_evaluate
from lm_eval.api.model import LM
from lm_eval.tasks import TaskManager

from lm_eval_longbench.task_folder import task_folder


class RecordingLM(LM):
    """Keeps every request it gets and answers with a fixed text."""

    tokenizer_name = "recording"

    def __init__(self, answer="an answer"):
        super().__init__()
        self.answer = answer  # a text, or a function of request number, prompt and arguments
        self.requests = []

    @property
    def prompts(self):
        return [prompt for prompt, _ in self.requests]

    def generate_until(self, requests, disable_tqdm=False):
        self.requests += [request.args for request in requests]
        if isinstance(self.answer, str):
            return [self.answer for _ in requests]
        return [self.answer(number, *request.args) for number, request in enumerate(requests)]

    def apply_chat_template(self, chat_history, add_generation_prompt=True):
        parts = [f"<|{message['role']}|>\n{message['content']}\n" for message in chat_history]
        return "".join(parts) + ("<|assistant|>\n" if add_generation_prompt else "")

    def loglikelihood(self, requests):
        raise NotImplementedError

    def loglikelihood_rolling(self, requests):
        raise NotImplementedError


@pytest.fixture(scope="session")
def example():
    """Import an example by its name, each once: they register models with the harness."""
    folder = str(Path(__file__).resolve().parents[2] / "examples")
    sys.path.insert(0, folder)
    yield importlib.import_module
    sys.path.remove(folder)


@pytest.fixture
def recording_lm():
    return RecordingLM()


@pytest.fixture
def own_tasks_only(monkeypatch):
    """Spare what reads names through the command line the harness's own tasks."""

    class OwnTasks(TaskManager):
        @functools.wraps(TaskManager.__init__)
        def __init__(self, *args, **kwargs):
            super().__init__(*args, **{**kwargs, "include_defaults": False})

    monkeypatch.setattr("lm_eval.tasks.TaskManager", OwnTasks)


@pytest.fixture
def evaluate():
    """Evaluate tasks on the embedded sample: evaluate(model, tasks, {option: value}, ...)."""

    def run(model, tasks, options=None, model_args=None, **arguments):
        metadata = dict(model_args or {})
        metadata["longbench"] = {"data_dir": "sample", **(options or {})}
        manager = TaskManager(
            include_path=str(task_folder()), include_defaults=False, metadata=metadata
        )
        return simple_evaluate(
            model=model,
            model_args=model_args,
            tasks=tasks,
            task_manager=manager,
            **{"bootstrap_iters": 0, **arguments},
        )

    return run


# What an answer function returns for a request that is never answered.
NO_ANSWER = object()


class ApiServer(JsonServer):
    """An OpenAI-compatible server on loopback that keeps what it was sent."""

    def __init__(self, answer="an answer"):
        super().__init__(_Handler)
        self.answer = answer  # a text, or a function of the payload
        self.payloads = []  # of requests that were answered
        self.closing = threading.Event()


class _Handler(JsonHandler):
    def do_POST(self):
        body = self.body()
        answer = self.server.answer
        if callable(answer):
            answer = answer(body)
        if answer is NO_ANSWER:
            self.server.closing.wait(60)
            return
        self.server.payloads.append((self.path, body))
        if "/chat/completions" in self.path:
            choices = [{"index": 0, "message": {"role": "assistant", "content": answer}}]
        else:
            prompts = body["prompt"]
            several = isinstance(prompts, list) and not isinstance(prompts[0], int)
            number = len(prompts) if several else 1
            choices = [{"index": index, "text": answer} for index in range(number)]
        self.reply(200, {"id": "x", "choices": choices})

    def do_GET(self):
        self.reply(404, {"error": "no such page"})


@pytest.fixture
def no_answer():
    """What an answer function of `api_server` returns to leave a request unanswered."""
    return NO_ANSWER


@pytest.fixture
def api_server():
    with serving(ApiServer()) as server:
        yield server
        server.closing.set()


@pytest.fixture
def small_disk(tmp_path):
    """A folder on a disk of its own of 600 kB."""
    folder = tmp_path / "disk"
    folder.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", "size=600k", "tmpfs", str(folder)]
    if not sys.platform.startswith("linux") or subprocess.run(command, check=False).returncode:
        pytest.skip("no file system can be mounted here")
    yield folder
    subprocess.run(["umount", "-l", str(folder)], check=True)
