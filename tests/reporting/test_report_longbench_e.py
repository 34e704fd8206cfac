"""The table of LongBench-E: buckets, and the curve relative to the dataset."""

import json
from pathlib import Path
from statistics import fmean

import pytest
from longbench_v1_facts import BUCKETS, bucket
from scored_runs import close, v1_rows, write_run

from lm_eval_longbench.benchmarks.longbench_v1 import E
from lm_eval_longbench.reporting.report import make_report
from lm_eval_longbench.reporting.scored_run import read_run

GOLDEN = Path(__file__).resolve().parents[3] / "shared" / "golden" / "longbench_v1_e"
GOLDEN /= "llama2-7b-chat-4k"
TABLE = "longbench_v1_e"


def figures(folder):
    (benchmark,) = make_report([read_run(folder)]).benchmarks
    return {(row.section, row.name): row.figures[0] for row in benchmark.rows}


def test_hand_worked(tmp_path):
    trec = [(0, 1.0), (3999, 0.5), (4000, 0.5), (7999, 0.2), (8000, 0.0), (10**6, 0.2)]
    rows = v1_rows({"trec": trec * 10, "lcc": [(1, 0.5)]}, TABLE)
    found = figures(write_run(tmp_path / "r", rows))
    assert found["all lengths", "trec"].value == pytest.approx(0.4)  # 2.4 / 6
    expected = {"0-4k": 0.75, "4-8k": 0.35, "8k+": 0.1}
    for name, value in expected.items():
        assert found[name, "trec"].value == pytest.approx(value)
        assert found[name, "trec"].n == 20
        relative = found[f"{name}, relative to all lengths", "trec"]
        assert relative.value == pytest.approx(value / 0.4 - 1)
        assert relative.low < relative.value < relative.high
    # An empty bucket has neither a score nor a place on the curve.
    assert found["0-4k, relative to all lengths", "lcc"].value == 0
    for section in ("8k+", "8k+, relative to all lengths"):
        assert (found[section, "lcc"].value, found[section, "lcc"].n) == (None, 0)


def test_every_figure_is_there_once(tmp_path):
    found = list(figures(write_run(tmp_path / "r", v1_rows({"trec": [(1, 1.0)]}, TABLE))))
    sections = ("all lengths", *BUCKETS, *(f"{name}, relative to all lengths" for name in BUCKETS))
    assert found == [(section, name) for section in sections for name in E.datasets]


def test_a_dataset_of_zeros_has_no_curve(tmp_path):
    found = figures(write_run(tmp_path / "r", v1_rows({"trec": [(1, 0.0), (9000, 0.0)]}, TABLE)))
    assert found["8k+", "trec"].value == 0
    assert found["8k+, relative to all lengths", "trec"].value is None


@pytest.mark.skipif(not GOLDEN.is_dir(), reason="no shared/golden folder beside this repository")
def test_golden_run(tmp_path):
    scores = {}
    for name in E.datasets:
        values = json.loads((GOLDEN / f"{name}.scores.json").read_text())
        lines = (GOLDEN / f"{name}.jsonl").read_text(encoding="utf-8").splitlines()
        lengths = [json.loads(line)["length"] for line in lines]
        scores[name] = list(zip(lengths, values, strict=True))
    result = json.loads((GOLDEN / "result.json").read_text())
    folder = write_run(tmp_path / "r", v1_rows(scores, TABLE), official_data=True)
    report = json.loads((folder / "report.json").read_text())
    report["tables"][TABLE]["official"] = result
    (folder / "report.json").write_text(json.dumps(report))
    found = figures(folder)
    for name in E.datasets:
        assert {part: found[part, name].official for part in BUCKETS} == result[name]
        rounded = {part: round(100 * found[part, name].value, 2) for part in BUCKETS}
        assert rounded == result[name]
        whole = fmean(score for _, score in scores[name])
        for part in BUCKETS:
            own = fmean(score for length, score in scores[name] if bucket(length) == part)
            relative = found[f"{part}, relative to all lengths", name].value
            assert close(relative, own / whole - 1)
