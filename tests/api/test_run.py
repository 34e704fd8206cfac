"""What a run has: scores, answers, tables, files that every command reads."""

import json
import re
import sys

import pytest

from lm_eval_longbench import Run, evaluate
from lm_eval_longbench.api.run import options_lines, report
from lm_eval_longbench.check.verification import DIFFERENT
from lm_eval_longbench.check.verify import verify
from lm_eval_longbench.errors import MissingDependencyError, OptionError
from lm_eval_longbench.harness.evaluate import Captured
from lm_eval_longbench.scoring.score import score_paths

TASKS = ["longbench_v1_qasper", "longbench_v2"]


@pytest.fixture(scope="module")
def run(tokenizer_folder):
    return evaluate(
        lambda prompts: ["The correct answer is (B). <b>" for _ in prompts],
        TASKS,
        data_dir="sample",
        truncate_to=300,
        tokenizer=tokenizer_folder,
        name="all B",
    )


def test_scores_are_in_the_official_shape(run):
    assert set(run.scores) == {"longbench_v1", "longbench_v2"}
    assert run.scores["longbench_v1"].keys() == {"qasper"}
    assert 0 < run.scores["longbench_v2"]["overall"] < 100
    shares = run.results["results"]["longbench_v2"]
    assert run.scores["longbench_v2"]["overall"] == round(100 * shares["acc,none"], 1)


def test_a_signature_is_that_of_the_results(run):
    assert run.signature.keys() == run.scores.keys()
    assert "|cut:middle@300/" in run.signature["longbench_v1"]


def test_a_run_in_print(run):
    assert repr(run) == "<Run 'all B': longbench_v1, longbench_v2>"
    text = str(run)
    assert run.report() in text
    assert '\nOptions: data_dir="sample", truncate_to=300, tokenizer=' in text
    for table, line in run.signature.items():
        assert f"\n{table}: {line}" in text


def test_a_run_in_a_notebook_shows_its_tables(run):
    shown = run._repr_markdown_()
    assert re.findall(r"^## (.*)$", shown, re.M) == ["LongBench v1", "LongBench v2"]
    assert re.findall(r"^\| qasper +\| +(.*?) \|$", shown, re.M) == ["0.00 [n<20] 4/0/0"]
    assert '\n- Options: data\\_dir="sample"' in shown
    assert "- longbench\\_v2: lb-v2\\|v" in shown


def test_a_data_frame_has_a_row_an_answer(run, monkeypatch):
    frame = run.to_pandas()
    assert len(frame) == len(run.samples)
    assert list(frame["score"]) == [line["score"] for line in run.samples]
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(MissingDependencyError, match="pip install pandas"):
        run.to_pandas()


def test_saved_files_are_read_by_every_command(run, tmp_path):
    folder = run.save(tmp_path / "saved")
    checked = verify([folder])
    assert not checked.unreadable
    assert checked.with_status(DIFFERENT) == []
    assert checked.counts["confirmed"] > 50
    scored = score_paths(folder, tmp_path / "scored")
    assert {name: own["official"] for name, own in scored["tables"].items()} == run.scores
    assert "rougeL_google" not in report(folder) and "all B" in report(folder)
    run.save(tmp_path / "again")  # nothing was spent
    assert len(list((tmp_path / "again").rglob("samples_*.jsonl"))) == 2


def test_saved_scores_are_read_at_once(run, tmp_path):
    folder = run.save_scores(tmp_path / "all B")
    assert json.loads((folder / "scores.json").read_text()) == run.scores
    assert len((folder / "samples.jsonl").read_text().splitlines()) == len(run.samples)
    assert report(folder) == run.report()
    assert verify([folder]).with_status(DIFFERENT) == []


def test_a_run_without_answers_of_ours_is_empty(tmp_path):
    empty = Run(Captured())
    assert (empty.scores, empty.samples, empty.signature, str(empty)) == ({}, [], {}, "")
    assert "no answers of LongBench tasks" in empty._repr_markdown_()
    with pytest.raises(OptionError, match="no answers"):
        empty.report()
    for save in (empty.save, empty.save_scores):
        with pytest.raises(OptionError, match="nothing to save"):
            save(tmp_path)


def test_the_options_of_tasks_that_differ_are_apart():
    same = {"truncate_to": 5}
    assert options_lines({"a": same, "b": same}) == ["Options: truncate_to=5"]
    assert options_lines({"a": {}}) == ["Options: none, all are at their default"]
    assert options_lines({"a": same, "b": {}}) == [
        "Options of a: truncate_to=5",
        "Options of b: none, all are at their default",
    ]
