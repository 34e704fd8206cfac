"""Fixtures that several test folders share, and the order of all tests (see rings.py)."""

import gc
import os
import sys
from pathlib import Path

# Two threads of one small model wait for each other longer than they compute. It is read when torch
# is imported, here and in the processes that tests start.
os.environ.setdefault("OMP_NUM_THREADS", "1")

import datasets
import pytest
from hypothesis import settings
from rings import TOGETHER, below, ring_of, together
from v1_tasks import E_TASKS, TASKS, load

from lm_eval_longbench import console
from lm_eval_longbench.task_folder import task_folder

# What is compiled once is not compiled again by each worker and each process that a test starts.
sys.dont_write_bytecode = False
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)

# Under load any example of a property test may take longer than hypothesis allows by default.
# Each run takes the same examples, so that a change is judged by what it changed;
# `pytest --hypothesis-profile explore` looks for new ones.
settings.register_profile("tests", deadline=None, derandomize=True)
settings.register_profile("explore", deadline=None)
settings.load_profile("tests")

CHAT_TEMPLATE = (
    "{% for m in messages %}<|{{ m['role'] }}|>\n{{ m['content'] }}\n{% endfor %}"
    "{% if add_generation_prompt %}<|assistant|>\n{% endif %}"
)


class Turned(pytest.Dir):
    """The folder of all tests, which each worker begins to collect at another place.

    What one has compiled the others read; in one order each would compile all of it.
    """

    def collect(self):
        entries = list(super().collect())
        worker = getattr(self.config, "workerinput", {"workerid": "gw0", "workercount": 1})
        start = len(entries) * int(worker["workerid"][2:]) // worker["workercount"]
        return entries[start:] + entries[:start]


def pytest_collect_directory(path, parent):
    if path == Path(__file__).parent:
        return Turned.from_parent(parent, path=path)
    return None


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items):
    """Mark each test with its ring; begin with what takes longest: no worker ends with it alone."""
    order = list(TOGETHER)
    for item in items:
        if ring := ring_of(below(item.nodeid)):
            item.add_marker(ring)

    def place(item):
        file = below(item.nodeid)
        name = together(file)
        return (order.index(name) if name in order else len(order)), file

    items.sort(key=place)


def pytest_collection_finish():
    """What is there now stays: spare the garbage collector from looking at it all the time."""
    gc.freeze()


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config, log):
    """Give each worker whole files, or several that share what takes long."""
    from xdist.scheduler import LoadScopeScheduling

    class Together(LoadScopeScheduling):
        def _split_scope(self, nodeid):
            return together(below(nodeid))

    config.option.loadscopereorder = False  # the items are in order
    return Together(config, log)


@pytest.fixture(autouse=True)
def _warnings_anew():
    """Every test sees the once-only warnings as a fresh process would."""
    console.forget()
    yield
    console.forget()


@pytest.fixture(scope="session", autouse=True)
def _datasets_cache(tmp_path_factory):
    """Keep converted data out of the user's cache."""
    before = datasets.config.HF_DATASETS_CACHE
    datasets.config.HF_DATASETS_CACHE = str(tmp_path_factory.mktemp("datasets"))
    yield
    datasets.config.HF_DATASETS_CACHE = before


@pytest.fixture(scope="session", autouse=True)
def _no_certificates(tmp_path_factory):
    """All servers are on loopback: spare each client from reading the machine's certificates."""
    with pytest.MonkeyPatch.context() as patch:
        patch.delenv("SSL_CERT_FILE", raising=False)
        patch.setenv("SSL_CERT_DIR", str(tmp_path_factory.mktemp("certificates")))
        yield


@pytest.fixture(scope="session", autouse=True)
def _machine_asked_once(_datasets_cache):
    """After each run the harness asks pip and others about the machine: a second, every time."""
    evaluator = sys.modules.get("lm_eval.evaluator")
    if evaluator is None:
        yield
        return
    ask, about = evaluator.add_env_info, {}

    def asked_once(results):
        if not about:
            ask(about)
        results.update(about)

    evaluator.add_env_info = asked_once
    yield
    evaluator.add_env_info = ask


@pytest.fixture(scope="session", autouse=True)
def _own_task_files_read_once():
    """Every index of the harness parses all task files of this package."""
    from task_files import keep

    end = keep(task_folder())
    yield
    end()


@pytest.fixture(scope="session")
def processes(tmp_path_factory):
    """Commands as processes that share the import of what others made."""
    from processes import Processes

    started = Processes(tmp_path_factory.mktemp("processes"))
    yield started
    started.close()


def build_tokenizer(folder, *, bos: bool) -> str:
    """Train a tokenizer on the embedded sample and save it with a chat template."""
    from small_tokenizers import EOS, byte_level_bpe

    texts = [
        text
        for split in TASKS
        if split not in E_TASKS
        for text in load(split, "sample").rows["context"]
    ]
    special = ["<|user|>", "<|assistant|>", "<|system|>"]
    trained = byte_level_bpe(texts, vocabulary=3000, bos=bos, special=special, pad_token=EOS)
    trained.chat_template = CHAT_TEMPLATE
    trained.save_pretrained(folder)
    return str(folder)


@pytest.fixture(scope="session")
def tokenizer_folder(tmp_path_factory) -> str:
    """A real tokenizer that puts a beginning-of-text token before every prompt."""
    return build_tokenizer(tmp_path_factory.mktemp("tokenizer"), bos=True)


@pytest.fixture(scope="session")
def model_folder(tmp_path_factory) -> str:
    """A real Llama of two small layers, with random weights, that takes 2,048 tokens."""
    import torch
    from transformers import LlamaConfig, LlamaForCausalLM

    folder = tmp_path_factory.mktemp("model")
    build_tokenizer(folder, bos=True)
    torch.manual_seed(0)
    config = LlamaConfig(
        vocab_size=3000,
        hidden_size=32,
        intermediate_size=64,
        num_hidden_layers=2,
        num_attention_heads=2,
        num_key_value_heads=2,
        max_position_embeddings=2048,
        bos_token_id=0,
        eos_token_id=1,
        pad_token_id=1,
    )
    LlamaForCausalLM(config).save_pretrained(folder)
    return str(folder)
