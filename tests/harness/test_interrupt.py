"""Real processes of `run`, stopped at work: by kill -9, SIGTERM, Ctrl-C; a full disk."""

import contextlib
import json
import os
import signal
import subprocess
import time
from collections import Counter

import pytest
from kept_answers import read_all
from processes import TIMEOUT

from lm_eval_longbench.records.store import answer_files

TASKS = "longbench_v1_trec,longbench_v1_qasper,longbench_v2_cot"
NUMBER = 5 + 4 + 18 + 18
CONCURRENT = 3
pytestmark = [pytest.mark.slow, pytest.mark.timeout(900)]


class Run:
    """A process of `run`; its output joined."""

    def __init__(self, process):
        self._process = process
        self.poll, self.send_signal = process.poll, process.send_signal
        self.returncode = None

    def communicate(self, timeout=TIMEOUT):
        done = self._process.wait(timeout)
        self.returncode = done.returncode
        return done.stdout + done.stderr, None


@pytest.fixture
def start(tmp_path, processes):
    """Start `run` with the output in `tmp_path / "out"`."""
    started = []

    def begin(*model, tasks=TASKS, out=tmp_path / "out", command=None, **environment):
        process = processes.start(
            *(command or "lm-eval-longbench", "run", *model),
            *("--tasks", tasks, "--output_path", str(out), "--log_samples"),
            *("--data-dir", "sample"),
            env={**os.environ, "HF_DATASETS_CACHE": str(tmp_path / "hf"), **environment},
        )
        started.append(Run(process))
        return started[-1]

    yield begin
    for process in started:
        process.send_signal(signal.SIGKILL)
        process.communicate()


@pytest.fixture
def served(api_server):
    """The arguments that name a chat server which takes a moment for each answer."""

    def answer(payload):
        time.sleep(0.15)
        asked = payload["messages"][0]["content"]
        return f"The correct answer is ({'ABCD'[len(asked) % 4]})"

    api_server.answer = answer
    url = api_server.url("/v1/chat/completions")
    arguments = f"model=tiny,base_url={url},num_concurrent={CONCURRENT}"
    return (
        *("--model", "local-chat-completions", "--model_args", arguments),
        "--apply_chat_template",
    )


def wait_for(condition, process, seconds=TIMEOUT):
    end = time.monotonic() + seconds
    while not condition():
        assert process.poll() is None, process.communicate()[0]
        assert time.monotonic() < end
        time.sleep(0.02)


def asked(server):
    return Counter(json.dumps(payload) for _, payload in server.payloads)


def kept(out):
    """How many answers the files in a folder hold."""
    return sum(len(list(read_all(file))) for file in answer_files(out))


def samples(out):
    """The newest log of each task, without what changes from run to run."""
    found = {}
    for path in sorted(out.rglob("samples_*.jsonl")):
        rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
        found[path.name.rsplit("_", 1)[0]] = [(row["doc_id"], row["resps"]) for row in rows]
    return found


def test_killed_and_stopped_runs_lose_nothing(start, served, api_server, tmp_path):
    out, payloads = tmp_path / "out", api_server.payloads
    ends = [(signal.SIGKILL, -9), (signal.SIGTERM, 143), (signal.SIGINT, 130), (None, 0)]
    for number, (sign, status) in enumerate(ends):
        process = start(*served)
        if sign is not None:
            wait_for(lambda number=number: len(payloads) >= 10 * (number + 1), process)
            process.send_signal(sign)
        said = process.communicate()[0]
        assert process.returncode == status, said
        if status in (130, 143):
            assert "Traceback" not in said
            there = kept(out)
            assert f"{there} of " in said
            assert f"To go on: lm-eval-longbench run {served[0]} {served[1]}" in said
            assert "--data-dir sample" in said.partition("To go on: ")[2]
            assert len(payloads) == sum(asked(api_server).values())
            assert there >= 10
    assert kept(out) == NUMBER
    # In flight at the kill were as many as were asked at a time; the others were waited for.
    assert 0 <= len(payloads) - NUMBER <= CONCURRENT
    assert set(asked(api_server).values()) <= {1, 2}
    disturbed = samples(out)
    whole = tmp_path / "whole"
    process = start(*served, out=whole)
    process.communicate()
    assert samples(whole) == disturbed
    # An undisturbed run and this one logged pass one once each.
    assert len(list(out.rglob("samples_longbench_v2_cot_2*.jsonl"))) == 1


