"""Two real torch.distributed ranks (gloo) give the figures of one."""

import json
import math
import os
import subprocess
import sys
from pathlib import Path

import pytest

WORKER = Path(__file__).parent / "ranks_worker.py"


def run(folder, world_size):
    output = folder / f"of_{world_size}.json"
    store = folder / f"store_{world_size}"
    environment = {**os.environ, "HF_DATASETS_CACHE": str(folder / "cache")}
    processes = [
        subprocess.Popen(
            [sys.executable, str(WORKER), str(store), str(rank), str(world_size), str(output)],
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        for rank in range(world_size)
    ]
    for process in processes:
        said, _ = process.communicate(timeout=180)
        assert process.returncode == 0, said
    return json.loads(output.read_text())


def test_two_ranks_equal_one(tmp_path):
    one, two = run(tmp_path, 1), run(tmp_path, 2)
    assert one["samples"] == two["samples"]
    assert set(one["results"]) == set(two["results"])
    for task, figures in one["results"].items():
        assert set(figures) == set(two["results"][task])
        for name, value in figures.items():
            other = two["results"][task][name]
            if isinstance(value, float):
                both_nan = math.isnan(value) and math.isnan(other)
                assert both_nan or other == pytest.approx(value, abs=1e-12), (task, name)
            else:
                assert value == other
    buckets = one["results"]["longbench_v1_e_qasper"]
    for name in ("score_0_4k", "score_4_8k", "score_8k_plus"):
        assert not math.isnan(buckets[f"{name},none"])
