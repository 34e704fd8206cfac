"""What a question more costs in memory: less than half its text."""

import json
import os
import subprocess
import sys

import pytest

CHARACTERS = 200_000
# Runs the command line; its last line is the most memory that the process has had, in kB.
RUN = """
import resource, sys
from lm_eval_longbench.cli.main import main
sys.argv[0] = "lm-eval-longbench"
try:
    main()
finally:
    print("peak", resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
"""


@pytest.fixture
def peak(tmp_path, api_server):
    """Return the most memory of a run with so many questions, in bytes."""

    def run(questions):
        folder = tmp_path / str(questions)
        folder.mkdir()
        document = "all work and no play " * (CHARACTERS // 21)
        with (folder / "qasper.jsonl").open("w", encoding="utf-8") as file:
            for number in range(questions):
                row = {"input": f"What is {number}?", "context": f"{number} {document}"}
                row |= {"answers": ["x"], "length": 40000, "dataset": "qasper", "language": "en"}
                row |= {"all_classes": None, "_id": f"{number:048x}"}
                file.write(json.dumps(row) + "\n")
        url = api_server.url("/v1/completions")
        model = f"model=m,base_url={url},num_concurrent=2"
        arguments = ["run", "--model", "longbench-api", "--model_args", model, "--tasks"]
        arguments += ["longbench_v1_qasper", "--output_path", str(folder / "out"), "--log_samples"]
        arguments += ["--metadata", json.dumps({"longbench": {"data_dir": str(folder)}})]
        environment = {**os.environ, "HF_HUB_OFFLINE": "1", "HF_DATASETS_CACHE": str(tmp_path)}
        done = subprocess.run(
            [sys.executable, "-c", RUN, *arguments],
            env=environment,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stdout + done.stderr
        assert len(api_server.payloads) == questions
        assert {len(body["prompt"]) // 100_000 for _, body in api_server.payloads} == {2}
        api_server.payloads.clear()
        return 1000 * int(done.stdout.rpartition("peak ")[2])

    return run


def test_a_question_more_costs_less_than_half_its_text(peak):
    """Both sizes are beyond what stays in memory; what a process costs anyhow falls out."""
    few, many = 100, 300
    assert (peak(many) - peak(few)) / (many - few) < CHARACTERS / 2
