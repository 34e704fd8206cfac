"""What is counted of a table's answers and of each task's."""

from figures_of import answers_of
from scored_runs import pro_row, v1_rows, v2_row

from lm_eval_longbench.statistics.figure import counts, task_counts

QASPER, TREC = "longbench_v1_qasper", "longbench_v1_trec"


def lines(*given, **more):
    """Answers to one question each; of (score, more)."""
    rows = v1_rows({"qasper": [score for score, _ in given]})
    return [{**row, **own, **more} for row, (_, own) in zip(rows, given, strict=True)]


def test_a_task_is_counted():
    rows = lines((1.0, {"truncated": True}), (0.0, {"failed": True}), (None, {"truncated": None}))
    rows.append({**rows[0], "repeat": 2, "score": 0.0, "truncated": False})
    answers = answers_of("longbench_v1", rows)
    found = task_counts(answers, QASPER, malformed=3, duplicate=4, copies=None)
    assert found == {
        "questions": 3,
        "samples": 4,
        "score": None,  # one is unscored
        "failed": 1,
        "unscored": 1,
        "reasoned": 0,
        "truncated": 1,
        "capped": None,
        "malformed": 3,
        "duplicate": 4,
        "copies": None,
        "official_questions": 200,
        "missing": 197,
    }
    whole = counts(answers, 5, 6)
    assert whole == {
        "questions": 3,
        "samples": 4,
        "scored": 3,
        "unscored": 1,
        "failed": 1,
        "reasoned": 0,
        "truncated": 1,
        "capped": None,
        "inconsistent": 2,
        "malformed": 5,
        "duplicate": 6,
        "official_questions": 4750,
        "missing": 4747,
    }


def test_a_score_is_the_mean_over_questions_of_the_mean_over_repeats():
    rows = lines((1.0, {}), (0.0, {}))
    rows.append({**rows[0], "repeat": 2, "score": 0.0})
    assert task_counts(answers_of("longbench_v1", rows), QASPER)["score"] == 0.25


def test_a_task_without_questions():
    found = task_counts(answers_of("longbench_v1", [], 1, expected=[TREC]), TREC)
    assert (found["questions"], found["score"], found["truncated"]) == (0, None, None)
    assert found["missing"] == 200


def test_what_is_not_known_is_null():
    answers = answers_of("longbench_v1", lines((1.0, {"truncated": None})), official=False)
    assert counts(answers)["truncated"] is counts(answers)["missing"] is None
    found = task_counts(answers, QASPER)
    assert found["truncated"] is found["missing"] is None


def test_more_questions_than_official_ones_lack_none():
    answers = answers_of("longbench_v1", v1_rows({"qasper": [1.0] * 201}))
    assert task_counts(answers, QASPER)["missing"] == 0
    assert counts(answers)["missing"] == 4550


def test_a_benchmarks_own_flags_and_figures_are_counted():
    rows = [v2_row("a", 0.0, unparsed=True), v2_row("b", 1.0)]
    assert counts(answers_of("longbench_v2", rows))["unparsed"] == 1
    assert "unparsed" not in counts(answers_of("longbench_pro", [pro_row("a", 1.0)]))
    rows = [{**row, "rougeL_google": 0.25} for row in lines((1.0, {}), (0.0, {}))]
    found = task_counts(answers_of("longbench_v1", rows), QASPER)
    assert found["rougeL_google"] == 0.25
    assert "rougeL_google" not in task_counts(answers_of("longbench_v1", lines((1, {}))), QASPER)
