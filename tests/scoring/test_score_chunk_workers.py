"""Chunks are scored in this process or in several."""

import os
import subprocess
import sys

import pytest
from prediction_rows import V1_FILE, v1_row, write_lines

from lm_eval_longbench.errors import OptionError
from lm_eval_longbench.files import blocks, chunks
from lm_eval_longbench.scoring import score_chunk as module
from lm_eval_longbench.scoring.files import PredictionSource
from lm_eval_longbench.scoring.score_chunk import (
    SMALL,
    number_of_workers,
    score_chunk,
    score_chunks,
    usable_cores,
)

SOURCE = PredictionSource(0, 0, "qasper.jsonl", V1_FILE, "longbench_v1", "longbench_v1_qasper")


def test_small_inputs_stay_in_this_process():
    assert number_of_workers(None, SMALL - 1) == 1
    assert number_of_workers(8, SMALL - 1) == 1
    assert number_of_workers(8, SMALL) == 8
    assert number_of_workers(1, 10 * SMALL) == 1
    assert number_of_workers(None, 10 * SMALL) == usable_cores()


def test_the_cores_this_process_may_use():
    assert 1 <= usable_cores() <= os.cpu_count()


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


def test_few_long_chunks_are_under_way_at_a_time(tmp_path, monkeypatch):
    path = write_lines(tmp_path / "qasper.jsonl", *[v1_row("Emma", "Emma")] * 30)
    all_chunks = list(chunks(blocks(path), 1)) * 8
    size = len(all_chunks[0].data)
    monkeypatch.setattr(module, "_MOST_UNDER_WAY", 2 * size)
    asked = ahead = 0

    def jobs():
        nonlocal asked
        for chunk in all_chunks:
            asked += 1
            yield SOURCE, chunk

    for number, _ in enumerate(score_chunks(jobs(), 2), 1):
        ahead = max(ahead, asked - number)
    assert number == len(all_chunks)
    assert ahead <= 2  # one under way, and one that waits for a place
    # A chunk that is longer than allowed goes alone.
    monkeypatch.setattr(module, "_MOST_UNDER_WAY", 1)
    asked = 0
    assert len(list(score_chunks(jobs(), 2))) == len(all_chunks)


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
