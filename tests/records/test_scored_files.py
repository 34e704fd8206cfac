"""What a run and `score` write is of the types that are named, and has no key that they lack."""

import json
import re
from pathlib import Path
from typing import get_type_hints

import pytest
import yaml
from real_runs import AnsweringLM, Files, write_run

from lm_eval_longbench.benchmarks.registry import benchmarks
from lm_eval_longbench.benchmarks.results import TaskConfig, TaskRun, Whole
from lm_eval_longbench.check.lock import LockFile, lock_now, lock_text
from lm_eval_longbench.errors import PredictionError
from lm_eval_longbench.metrics.reasoning import OTHERWISE
from lm_eval_longbench.options import Options
from lm_eval_longbench.records.log import LoggedDoc, PromptSummary, RawRow
from lm_eval_longbench.records.scored import (
    ReportFile,
    ReportTable,
    SampleLine,
    SignaturePart,
    TaskCounts,
    Worth,
    table_parts,
)
from lm_eval_longbench.scoring.score import score_paths
from lm_eval_longbench.shapes import checked
from lm_eval_longbench.signature.ingredients import INGREDIENTS

TASKS = ["longbench_v1_qasper", "longbench_v1_e_trec", "longbench_v2", "longbench_pro_t3_1"]
PAGE = (Path(__file__).parents[2] / "docs" / "scoring.md").read_text(encoding="utf-8")
# Where some answers of the table hold reasoning.
OF_SOME_TASKS = {"score_otherwise"}


def keys(kind):
    return set(get_type_hints(kind))


def answer(number, prompt):
    """Letters, an empty answer and one with reasoning."""
    return ("The correct answer is (A)", "", "<think>(B)</think>The correct answer is (C)")[
        number % 3
    ]


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    folder = tmp_path_factory.mktemp("run")
    return Files(write_run(folder, AnsweringLM(answer), TASKS, apply_chat_template=True))


@pytest.fixture(scope="module")
def scored(run, tmp_path_factory):
    folder = tmp_path_factory.mktemp("scored")
    score_paths([run.folder], folder)
    return folder


def test_report(scored):
    report = json.loads((scored / "report.json").read_bytes())
    checked(report, ReportFile, "report.json")
    assert report.keys() == keys(ReportFile) - {"stated", "equal", "longbench_benchmarks"}
    assert report["tables"].keys() == {
        "longbench_v1",
        "longbench_v1_e",
        "longbench_v2",
        "longbench_pro",
    }
    for table in report["tables"].values():
        own = table_parts(table)
        assert table.keys() - own.keys() == keys(ReportTable)
        benchmark = benchmarks()[table["benchmark"]]
        more = set(benchmark.task_fields)
        for task in table["tasks"].values():
            assert task.keys() - more - OF_SOME_TASKS == keys(TaskCounts) - OF_SOME_TASKS
        assert table["signature"].keys() == keys(SignaturePart)
        assert list(table["signature"]["ingredients"]) == list(INGREDIENTS)


def test_samples(scored):
    lines = (scored / "samples.jsonl").read_text(encoding="utf-8").splitlines()
    found = [checked(json.loads(line), SampleLine, "a line") for line in lines]
    assert {name for line in found for name in line} >= keys(SampleLine) - {
        "failure",
        "without_reasoning",
    }
    worths = [line["with_reasoning"] for line in found if "with_reasoning" in line]
    assert worths and all(worth.keys() >= keys(Worth) for worth in worths)
    assert keys(SampleLine) >= set(OTHERWISE.values())


def test_results_file_and_signature(run):
    whole = json.loads(run.results.read_text(encoding="utf-8"))
    checked(whole, Whole, "the file")
    assert whole.keys() >= keys(Whole) - {"groups"}  # no group was asked for
    own = [name for name in whole["configs"] if name.startswith("longbench")]
    assert len(own) == len(TASKS)
    for name in own:
        config = checked(whole["configs"][name], TaskConfig, "a task")
        assert config.keys() >= keys(TaskConfig) - {"filter_list"}
        facts = checked(config["metadata"]["longbench_run"], TaskRun, "a run")
        assert facts.keys() >= keys(TaskRun) - {"left_out"}


def test_log_rows(run):
    for task in TASKS:
        for row in run.rows(task):
            checked(row, RawRow, "a row")
            assert row.keys() >= keys(RawRow)
            assert row["doc"]["prompt"].keys() == keys(PromptSummary)
            assert len(row["doc"].keys() & keys(LoggedDoc)) >= 3


def test_lock():
    found = yaml.safe_load(lock_text(lock_now(TASKS, Options(data_dir="sample"))))
    assert checked(found, LockFile, "the lock") is found
    assert found.keys() == keys(LockFile)


@pytest.mark.parametrize(
    ("heading", "kind"),
    [
        ("## `samples.jsonl`", SampleLine),
        ("## `report.json`", ReportFile),
        ("### A table", ReportTable),
        ("### A task", TaskCounts),
    ],
)
def test_the_page_names_the_keys(heading, kind):
    (text,) = re.findall(rf"^{re.escape(heading)}\n(.*?)(?=^##|\Z)", PAGE, re.M | re.S)
    rows = [line.split("|")[1] for line in text.splitlines() if line.startswith("| `")]
    assert {key for row in rows for key in re.findall(r"`(\w+)`", row)} == keys(kind)


def test_the_most_answers_to_a_question(scored):
    line = json.loads((scored / "samples.jsonl").read_text(encoding="utf-8").splitlines()[0])
    checked({**line, "repeat": 256}, SampleLine, "a line")  # as docs/input.md says
    for repeat in (0, 257):
        with pytest.raises(PredictionError, match=f"'repeat' is {repeat}: input should be .* than"):
            checked({**line, "repeat": repeat}, SampleLine, "a line")
