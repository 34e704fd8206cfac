"""LongBench Pro: facts, rows of the data, official files, what an answer is worth, and figures."""

import json
import math
import random
import re
from pathlib import Path

import numpy as np
import pytest
from figures_of import answers_of, of_question, official_of
from hypothesis import given
from hypothesis import strategies as st
from longbench_pro_facts import (
    BY_CODE,
    DIMENSIONS,
    PRIMARY_TASKS,
)
from oracles import pro_summary as oracle
from oracles.texts import EXACT, examples
from prediction_rows import pro_question, pro_row
from pro_rows import ROW, official_rows
from scored_runs import pro_row as line_of_pro

from lm_eval_longbench.benchmarks.pro import PRO
from lm_eval_longbench.options import MOST_REPEATS
from lm_eval_longbench.records.sample import Unusable
from lm_eval_longbench.statistics.means import best_scores

GOLDEN = Path(__file__).resolve().parents[3] / "shared" / "golden" / "longbench_pro"


# ---------------------------------------------------------------------- facts


def test_the_pin_is_the_one_of_the_specification():
    assert PRO.source.label == "caskcsg/LongBench-Pro@4996884"
    assert PRO.source.revision == "4996884deae51f5e5d23c88da9d857fc54e5fa15"
    assert PRO.source.sha256.startswith("92ff05f6088e212d") and len(PRO.source.sha256) == 64


def test_two_forms_of_asking():
    assert {name: table.published for name, table in PRO.tables.items()} == {
        "longbench_pro": ("nonthinking", "thinking"),
        "longbench_pro_thinking": ("thinking",),
    }
    for name, (field, budget) in {
        "longbench_pro": ("question_nonthinking", 1024),
        "longbench_pro_thinking": ("question_thinking", 8192),
    }.items():
        tasks = PRO.tables[name].tasks
        assert list(tasks) == [f"{name}_{code}" for code in BY_CODE]
        assert {(task.budget, task.questions) for task in tasks.values()} == {(budget, 60)}
        assert all(f"~ {field})" in task.prompt for task in tasks.values())
        assert [task.dataset for task in tasks.values() if task.summary] == ["t4_1", "t4_2"]
        assert [task.dataset for task in tasks.values() if task.segmented] == ["t4_1", "t4_2"]
    assert len(PRO.tasks) == 50


def test_asked_three_times_at_temperature_1():
    task = PRO.tasks["longbench_pro_thinking_t1_1"]
    assert PRO.generation(task) == {"until": [], "max_gen_toks": 8192, "temperature": 1.0}
    protocol = PRO.protocol(task)
    assert (protocol.chat, protocol.temperature, protocol.repeats) == ("on", None, 3)
    assert 1024 in protocol.budgets and 120_000 in protocol.limits
    assert PRO.protocol(task, thinking=True).budgets != protocol.budgets
    assert (PRO.repeats, PRO.one_message, PRO.exact_means) == (3, True, True)


def test_the_harness_metrics():
    names = ["score", "best_of_n", "pass_at_n"]
    parts = ["rouge_l", "semantic_similarity"]
    for task in PRO.tasks.values():
        metrics = PRO.harness_metrics(task)
        own = [*names, *(parts if task.summary else [])]
        assert [metric.name for metric in metrics] == [
            *own,
            "failed",
            "truncated",
            "reasoned",
            "capped",
        ]
        assert {m.aggregation for m in metrics[: len(own)]} == {"mean_if_all_known"}


def test_published_columns():
    place = PRO.published.place_of
    assert place("overall") == ("overall", "overall")
    assert place("best_of_3") == ("best of N", "best of 3")
    assert place("pass_at_2") == ("pass@N", "pass@2")
    assert place("primary_task:T10") == ("primary_task", PRIMARY_TASKS[9])
    assert place("primary_task:T1") == ("primary_task", PRIMARY_TASKS[0])
    assert place("language:English") == ("language", "English")
    assert place("model") is None


# ---------------------------------------------------------------------- rows of the data


