"""Official files that are written and read again, and figures that stand beside them."""

import json
from datetime import date

import pytest
from prediction_rows import (
    STAMP,
    log_row,
    pro_row,
    read_lines,
    says,
    v1_doc,
    v2_question,
    write_lines,
)

from lm_eval_longbench.benchmarks.v1 import V1
from lm_eval_longbench.errors import LongBenchError, PredictionError
from lm_eval_longbench.scoring.score import score_paths

QASPER, TREC = "longbench_v1_qasper", "longbench_v1_trec"


@pytest.fixture
def both(score, tmp_path):
    """Score paths, write official files, read them back; return both and the folder."""

    def run(*paths, **options):
        folder = tmp_path / "official"
        first = score(*paths, official=folder, **options)
        return first, score(folder), folder

    return run


def files(folder):
    return sorted(
        path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()
    )


def v1_log(folder, task, answers, stamp=STAMP, **doc):
    rows = [
        log_row(task, {**v1_doc(task, index, "Emma", length=9), **doc}, answer)
        for index, answer in enumerate(answers)
    ]
    return write_lines(folder / f"samples_{task}_{stamp}.jsonl", *rows)


def test_v1(both, tmp_path):
    log = tmp_path / "org__model"
    v1_log(log, QASPER, ["Emma", "", "<think>Emma, Bo, Cy</think>Bo", "Emma and 艾玛"])
    v1_log(log, TREC, ["Emma\nx", "no"], all_classes=["Emma", "Bo"])
    first, again, folder = both(log)
    assert files(folder) == [
        "pred/org__model/qasper.jsonl",
        "pred/org__model/result.json",
        "pred/org__model/trec.jsonl",
    ]
    assert json.loads((folder / "pred/org__model/result.json").read_text()) == first.scores
    assert again.scores == first.scores
    assert [one["score"] for one in again.samples] == [one["score"] for one in first.samples]
    rows = read_lines(folder / "pred/org__model/qasper.jsonl")
    assert list(rows[0]) == ["pred", "answers", "all_classes", "length"]
    assert rows[2]["pred"] == "Bo"  # what was scored
    # As the official evaluation reads: every line has these, and counts.
    assert [row["pred"] for row in rows][:2] == ["Emma", ""]


def test_official_v1_and_e_files_come_back_as_they_were(both, tmp_path):
    own = {"answers": ["Emma"], "all_classes": None}
    rows = [{"pred": f"Emma {at}", **own, "length": 4000 * at} for at in range(3)]
    for folder in ("pred", "pred_e"):
        write_lines(tmp_path / folder / "llama" / "qasper.jsonl", *rows)
    first, again, folder = both(tmp_path / "pred", tmp_path / "pred_e")
    assert files(folder) == [
        "pred/llama/qasper.jsonl",
        "pred/llama/result.json",
        "pred_e/llama/qasper.jsonl",
        "pred_e/llama/result.json",
    ]
    assert again.scores == first.scores
    assert read_lines(folder / "pred/llama/qasper.jsonl") == rows
    assert read_lines(folder / "pred_e/llama/qasper.jsonl") == rows


def test_repeats_of_v1_are_models_of_their_own(score, tmp_path):
    v1_log(tmp_path / "m", QASPER, ["Emma", "Bo"])
    v1_log(tmp_path / "m", QASPER, ["Bo", "Bo"], STAMP.replace("2025", "2026"))
    found = score(tmp_path / "m", official=tmp_path / "out")
    assert found.report["tables"]["longbench_v1"]["repeats"] == 2
    assert files(tmp_path / "out") == ["pred/m/qasper.jsonl", "pred/m_repeat-2/qasper.jsonl"]


def test_v2(both, tmp_path):
    text = {"context": "x" * 1500}
    rows = [
        log_row("longbench_v2", {**v2_question(name, "A", **text), "index": at}, answer)
        for at, (name, answer) in enumerate(
            [("a", says("A")), ("b", " "), ("c", "<think>" + says("B") + "</think>" + says("A"))]
        )
    ]
    rows.append(log_row("longbench_v2", {**v2_question("d", "A"), "index": 3}, ""))
    log = write_lines(tmp_path / "model" / f"samples_longbench_v2_{STAMP}.jsonl", *rows)
    first, again, folder = both(log)
    assert files(folder) == ["results/model.jsonl"]
    # The failed call is in no official file.
    assert again.scores == {**first.scores, "failed": 1, "unparsed": 1}
    written = read_lines(folder / "results" / "model.jsonl")
    assert [row["_id"] for row in written] == ["a", "b", "c"]  # the failed call has no line
    assert {row["context"] for row in written} == {"x" * 1000}  # as the official files cut it
    # The sum that the official result.py makes.
    official = round(100 * sum(int(row["judge"]) for row in written) / len(written), 1)
    assert official == first.scores["overall"]


