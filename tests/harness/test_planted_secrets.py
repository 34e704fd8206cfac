"""Keys planted in every argument of real commands: no file and no stream shows one of them."""

import json
import os
import shlex

import pytest
from fault_server import FaultServer, status

from lm_eval_longbench.secrets import is_secret

PLANTED = "Pl4nted"
TASK = "longbench_v1_passage_count"


def model_args(base, **more):
    """Arguments with a secret in each place; the path and the query are the server's to read."""
    host = base.removeprefix("http://")
    return {
        "model": "tiny",
        "base_url": f"http://me:{PLANTED}-user@{host}/key/{PLANTED}-path"
        f"?code={PLANTED}%2Fquery&api-version=1",
        "endpoint": "chat",
        "header": {"X-Team": f"{PLANTED}-header", "Cookie": f"a={PLANTED}-cookie"},
        "extra_body": {
            "my_token": f"{PLANTED}-token",
            "deep": [
                {"clientSecret": {"any": f"{PLANTED}-deep"}, "url": f"http://h?{PLANTED}-url"}
            ],
        },
        "patience": 2,
        "tries": 2,
        "max_failed": 1,
        **more,
    }


METADATA = {
    "longbench": {"data_dir": "sample"},
    "note": "mine",
    "deep": {"hf-auth": [f"{PLANTED}-metadata"], "text": json.dumps({"key": f"{PLANTED}-text"})},
}


@pytest.fixture(scope="module")
def command(processes, tmp_path_factory):
    """Run a command; what it prints holds no secret."""
    folder = tmp_path_factory.mktemp("planted")
    environment = {
        **os.environ,
        "HF_HUB_OFFLINE": "1",
        "HF_DATASETS_CACHE": str(folder / "cache"),
        "OPENAI_API_KEY": f"{PLANTED}-environment",
    }

    def run(*arguments, status=0):
        done = processes.run("lm-eval-longbench", *arguments, env=environment, cwd=folder)
        said = done.stdout + done.stderr
        assert status is None or done.returncode == status, said
        assert PLANTED not in said
        return said

    run.folder = folder
    return run


def run_of(base, out, *more, model="longbench-api", **args):
    return (
        *("run", "--model", model, "--tasks", TASK, "--output_path", out, "--log_samples"),
        *("--model_args", json.dumps(model_args(base, **args)), "--metadata", json.dumps(METADATA)),
        *("--gen_kwargs", f"session_token={PLANTED}-generation", "--apply_chat_template", *more),
    )


@pytest.fixture(scope="module")
def server():
    with FaultServer() as server:
        yield server


@pytest.fixture(scope="module")
def good(command, server):
    """A run that ends well."""
    server.plan = lambda number, body: None
    return command(*run_of(server.base, "good", "--verbose"))


@pytest.fixture(scope="module")
def stopped(command, server):
    """A run that the server ends; its message quotes keys."""
    said = f"Incorrect key {PLANTED}-header, {PLANTED}-environment, {PLANTED}/query"
    server.plan = lambda number, body: status(401, said)
    return command(*run_of(server.base, "stopped"), status=1)


def written(command, *kinds):
    """Files of these kinds were written, and no file of any kind holds a secret."""
    files = [file for file in command.folder.rglob("*") if file.is_file()]
    assert set(kinds) <= {file.suffix for file in files}
    assert [str(file) for file in files if PLANTED.encode() in file.read_bytes()] == []


def test_runs_that_end_well(command, server, good):
    command(*run_of(server.base, "quiet"))
    body = server.bodies[-1]
    headers = {name.title(): value for name, value in server.headers[-1].items()}
    # All of them are sent.
    assert headers["X-Team"] == f"{PLANTED}-header"
    assert body["my_token"] == f"{PLANTED}-token"
    assert body["session_token"] == f"{PLANTED}-generation"
    command("doctor", *run_of(server.base, "quiet")[1:])
    written(command, ".json", ".jsonl", ".sqlite", ".log")


def test_runs_that_fail(command, server):
    server.plan = lambda number, body: status(400, f"odd: {json.dumps(body)[:400]}")
    command(*run_of(server.base, "failed"), status=None)
    once = {"max_retries": 1}
    command(*run_of(server.base, "harness", model="local-chat-completions", **once), status=None)
    command(
        *run_of(server.base, "debug", "--debug", model="local-completions", **once), status=None
    )
    written(command, ".log")


def test_misspelt_arguments(command, server):
    command(*run_of(server.base, "misspelt", heder={"X-Key": f"{PLANTED}-heder"}), status=2)
    written(command, ".log")


@pytest.mark.parametrize(
    "given", [f'{{"api_key": "{PLANTED}"', f"model=m,{PLANTED}", f'header={{"a": {PLANTED}']
)
def test_arguments_that_cannot_be_read_are_not_quoted(command, given):
    said = command(
        "run", "--model", "longbench-api", "--tasks", TASK, "--model_args", given, status=2
    )
    assert "--model_args" in said


def test_a_stopped_run_goes_on_once_the_keys_are_put_back(command, server, stopped):
    (line,) = (one for one in stopped.splitlines() if one.startswith("To go on"))
    assert "(with your keys where *** stands)" in line
    words = shlex.split(line.partition(": ")[2])
    for option, given in (("--model_args", model_args(server.base)), ("--metadata", METADATA)):
        place = words.index(option) + 1
        shown = json.loads(words[place])
        assert "***" in words[place] and shown.keys() == given.keys()
        words[place] = json.dumps(given)
    words = [word.replace("=***", f"={PLANTED}-generation") for word in words]
    command(*run_of(server.base, "stopped", "--debug", "--verbose"), status=1)
    server.plan = lambda number, body: None
    command(*words[1:])
    written(command, ".json", ".jsonl", ".sqlite", ".log")


def test_commands_that_read(command, good, stopped):
    command("score", "good", "--output", "scored")
    command("verify", "good")
    command("answers", ".")
    command("answers", ".", "--json")
    command("compare", "good", "good")
    written(command, ".json")


def test_reports(command, good):
    for kind in ("json", "csv", "markdown", "html"):
        more = ["--answers"] if kind == "html" else []
        command("report", "good", "--format", kind, "--output", f"r.{kind}", *more)
    command("lock", "--tasks", TASK, "--metadata", json.dumps(METADATA), status=None)
    written(command, ".json", ".csv", ".markdown", ".html")


def keys_of(value):
    """All names in JSON, at any depth; of our own tasks' figures too."""
    if isinstance(value, dict):
        for name, own in value.items():
            yield name
            yield from keys_of(own)
    elif isinstance(value, list):
        for own in value:
            yield from keys_of(own)


def test_no_field_of_our_files_is_taken_for_a_secret(command):
    tasks = f"{TASK},longbench_v2,longbench_pro_t3_1"
    sample = json.dumps({"longbench": {"data_dir": "sample"}})
    command(
        *("run", "--model", "longbench-extractive", "--tasks", tasks, "--metadata", sample),
        *("--output_path", "plain", "--log_samples"),
    )
    command("score", "plain", "--output", "plain scored")
    files = [
        *(command.folder / "plain").rglob("*.json*"),
        *(command.folder / "plain scored").rglob("*.json*"),
    ]
    assert len(files) >= 6
    names = set()
    for file in files:
        text = file.read_text()
        values = (
            map(json.loads, text.splitlines()) if file.suffix == ".jsonl" else [json.loads(text)]
        )
        names.update(name for value in values for name in keys_of(value))
    assert {"longbench_run", "tokenizer_sha256", "counts", "gen_args_0"} <= names
    assert [name for name in sorted(names) if is_secret(name)] == []