def test_rows_of_the_data_have_no_problem():
    assert tuple(ROW) == PRO.fields
    assert {PRO.row_problem(row) for row in official_rows()} == {None}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"id": 5}, "'id' that is not a text"),
        ({"context": None}, "'context' that is not a text"),
        ({"context": "\ud800"}, "'context' that is not a text"),
        ({"question_thinking": ["x"]}, "'question_thinking' that is not a text"),
        ({"secondary_task": ["T1.1"]}, "'secondary_task' that is not a text"),
        ({"answer": "Emma"}, "'answer' that is not a list of texts"),
        ({"answer": ["Emma", 5]}, "'answer' that is not a list of texts"),
        ({"answer": []}, "has no answer"),
        ({"answer": ["", " \n"]}, "has no answer"),
        ({"secondary_task": "T1.3 Other"}, r"unknown secondary_task 'T1\.3 Other'"),
        ({"primary_task": "T2"}, "unknown primary_task 'T2'"),
        ({"primary_task": "T3. Evidence-Grounded QA"}, "which 'T1.1 .*' is not part of"),
        ({"language": "German"}, "unknown language 'German', not one of Chinese, English"),
        ({"token_length": "8K"}, "unknown token_length '8K'"),
        ({"contextual_requirement": "None"}, "unknown contextual_requirement"),
        ({"difficulty": "easy"}, "unknown difficulty 'easy'"),
    ],
)
def test_rows_that_are_not_official(change, message):
    assert re.search(message, PRO.row_problem({**ROW, **change}))


# ---------------------------------------------------------------------- official files


def read(row):
    return PRO.read_official(row, 0, PRO.tables["longbench_pro_thinking"], "")


def test_a_good_row():
    (found,) = read(pro_row("q1", "an answer", bon_idx=3, code="t10_1", context="long"))
    assert (found.table, found.task) == ("longbench_pro_thinking", "longbench_pro_thinking_t10_1")
    assert (found.id, found.repeat, found.order) == ("q1", 3, 0)
    assert (found.response, found.golds) == ("an answer", ["Emma"])
    question = pro_question("q1", code="t10_1")
    expected = {name: question[name] for name in (*DIMENSIONS, "secondary_task")}
    assert found.shown == expected


def test_a_failed_call_is_an_empty_answer():
    (found,) = read(pro_row("q1", None))
    assert found.response == ""


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"id": None}, "no field '_id' or 'id' with a text"),
        ({"id": True}, "no field '_id' or 'id' with a text"),
        ({"secondary_task": "T99"}, "'secondary_task' is missing or is none of LongBench Pro's"),
        ({"secondary_task": ["x"]}, "'secondary_task' is missing or is none of LongBench Pro's"),
        ({"language": "english"}, "'language' is missing or not one of Chinese, English"),
        (
            {"difficulty": None},
            "'difficulty' is missing or not one of Easy, Moderate, Hard, Extreme",
        ),
        ({"answer": []}, "'answer' is not a list of one or more texts"),
        ({"answer": "Emma"}, "'answer' is not a list of one or more texts"),
        ({"answer": [1]}, "'answer' is not a list of one or more texts"),
        ({"prediction": 5}, "'prediction' is neither a text nor null"),
        ({"prediction": ["x"]}, "'prediction' is neither a text nor null"),
    ],
)
def test_what_cannot_be_scored(change, reason):
    assert read({**pro_row("q1"), **change}) == Unusable(reason)


@pytest.mark.parametrize("value", [0, -1, True, "1", 1.0, None, MOST_REPEATS + 1, 10**30])
def test_runs_that_there_are_not(value):
    reason = f"'bon_idx' is not a whole number from 1 to {MOST_REPEATS}"
    assert read(pro_row("q1", bon_idx=value)) == Unusable(reason)


@pytest.mark.parametrize("name", ["prediction", "bon_idx", "answer", "token_length", "id"])
def test_a_missing_field(name):
    row = pro_row("q1")
    del row[name]
    assert name in read(row).reason


def test_a_primary_task_of_other_secondary_tasks():
    row = pro_row("q1", primary_task="T1. Retrieval & Ranking")
    assert read(row).reason == (
        "'T3.2 Single-Hop Fact QA' is no part of the primary task 'T1. Retrieval & Ranking'"
    )