def test_an_empty_length_bucket_is_nan_as_officially(both, tmp_path):
    row = {"pred": "Emma", "answers": ["Emma"], "all_classes": None, "length": 5000}
    first, again, folder = both(write_lines(tmp_path / "pred_e" / "llama" / "qasper.jsonl", row))
    text = (folder / "pred_e/llama/result.json").read_text()
    assert json.loads(text.replace("NaN", '"no questions"')) == {
        "qasper": {"0-4k": "no questions", "4-8k": 100.0, "8k+": "no questions"}
    }
    assert first.scores == {"qasper": {"0-4k": None, "4-8k": 100.0, "8k+": None}} == again.scores
    (stated,) = again.report["stated"]
    assert (stated["same"], stated["differing"]) == (1, [])


def test_pro(both, tmp_path):
    rows = [
        pro_row(f"q{at}", answer, repeat)
        for at in range(3)
        for repeat, answer in enumerate(("[Answer]\nEmma", "no"), start=1)
    ]
    name = "nonthinking_context-120000_bon-2_inference_1-of-1.jsonl"
    first, again, folder = both(write_lines(tmp_path / "output" / "Qwen" / name, *rows))
    begin = "output/Qwen/nonthinking_context-120000_bon-2"
    assert files(folder) == [f"{begin}_inference_1-of-1.jsonl", f"{begin}_summary.json"]
    assert again.scores == first.scores
    summary = json.loads((folder / f"{begin}_summary.json").read_text())
    assert date.fromisoformat(summary.pop("date")) <= date.today()
    assert summary == first.scores
    written = read_lines(folder / f"{begin}_inference_1-of-1.jsonl")
    assert [row["bon_idx"] for row in written] == [1, 2] * 3


def test_nothing_is_left_behind_when_it_fails(tmp_path, monkeypatch):
    log = v1_log(tmp_path / "m", QASPER, ["Emma"])
    (tmp_path / "out" / "pred" / "m" / "qasper.jsonl").mkdir(parents=True)
    with pytest.raises(LongBenchError, match="there is a folder"):
        score_paths(log, tmp_path / "scored", official=tmp_path / "out")
    assert files(tmp_path / "out") == []
    assert files(tmp_path / "scored") == []


def test_figures_beside_answers_are_compared(score, tmp_path):
    v1_log(tmp_path / "m", QASPER, ["Emma", "no"])
    score(tmp_path / "m", official=tmp_path / "out")
    assert score(tmp_path / "out").report["stated"] == [
        {
            "name": "out/pred/m/result.json",
            "table": "longbench_v1",
            "same": 1,
            "differing_total": 0,
            "differing": [],
        }
    ]
    (tmp_path / "out/pred/m/result.json").write_text('{"qasper": 50.01, "trec": 1, "x": "y"}')
    (stated,) = score(tmp_path / "out").report["stated"]
    assert stated["differing"] == [{"figure": "qasper", "stated": 50.01, "computed": 50.0}]
    (tmp_path / "out/pred/m/result.json").write_text("{")
    (stated,) = score(tmp_path / "out").report["stated"]
    assert "problem" in stated
    (tmp_path / "out/pred/m/result.json").unlink()
    assert "stated" not in score(tmp_path / "out").report


def test_a_summary_of_pro_beside_its_answers_and_alone(score, tmp_path):
    name = "thinking_context-120000_bon-1"
    log = tmp_path / "in" / f"{name}_inference_1-of-1.jsonl"
    score(write_lines(log, pro_row("q", "Emma")), official=tmp_path / "out")
    place = tmp_path / "out" / "output" / "in" / f"{name}_summary.json"
    (stated,) = score(tmp_path / "out").report["stated"]
    assert (stated["same"] > 10, stated["differing"]) == (True, [])
    place.write_text(
        place.read_text().replace('"average_overall_metric": 1.0', '"average_overall_metric": 0.5')
    )
    (stated,) = score(tmp_path / "out").report["stated"]
    assert [own["figure"] for own in stated["differing"]] == ["average_overall_metric"]

    place.with_name(f"{name}_inference_1-of-1.jsonl").unlink()
    with pytest.raises(PredictionError, match=r"of 1 questions, overall 50\.00 %: figures without"):
        score(tmp_path / "out")


def test_a_benchmark_without_official_files(tmp_path, monkeypatch):
    log = v1_log(tmp_path / "m", QASPER, ["Emma"])
    monkeypatch.setattr(type(V1), "official_files", None)
    with pytest.raises(LongBenchError, match="LongBench v1 has no official files"):
        score_paths(log, tmp_path / "scored", official=tmp_path / "out")
    assert not (tmp_path / "out").exists()
