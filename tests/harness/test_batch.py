"""Requests written for a batch API, and the same run once their results are in."""

import gzip
import hashlib
import json
import random

import pytest
from filelock import FileLock
from json_server import JsonHandler, JsonServer, serving
from typer.testing import CliRunner

from lm_eval_longbench.api.run import read_named
from lm_eval_longbench.cli.main import app
from lm_eval_longbench.errors import NothingSent, OptionError, UnknownNameError
from lm_eval_longbench.harness.arguments import Beside
from lm_eval_longbench.harness.run import run_harness
from lm_eval_longbench.harness.unsent import MANIFEST, written_requests
from lm_eval_longbench.reporting.cost import Price, costs
from lm_eval_longbench.reporting.report import make_report
from lm_eval_longbench.server import batch
from lm_eval_longbench.server.batch import import_results

V2 = "longbench_v2,longbench_v2_cot,longbench_v2_no_context"
ALL = f"longbench_v1,longbench_v1_e,{V2},longbench_pro"
FEW = "longbench_v2,longbench_pro_t3_1"


def said(body):
    """What the model says to a request: other texts for other prompts and seeds."""
    text = json.dumps([body.get("messages") or body.get("prompt"), body.get("seed")])
    number = int(hashlib.sha256(text.encode()).hexdigest()[:6], 16)
    letter = "ABCD"[number % 4]
    return f"The correct answer is ({letter}). Paragraph {number % 30}\n[Answer]\n{letter}\nYes"


def reply(body):
    message = {"role": "assistant", "content": said(body)}
    choice = {"index": 0, "message": message, "finish_reason": "stop"}
    usage = {"prompt_tokens": 9, "completion_tokens": 2}
    return {"model": body["model"], "choices": [choice], "usage": usage}


class Handler(JsonHandler):
    def do_POST(self):
        body = self.body()
        self.server.asked.append(body)
        self.reply(200, reply(body))


@pytest.fixture(scope="module")
def server():
    with serving(JsonServer(Handler)) as own:
        own.asked = []
        yield own


def run(server, folder, tasks=ALL, instead=None, model="m", **more):
    """Run as the command line does; return the figures of the harness and the signatures."""
    arguments = ["--model", "longbench-api", "--tasks", tasks, "--data-dir", "sample"]
    arguments += ["--model_args", f"model={model},base_url={server.url('/v1')},endpoint=chat"]
    arguments += ["--output_path", str(folder), "--log_samples", "--apply_chat_template"]
    for name, value in more.items():
        arguments += [f"--{name}", str(value)]
    kept = run_harness(arguments, Beside(instead=instead), quiet=True)
    *_, file = sorted(folder.rglob("results_*.json"))
    return json.loads(file.read_text())["results"], kept


def write(server, folder, out, form="openai", **more):
    with pytest.raises(NothingSent) as done:
        run(server, folder, instead=written_requests(out, form), **more)
    return str(done.value)


def rows_of(out):
    for file in sorted(out.glob("requests-*")):
        yield from map(json.loads, file.read_text().splitlines())


def results_of(out, path, edit=lambda rows: rows):
    """Answer the requests as OpenAI's Batch API does, in another order; `path` may end in gz."""
    rows = [
        {
            "id": f"batch_req_{number}",
            "custom_id": row["custom_id"],
            "response": {"status_code": 200, "body": reply(row["body"])},
            "error": None,
        }
        for number, row in enumerate(rows_of(out))
    ]
    random.Random(1).shuffle(rows)
    lines = (row if isinstance(row, str) else json.dumps(row) for row in edit(rows))
    text = "\n".join(lines)
    path.write_bytes(gzip.compress(text.encode()) if path.suffix == ".gz" else text.encode())
    return path


def plain(results):
    """Figures without what differs from run to run."""
    return json.dumps(results, sort_keys=True)