def test_a_summary_needs_a_reference():
    reason = "'answer' holds no reference to compare a summary with"
    assert read(pro_row("q1", code="t4_1", answer=["", " \n"])) == Unusable(reason)
    assert not isinstance(read(pro_row("q1", code="t4_1", answer=["", "x"])), Unusable)
    assert not isinstance(read(pro_row("q1", answer=[""])), Unusable)


def test_whose_files_are_whose():
    assert PRO.is_official_row(pro_row("q"), "any")
    assert PRO.is_official_row({"secondary_task": "T", "bon_idx": 1}, "any")
    assert not PRO.is_official_row({"secondary_task": "T"}, "any")
    assert not PRO.is_official_row({"prediction": "x", "bon_idx": 1}, "any")
    name = "m_nonthinking_inference_1-of-2"
    assert PRO.is_official_name(name) and not PRO.is_official_name("longbench_pro")
    assert PRO.run_in_name(name) == "m_nonthinking" and PRO.run_in_name("other") is None
    assert PRO.is_scored_elsewhere({"metric": 1}, "m_evaluation")
    assert not PRO.is_scored_elsewhere({"metric": 1}, name)


# ---------------------------------------------------------------------- what an answer is worth


def scored(row):
    (sample,) = read(row)
    return PRO.score(sample)


@pytest.mark.parametrize(
    ("row", "worth", "failed"),
    [
        (pro_row("q", "[Answer]\nEmma"), 1.0, False),
        (pro_row("q", "<think>[Answer]\nBob</think>[Answer]\nEmma"), 1.0, False),
        (pro_row("q", "Bob"), 0.0, False),
        (pro_row("q", None), 0.0, True),
        (pro_row("q", "a\nb", code="t6_1", answer=["a", "c"]), 0.5, False),
        # Repeated gold items push the pairs above their number: 0, and failed.
        (pro_row("q", "a\nb", code="t2_1", answer=["a", "a", "a", "b"]), 0.0, True),
    ],
)
def test_items(row, worth, failed):
    found = scored(row)
    assert (found.score, found.failed, found.summary) == (worth, failed, None)
    assert "rouge_l" not in found.shown


def test_a_summary_waits_for_its_similarity():
    found = scored(
        pro_row("q", "<think>x</think>The Cat sat.", code="t4_2", answer=["the cat sat."])
    )
    assert (found.score, found.failed, found.summary) == (None, False, "The Cat sat.")
    assert found.shown["rouge_l"] == pytest.approx(1.0, abs=1e-8)
    assert found.shown["semantic_similarity"] is None


def test_an_empty_summary_has_its_score():
    found = scored(pro_row("q", "<think>x", code="t4_1"))
    assert (found.score, found.failed, found.summary) == (0.0, True, "")
    assert (found.shown["rouge_l"], found.shown["semantic_similarity"]) == (0.0, None)


def test_a_similarity_makes_the_score_of_a_summary_if_its_model_is_official():
    shown = scored(pro_row("q", "a b", code="t4_1", answer=["a b"])).shown
    worth, failed, found = PRO.with_similarity(shown, 0.8, official=True)
    assert worth == pytest.approx(0.9, abs=1e-6)  # (0.8 + 1) / 2
    assert (failed, found["semantic_similarity"]) == (False, 0.8)
    worth, failed, found = PRO.with_similarity(shown, 0.8, official=False)
    assert (worth, failed, found["semantic_similarity"]) == (None, False, 0.8)
    shown = scored(pro_row("q", "", code="t4_1")).shown
    for official in (True, False):
        worth, failed, found = PRO.with_similarity(shown, None, official=official)
        assert (worth, failed, found["semantic_similarity"]) == (0.0, True, 0.0)


# ---------------------------------------------------------------------- figures of a question


# ---------------------------------------------------------------------- figures of a table


T3, T4 = PRIMARY_TASKS[2], PRIMARY_TASKS[3]
# A secondary task of each primary one.
CODES = {task.primary: code for code, task in BY_CODE.items()}
DEFAULTS = {
    "token_length": "8k",
    "contextual_requirement": "Full",
    "difficulty": "Easy",
    "primary_task": T3,
    "language": "English",
}


