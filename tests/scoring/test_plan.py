"""Which files are read, in which order, and which are of one run."""

import pytest
from prediction_rows import log_row, v1_doc, v1_row, write_lines

from lm_eval_longbench.errors import PredictionError
from lm_eval_longbench.scoring.plan import plan_paths

EARLY, LATE = "2025-01-01T00-00-00.5", "2025-01-02T00-00-00.5"
TREC, QASPER = "longbench_v1_trec", "longbench_v1_qasper"


@pytest.fixture
def plan():
    """Plan paths; returns (name, run) of each file in order, names of the runs, and problems."""

    def run(*paths, benchmark=None):
        made = plan_paths(paths, benchmark)
        assert [file.number for file in made.files] == list(range(len(made.files)))
        return ([(file.name, file.run) for file in made.files], made.runs, made.problems.as_json())

    return run


def logs(folder, stamp, *tasks, text="x"):
    for task in tasks:
        row = log_row(task, v1_doc(task, 0, "a", classes=["a"]), text)
        write_lines(folder / f"samples_{task}_{stamp}.jsonl", row)


def test_the_logs_of_one_harness_run_are_one_run(plan, tmp_path):
    logs(tmp_path / "out", EARLY, TREC, QASPER)
    files, runs, _ = plan(tmp_path / "out")
    assert files == [
        (f"out/samples_{QASPER}_{EARLY}.jsonl", 0),
        (f"out/samples_{TREC}_{EARLY}.jsonl", 0),
    ]
    assert runs == [f"out {EARLY}"]


def test_runs_of_one_name_are_ordered_by_content(plan, tmp_path):
    for place in ("x", "y"):
        logs(tmp_path / place / "out", EARLY, TREC, text=place)
    found = [plan(tmp_path / one / "out", tmp_path / other / "out") for one, other in ("xy", "yx")]
    assert found[0] == found[1]
    assert [run for _, run in found[0][0]] == [0, 1]


def test_prediction_folders_are_runs(plan, tmp_path):
    for model in ("b", "a"):
        for name in ("trec", "narrativeqa"):
            row = v1_row(model, "y", classes=["y"])
            write_lines(tmp_path / model / f"{name}.jsonl", row)
    files, runs, _ = plan(tmp_path / "b", tmp_path / "a")
    # In the order of their table and task, so that they are stored in order.
    assert files == [
        ("a/narrativeqa.jsonl", 0),
        ("b/narrativeqa.jsonl", 1),
        ("a/trec.jsonl", 0),
        ("b/trec.jsonl", 1),
    ]
    assert runs == ["a", "b"]


def test_copies_are_used_once_and_named(plan, tmp_path):
    row = v1_row("x", "y", classes=["y"])
    write_lines(tmp_path / "b" / "narrativeqa.jsonl", row)
    write_lines(tmp_path / "a" / "narrativeqa.jsonl.gz", row, packed=True)
    write_lines(tmp_path / "a" / "musique.jsonl", row)  # of another dataset: no copy
    files, _, problems = plan(tmp_path / "b", tmp_path / "a")
    assert [name for name, _ in files] == ["a/narrativeqa.jsonl.gz", "a/musique.jsonl"]
    assert problems["duplicate"] == [
        {
            "file": "b/narrativeqa.jsonl",
            "line": None,
            "reason": "the same bytes as a/narrativeqa.jsonl.gz",
        }
    ]


def test_e_is_settled_by_folder(plan, tmp_path):
    write_lines(tmp_path / "pred_e" / "m" / "qasper.jsonl", v1_row("x", "y"))
    write_lines(tmp_path / "pred" / "m" / "qasper.jsonl", v1_row("z", "y"))
    write_lines(tmp_path / "pred_e" / "m" / "narrativeqa.jsonl", v1_row("x", "y"))
    files, _, problems = plan(tmp_path)
    assert [name.removeprefix(f"{tmp_path.name}/") for name, _ in files] == [
        "pred/m/qasper.jsonl",
        "pred_e/m/qasper.jsonl",
    ]
    (entry,) = problems["foreign"]
    assert entry["reason"] == "is no dataset of v1_e"


def test_nothing_recognised(plan, tmp_path):
    write_lines(tmp_path / "in" / "a.jsonl", {"a": 1})
    with pytest.raises(PredictionError, match="nothing is recognised") as caught:
        plan(tmp_path / "in")
    for words in (
        "samples_<task>_<date>.jsonl",
        "*_inference_*",
        "which benchmark it is, v1, v1_e, v2, pro",
    ):
        assert words in str(caught.value)
    assert str(caught.value).endswith("\n  in/a.jsonl is not recognised as predictions")
    assert str(tmp_path / "in") in str(caught.value)


def test_of_one_run_the_task_under_our_own_name_comes_first(plan, tmp_path):
    """Whatever a user's file calls the same task."""
    for number, name in enumerate(("another", QASPER)):
        row = log_row(QASPER, v1_doc(QASPER, number, "Emma"), "x")
        write_lines(tmp_path / "run" / f"samples_{name}_{EARLY}.jsonl", row)
    own = [f"run/samples_{name}_{EARLY}.jsonl" for name in (QASPER, "another")]
    assert [name for name, _ in plan(tmp_path / "run")[0]] == own
    assert own != sorted(own)