def test_a_batch_gives_the_figures_of_requests_one_by_one(server, tmp_path):
    online, kept = run(server, tmp_path / "online")
    assert {own["via"] for own in kept.signatures.values()} == {None}
    server.asked.clear()
    folder = tmp_path / "results"
    # Pass two of chain of thought embeds what pass one answered.
    for number in (1, 2):
        out = tmp_path / f"out {number}"
        assert "none was sent" in write(server, folder, out)
        manifest = json.loads((out / MANIFEST).read_text())
        names = [row["custom_id"] for row in rows_of(out)]
        assert len(set(names)) == len(names) == manifest["requests"]
        assert all(len(name) <= 64 for name in names)
        assert set(manifest["tasks"]) == {"longbench_v2_cot_answer"} or number == 1
        found = import_results([results_of(out, tmp_path / f"{number}.jsonl.gz")], folder)
        assert sum(found.answers.values()) == len(names)
        assert found.missing == found.empty == 0
    batched, kept = run(server, folder)
    assert not server.asked
    assert plain(batched) == plain(online)
    assert {own["via"] for own in kept.signatures.values()} == {"batch"}
    # What came all at once tells no speed.
    for place, is_timed in ((tmp_path / "online", True), (folder, False)):
        _, scored = read_named([place], tmp_path / f"{place.name} scored", None)
        made = costs(make_report(scored, intervals=False), {scored[0].name: place}, Price(1, 1))
        assert made and all(bool(row["seconds"]) == is_timed for row in made)
        assert all(row["cost"] for row in made)


@pytest.fixture
def out(server, tmp_path):
    write(server, tmp_path / "results", tmp_path / "out", tasks=FEW)
    return tmp_path / "out"