def question(name, scores, **values):
    """Rows of one question in the official words; a score of "-" leaves the run out."""
    return [
        {"id": name, "bon_idx": run, **DEFAULTS, **values, "metric": score}
        for run, score in enumerate(scores, start=1)
        if score != "-"
    ]


def summarize(rows, iterations=None):
    """The summary of rows in the official words."""
    lines = [
        {
            "task": f"longbench_pro_{CODES[row['primary_task']]}",
            "id": row["id"],
            "repeat": row["bon_idx"],
            "score": row["metric"],
            "failed": bool(row.get("failed", False)),
            "secondary_task": BY_CODE[CODES[row["primary_task"]]].name,
            **{name: row[name] for name in DIMENSIONS},
        }
        for row in rows
    ]
    return official_of("longbench_pro", lines, iterations)


def flat(figures, before=()):
    for name, value in figures.items():
        if isinstance(value, dict):
            yield from flat(value, (*before, name))
        else:
            yield (*before, name), value


def assert_equal(found, expected, tolerance=EXACT):
    """The same keys in the same order, the same figures."""
    found, expected = list(flat(found)), list(flat(expected))
    assert [name for name, _ in found] == [name for name, _ in expected]
    for (name, mine), (_, other) in zip(found, expected, strict=True):
        assert type(mine) is type(other), (name, mine, other)
        assert mine == other or abs(mine - other) <= tolerance, (name, mine, other)


ROWS = [
    *question("a", [0.0, 1.0, 0.5]),  # means 1/2
    *question("b", [0.25, 0.25, 1.0], token_length="16k", language="Chinese"),  # 1/2
    *question("c", [0.6, 0.66, 0.9], primary_task=T4, difficulty="Hard"),  # 2.16/3 = 0.72
    *question("d", [0.65, 0.05, 0.2], primary_task=T4, contextual_requirement="Partial"),  # 0.3
]


def test_hand_worked():
    summary = summarize(ROWS)
    expected = {
        "total_questions_num": 4,
        "inference_iterations": 3,
        "total_samples_num": 12,
        "fail_samples_num": 0,
        "inference_inconsistent_samples_num": 0,
        "average_overall_metric": 0.505,  # (0.5 + 0.5 + 0.72 + 0.3) / 4
        "inference_iteration_1_overall_metric": 0.375,  # (0 + 0.25 + 0.6 + 0.65) / 4
        "inference_iteration_2_overall_metric": 0.49,  # (1 + 0.25 + 0.66 + 0.05) / 4
        "inference_iteration_3_overall_metric": 0.65,  # (0.5 + 1 + 0.9 + 0.2) / 4
        "pass@1": 0.0,  # d has 0.65
        "pass@2": 0.5,  # a; c with 0.66
        "pass@3": 0.75,  # b too
    }
    assert {name: summary[name] for name in expected} == pytest.approx(expected, abs=EXACT)
    # 8k: a c d = (0.5 + 0.72 + 0.3) / 3
    lengths = {"8k": 1.52 / 3, "16k": 0.5, "32k": None, "64k": None, "128k": None, "256k": None}
    assert_equal(summary["average_token_length_metric"], lengths)
    assert_equal(summary["average_language_metric"], {"Chinese": 0.5, "English": 1.52 / 3})
    # full: a b c = 1.72 / 3
    assert_equal(
        summary["average_contextual_requirement_metric"], {"Full": 1.72 / 3, "Partial": 0.3}
    )
    assert summary["average_primary_task_metric"][T4] == pytest.approx(0.51, abs=EXACT)
    # best of 2: 1, 0.25, 0.66, 0.65
    best = summary["BoN-2"]
    assert best["overall_metric"] == pytest.approx(0.64, abs=EXACT)
    assert_equal(best["language"], {"Chinese": 0.25, "English": 2.31 / 3})
    # a b d = 1.9
    difficulties = {"Easy": 1.9 / 3, "Moderate": None, "Hard": 0.66, "Extreme": None}
    assert_equal(best["difficulty"], difficulties)
    assert "unscored_samples_num" not in summary


def test_no_rows():
    summary = summarize([], 1)
    assert summary["total_questions_num"] == summary["total_samples_num"] == 0
    assert summary["average_overall_metric"] is None
    assert set(summary["average_language_metric"].values()) == {None}


