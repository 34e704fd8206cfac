"""Reasoning in answers: kept in official files, dropped in runs of ours, and both figures shown."""

import json

import pytest
from prediction_rows import (
    STAMP,
    log_row,
    pro_row,
    says,
    v1_doc,
    v1_row,
    v2_question,
    v2_row,
    write_lines,
)

from lm_eval_longbench.cli.score import figures_text, warnings_of
from lm_eval_longbench.errors import PredictionError
from lm_eval_longbench.scoring.score import score_paths

QASPER = "longbench_v1_qasper"


def thinks(text, why="Is it Bob?"):
    return f"<think>{why}</think>\n\n{text}"


@pytest.fixture
def v1(tmp_path):
    """Two answers with reasoning, one without."""
    rows = [v1_row(thinks("Emma"), "Emma"), v1_row("Emma", "Emma"), v1_row("<think>Emma", "Emma")]
    return write_lines(tmp_path / "pred" / "qasper.jsonl", *rows)


def test_official_files_are_scored_as_officially(score, v1):
    """The official evaluation takes nothing out: F1 of "thinkis it bobthink emma" is 0.4."""
    found = score(v1)
    assert [own["score"] for own in found.samples] == [pytest.approx(0.4), 1.0, 0.0]
    assert [own["failed"] for own in found.samples] == [False, False, False]
    table = found.report["tables"]["longbench_v1"]
    assert found.scores == {"qasper": round(100 * (0.4 + 1) / 3, 2)}
    assert table["reasoning"] == {
        "policy": "keep",
        "answers": 2,
        "other": {"policy": "drop", "official": {"qasper": 66.67}},
    }
    assert table["counts"]["reasoned"] == table["tasks"][QASPER]["reasoned"] == 2
    assert table["signature"]["ingredients"]["reasoning"] == "keep"
    assert table["signature"]["ingredients"]["reasoned"] == 2
    first, second, third = found.samples
    assert first["without_reasoning"] == {"score": 1.0, "failed": False}
    assert "without_reasoning" not in second
    assert third["without_reasoning"] == {"score": 0.0, "failed": True}


def test_the_other_policy_swaps_the_two(score, v1):
    kept, dropped = score(v1), score(v1, reasoning="drop")
    table = dropped.report["tables"]["longbench_v1"]
    assert dropped.scores == {"qasper": 66.67}
    assert table["reasoning"]["other"] == {"policy": "keep", "official": kept.scores}
    assert dropped.samples[0]["with_reasoning"]["score"] == kept.samples[0]["score"]
    assert dropped.samples[0]["score"] == kept.samples[0]["without_reasoning"]["score"]
    assert table["tasks"][QASPER]["score_otherwise"] == pytest.approx((0.4 + 1) / 3)


def test_a_user_is_told(score, v1, tmp_path):
    report = score(v1).report
    (line,) = [line for line in warnings_of(report) if "reasoning" in line]
    assert line == (
        "longbench_v1: 2 of 3 answers hold reasoning (<think>...</think>). Figures keep it, as the "
        "official evaluation does; beside them stands what they are with --reasoning drop."
    )
    score_paths(v1, tmp_path / "figures")
    figures = figures_text(tmp_path / "figures")
    assert "dataset                     qasper 46.67\n" in figures
    assert "dataset, reasoning dropped  qasper 66.67\n" in figures


def test_logs_of_ours_drop_it_unless_their_run_kept_it(score, tmp_path):
    row = log_row(QASPER, v1_doc(QASPER, 0, "Emma"), thinks("Emma"))
    log = write_lines(tmp_path / "run" / f"samples_{QASPER}_{STAMP}.jsonl", row)
    assert [own["score"] for own in score(log).samples] == [1.0]
    assert [own["score"] for own in score(log, reasoning="keep").samples] == [pytest.approx(0.4)]
    run = {"task": QASPER, "reasoning": "keep"}
    results = {"configs": {QASPER: {"metadata": {"longbench_run": run}}}}
    (log.parent / f"results_{STAMP}.json").write_text(json.dumps(results))
    assert [own["score"] for own in score(log).samples] == [pytest.approx(0.4)]
    assert score(log).report["tables"]["longbench_v1"]["reasoning"]["policy"] == "keep"


def test_v2_letters_in_the_reasoning(score, tmp_path):
    """Officially the first letter counts, wherever it stands."""
    path = write_lines(
        tmp_path / "m.jsonl",
        {**v2_row("a"), "response": thinks(says("B"), says("A")), "pred": "A"},
        v2_row("b"),
    )
    kept, dropped = score(path), score(path, reasoning="drop")
    assert (kept.scores["overall"], dropped.scores["overall"]) == (50.0, 100.0)
    table = kept.report["tables"]["longbench_v2"]
    assert table["reasoning"]["other"]["official"]["overall"] == 100.0
    assert kept.problems == {"missing": kept.problems["missing"]}  # the stored letter agrees
    assert len(dropped.problems["differing_pred"]) == 1


def test_pro(score, tmp_path):
    rows = [pro_row("q1", thinks("[Answer]\nEmma", "[Answer]\nBob")), pro_row("q2", thinks("Emma"))]
    path = write_lines(tmp_path / "m_inference_1.jsonl", *rows)
    kept, dropped = score(path), score(path, reasoning="drop")
    assert kept.scores["average_overall_metric"] == 0.5
    assert dropped.scores["average_overall_metric"] == 1.0
    other = kept.report["tables"]["longbench_pro"]["reasoning"]["other"]["official"]
    assert other == dropped.scores


def test_files_and_logs_of_one_table_with_two_policies_are_not_mixed(score, tmp_path):
    log = log_row("longbench_v2", {**v2_question("a"), "index": 0}, thinks(says("B")))
    write_lines(tmp_path / "in" / f"samples_longbench_v2_{STAMP}.jsonl", log)
    write_lines(tmp_path / "in" / "m.jsonl", {**v2_row("b"), "response": thinks(says("B"))})
    with pytest.raises(PredictionError, match="Say with reasoning, drop or keep"):
        score(tmp_path / "in")
    assert score(tmp_path / "in", reasoning="drop").scores["overall"] == 100.0
    # Without reasoning in one of them there is nothing to mix.
    write_lines(tmp_path / "in" / "m.jsonl", v2_row("b"))
    assert score(tmp_path / "in").report["tables"]["longbench_v2"]["reasoning"]["policy"] == "drop"
