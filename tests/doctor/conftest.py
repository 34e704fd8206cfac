"""A server that lists models and embeds, facts to judge, and the whole preflight in process."""

import datasets
import huggingface_hub.constants
import pytest
from json_server import JsonHandler, JsonServer, serving

from lm_eval_longbench.harness.preflight_facts import (
    Backend,
    FoundTokenizer,
    PlannedRun,
    PlannedTask,
    TaskFacts,
)
from lm_eval_longbench.harness.prompts import Limit

SAMPLE = '{"longbench": {"data_dir": "sample"}}'


@pytest.fixture(autouse=True)
def _own_environment(monkeypatch):
    """No key of the developer's reaches a test, and no proxy stands before loopback."""
    for variable in ("LONGBENCH_EMBEDDING_API_KEY", "OPENAI_API_KEY", "ANTHROPIC_API_KEY"):
        monkeypatch.delenv(variable, raising=False)
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")


@pytest.fixture
def empty_caches(tmp_path, monkeypatch):
    """A machine that has no data and no models, and may not ask the hub."""
    monkeypatch.setattr(huggingface_hub.constants, "HF_HUB_CACHE", str(tmp_path / "hub"))
    monkeypatch.setattr(huggingface_hub.constants, "HF_HUB_OFFLINE", True)
    monkeypatch.setattr(datasets.config, "HF_DATASETS_CACHE", str(tmp_path / "datasets"))
    return tmp_path


@pytest.fixture
def hub_file(empty_caches):
    """Put a file into the hub's cache: hub_file(repo, file, bytes, revision)."""

    def put(repo, file, content=b"x", revision="main", kind="models"):
        commit = revision if len(revision) == 40 else "0" * 40
        folder = empty_caches / "hub" / f"{kind}--{repo.replace('/', '--')}"
        path = folder / "snapshots" / commit / file
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
        if revision != commit:
            (folder / "refs").mkdir(exist_ok=True)
            (folder / "refs" / revision).write_text(commit)
        return path

    return put


# ---------------------------------------------------------------------- facts


@pytest.fixture
def a_run():
    """A run's arguments: a_run(model="hf", ...)."""

    def make(**more):
        whole = {
            "model": "hf",
            "model_args": {},
            "tasks": (),
            "metadata": {},
            "gen_kwargs": {},
            "chat": False,
            "system_instruction": None,
            "limit": None,
            "samples": None,
            "use_cache": None,
            "output_path": None,
            "log_samples": False,
            "include_path": (),
        }
        return PlannedRun(**{**whole, **more})

    return make


@pytest.fixture
def a_task():
    """What a task of LongBench v1 with nothing wrong is: a_task(chat="on", ...)."""
    greedy = {"until": [], "max_gen_toks": 128, "do_sample": False, "temperature": 0.0}

    def make(**more):
        whole = {
            "name": "longbench_v1_qasper",
            "task": "longbench_v1_qasper",
            "title": "LongBench v1",
            "questions": 200,
            "asked": 200,
            "generation": dict(greedy),
            "official_generation": dict(greedy),
            "sent_generation": dict(greedy),
            "chat": "off",
            "limit": Limit(31500, None, "truncate_to=31500", official=True),
            "whole": "How long is it?",
            "sent": "How long is it?",
            "probe": "?",
        }
        return TaskFacts(**{**whole, **more})

    return make


@pytest.fixture
def a_backend():
    """A backend: a_backend("local", ...)."""

    def make(kind, name="hf", **more):
        return Backend(name, kind, **more)

    return make


@pytest.fixture
def a_leaf():
    def make(name="longbench_v1_qasper", task="longbench_v1_qasper", metadata=None, **more):
        whole = {"metadata": metadata or {}, "repeats": 1, "spec": name}
        return PlannedTask(name, task, **{**whole, **more})

    return make


@pytest.fixture
def found_tokenizer(tokenizer_folder):
    from transformers import AutoTokenizer

    return FoundTokenizer(tokenizer_folder, AutoTokenizer.from_pretrained(tokenizer_folder))


@pytest.fixture
def statuses():
    """Return the statuses of lines: statuses(lines, "topic")."""

    def of(lines, topic=None):
        return [line.status for line in lines if topic in (None, line.topic)]

    return of


# ---------------------------------------------------------------------- a server


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
        moved = {"Location": "/elsewhere"} if status in (301, 302, 307) else {}
        self.reply(status, listed if body is None else body, moved)

    def do_POST(self):
        self.note()
        body = self.body()
        if not self.path.endswith("/embeddings"):
            self.reply(500, {})
            return
        vectors = range(len(body["input"]))
        data = [{"index": number, "embedding": [1.0, 0.0]} for number in vectors]
        self.reply(200, {"data": data})

    def note(self):
        self.server.asked.append((self.command, self.path))
        self.server.keys.append(self.headers.get("Authorization"))


@pytest.fixture
def models_server():
    with serving(ModelsServer()) as server:
        yield server


@pytest.fixture
def nobody():
    """The address of a port that nobody listens on."""
    with JsonServer(_Handler) as server:
        return server.url()


@pytest.fixture
def report():
    """The whole preflight on the sample, without the harness's own tasks."""
    from lm_eval_longbench.doctor.checkup import examine

    def run(*arguments, metadata=SAMPLE, **more):
        arguments = [*arguments, *(("--metadata", metadata) if metadata else ())]
        return examine([str(one) for one in arguments], include_defaults=False, **more)

    return run
