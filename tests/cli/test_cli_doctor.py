"""`lm-eval-longbench doctor`, in this process and once as a process."""

import json
import os
import subprocess
import sys

import pytest
from typer.testing import CliRunner

from lm_eval_longbench.cli.main import app

SAMPLE = '{"longbench": {"data_dir": "sample"}}'
PASSAGES = ("passage_count", "passage_retrieval_en", "passage_retrieval_zh")
RUN = ("--model", "longbench-extractive", "--tasks", "longbench_v1_lcc", "--metadata", SAMPLE)


@pytest.fixture
def invoke_doctor(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)

    def run(*arguments):
        return CliRunner().invoke(app, ["doctor", *map(str, arguments)])

    return run


def test_without_arguments(invoke_doctor):
    done = invoke_doctor()
    assert done.exit_code == 0, done.output
    assert "versions" in done.output and "disk" in done.output
    assert "No errors" in done.output


def test_a_users_command_line_with_doctor_for_run(invoke_doctor):
    done = invoke_doctor(*RUN, "--output_path", "out", "--log_samples", "--gen_kwargs", "a=1")
    assert done.exit_code == 0, done.output
    text = " ".join(done.output.split())  # lines of the table are broken
    assert "Please complete the code given below." in text
    assert "at most 64 tokens, greedy, 1 answer to a question" in text


def test_a_preset(invoke_doctor):
    done = invoke_doctor(
        *("--preset", "gemma-3-27b-it", "--json", "--model", "longbench-extractive"),
        *("--tasks", "longbench_pro_t3_2", "--metadata", SAMPLE),
    )
    lines = json.loads(done.stdout)["lines"]
    assert [line["status"] for line in lines if line["topic"] == "preset"] == ["ok"]
    (limit,) = [line for line in lines if line["topic"] == "limit"]
    assert limit["status"] == "ok" and "120,000" in limit["found"]


def test_the_harnesss_own_tasks_are_indexed_for_a_pattern(processes, tmp_path):
    nothing = json.dumps({"longbench": {"data_dir": str(tmp_path)}})
    done = processes.run(
        *("lm-eval-longbench", "doctor", "--json", "--model", "longbench-extractive"),
        *("--tasks", "longbench_v1_passage_*", "--metadata", nothing),
        cwd=tmp_path,
        all_tasks=True,
    )
    assert done.returncode == 1, done.stderr
    lines = json.loads(done.stdout)["lines"]
    missing = [line["tasks"] for line in lines if line["topic"] == "data"]
    assert missing == [[f"longbench_v1_{name}"] for name in PASSAGES]


def test_as_a_process_with_missing_data_and_no_network(tmp_path):
    code = "from lm_eval_longbench.cli.main import main; main()"
    done = subprocess.run(
        [
            *(sys.executable, "-c", code, "doctor", "--json", "--model", "longbench-extractive"),
            *("--tasks", ",".join(f"longbench_v1_{name}" for name in PASSAGES)),
        ],
        env={
            **os.environ,
            "HF_HUB_OFFLINE": "1",
            "HF_HOME": str(tmp_path / "home"),
            "HF_DATASETS_CACHE": str(tmp_path / "datasets"),
        },
        capture_output=True,
        text=True,
        timeout=200,
        cwd=tmp_path,
    )
    assert done.returncode == 1, done.stderr
    assert "Traceback" not in done.stderr
    lines = json.loads(done.stdout)["lines"]
    (line,) = [line for line in lines if line["topic"] == "data"]
    assert line["status"] == "error"
    assert line["todo"].startswith("lm-eval-longbench prepare v1")
    assert len(line["tasks"]) == 3
    assert not (tmp_path / "home" / "hub").exists()
