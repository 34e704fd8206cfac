"""The last lines of a run."""

import dataclasses
import re

import pytest
from scored_runs import v1_rows, write_run

from lm_eval_longbench.benchmarks.registry import benchmarks, presets_named
from lm_eval_longbench.cli.run import next_command
from lm_eval_longbench.harness.evaluate import Captured
from lm_eval_longbench.interface.run import counted, signatures_of_tables
from lm_eval_longbench.reports.report import make_report
from lm_eval_longbench.reports.run_end import (
    MOST_LINES,
    Files,
    block,
    official_protocol,
    tables_text,
)
from lm_eval_longbench.reports.scored_run import read_run
from lm_eval_longbench.scoring.score import score_rows
from lm_eval_longbench.signature.signature import INGREDIENTS

V1 = benchmarks()["longbench_v1"]
FILES = Files("hf org/model", "results/org__model", "results/run.log", "lm-eval-longbench score x")
OFFICIAL = {
    "data": V1.source.label,
    "data_sha256": V1.source.sha256,
    "truncation": V1.rule.__name__,
    "limit": 31500,
    "overlength": "truncate",
    "chat": "on",
    "filters": None,
}


def rows_of(scores, data, length=9):
    """Sample log rows of datasets, and the signatures of their tasks."""
    rows, signatures = {}, {}
    for dataset, own in scores.items():
        task = f"longbench_v1_{dataset}"
        rows[task] = []
        for number, sample in enumerate(v1_rows({dataset: own})):
            text = "yes" if own[number] else "no"
            doc = {"_id": sample["id"], "index": number, "answers": ["yes"], "all_classes": None}
            doc |= {"dataset": dataset, "task": task, "data": data, "length": length + number}
            texts = [[text]]
            rows[task].append(
                {"doc": doc, "resps": texts, "filtered_resps": texts[0], "filter": "none"}
            )
        generation = {"max_gen_toks": 128, "until": [], "do_sample": False, "temperature": 0.0}
        signatures[task] = {
            **dict.fromkeys(INGREDIENTS),
            **OFFICIAL,
            **{"task": task, "data": data, "generation": generation},
        }
    return rows, signatures


@pytest.fixture
def made(tmp_path):
    def make(scores, data=OFFICIAL["data"], **changed):
        rows, signatures = rows_of(scores, data)
        for own in signatures.values():
            own.update(changed)
        score_rows(rows, tmp_path, signatures=list(signatures.values()))
        return make_report([read_run(tmp_path, "this run")]), signatures

    return make


def test_one_dataset_prints_no_row_without_a_value(made):
    report, signatures = made({"qasper": [1.0, 0.0] * 100})
    text = tables_text(report)
    assert "20 of 21 tasks are not in this run" in text
    assert "Without them these have no value: English, Chinese." in text
    assert " - " not in text
    lines = block(report, signatures_of_tables(counted(signatures)), FILES).splitlines()
    assert len(lines) <= MOST_LINES
    found = dict(line.split("  ", 1) for line in lines)
    assert found["model"].strip() == "hf org/model"
    assert found["LongBench v1"].strip().startswith("qasper 50.00 [")
    assert found["answers"].strip().startswith("200: failed 0 (0.0%), truncated")
    assert found["next"].strip() == "lm-eval-longbench score x"


@pytest.mark.parametrize(
    ("language", "means"), [("en", "means over tasks"), ("zh", "各任务的均值")]
)
def test_what_a_benchmark_without_published_figures_lacks(tmp_path, monkeypatch, language, means):
    monkeypatch.setenv("LONGBENCH_LANG", language)
    rows = v1_rows({"qasper": [(100, 1.0)] * 4}, "longbench_v1_e")
    text = tables_text(make_report([read_run(write_run(tmp_path / "r", rows), "this run")]))
    assert re.search(rf"{means}[.。]$", text, re.MULTILINE)


def test_an_official_run_says_yes_and_any_other_why_not(made):
    scores = {"qasper": [1.0, 0.0] * 100}
    for changed, expected in (
        ({}, ""),
        ({"limit": None}, "no limit of prompts (officially cut at 3500"),
        ({"chat": "off"}, "chat template off (officially on)"),
        ({"generation": {"max_gen_toks": 8}}, "an output budget of 8 tokens (officially 128)"),
        ({"data_sha256": "0" * 64}, "other data than"),
    ):
        report, _ = made(scores, **changed)
        (column,) = report.benchmarks[0].columns
        departs, unknown = official_protocol([column])
        assert unknown == ""
        assert (expected in departs) if expected else departs == ""
    report, signatures = made({"qasper": [1.0] * 50})
    text = block(report, signatures_of_tables(counted(signatures)), FILES)
    assert "no, because: it is incomplete: longbench_v1_qasper has 50 of 200 questions" in text


def test_the_block_in_chinese(made, monkeypatch):
    monkeypatch.setenv("LONGBENCH_LANG", "zh")
    report, signatures = made({"qasper": [1.0, 0.0] * 100})
    text = block(report, signatures_of_tables(counted(signatures)), FILES)
    assert text.splitlines()[0].startswith("模型  ")
    assert "官方协议" in text
    assert "20 / 21" in tables_text(report) or "21 / 20" in tables_text(report)


def test_the_next_command(monkeypatch):
    monkeypatch.setattr("sys.argv", ["/bin/lm-eval-longbench", "run", "--tasks", "longbench_v1"])
    kept = Captured(signatures={"a": {"data": "sample-0123"}})
    words = next_command(kept).split()
    assert words[:2] == ["lm-eval-longbench", "run"] and "hf" in words
    # An official limit comes with it.
    assert words[words.index("--tasks") + 1] == "longbench_v1"
    preset = presets_named(words[words.index("--preset") + 1], thinking=False)[V1.presets]
    assert preset.truncate_to == OFFICIAL["limit"]
    kept = Captured(signatures={"a": {"data": "local-0123"}})
    again = "lm-eval-longbench run --tasks longbench_v1"
    assert next_command(kept) == f"{again} --output_path results --log_samples"
    from pathlib import Path

    kept.folder = Path("results/my model")
    assert next_command(kept) == f"{again} --log_samples"
    kept = dataclasses.replace(kept, logged=True)
    assert next_command(kept).startswith("lm-eval-longbench score 'results/my model' --output")
