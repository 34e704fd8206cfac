"""Two real torch.distributed ranks (gloo) give the figures of one."""

import json
import math
import os
from pathlib import Path

import pytest

WORKER = Path(__file__).parent / "ranks_worker.py"


@pytest.fixture
def run(processes, tmp_path):
    """Run the worker in processes that meet each other; return what the first one wrote."""

    def run(world_size, options=None, answers=""):
        output, store = tmp_path / f"of_{world_size}.json", tmp_path / f"store_{world_size}"
        environment = {**os.environ, "HF_DATASETS_CACHE": str(tmp_path / "cache")}
        asked = json.dumps(options or {})
        ranks = [
            processes.start(
                WORKER, store, rank, world_size, output, asked, answers, env=environment
            )
            for rank in range(world_size)
        ]
        for rank in ranks:
            done = rank.wait()
            assert done.returncode == 0, done.stdout + done.stderr
        return json.loads(output.read_text())

    return run


def test_two_ranks_equal_one(run, tmp_path):
    one, two = run(1), run(2)
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
        # The second rank alone has the answer that came without them.
        assert own["left_out"] == ["seed", "temperature"]
        assert own["generation"]["temperature"] is None
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


def test_answers_outlive_the_number_of_ranks(run, tmp_path):
    """Four ranks keep a file each, which become one; one rank and two ask nothing again."""
    alone = run(1)
    four = run(4, answers="answers")
    assert min(asked(tmp_path, 4)) > 0
    (file,) = (tmp_path / "answers").glob("*.sqlite")
    assert file.name == "answers_gloo_00000000.sqlite"
    two = run(2, answers="answers")
    assert asked(tmp_path, 2) == [0, 0]
    one = run(1, answers="answers")
    assert asked(tmp_path, 1) == [0]
    for found in (four, two, one):
        assert found["samples"] == alone["samples"]
        assert found["runs"] == alone["runs"]
    # Each rank's own file is read, whatever is left of an earlier run.
    (tmp_path / "rest").mkdir()
    file.rename(tmp_path / "rest" / "answers_gloo_00000000_rank3.sqlite")
    run(2, answers="rest")
    assert asked(tmp_path, 2) == [0, 0]


def test_ranks_agree_which_documents_are_skipped(run, tokenizer_folder):
    """The first rank's share is short, the second's long: both get some of what is kept."""
    options = {"overlength": "skip", "truncate_to": 3500, "tokenizer": tokenizer_folder}
    one, two = run(1, options), run(2, options)
    assert one["samples"] == two["samples"]
    task = "longbench_v1_e_qasper"
    assert one["runs"][task]["asked"] == two["runs"][task]["asked"] == 4
    assert one["runs"][task]["kept"] == two["runs"][task]["kept"] == len(two["samples"][task]) == 2
