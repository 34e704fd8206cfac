"""Batches sent with the providers' own packages to servers on loopback that speak their APIs."""

import json
import re

import pytest
from json_server import JsonHandler, JsonServer, serving

from lm_eval_longbench.errors import MissingDependencyError, OptionError, RunStopped
from lm_eval_longbench.files import json_rows
from lm_eval_longbench.server.batch import submit


class Handler(JsonHandler):
    """Files and batches of OpenAI, and message batches of Anthropic; each look is a step on."""

    def do_POST(self):
        server, raw = self.server, self.rfile.read(int(self.headers["Content-Length"]))
        server.calls.append(f"POST {self.path}")
        if self.path == "/v1/files":
            rows = re.findall(rb'\{"custom_id".*\}', raw)
            server.files[f"file-{len(server.files)}"] = [json.loads(row) for row in rows]
            name = list(server.files)[-1]
            own = {"id": name, "object": "file", "bytes": 1, "created_at": 1, "filename": "x"}
            self.reply(200, {**own, "purpose": "batch", "status": "processed"})
        elif self.path == "/v1/batches":
            asked = json.loads(raw)
            assert asked["endpoint"] == "/v1/chat/completions"
            name = f"batch_{len(server.batches)}"
            server.batches[name] = {"rows": server.files[asked["input_file_id"]], "looks": 0}
            self.reply(200, self.batch(name))
        else:
            assert self.path == "/v1/messages/batches"
            name = f"msgbatch_{len(server.batches)}"
            rows = json.loads(raw)["requests"]
            server.batches[name] = {"rows": rows, "looks": 0}
            self.reply(200, self.messages(name))

    def do_GET(self):
        server = self.server
        server.calls.append(f"GET {self.path}")
        name = self.path.split("/")[-1]
        if self.path.startswith("/v1/batches/"):
            server.batches[name]["looks"] += 1
            self.reply(200, self.batch(name))
        elif self.path.endswith("/content"):
            rows = server.batches[self.path.split("/")[-2].removeprefix("out-")]["rows"]
            found = [
                {
                    "custom_id": row["custom_id"],
                    "response": {"status_code": 200, "body": {"choices": []}},
                }
                for row in rows
            ]
            self.reply(200, "\n".join(map(json.dumps, found)).encode())
        elif self.path.endswith("/results"):
            rows = server.batches[self.path.split("/")[-2]]["rows"]
            found = [{"custom_id": row["custom_id"], "result": {"type": "expired"}} for row in rows]
            headers = {"Content-Type": "application/x-jsonl"}.items()
            self.reply(200, "\n".join(map(json.dumps, found)).encode() + b"\n", headers)
        else:
            server.batches[name]["looks"] += 1
            self.reply(200, self.messages(name))

    def batch(self, name):
        own = self.server.batches[name]
        done = own["looks"] > 1
        status = self.server.status if done else "in_progress"
        counts = {"total": len(own["rows"]), "completed": len(own["rows"]) * done, "failed": 0}
        result = {"output_file_id": f"out-{name}"} if done and status == "completed" else {}
        return {
            **{"id": name, "object": "batch", "endpoint": "/v1/chat/completions"},
            **{"input_file_id": "x", "completion_window": "24h", "created_at": 1},
            **{"status": status, "request_counts": counts},
            **result,
        }

    def messages(self, name):
        own = self.server.batches[name]
        done = own["looks"] > 1
        number = len(own["rows"])
        counts = dict.fromkeys(("canceled", "errored", "expired", "processing", "succeeded"), 0)
        counts["expired" if done else "processing"] = number
        url = f"{self.server.url('/v1/messages/batches')}/{name}/results"
        moment = "2026-11-23T00:00:00Z"
        return {
            **{"id": name, "type": "message_batch", "request_counts": counts},
            **{"created_at": moment, "expires_at": moment, "archived_at": None},
            **{"cancel_initiated_at": None, "ended_at": moment if done else None},
            **{"processing_status": "ended" if done else "in_progress"},
            "results_url": url if done else None,
        }


@pytest.fixture
def server(monkeypatch):
    with serving(JsonServer(Handler)) as own:
        own.files, own.batches, own.calls, own.status = {}, {}, [], "completed"
        monkeypatch.setenv("OPENAI_API_KEY", "sk-test")
        monkeypatch.setenv("OPENAI_BASE_URL", own.url("/v1"))
        monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-test")
        monkeypatch.setenv("ANTHROPIC_BASE_URL", own.url())
        yield own


@pytest.fixture
def folder(tmp_path):
    """Two files of requests."""
    names = []
    for number in (1, 2):
        names.append(f"requests-00{number}.jsonl")
        rows = [{"custom_id": f"{number}-{n}", "url": "/v1/chat/completions"} for n in range(3)]
        (tmp_path / names[-1]).write_text("".join(json.dumps(row) + "\n" for row in rows))
    written(tmp_path, "openai", names)
    return tmp_path


def written(folder, form, names):
    manifest = {"format": form, "files": [{"file": name} for name in names], "answers": "x"}
    (folder / "manifest.json").write_text(json.dumps(manifest))


def test_files_are_sent_once_and_results_are_fetched(server, folder):
    said = []
    files = submit(folder, said.append, wait=0)
    assert [file.name for file in files] == ["results-001.jsonl", "results-002.jsonl"]
    names = [row["custom_id"] for file in files for _, row in json_rows(file, OptionError)]
    assert names == [f"{number}-{n}" for number in (1, 2) for n in range(3)]
    assert "requests-001.jsonl: completed, 3 of 3 done, 0 failed" in said
    sent = [one for one in server.calls if one.startswith("POST")]
    assert len(sent) == 4
    submit(folder, said.append, wait=0)
    assert [one for one in server.calls if one.startswith("POST")] == sent


def test_an_interruption_goes_on_where_it_was(server, folder):
    def gone(line):
        if "in_progress" in line:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        submit(folder, gone, wait=0)
    number = len(server.files)
    assert len(submit(folder, lambda line: None, wait=0)) == 2
    assert len(server.files) == number == 2


def test_a_batch_without_results_is_said(server, folder):
    server.status = "failed"
    with pytest.raises(RunStopped, match="has no results: failed"):
        submit(folder, lambda line: None, wait=0)


def test_anthropic(server, tmp_path):
    pytest.importorskip("anthropic", reason="anthropic is not installed: pip install anthropic")
    rows = [{"custom_id": str(n), "params": {"model": "m"}} for n in range(3)]
    (tmp_path / "requests-001.json").write_text(json.dumps({"requests": rows}))
    written(tmp_path, "anthropic", ["requests-001.json"])
    said = []
    (file,) = submit(tmp_path, said.append, wait=0)
    assert [row["custom_id"] for _, row in json_rows(file, OptionError)] == ["0", "1", "2"]
    assert "requests-001.json: ended, 3 expired" in said


def test_what_is_missing_is_said_first(server, folder, monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "openai", None)
    with pytest.raises(MissingDependencyError, match="pip install openai"):
        submit(folder, print)
    monkeypatch.delenv("OPENAI_API_KEY")
    with pytest.raises(OptionError, match="OPENAI_API_KEY"):
        submit(folder, print)
    written(folder, "vllm", [])
    with pytest.raises(OptionError, match="--submit is for --format openai and anthropic"):
        submit(folder, print)
    assert not server.calls