def test_a_second_signal_stops_at_once(start, served, api_server, no_answer, tmp_path):
    """Without it the process would go on for as long as the first one is waited for: an hour."""
    begun = []
    api_server.answer = lambda payload: begun.append(1) or no_answer
    patient = tmp_path / "patient.py"
    patient.write_text(
        "import sys\n"
        "from lm_eval_longbench.cli.main import main\n"
        "from lm_eval_longbench.harness import interrupt\n"
        "interrupt.PATIENCE = 3600.0\n"
        "sys.exit(main())\n"
    )
    process = start(*served, tasks="longbench_v1_trec", command=patient)
    wait_for(lambda: begun, process)
    process.send_signal(signal.SIGINT)
    time.sleep(1)
    assert process.poll() is None
    process.send_signal(signal.SIGINT)
    said = process.communicate()[0]
    assert "at most 3600 s" in said
    assert (process.returncode, "Traceback" in said) == (130, False), said
    assert "0 of 5 answers are there" in said


def test_a_real_model_stops_after_its_batch_and_goes_on(start, model_folder, tmp_path):
    out = tmp_path / "out"
    arguments = f"pretrained={model_folder}"
    model = (
        *("--model", "hf", "--model_args", arguments, "--batch_size", "2", "--device", "cpu"),
        # So long that a busy machine does not let all batches pass before the signal.
        *("--gen_kwargs", "max_gen_toks=350"),
    )
    tasks = "longbench_v1_trec,longbench_v1_lcc"
    process = start(*model, tasks=tasks, OMP_NUM_THREADS="1")
    wait_for(lambda: (answer_files(out) or None) and kept_now(out) >= 2, process)
    process.send_signal(signal.SIGTERM)
    said = process.communicate()[0]
    assert (process.returncode, "Traceback" in said) == (143, False), said
    there = kept(out)
    assert there in (2, 4, 6, 8)  # batches of two; there are nine questions
    process = start(*model, tasks=tasks, OMP_NUM_THREADS="1")
    said = process.communicate()[0]
    assert process.returncode == 0, said
    assert (
        f"{there} of 9 answers are in {answer_files(out)[0]} already, {9 - there} to ask." in said
    )
    process = start(*model, tasks=tasks, OMP_NUM_THREADS="1", out=tmp_path / "whole")
    process.communicate()
    assert samples(out) == samples(tmp_path / "whole")


def kept_now(out):
    with contextlib.suppress(Exception):  # the file is being made
        return kept(out)
    return 0


def test_a_full_disk(start, served, api_server, small_disk):
    """It stops the run, what is kept stays, and room made brings the run to its end."""
    small = {"tasks": "longbench_v2", "out": small_disk / "out"}
    long = "The correct answer is (A). " + "x" * 60_000

    def answer(payload):
        time.sleep(0.15)
        return long

    api_server.answer = answer
    process = start(*served, **small)
    said = process.communicate()[0]
    assert (process.returncode, "Traceback" in said) == (1, False), said
    assert "Answers cannot be written to" in said
    assert "disk is full" in said
    assert "Make room, and start again." in said
    assert "To go on: lm-eval-longbench run" in said
    there = kept(small_disk / "out")
    assert 0 < there < len(api_server.payloads) < 18
    assert f"{there} of 18 answers are there" in said
    api_server.payloads.clear()
    (file,) = answer_files(small_disk / "out")
    subprocess.run(["mount", "-o", "remount,size=50m", str(small_disk)], check=True)
    process = start(*served, **small)
    said = process.communicate()[0]
    assert process.returncode == 0, said
    assert f"{there} of 18 answers are in" in said
    assert len(api_server.payloads) == 18 - there
    assert answer_files(small_disk / "out") == [file]
    assert kept(small_disk / "out") == 18


def test_results_that_cannot_be_written(start, served, tmp_path):
    """A file is in the place of the harness's folder: nobody can write there, root neither."""
    out = tmp_path / "out"
    out.mkdir()
    (out / "tiny").write_text("a file")
    process = start(*served, tasks="longbench_v1_trec")
    said = process.communicate()[0]
    assert process.returncode == 1, said
    assert "longbench_v1: lb-v1|" in said  # the report is there all the same
    last = said.rstrip().splitlines()[-1]
    assert last.startswith(f"Not written to {out / 'tiny'}: results_")
    assert last.endswith("start again: answers that are kept are not asked again.")
    assert kept(out) == 5
    (out / "tiny").unlink()
    process = start(*served, tasks="longbench_v1_trec")
    said = process.communicate()[0]
    assert process.returncode == 0, said
    assert "5 of 5 answers are in" in said
    assert list(out.rglob("results_*.json")) and list(out.rglob("samples_*.jsonl"))
