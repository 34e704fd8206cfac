"""`lm-eval-longbench run` and the harness's own command line, as real processes.

One is the installed script, which imports what it needs itself; the others share their imports.
"""

import json
import os
import re

import pytest

from lm_eval_longbench.harness.arguments import Beside, complete, parse
from lm_eval_longbench.scoring.score import score_paths
from lm_eval_longbench.task_folder import task_folder

SAMPLE = '{"longbench": {"data_dir": "sample"}}'


@pytest.fixture(scope="module")
def environment(tmp_path_factory):
    cache = str(tmp_path_factory.mktemp("cache"))
    return {**os.environ, "HF_HUB_OFFLINE": "1", "HF_DATASETS_CACHE": cache}


@pytest.fixture(scope="module")
def run(processes, environment):
    """Run a command of ours."""

    def run(*arguments, status=0, **more):
        done = processes.run("lm-eval-longbench", *arguments, env=environment, **more)
        assert done.returncode == status, done.stdout + done.stderr
        return done

    return run


def table_rows(text):
    return [
        [cell.strip() for cell in line.strip("|").split("|")]
        for line in text.splitlines()
        if line.startswith("|")
    ]


def test_run_evaluates_the_sample_with_the_baseline_and_a_users_own_task(tmp_path, run):
    """Our include path is joined to the user's, whose group has our tasks in it."""
    own = tmp_path / "own"
    own.mkdir()
    (own / "suite.yaml").write_text(
        "group: my_suite\ntask:\n  - longbench_v1_passage_count\n  - longbench_v1_e_trec\n"
    )
    done = run(
        *("run", "--model", "longbench-extractive"),
        *("--include_path", str(own)),
        *("--tasks", "my_suite"),
        *("--metadata", SAMPLE),
        *("--output_path", str(tmp_path / "out")),
        "--log_samples",
        all_tasks=True,
    )
    assert re.search(r"^dataset +passage_count \d", done.stdout, re.MULTILINE)
    assert re.search(r"^all lengths +trec \d", done.stdout, re.MULTILINE)
    assert table_rows(done.stdout) == []  # the harness's, which says the same
    (results,) = (tmp_path / "out").rglob("results_*.json")
    found = json.loads(results.read_text())["results"]
    assert found["longbench_v1_passage_count"]["sample_len"] == 4
    # The whole folder is what a user scores: its answers and its log are no predictions.
    beside = {path.suffix for path in (tmp_path / "out").iterdir() if path.is_file()}
    assert {".sqlite", ".log"} <= beside
    score_paths([tmp_path / "out"], tmp_path / "scored", workers=1)
    assert json.loads((tmp_path / "scored/report.json").read_text())["problems"]["foreign"] == []
    logs = sorted((tmp_path / "out").rglob("samples_*.jsonl"))
    assert len(logs) == 2
    for log in logs:
        for line in log.read_text().splitlines():
            assert set(json.loads(line)["arguments"]["gen_args_0"]["arg_0"]) == {
                "sha256",
                "characters",
                "head",
                "tail",
            }


def test_include_paths_are_joined(tmp_path):
    def joined(*arguments):
        parsed = parse(["--tasks", "x", *arguments])
        complete(parsed, Beside())
        return parsed.include_path

    ours = str(task_folder())
    config = tmp_path / "config.yaml"
    config.write_text("include_path: from_config\n")
    from_config = ("--config", str(config))
    assert joined() == [ours]
    assert joined("--include_path", "mine") == ["mine", ours]
    assert joined(*from_config) == ["from_config", ours]
    assert joined("--include_path", "mine", *from_config) == ["mine", ours]
    # Not twice: the harness would warn of every task.
    assert joined("--include_path", ours) == [ours]


def test_a_locked_run_uses_the_locked_options_or_stops(tmp_path, run):
    lock = str(tmp_path / "paper.lock")
    options = ("--metadata", '{"longbench": {"data_dir": "sample"}}')
    make = ("lock", "--tasks", "longbench_v1_trec", *options)
    run(*make, "--output", lock)
    start = ("run", "--model", "longbench-extractive")
    task = ("--tasks", "longbench_v1_trec")
    # No options of its own: the locked ones, the sample among them.
    done = run(*start, *task, "--locked", lock)
    assert f"locked by {lock}" in done.stdout
    assert "longbench_v1: lb-v1|v1.2|data:sample-" in done.stdout
    other = '{"longbench": {"data_dir": "sample", "truncate_to": 100, "tokenizer": "x"}}'
    done = run(*start, *task, "--metadata", other, "--locked", lock, status=1)
    assert "options.truncate_to: not in the lock, here 100" in done.stderr
    done = run(*start, "--tasks", "longbench_v1_lcc", "--locked", lock, status=1)
    assert "tasks.longbench_v1_lcc: not in the lock" in done.stderr
