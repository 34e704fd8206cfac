"""Chunks are scored in this process or in several."""

import subprocess
import sys
from pathlib import Path

import pytest
from prediction_rows import V1_FILE, v1_row, write_lines

from lm_eval_longbench import files
from lm_eval_longbench.benchmarks import registry
from lm_eval_longbench.errors import OptionError
from lm_eval_longbench.files import blocks, chunks
from lm_eval_longbench.scoring import score_chunk as module
from lm_eval_longbench.scoring.files import InputFile
from lm_eval_longbench.scoring.score import score_paths
from lm_eval_longbench.scoring.score_chunk import (
    SMALL,
    number_of_workers,
    score_chunk,
    score_chunks,
    usable_cores,
)

SOURCE = InputFile("qasper.jsonl", kind=V1_FILE, table="longbench_v1", task="longbench_v1_qasper")


def test_small_inputs_stay_in_this_process():
    assert number_of_workers(None, SMALL - 1) == 1
    assert number_of_workers(8, SMALL - 1) == 1
    assert number_of_workers(8, SMALL) == 8
    assert number_of_workers(1, 10 * SMALL) == 1
    assert number_of_workers(None, 10 * SMALL) == usable_cores()


@pytest.mark.parametrize("asked", [0, -1])
def test_fewer_than_one(asked):
    with pytest.raises(OptionError, match="must be 1 or more"):
        number_of_workers(asked, 0)


@pytest.mark.parametrize("workers", [1, 2])
def test_outcomes_come_in_order_and_chunks_are_asked_for_as_they_are_needed(tmp_path, workers):
    path = write_lines(tmp_path / "qasper.jsonl", *[v1_row("Emma", "Emma")] * 100)
    all_chunks = list(chunks(blocks(path), 1)) * 40
    asked = 0

    def jobs():
        nonlocal asked
        for chunk in all_chunks:
            asked += 1
            yield SOURCE, chunk

    ahead = 0
    found = []
    for number, outcome in enumerate(score_chunks(jobs(), workers), 1):
        ahead = max(ahead, asked - number)
        found.append(outcome)
    assert len(found) == len(all_chunks) >= 40
    assert ahead <= 3 * workers
    assert [own.samples for own in found] == [
        score_chunk(SOURCE, one).samples for one in all_chunks
    ]


LEAF = {
    "benchmark": "ponds",
    "task": "ponds_things",
    "dataset_name": "things",
    "metric": "qa_f1",
    "generation_kwargs": {"max_gen_toks": 8},
    "doc_to_text": "{{context}}",
}


@pytest.fixture
def ponds():
    """A benchmark that is known in this process alone, as from a user's task files."""

    def forget():
        registry._learnt.clear()
        for own in vars(registry).values():
            if hasattr(own, "cache_clear") and own.__module__ == registry.__name__:
                own.cache_clear()

    registry.learn([LEAF], Path("own"))
    yield
    forget()


def test_a_users_benchmark_is_scored_in_processes_too(tmp_path, monkeypatch, ponds):
    row = {
        "doc": {"_id": "a", "answers": ["green"], "task": "ponds_things", "data": "local-1"},
        "resps": [["green frog"]],
        "filtered_resps": ["green frog"],
        "filter": "none",
    }
    rows = [{**row, "doc": {**row["doc"], "_id": f"q{at}", "index": at}} for at in range(50)]
    log = write_lines(tmp_path / "samples_ponds_things_2026-01-01T00-00-00.5.jsonl", *rows)
    monkeypatch.setattr(module, "SMALL", 0)
    monkeypatch.setattr(files, "BLOCK", 1 << 10)
    pools = []

    class Pool(module.ProcessPoolExecutor):
        def __init__(self, number, *more):
            pools.append(number)
            super().__init__(number, *more)

    monkeypatch.setattr(module, "ProcessPoolExecutor", Pool)
    reports = [score_paths(log, tmp_path / str(n), workers=n) for n in (1, 2)]
    assert pools == [2]
    assert reports[0] == reports[1]
    counts = reports[0]["tables"]["ponds"]["tasks"]["ponds_things"]
    assert (counts["samples"], counts["score"]) == (50, pytest.approx(2 / 3))


UNGUARDED = """
import sys
from lm_eval_longbench.errors import LongBenchError
from lm_eval_longbench.scoring import score_chunk
from lm_eval_longbench.scoring.score import score_paths

score_chunk.SMALL = 0
try:
    score_paths([sys.argv[1]], sys.argv[2], benchmark="v1", workers=2)
except LongBenchError as error:
    sys.stdout.write(str(error))
"""


def test_a_script_that_runs_when_it_is_imported_is_told_so(tmp_path):
    write_lines(tmp_path / "in" / "qasper.jsonl", v1_row("Emma", "Emma"))
    file = tmp_path / "script.py"
    file.write_text(UNGUARDED)
    done = subprocess.run(
        [sys.executable, file, tmp_path / "in", tmp_path / "out"],
        capture_output=True,
        text=True,
        timeout=100,
        check=True,
    )
    assert "A scoring process ended before its work was done" in done.stdout
    assert 'if __name__ == "__main__":' in done.stdout
    assert list((tmp_path / "out").iterdir()) == []
