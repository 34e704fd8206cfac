"""Plain `lm_eval` says the figures that papers print, and the verdict; `run` says its own."""

import json
import os
import re
from pathlib import Path

import pytest

from lm_eval_longbench.task_folder import task_folder

WORKER = Path(__file__).parent / "plain_worker.py"
SAMPLE = '{"longbench": {"data_dir": "sample"}}'
VERDICT = "official protocol"


def said(text):
    """The lines that this package adds to what plain `lm_eval` prints."""
    ours = re.compile(rf"LongBench[-\w ]{{1,5}}: |{VERDICT}: ")
    return [line for line in text.splitlines() if ours.match(line)]


@pytest.fixture
def run(processes, tmp_path):
    """Make runs in one process a rank; return what the first rank says of each."""

    def run(runs, ranks=1):
        environment = {**os.environ, "HF_DATASETS_CACHE": str(tmp_path / "cache")}
        started = [
            processes.start(
                *(WORKER, tmp_path / f"store_of_{ranks}", rank, ranks, json.dumps(runs)),
                env=environment,
            )
            for rank in range(ranks)
        ]
        done = [process.wait() for process in started]
        for one in done:
            assert one.returncode == 0, one.stdout + one.stderr
        first, *others = [[said(own) for own in one.stderr.split("****")[:-1]] for one in done]
        assert not any(lines for other in others for lines in other)
        return first

    return run


@pytest.fixture(scope="module")
def environment(tmp_path_factory):
    cache = str(tmp_path_factory.mktemp("cache"))
    return {**os.environ, "HF_HUB_OFFLINE": "1", "HF_DATASETS_CACHE": cache}


def test_the_plain_command_says_the_headlines_that_run_prints(
    processes, environment, api_server, tmp_path
):
    """A real process of `lm_eval`, which averages tasks only, beside one of `run`."""
    api_server.answer = lambda body: " ".join(body["prompt"].split()[:3])
    url = api_server.url("/v1/completions")
    arguments = ["--model", "local-completions", "--model_args"]
    arguments += [f"model=m,base_url={url},tokenizer_backend=none"]
    arguments += ["--tasks", "longbench_v1,longbench_v1_e", "--metadata", SAMPLE]
    plain = processes.run(
        *("lm_eval", "run", "--include_path", str(task_folder()), *arguments),
        *("--output_path", str(tmp_path)),
        env=environment,
        all_tasks=True,
    )
    own = processes.run("lm-eval-longbench", "run", *arguments, env=environment)
    assert (plain.returncode, own.returncode) == (0, 0), plain.stderr + own.stderr
    v1, verdict, e, _ = said(plain.stderr)
    english = re.search(r"English (\d+\.\d\d), Chinese (\d+\.\d\d)", v1)
    assert english and float(english[1]) > 0
    assert re.match(r"LongBench-E: means over tasks: all lengths \d+\.\d\d", e)
    assert verdict.startswith(f"{VERDICT}: no, because: other data than zai-org/LongBench")
    # The end of `run` has the same numbers, and nothing of the lines of plain `lm_eval`.
    assert english[0] in re.sub(r" +", " ", own.stdout)
    assert "all lengths" in e and e.partition(": ")[2] in own.stdout
    assert said(own.stderr) == []
    (results,) = tmp_path.rglob("results_*.json")
    assert json.loads(results.read_text())["results"]["longbench_v1_qasper"]["sample_len"] > 0


def test_several_ranks_say_it_once_and_as_one_does(run):
    tasks = ["longbench_v1_en", "longbench_v2"]
    (one,) = run([[tasks, {}]])
    assert [line.partition(":")[0] for line in one] == [
        "LongBench v1",
        VERDICT,
        "LongBench v2",
        VERDICT,
    ]
    assert re.search(r"English \d", one[0])
    assert run([[tasks, {}]], ranks=2) == [one]


def test_what_a_process_said_and_broke_off_before_changes_nothing(run):
    """A run that died leaves nothing behind; predictions alone and parts of a group end well."""
    part = ["longbench_v1_qasper", "longbench_v1_trec"]
    dead, first, again, predicted, limited = run(
        [
            [["longbench_v2"], {"dies": True}],
            [part, {}],
            [part, {}],
            [part, {"predict_only": True}],
            [["longbench_v1_qasper"], {"limit": 1}],
        ]
    )
    assert dead == predicted == []
    assert first == again
    assert re.match(r"LongBench v1: qasper \d+\.\d\d.*, trec \d+\.\d\d", first[0])
    assert len(first) == len(limited) == 2
    assert "LongBench v2" not in "".join(first)
    assert "1 of 4 questions were asked (--limit or --samples); other data" in limited[1]
    assert "questions were asked" not in first[1]
