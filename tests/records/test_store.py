"""A file of answers: what is kept, what is found, who may write."""

import json
import os
import signal
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest
from kept_answers import read_all

from lm_eval_longbench.errors import OptionError
from lm_eval_longbench.records.answer import ANSWERED, EMPTY, FAILED, Answer
from lm_eval_longbench.records.identity import model_identity
from lm_eval_longbench.records.store import AnswerStore, Kept, answer_files

IDENTITY = model_identity("hf", {"pretrained": "org/tiny"})
FULL = Answer(
    "an answer\0 with \ud800 odd\nlines",
    ANSWERED,
    "",
    "stop",
    11,
    7,
    5,
    3,
    0.25,
    "tiny-2",
    "fp",
    ("seed", "stop"),
    1e9,
)


def kept(answer, key="k", repeat=0):
    return Kept(key, repeat, "task", "q1", "ab" * 32, "{}", answer)


@pytest.fixture
def opened(tmp_path):
    stores = []

    def make(folder=tmp_path, rank=0, identity=IDENTITY):
        stores.append(AnswerStore(folder, "answers_tiny_00000000", identity, rank))
        return stores[-1]

    yield make
    for store in stores:
        store.close()


def test_every_field_comes_back(opened):
    store = opened()
    store.keep(kept(FULL))
    assert store.find("k", 0) == FULL
    assert store.find("k", 1) is store.find("other", 0) is None
    store.close()
    assert opened().find("k", 0) == FULL


def test_an_answer_is_never_replaced_by_the_lack_of_one(opened):
    store = opened()
    store.keep(kept(Answer("", EMPTY)))
    store.keep(kept(Answer("", FAILED, "HTTP 500")))
    assert store.find("k", 0).state == FAILED
    store.keep(kept(Answer("at last")))
    store.keep(kept(Answer("", FAILED)))
    assert store.find("k", 0).text == "at last"


def test_a_second_process_is_refused(opened, tmp_path):
    store = opened()
    code = (
        "import sys; from pathlib import Path\n"
        "from lm_eval_longbench.records.store import AnswerStore\n"
        "AnswerStore(Path(sys.argv[1]), 'answers_tiny_00000000', sys.argv[2])"
    )
    command = [sys.executable, "-c", code, str(tmp_path), IDENTITY]
    done = subprocess.run(command, capture_output=True, text=True)
    assert "OptionError: Another run writes its answers to" in done.stderr
    store.close()
    assert subprocess.run(command).returncode == 0


def test_files_of_other_ranks_are_found_and_merged(opened, tmp_path):
    ranks = [opened(rank=rank) for rank in range(3)]
    for number, store in enumerate(ranks):
        store.keep(kept(Answer(f"of rank {number}"), key=f"k{number}"))
    ranks[1].keep(kept(Answer("better"), key="both"))
    ranks[0].keep(kept(Answer("", EMPTY), key="both"))
    for store in ranks:
        store.close()
    one = opened(rank=5)
    assert [one.find(f"k{number}", 0).text for number in range(3)] == [
        f"of rank {number}" for number in range(3)
    ]
    assert one.find("both", 0).text == "better"
    one.close()
    store = opened()
    store.merge()
    store.close()
    assert [file.name for file in answer_files(tmp_path)] == ["answers_tiny_00000000.sqlite"]
    assert len(list(read_all(store.path))) == 4
    assert opened().find("both", 0).text == "better"


def test_a_file_that_is_being_written_is_not_merged(opened, tmp_path):
    other = opened(rank=1)
    other.keep(kept(Answer("mine"), key="k1"))
    store = opened()
    assert store.find("k1", 0).text == "mine"
    store.merge()
    assert other.path.exists()


def test_answers_of_another_model_are_refused(opened):
    opened().close()
    with pytest.raises(OptionError, match="holds answers of model hf pretrained=org/tiny"):
        opened(identity=model_identity("hf", {"pretrained": "org/other"}))


