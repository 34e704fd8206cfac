"""What the harness wrote is looked at, and written elsewhere where it is cut or missing."""

import copy
import json
import sys
from pathlib import Path

import pytest
from lm_eval.loggers import EvaluationTracker

from lm_eval_longbench.harness.written import written

SIZE = 60


def rows(number=SIZE):
    """Rows of a log of about 20 kB each."""
    return [
        {
            "doc_id": one,
            "doc": {"id": one},
            "target": "gold",
            "arguments": [("prompt " * 1500, {"until": []})],
            "resps": [["said " * 2000]],
            "filtered_resps": ["said"],
            "doc_hash": f"{one:064}",
            "prompt_hash": "p",
            "target_hash": "t",
        }
        for one in range(number)
    ]


@pytest.fixture
def place(tmp_path, monkeypatch):
    folder = tmp_path / "tmp"
    folder.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(folder))
    return folder


def save(folder, samples):
    tracker = EvaluationTracker(output_path=str(folder))
    tracker.general_config_tracker.log_experiment_args("m", {"model": "tiny"}, None, None, False)
    with written() as unwritten:
        results = {"results": {"a": {"score,none": 1.0}, "b": {}}}
        tracker.save_results_aggregated(results=results, samples=samples)
        for task, own in samples.items():
            tracker.save_results_samples(task_name=task, samples=own)
    return unwritten


def read(path):
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def test_nothing_is_said_of_what_was_written(tmp_path, place):
    unwritten = save(tmp_path / "out", {"a": rows(3)})
    assert (unwritten.files, unwritten.lost, unwritten.places) == ([], [], [])
    assert list(place.iterdir()) == []
    (log,) = (tmp_path / "out").rglob("samples_a_*.jsonl")
    assert len(read(log)) == 3


def test_an_answer_that_utf8_cannot_hold_costs_no_log(tmp_path, place):
    """JSON spells half a surrogate pair; the file is plain JSON all the same."""
    odd, samples = "half \ud83d of \udc4d\n a pair 字", rows(2)
    samples[0]["resps"], samples[0]["filtered_resps"] = [[odd]], [odd]
    unwritten = save(tmp_path / "out", {"a": samples})
    assert (unwritten.files, unwritten.lost) == ([], [])
    (log,) = (tmp_path / "out").rglob("samples_a_*.jsonl")
    assert read(log)[0]["filtered_resps"] == [odd]
    assert "open" not in vars(sys.modules[EvaluationTracker.__module__])


def test_a_log_that_was_cut_is_written_whole_elsewhere(small_disk, tmp_path, place):
    samples = {"a": rows(3), "b": rows(), "c": rows(2)}
    given = copy.deepcopy(samples)
    unwritten = save(small_disk / "out", samples)
    (results,) = small_disk.rglob("results_*.json")
    (first,) = small_disk.rglob("samples_*.jsonl")
    assert first.name.startswith("samples_a_")
    second, third = sorted(place.rglob("samples_*.jsonl"))
    assert [second.name, third.name] == unwritten.files
    # All of one run have one time in their names.
    moments = {path.stem.rsplit("_", 1)[1] for path in (results, first, second, third)}
    assert len(moments) == 1
    whole = save(tmp_path / "whole", given)
    assert whole.files == []
    (expected,) = (tmp_path / "whole").rglob("samples_b_*.jsonl")
    assert read(second) == read(expected)
    (folder,) = unwritten.places
    assert unwritten.line() == (
        f"Not written to {small_disk / 'out' / 'tiny'}: {second.name}, {third.name}. "
        f"{second.name}, {third.name} can be found in {folder}: make room, and move everything "
        "there back."
    )


def test_where_no_folder_can_be_written(tmp_path, monkeypatch):
    blocked = tmp_path / "file"
    blocked.write_text("")
    monkeypatch.setattr("tempfile.tempdir", str(blocked))
    monkeypatch.setattr(Path, "home", lambda: blocked)
    unwritten = save(blocked / "out", {"a": rows(1)})
    assert unwritten.files == []
    assert len(unwritten.lost) == 2
    assert "No folder could be written for" in unwritten.line()
