"""Two real torch.distributed ranks (gloo) give the figures of one."""

import json
import math
import os
import subprocess
import sys
from pathlib import Path

import pytest

WORKER = Path(__file__).parent / "ranks_worker.py"


def run(folder, world_size, options=None, answers=""):
    output = folder / f"of_{world_size}.json"
    store = folder / f"store_{world_size}"
    environment = {**os.environ, "HF_DATASETS_CACHE": str(folder / "cache")}
    processes = [
        subprocess.Popen(
            [
                sys.executable,
                str(WORKER),
                *map(str, (store, rank, world_size, output, json.dumps(options or {}), answers)),
            ],
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
    # The signature does not tell how many ranks there were: chain of thought hashes all reasoning.
    for task, own in one["runs"].items():
        assert own["signature"] == two["runs"][task]["signature"], task
        assert own == two["runs"][task]
    assert one["runs"]["longbench_v2_cot_answer"]["reasoning_sha256"]
    # What is known of answers is counted on every rank; of some questions of v1 nothing is.
    capped = {
        task: [dict(own)["capped"] for _, own, _ in one["samples"][task]] for task in one["runs"]
    }
    assert {0.0, 1.0, None} <= {value for values in capped.values() for value in values}
    for task, values in capped.items():
        known = [value for value in values if value is not None]
        assert one["runs"][task]["capped"] == (sum(known) if known else None), task
    for sub_score in ("acc_easy", "acc_hard", "acc_short", "acc_medium", "acc_long"):
        assert not math.isnan(one["results"]["longbench_v2"][f"{sub_score},none"])
    # Each rank keeps the reasoning of its own questions, and embeds it.
    assert len(list((tmp_path / "reasoning_of_2").iterdir())) == 2
    for found in (one, two):
        counts = found["runs"]["longbench_v2_cot_answer"]
        assert counts["answered"] == counts["asked"] == 18
    buckets = one["results"]["longbench_v1_e_qasper"]
    for name in ("score_0_4k", "score_4_8k", "score_8k_plus"):
        assert not math.isnan(buckets[f"{name},none"])


def asked(folder, world_size):
    """How many requests each rank has asked."""
    return [
        int((folder / f"asked_of_{world_size}_rank{rank}").read_text())
        for rank in range(world_size)
    ]


def test_answers_outlive_the_number_of_ranks(tmp_path):
    """Four ranks keep a file each, which become one; one rank and two ask nothing again."""
    alone = run(tmp_path, 1)
    four = run(tmp_path, 4, answers="answers")
    assert min(asked(tmp_path, 4)) > 0
    (file,) = (tmp_path / "answers").glob("*.sqlite")
    assert file.name == "answers_gloo_00000000.sqlite"
    two = run(tmp_path, 2, answers="answers")
    assert asked(tmp_path, 2) == [0, 0]
    one = run(tmp_path, 1, answers="answers")
    assert asked(tmp_path, 1) == [0]
    for found in (four, two, one):
        assert found["samples"] == alone["samples"]
        assert found["runs"] == alone["runs"]
    # Each rank's own file is read, whatever is left of an earlier run.
    (tmp_path / "rest").mkdir()
    file.rename(tmp_path / "rest" / "answers_gloo_00000000_rank3.sqlite")
    run(tmp_path, 2, answers="rest")
    assert asked(tmp_path, 2) == [0, 0]


def test_ranks_agree_which_documents_are_skipped(tmp_path, tokenizer_folder):
    """The first rank's share is short, the second's long: both get some of what is kept."""
    options = {"overlength": "skip", "truncate_to": 3500, "tokenizer": tokenizer_folder}
    one, two = run(tmp_path, 1, options), run(tmp_path, 2, options)
    assert one["samples"] == two["samples"]
    task = "longbench_v1_e_qasper"
    assert one["runs"][task]["asked"] == two["runs"][task]["asked"] == 4
    assert one["runs"][task]["kept"] == two["runs"][task]["kept"] == len(two["samples"][task]) == 2