def test_what_is_wrong_is_counted_and_what_is_right_is_kept(server, out, tmp_path):
    def damaged(rows):
        expired = {"custom_id": rows[0]["custom_id"], "response": None}
        expired["error"] = {"code": "batch_expired", "message": "This request expired."}
        refused = {
            **rows[1],
            "response": {"status_code": 400, "body": {"error": {"message": "no"}}},
        }
        foreign = {**rows[2], "custom_id": "another-0"}
        whole = json.dumps(rows[3])
        rows[4]["response"]["body"]["choices"][0]["message"]["content"] = ""
        return [
            expired,
            refused,
            foreign,
            *rows[4:],
            *rows[4:6],
            {"a": 1},
            whole[: len(whole) // 2],
        ]

    number = len(list(rows_of(out)))
    path = results_of(out, tmp_path / "results.jsonl", damaged)
    path.write_bytes(b"\n \n" + path.read_bytes())
    found = import_results([path], tmp_path / "results")
    assert sum(found.answers.values()) == number - 4
    assert (found.double, found.foreign, found.broken) == (2, 1, 2)
    assert found.failed == {"This request expired.": 1, "HTTP 400: no": 1}
    assert (found.empty, found.missing) == (1, 5)
    again = import_results([results_of(out, tmp_path / "all.jsonl")], tmp_path / "results")
    assert sum(again.answers.values()) == 5 and again.missing == again.empty == 0


def test_results_of_another_model_are_foreign(server, out, tmp_path):
    write(server, tmp_path / "results", tmp_path / "other", tasks=FEW, model="other")
    found = import_results([results_of(out, tmp_path / "m.jsonl")], tmp_path / "results")
    (file,) = found.answers
    assert "_m_" in file.name and found.foreign == 0
    (tmp_path / "other results").mkdir()
    write(server, tmp_path / "other results", tmp_path / "third", tasks=FEW, model="other")
    found = import_results([tmp_path / "m.jsonl"], tmp_path / "other results")
    assert not found.answers and found.foreign == len(list(rows_of(out)))


def test_results_of_another_prompt_are_foreign(server, out, tmp_path):
    other = tmp_path / "other"
    write(server, other, tmp_path / "cut", tasks=FEW, gen_kwargs="max_gen_toks=9")
    found = import_results([results_of(out, tmp_path / "m.jsonl")], other)
    assert not found.answers and found.foreign == len(list(rows_of(out)))


def test_a_file_in_use_is_left_alone(server, out, tmp_path):
    path = results_of(out, tmp_path / "results.jsonl")
    (file,) = (tmp_path / "results").glob("answers_*.sqlite")
    with FileLock(f"{file}.lock"), pytest.raises(OptionError, match="nothing was imported"):
        import_results([path], file.parent)
    result = CliRunner().invoke(
        app, ["answers", "import", str(path), "--output_path", str(file.parent)]
    )
    assert result.exit_code == 0 and "new answers" in result.output
    again = CliRunner().invoke(
        app, ["answers", "import", str(path), "--output_path", str(file.parent)]
    )
    assert "answers that were there already" in again.output


def test_a_folder_without_requests_is_said(tmp_path):
    (tmp_path / "requests_answers_m.jsonl").touch()  # of a disk that was full
    with pytest.raises(OptionError, match="no requests that are out"):
        import_results([tmp_path / "x"], tmp_path)


def test_files_are_split_at_the_limits(server, tmp_path, monkeypatch):
    monkeypatch.setitem(batch.LIMITS, "openai", (7, 30_000))
    out = tmp_path / "out"
    write(server, tmp_path / "results", out, tasks=FEW)
    files = sorted(out.glob("requests-*.jsonl"))
    lines = [len(file.read_text().splitlines()) for file in files]
    assert len(files) > 2 and max(lines) <= 7
    assert all(file.stat().st_size <= 30_000 for file, n in zip(files, lines, strict=True) if n > 1)
    names = [own["file"] for own in json.loads((out / MANIFEST).read_text())["files"]]
    assert names == [file.name for file in files]


def test_anthropic(server, tmp_path):
    out, folder = tmp_path / "out", tmp_path / "results"
    write(server, folder, out, "anthropic", tasks="longbench_v2", system_instruction="Be brief.")
    (file,) = out.glob("requests-*.json")
    rows = json.loads(file.read_text())["requests"]
    params = rows[0]["params"]
    assert params["system"] == "Be brief." and params["max_tokens"] == 128
    assert {one["role"] for one in params["messages"]} == {"user"} and "seed" not in params

    def result(number, row):
        if number == 0:
            return {"type": "expired"}
        if number == 1:
            error = {"type": "error", "error": {"type": "invalid_request", "message": "too long"}}
            return {"type": "errored", "error": error}
        message = {
            "model": "m",
            "content": [{"type": "text", "text": said(row["params"])}],
            "stop_reason": "max_tokens" if number == 2 else "end_turn",
            "usage": {"input_tokens": 5, "output_tokens": 3, "cache_read_input_tokens": 2},
        }
        return {"type": "succeeded", "message": message}

    path = tmp_path / "r.jsonl"
    lines = [
        json.dumps({"custom_id": row["custom_id"], "result": result(number, row)})
        for number, row in enumerate(rows)
    ]
    path.write_text("\n".join(lines))
    found = import_results([path], folder)
    assert sum(found.answers.values()) == len(rows) - 2
    assert found.failed == {"expired": 1, "errored: too long": 1}
    server.asked.clear()
    _, kept = run(server, folder, tasks="longbench_v2", system_instruction="Be brief.")
    replies = [row["doc"]["replies"][0] for row in kept.rows["longbench_v2"]]
    assert len(server.asked) == 2 + found.empty
    told = [own for own in replies if own.get("via")]
    assert {own["prompt_tokens"] for own in told} == {7}
    assert [own["finish_reason"] for own in told].count("length") <= 1


@pytest.mark.parametrize(
    ("arguments", "said"),
    [({"form": "opnai"}, "openai"), ({"form": "openai", "used": True}, "new or empty")],
)
def test_what_cannot_be_written_is_said_first(tmp_path, arguments, said):
    if arguments.get("used"):
        (tmp_path / "x").write_text("")
    with pytest.raises((OptionError, UnknownNameError), match=said):
        written_requests(tmp_path, arguments["form"])
