"""examples/clusters: each file is parsed, and its commands run, with the baseline on the sample."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from lm_eval_longbench.scoring.score import score_paths

FOLDER = Path(__file__).parents[2] / "examples" / "clusters"
RUN = (
    "--model longbench-extractive --data-dir sample --tasks longbench_v2,longbench_v1_trec"
    " --repeats 1"
)
IDS = 18 + 5


@pytest.fixture
def shell(tmp_path):
    """Run a text or a file in bash, our command and stand-ins of others on its path."""
    own = tmp_path / "bin"
    own.mkdir()

    def run(*command, stubs=(), **variables):
        for name, text in dict(stubs).items():
            (own / name).write_text(f"#!/bin/bash\n{text}\n")
            (own / name).chmod(0o755)
        path = f"{own}:{Path(sys.executable).parent}:{os.environ['PATH']}"
        env = {**os.environ, "RUN": RUN, **variables, "PATH": path}
        done = subprocess.run(
            ["bash", *command], cwd=tmp_path, env=env, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return done

    return run


def answered(folder, tmp_path):
    report = score_paths(sorted(folder.glob("shard-*")) or folder, tmp_path / "figures")
    assert "shards" not in report
    for table in report["tables"].values():
        assert table["signature"]["ingredients"]["shard"] is None
    return sum(table["counts"]["questions"] for table in report["tables"].values())


def test_slurm(shell, tmp_path):
    file = FOLDER / "slurm.sh"
    text = file.read_text()
    number = int(re.search(r"^#SBATCH --array=1-(\d+)$", text, re.MULTILINE)[1])
    assert number == 8
    for task in ("2", "1"):
        shell(str(file), SLURM_ARRAY_TASK_ID=task, SLURM_ARRAY_TASK_COUNT="2")
    assert answered(tmp_path / "results", tmp_path) == IDS
    # What its comment says to do once all are done.
    (line,) = re.findall(r"^#   (lm-eval-longbench score .*)$", text, re.MULTILINE)
    shell("-c", line)
    assert (tmp_path / "results" / "scored" / "report.json").is_file()


def test_kubernetes(shell, tmp_path):
    job = yaml.safe_load((FOLDER / "kubernetes.yaml").read_text())
    spec = job["spec"]
    (container,) = spec["template"]["spec"]["containers"]
    assert spec["completionMode"] == "Indexed"
    given = {own["name"]: own["value"] for own in container["env"]}
    assert int(given["SHARDS"]) == spec["completions"] == spec["parallelism"]
    assert given["RESULTS"] == container["volumeMounts"][0]["mountPath"]
    bash, how = container["command"]
    assert bash == "bash"
    for index in ("0", "1"):
        more = {"SHARDS": "2", "RESULTS": str(tmp_path / "claim"), "JOB_COMPLETION_INDEX": index}
        shell(how, *container["args"], **more)
    assert answered(tmp_path / "claim", tmp_path) == IDS


def test_ssh(shell, tmp_path):
    stub = f'echo "$1" >> {tmp_path}/hosts; exec bash -c "$2"'
    shell(str(FOLDER / "ssh.sh"), stubs={"ssh": stub}, HOSTS="gpu1 gpu2")
    assert sorted((tmp_path / "hosts").read_text().split()) == ["gpu1", "gpu2"]
    assert answered(tmp_path / "results", tmp_path) == IDS
    assert (tmp_path / "results" / "scored" / "report.json").is_file()


def test_ray(shell, tmp_path):
    vllm = f'echo "$@" > {tmp_path}/served; exec sleep 600'
    curl = f"[ -s {tmp_path}/served ] || exit 7"
    script = (FOLDER / "ray.sh").read_text().replace("sleep 5", "sleep 0.1")
    shell("-c", script, stubs={"vllm": vllm, "curl": curl}, MODEL="org/model")
    served = (tmp_path / "served").read_text().split()
    assert " ".join(served) == "serve org/model --data-parallel-size 8 --data-parallel-backend ray"
    assert answered(tmp_path / "results", tmp_path) == IDS


@pytest.mark.parametrize("name", ["slurm.sh", "ssh.sh", "ray.sh", "kubernetes.yaml"])
def test_the_arguments_that_users_replace_are_a_run(name):
    """Those of the file itself are parsed, too: tasks, options and the model exist."""
    from lm_eval_longbench.benchmarks.registry import expanded
    from lm_eval_longbench.harness.arguments import parse

    text = (FOLDER / name).read_text()
    (found,) = re.findall(r'(?:RUN:=|value: )(--model .*?)(?:\}"|$)', text, re.MULTILINE)
    found = found.replace("$MODEL", "org/model").replace("$URL", "http://127.0.0.1:8000")
    parsed = parse(found.split())
    assert parsed.model in ("vllm", "longbench-api") and parsed.apply_chat_template
    assert expanded(parsed.tasks) and not expanded(parsed.tasks)[1]
