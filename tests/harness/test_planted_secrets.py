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


def test_no_command_shows_or_writes_a_secret(command):
    refused = status(401, f"Incorrect key {PLANTED}-header, {PLANTED}-environment, {PLANTED}/query")
    with FaultServer() as server:
        command(*run_of(server.base, "good", "--verbose"))
        command(*run_of(server.base, "quiet"))
        command("doctor", *run_of(server.base, "quiet")[1:])
        body, sent = server.bodies[-1], server.headers[-1]
        headers = {name.title(): value for name, value in sent.items()}
        # All of them are sent.
        assert headers["X-Team"] == f"{PLANTED}-header"
        assert body["my_token"] == f"{PLANTED}-token"
        assert body["session_token"] == f"{PLANTED}-generation"

        server.plan = lambda number, body: status(400, f"odd: {json.dumps(body)[:400]}")
        command(*run_of(server.base, "failed"), status=None)
        server.plan = lambda number, body: refused
        said = command(*run_of(server.base, "stopped"), status=1)
        command(*run_of(server.base, "stopped", "--debug", "--verbose"), status=1)
        command(*run_of(server.base, "harness", model="local-chat-completions"), status=None)
        command(*run_of(server.base, "misspelt", heder={"X-Key": f"{PLANTED}-heder"}), status=2)
        command(*run_of(server.base, "debug", "--debug", model="local-completions"), status=None)

        # Put back, the command works.
        (line,) = (one for one in said.splitlines() if one.startswith("To go on"))
        server.plan = lambda number, body: None
        words = shlex.split(line.partition(": ")[2])
        shown = iter(("--model_args", "--metadata"))
        assert "(with your keys where *** stands)" in line
        for option in shown:
            given = json.loads(words[words.index(option) + 1])
            assert "***" in json.dumps(given)
        words[words.index("--model_args") + 1] = json.dumps(model_args(server.base))
        words[words.index("--metadata") + 1] = json.dumps(METADATA)
        words = [word.replace("=***", f"={PLANTED}-generation") for word in words]
        command(*words[1:])

    for broken in (f'{{"api_key": "{PLANTED}"', f"model=m,{PLANTED}", f'header={{"a": {PLANTED}'):
        command(
            "run", "--model", "longbench-api", "--tasks", TASK, "--model_args", broken, status=2
        )

    command("score", "good", "--output", "scored")
    command("verify", "good")
    command("answers", ".")
    command("answers", ".", "--json")
    command("compare", "good", "stopped", status=None)
    command("explain", "good", "stopped", status=None)
    command("lock", "--tasks", TASK, "--metadata", json.dumps(METADATA), status=None)
    for kind in ("table", "json", "csv", "markdown", "html"):
        more = ["--answers"] if kind == "html" else []
        command("report", "good", "stopped", "--format", kind, "--output", f"r.{kind}", *more)

    files = [file for file in command.folder.rglob("*") if file.is_file()]
    assert {"scored", "good", "stopped", "misspelt"} <= {
        file.relative_to(command.folder).parts[0] for file in files
    }
    kinds = {file.suffix for file in files}
    assert {".json", ".jsonl", ".sqlite", ".log", ".html"} <= kinds
    shown = [str(file) for file in files if PLANTED.encode() in file.read_bytes()]
    assert shown == []


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
