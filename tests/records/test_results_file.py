"""Results files of the harness and scored folders: found, read, refused where broken."""

import gzip
import json

import pytest
from prediction_rows import STAMP

from lm_eval_longbench.benchmarks.results import (
    RecordedRuns,
    ResultsFile,
    ScoredFolder,
    read_results,
    read_results_file,
)
from lm_eval_longbench.errors import PredictionError
from lm_eval_longbench.records.results import find_results, model_of, results_beside, task_of_log

QASPER = "longbench_v1_qasper"
RUN = {"benchmark": "longbench_v1", "task": QASPER, "limit": 3500, "signature": "lb-v1|x"}


def whole(**more):
    """A decoded results file with a task of ours and another's."""
    return {
        "results": {QASPER: {"score,none": 0.5}, "gsm8k": {}},
        "configs": {QASPER: {"metadata": {"longbench_run": RUN}}, "gsm8k": {"metadata": None}},
        "versions": {QASPER: 1.0},
        "n-samples": {QASPER: {"original": 200, "effective": 5}},
        **more,
    }


def write(folder, content, name=f"results_{STAMP}.json"):
    folder.mkdir(parents=True, exist_ok=True)
    text = content if isinstance(content, str) else json.dumps(content)
    (folder / name).write_text(text, encoding="utf-8")
    return folder / name


def test_what_a_file_says_of_our_tasks(tmp_path):
    path = write(tmp_path, whole())
    found = read_results_file(path)
    (task,) = found.tasks
    assert (found.path, found.others) == (path, ["gsm8k"])
    assert (task.name, task.n_samples) == (QASPER, 5)
    assert task.signature == {name: RUN[name] for name in ("benchmark", "task", "limit")}
    assert (task.log, task.log_name) == (None, f"samples_{QASPER}_{STAMP}.jsonl")
    log = tmp_path / f"samples_{QASPER}_{STAMP}.jsonl.gz"
    log.write_bytes(b"")
    assert read_results_file(path).tasks[0].log == log


@pytest.mark.parametrize("task", ["no/folder", "x" * 5000, "\0"])
def test_names_that_no_log_can_have(tmp_path, task):
    found = read_results_file(write(tmp_path, whole()))
    assert found.log_of(task)[0] is None


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("{", "is not JSON|cannot be read|JSON"),
        ("[]", "is no results file of the harness: it has no 'results' and 'configs'"),
        ('{"results": {}}', "is no results file of the harness"),
        (
            whole(results=[]),
            "is no sound results file: 'results' is .*valid dictionary",
        ),
        (
            whole(configs={QASPER: {"metadata": {"longbench_run": {"limit": "x"}}}}),
            "metadata.longbench_run.limit' is 'x': input should be a valid integer",
        ),
    ],
)
def test_a_broken_file_is_named(tmp_path, content, message):
    path = write(tmp_path, content)
    with pytest.raises(PredictionError, match=message) as caught:
        read_results_file(path)
    assert str(path) in str(caught.value)


def test_a_task_of_ours_needs_its_settings_in_their_shapes(tmp_path):
    config = {"metadata": {"longbench_run": RUN}, "repeats": 0}
    with pytest.raises(PredictionError, match=r"configs\.longbench_v1_qasper\.repeats' is 0"):
        read_results_file(write(tmp_path, whole(configs={QASPER: config})))


def test_results_are_found_at_any_depth_and_once(tmp_path):
    deep = write(tmp_path / "a" / "b", whole())
    mine = write(tmp_path / "a", whole(versions={"x": 1}), f"mine_{STAMP}.json")
    write(tmp_path / "a" / "c", whole(date=2.0))  # the same results once more
    write(tmp_path / "a", whole(), "config.json")
    scored = tmp_path / "scored"
    report = {"tables": {"longbench_v1": {"official": {}, "counts": {}, "tasks": {}}}}
    write(scored, report, "report.json")
    write(scored, "", "samples.jsonl")
    assert find_results([tmp_path, deep]) == [deep, mine, scored]
    assert find_results([scored / "report.json", scored]) == [scored]
    assert isinstance(read_results(scored), ScoredFolder)
    assert isinstance(read_results(deep), ResultsFile)
    assert read_results(scored).report == report


def test_folders_without_results_are_refused(tmp_path):
    with pytest.raises(PredictionError, match="does not exist, or is neither"):
        find_results([tmp_path / "none"])
    with pytest.raises(PredictionError, match="holds no results"):
        find_results([tmp_path])


def test_a_scored_folder_whose_report_is_broken(tmp_path):
    write(tmp_path, {"tables": {"longbench_v1": {"counts": {}, "tasks": {}}}}, "report.json")
    with pytest.raises(PredictionError, match=r"is no report of `score`: .* has no 'official'"):
        read_results(tmp_path)


def test_files_of_one_moment_belong_together(tmp_path):
    log = tmp_path / f"samples_{QASPER}_{STAMP}.jsonl"
    other = STAMP.replace("2025", "2026")
    own = [write(tmp_path, whole(), f"{name}_{STAMP}.json") for name in ("mine", "results")]
    write(tmp_path, whole(), f"results_{other}.json")
    write(tmp_path, whole(), "notes.json")
    assert (results_beside(log), task_of_log(log)) == (own, QASPER)
    for name in ("my_log.jsonl", f"samples_{STAMP}.jsonl"):
        assert (results_beside(tmp_path / name), task_of_log(tmp_path / name)) == ([], None)
    assert results_beside(tmp_path / "none" / log.name) == []


@pytest.mark.parametrize(
    "text", ["", "{", "[]", '{"configs": []}', '{"configs": {"longbench_v1_qasper": 5}}']
)
def test_what_cannot_be_read_beside_a_log_says_nothing(tmp_path, text):
    """Scoring needs no results file."""
    write(tmp_path, text)
    found = RecordedRuns().of(tmp_path / f"samples_{QASPER}_{STAMP}.jsonl")
    assert (found.model, found.signature) == (None, None)


def test_a_packed_results_file_is_read(tmp_path):
    whole = {"configs": {}, "model_name": "org/one"}
    place = tmp_path / f"mine_{STAMP}.json.gz"
    place.write_bytes(gzip.compress(json.dumps(whole).encode()))
    log = tmp_path / f"samples_{QASPER}_{STAMP}.jsonl"
    assert RecordedRuns().of(log).model == "org/one"


def test_a_name_that_the_harness_made_up_is_no_model():
    whole = {"model_name": "quiet-lake-17", "config": {"model": "Mine", "model_args": None}}
    assert model_of(whole) == "Mine"
    whole["config"]["model_args"] = "dtype=bfloat16"
    assert model_of(whole) == "Mine"
    named = {"model_name": "org/one", "config": {"model": "hf"}}
    for arguments in ("pretrained=org/one,dtype=x", {"pretrained": "org/one"}):
        named["config"]["model_args"] = arguments
        assert model_of(named) == "org/one"
    assert model_of({"model_name": "org/one"}) == "org/one"
    assert model_of({}) is None