@st.composite
def row_lists(draw, metrics):
    runs = draw(st.integers(1, 4))
    rows = []
    for number in range(draw(st.integers(1, 8))):
        values = {name: draw(st.sampled_from(values)) for name, values in DIMENSIONS.items()}
        if draw(st.booleans()):
            values["primary_task"] = T4
        scores = draw(st.lists(st.one_of(metrics, st.just("-")), min_size=runs, max_size=runs))
        rows += question(f"q{number}", scores, **values)
    for row in rows:
        if draw(st.booleans()):
            row["failed"] = draw(st.booleans())
    return draw(st.permutations(rows)), runs


scores = st.one_of(st.sampled_from([0.0, 0.65, 0.6500000001, 1.0]), st.floats(0, 1))


@examples(80)
@given(row_lists(st.one_of(scores, st.none())))
def test_equals_oracle_with_unscored_samples(case):
    rows, runs = case
    assert_equal(summarize(rows, runs), oracle.summary(rows, runs, DIMENSIONS))


@examples(60)
@given(row_lists(scores), st.randoms(use_true_random=False))
def test_same_bytes_in_any_order(case, rng):
    rows, runs = case
    before = json.dumps(summarize(rows, runs))
    rows = rng.sample(rows, len(rows))
    assert json.dumps(summarize(iter(rows), runs)) == before


@pytest.mark.skipif(not GOLDEN.is_dir(), reason="no shared/golden folder beside this repository")
@pytest.mark.parametrize("seed", [None, 1, 2])
def test_equals_the_official_summary(seed):
    lines = (GOLDEN / "summary_rows.jsonl").read_text(encoding="utf-8").split("\n")
    rows = [json.loads(line) for line in lines if line]
    assert len(rows) == 1200
    if seed is not None:
        random.Random(seed).shuffle(rows)
    expected = json.loads((GOLDEN / "summary.json").read_text(encoding="utf-8"))
    summary = summarize(rows)
    # The golden file lacks this key of official runs.
    assert summary.pop("fail_samples_num") == 0
    assert_equal(summary, expected, tolerance=1e-9)
    assert not any(isinstance(value, float) and math.isnan(value) for _, value in flat(summary))


def test_secondary_tasks_are_shown_and_in_no_summary():
    lines = [line_of_pro("a", 1.0), line_of_pro("b", 0.5), line_of_pro("c", 0.0, code="t3_2")]
    figures = {figure.place: figure for figure in PRO.figures(answers_of("longbench_pro", lines))}
    own = figures["secondary_task", BY_CODE["t3_1"].name]
    assert (own.tree.value, own.path, own.detail) == (0.75, (), True)
    assert figures["secondary_task", BY_CODE["t4_1"].name].tree.value is None
    assert figures["iteration", "iteration 1"].tree.value == 0.5


def test_a_task_has_score_best_and_pass():
    lines = [
        line_of_pro("a", score, repeat=repeat) for repeat, score in enumerate([0.2, 1.0, 0.3], 1)
    ]
    figures = of_question(answers_of("longbench_pro", lines))
    found = {figure.metric: figure.tree.value for figure in figures}
    assert found == {"score": 0.5, "best_of_n": 1.0, "pass_at_n": 1.0}
    summary = {"primary_task": T4, "rouge_l": 0.5, "semantic_similarity": 0.8}
    lines = [line_of_pro("s", None, **summary), line_of_pro("s", None, repeat=2, **summary)]
    figures = of_question(answers_of("longbench_pro", lines))
    found = {figure.metric: figure.tree.value for figure in figures}
    assert found == {
        "score": None,
        "best_of_n": None,
        "pass_at_n": None,
        "rouge_l": 0.5,
        "semantic_similarity": 0.8,
    }


def test_the_best_of_scores_below_0_is_one_of_them():
    """Similarities can be below 0; an answer that does not count is no better."""
    scores = np.array([[-0.5, -0.25, 0.9], [-0.5, np.nan, 0.9]])
    counted = np.array([[True, True, False], [True, False, False]])
    assert best_scores(scores, counted).tolist() == [-0.25, -0.5]
