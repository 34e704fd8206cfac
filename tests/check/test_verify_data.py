"""Checks that need the data a result was made from: pinned, local or not here."""

import dataclasses
import shutil

import datasets
import pytest
from converting import cached
from real_runs import AnsweringLM, Files, write_run
from typer.testing import CliRunner

from lm_eval_longbench.benchmarks.base import SAMPLES
from lm_eval_longbench.benchmarks.results import read_results_file
from lm_eval_longbench.benchmarks.v1 import V1
from lm_eval_longbench.check.verification import CONFIRMED, DIFFERENT, NOT_CHECKABLE
from lm_eval_longbench.check.verify import verify
from lm_eval_longbench.cli.main import app
from lm_eval_longbench.data.convert import cache_folder

TASK = "longbench_v1_qasper"


def answer(number, prompt):
    return "an answer"


@pytest.fixture
def pinned(tmp_path, monkeypatch):
    """A cache in which a few rows stand for the pinned data, and a run on them."""
    monkeypatch.setattr(datasets.config, "HF_DATASETS_CACHE", str(tmp_path / "cache"))
    rows = list(V1.load(V1.tasks[TASK], "sample").rows)
    cached(V1, V1.source.sha256, "qasper", lambda: rows)
    return Files(write_run(tmp_path / "run", AnsweringLM(answer), [TASK], {"data_dir": None}))


@pytest.fixture
def local(tmp_path):
    """A run on a user's own files, and the folder with them."""
    folder = tmp_path / "data"
    folder.mkdir()
    shutil.copy(SAMPLES / "longbench_v1" / "qasper.jsonl", folder)
    shutil.copy(SAMPLES / "longbench_v2" / "data.json", folder)
    options = {"data_dir": str(folder)}
    tasks = [TASK, "longbench_v2_code_repository"]
    files = Files(write_run(tmp_path / "run", AnsweringLM(answer), tasks, options))
    return files, folder


def of_kind(report, *kinds):
    return {
        (check.place, check.kind, check.name): check
        for check in report.checks
        if check.kind in kinds
    }


def statuses(report, *kinds):
    return {check.status for check in of_kind(report, *kinds).values()}


def test_pinned_data_in_the_cache(pinned):
    assert pinned.run(TASK)["data"] == "zai-org/LongBench@5e628be"
    report = verify([pinned.folder])
    assert statuses(report, "data", "questions", "prompts") == {CONFIRMED}
    assert report.exit_status == 0
    checked = {key[1:] for key in of_kind(report, "data")}
    assert checked == {("data", "label"), ("data", "sha256")}


def test_pinned_data_that_is_not_here(pinned, tmp_path):
    shutil.rmtree(cache_folder(V1, V1.source.sha256))
    report = verify([pinned.folder])
    assert report.exit_status == 0
    said = of_kind(report, "data", "prompts")
    # The pinned hash is known without the data.
    assert said[TASK, "data", "label"].status == CONFIRMED
    assert said[TASK, "data", "sha256"].status == NOT_CHECKABLE
    assert "`lm-eval-longbench prepare` downloads it" in said[TASK, "prompts", "prompts"].meaning
    # A copy that is not the pinned archive is other data, and says nothing about the result.
    report = verify([pinned.folder], data_dir=str(SAMPLES / "longbench_v1"))
    found = of_kind(report, "data", "prompts")
    assert found[TASK, "data", "sha256"].status == NOT_CHECKABLE
    assert "Here is other data, local-" in found[TASK, "prompts", "prompts"].meaning
    assert report.with_status(DIFFERENT) == []


def test_an_edited_hash_of_pinned_data_needs_no_data(pinned):
    shutil.rmtree(cache_folder(V1, V1.source.sha256))
    pinned.edit_run(TASK, data_sha256="0" * 64)
    report = verify([pinned.folder])
    found = of_kind(report, "data")[TASK, "data", "label"]
    assert found.status == DIFFERENT
    assert found.expected == V1.source.sha256
    assert "names other data than the hash" in found.meaning


def test_local_data(local):
    files, folder = local
    report = verify([files.folder], data_dir=str(folder))
    assert statuses(report, "data", "questions", "prompts") == {CONFIRMED}
    assert report.exit_status == 0


def test_local_data_that_nobody_names(local):
    files, _ = local
    report = verify([files.folder])
    assert report.exit_status == 0
    found = of_kind(report, "data", "prompts")
    assert "name it with the option data_dir" in found[TASK, "data", "sha256"].meaning
    printed = CliRunner().invoke(app, ["verify", str(files.folder), "--verbose"]).stdout
    assert "name it with --data-dir" in printed and "option data_dir" not in printed
    assert found[TASK, "prompts", "prompts"].status == NOT_CHECKABLE


def test_other_local_data(local):
    files, folder = local
    rows = (folder / "qasper.jsonl").read_text(encoding="utf-8").splitlines()
    (folder / "qasper.jsonl").write_text("\n".join(rows[::-1]) + "\n", encoding="utf-8")
    report = verify([files.folder], data_dir=str(folder))
    found = of_kind(report, "data", "prompts")
    assert found[TASK, "data", "sha256"].status == DIFFERENT
    assert (
        "not made from the data of the option data_dir, local-"
        in found[TASK, "data", "sha256"].meaning
    )
    assert found[TASK, "prompts", "prompts"].status == NOT_CHECKABLE
    assert found["longbench_v2_code_repository", "data", "sha256"].status == CONFIRMED


def test_results_carry_no_code_to_run(base, monkeypatch):
    """A results file cannot make `verify` trust code of a tokenizer's repository."""
    from lm_eval_longbench.check import logged_task as prompts

    asked = []
    monkeypatch.setattr(prompts, "is_here", lambda name: True)
    monkeypatch.setattr(
        prompts, "load_tokenizer", lambda name, model_args: asked.append(dict(model_args))
    )
    monkeypatch.setattr("lm_eval_longbench.prompts.tokens.fast.fast_tokenizer", lambda own: None)
    metadata = {"trust_remote_code": True, "revision": "abc", "pretrained": "org/model"}
    (task, *_) = read_results_file(base.results).tasks
    run = {"tokenizer": "org/model", "tokenizer_sha256": None}
    edited = dataclasses.replace(task, run=run, config={"metadata": metadata})
    prompts.open_tokenizer(edited, None)
    assert asked == [{"revision": "abc", "pretrained": "org/model"}]