@pytest.mark.parametrize("name", ["answers_tiny_00000000.sqlite", "answers_tiny_00000000_x.sqlite"])
def test_a_damaged_file_is_kept_beside_a_new_one(opened, tmp_path, name, caplog):
    (tmp_path / name).write_bytes(b"no database" * 500)
    opened().keep(kept(FULL))
    assert (tmp_path / f"{name}.damaged1").read_bytes() == b"no database" * 500
    assert f"{name} is damaged: file is not a database. It is kept as {name}.d" in caplog.text
    assert answer_files(tmp_path) == [tmp_path / "answers_tiny_00000000.sqlite"]


def test_a_file_of_another_version_is_refused(opened, tmp_path):
    store = opened()
    store.close()
    with sqlite3.connect(store.path) as connection:
        connection.execute("PRAGMA user_version=9")
    with pytest.raises(OptionError, match="another version"):
        opened()


def test_a_folder_that_cannot_be_made(opened, tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(OptionError, match="output_path"):
        opened(tmp_path / "file" / "out")


def test_a_killed_process_loses_nothing_that_was_kept(opened, tmp_path):
    code = (
        "import os, sys; from pathlib import Path\n"
        "from lm_eval_longbench.records.answer import Answer\n"
        "from lm_eval_longbench.records.store import Kept\n"
        "from lm_eval_longbench.records.store import AnswerStore\n"
        "store = AnswerStore(Path(sys.argv[1]), 'answers_tiny_00000000', sys.argv[2])\n"
        "for number in range(10**6):\n"
        "    store.keep(Kept(str(number), 0, 't', 'q', 'p', '{}', Answer(f'a{number}')))\n"
        "    print(number, flush=True)\n"
    )
    process = subprocess.Popen(
        [sys.executable, "-c", code, str(tmp_path), IDENTITY], stdout=subprocess.PIPE, text=True
    )
    said = [process.stdout.readline() for _ in range(300)]
    os.kill(process.pid, signal.SIGKILL)
    said += process.stdout.readlines()
    process.wait()
    last = int([line for line in said if line.endswith("\n")][-1])
    assert last >= 299
    store = opened()
    assert all(store.find(str(number), 0).text == f"a{number}" for number in range(last + 1))


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs Linux")
def test_a_full_disk_is_told_and_what_was_kept_stays(tmp_path):
    """The limit on file sizes stands for a full disk: SQLite gets the same error from a write."""
    code = (
        "import resource, signal, sys; from pathlib import Path\n"
        "from lm_eval_longbench.records.answer import Answer\n"
        "from lm_eval_longbench.records.store import Kept\n"
        "from lm_eval_longbench.records.store import AnswerStore\n"
        "store = AnswerStore(Path(sys.argv[1]), 'answers_tiny_00000000', sys.argv[2])\n"
        "put = lambda n: store.keep(Kept(str(n), 0, 't', 'q', 'p', '{}', Answer('x' * 5000)))\n"
        "for number in range(20): put(number)\n"
        "assert store.fault is None\n"
        "signal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (64_000, 64_000))\n"
        "for number in range(20, 30): put(number)\n"
        "print(store.fault)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, str(tmp_path), IDENTITY],
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.strip() != "None"
    store = AnswerStore(tmp_path, "answers_tiny_00000000", IDENTITY)
    assert [store.find(str(number), 0) is not None for number in range(20)] == [True] * 20
    store.close()


def test_keys_are_not_written_down(opened):
    secret = {"auth_token": "s3cret-token", "header": {"Authorization": "Bearer s3cret-token"}}
    identity = model_identity(
        "local-chat-completions", {"model": "m", "api_key": "s3cret", **secret}
    )
    assert json.loads(identity)["model_args"] == {"api_key": "***", "model": "m"}
    store = opened(identity=identity)
    store.close()
    assert b"s3cret" not in store.path.read_bytes()
