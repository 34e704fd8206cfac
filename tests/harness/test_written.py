"""What the harness wrote is looked at; where a file is cut or missing none of them stays."""

import json
import sys

from lm_eval.loggers import EvaluationTracker

from lm_eval_longbench.harness.record import ResultsWriter

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


def save(folder, samples):
    """Write results and logs as a run does; return what could not be written."""
    writer = ResultsWriter(output_path=str(folder))
    writer.general_config_tracker.log_experiment_args("m", {"model": "tiny"}, None, None, False)
    results = {"results": {"a": {"score,none": 1.0}, "b": {}}, "config": {}, "configs": {}}
    writer.save_results_aggregated(results=results, samples=samples)
    for task, own in samples.items():
        writer.save_results_samples(task_name=task, samples=own)
    return writer.take_back_parts()


def read(path):
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def test_an_answer_that_utf8_cannot_hold_costs_no_log(tmp_path):
    """JSON spells half a surrogate pair; the file is plain JSON all the same."""
    odd, samples = "half \ud83d of \udc4d\n a pair 字", rows(2)
    samples[0]["resps"], samples[0]["filtered_resps"] = [[odd]], [odd]
    assert save(tmp_path / "out", {"a": samples}) == ""
    (log,) = (tmp_path / "out").rglob("samples_a_*.jsonl")
    assert read(log)[0]["filtered_resps"] == [odd]
    assert "open" not in vars(sys.modules[EvaluationTracker.__module__])


def test_nothing_stays_of_a_run_whose_log_was_cut(small_disk):
    earlier = small_disk / "out" / "tiny" / "results_before.json"
    earlier.parent.mkdir(parents=True)
    earlier.write_text("{}")
    unwritten = save(small_disk / "out", {"a": rows(3), "b": rows()})
    assert unwritten.startswith(f"Not written to {earlier.parent}: samples_b_")
    assert unwritten.endswith(
        ".jsonl. No file of this run stays there. Make room and start again: answers that are kept "
        "are not asked again."
    )
    assert [path for path in small_disk.rglob("*") if path.is_file()] == [earlier]


def test_where_no_folder_can_be_made(tmp_path):
    blocked = tmp_path / "file"
    blocked.write_text("")
    unwritten = save(blocked / "out", {"a": rows(1)})
    assert ": results_" in unwritten and ", samples_a_" in unwritten
