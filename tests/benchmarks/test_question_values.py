"""Every figure of one question, as the harness has them."""

import pytest
from prediction_rows import pro_question, v1_doc, v2_question
from v1_tasks import BY_FILE, E_TASKS

from lm_eval_longbench.benchmarks.pro import PRO
from lm_eval_longbench.benchmarks.questions import question_values
from lm_eval_longbench.benchmarks.v1 import V1, E
from lm_eval_longbench.benchmarks.v2 import V2
from lm_eval_longbench.metrics.reasoning import DROP, KEEP

BUCKET_KEYS = ("score_0_4k", "score_4_8k", "score_8k_plus")


def asked(doc, truncated=False):
    return {**doc, "index": 0, "prompt": {"sha256": "0" * 64, "truncated": truncated}}


# ---------------------------------------------------------------------- LongBench v1 and E


def v1(
    stem, *responses, answers=("Emma",), classes=None, length=3999, truncated=False, policy=DROP
):
    task = BY_FILE[stem]
    doc = asked(v1_doc(task.name, 0, *answers, length=length, classes=classes), truncated)
    return question_values(E if task in E_TASKS else V1, task, doc, responses, policy)


@pytest.mark.parametrize(
    ("length", "own"),
    [(0, 0), (3999, 0), (4000, 1), (7999, 1), (8000, 2), (99999, 2)],
)
def test_a_sample_is_in_one_bucket(length, own):
    found = v1("qasper_e", "Emma Smith", length=length)
    values = [found[key] for key in BUCKET_KEYS]
    assert values[own] == found["score"] == pytest.approx(2 / 3)
    assert [value is None for value in values].count(True) == 2


def test_repeats_are_averaged():
    found = v1("qasper", "Emma", "Bob", "", "<think>Emma</think>x")
    shares = {"failed": 0.25, "truncated": 0.0, "reasoned": 0.25, "capped": None}
    assert found == {"score": 0.25, **shares}
    found = v1("qasper", "Emma", "<think> Bob </think>", answers=["Emma", "Bob"], policy=KEEP)
    assert (found["score"], found["reasoned"]) == (0.75, 0.5)


# ---------------------------------------------------------------------- LongBench v2


def v2(*responses, mode="longbench_v2", truncated=False):
    doc = asked(v2_question("q", "A", difficulty="hard", length="medium"), truncated)
    return question_values(V2, V2.tasks[mode], doc, responses, DROP)


def test_a_question_has_every_figure_whether_it_is_about_it_or_not():
    assert v2("The correct answer is (A)", truncated=True) == {
        "acc": 1.0,
        "acc_easy": None,
        "acc_hard": 1.0,
        "acc_short": None,
        "acc_medium": 1.0,
        "acc_long": None,
        "acc_compensated": 1.0,
        "unparsed": 0.0,
        "failed": 0.0,
        "truncated": 1.0,
        "reasoned": 0.0,
        "capped": None,
    }
    unparsed = v2("A")
    assert (unparsed["acc"], unparsed["acc_compensated"], unparsed["unparsed"]) == (0.0, 0.25, 1.0)
    assert v2("")["failed"] == 1.0
    both = v2("The correct answer is (A)", "")
    assert (both["acc"], both["failed"], both["unparsed"]) == (0.5, 0.5, 0.5)


# ---------------------------------------------------------------------- LongBench Pro


def pro(code, answers, golds, similarities=None, *, official=False, truncated=False):
    """Figures of answers; with their semantic similarities, of the official model or another."""

    def complete(doc, scored):
        for one, own in zip(scored, similarities or (), strict=True):
            one.score, one.failed, one.shown = PRO.with_similarity(
                one.shown, own, official=official
            )

    task = PRO.tasks[f"longbench_pro_{code}"]
    doc = asked(pro_question("q", code, golds), truncated)
    done = None if similarities is None else complete
    return question_values(PRO, task, doc, answers, DROP, complete=done)


def test_items_are_averaged_and_the_best_counts():
    # F1 of {x} against {x, y}: 2 * 1 * 0.5 / 1.5 = 2/3
    assert pro("t5_1", ["[Answer]\nx\ny", "[Answer]\nx", ""], ["x", "y"]) == {
        "score": pytest.approx((1 + 2 / 3 + 0) / 3, abs=1e-12),
        "best_of_n": 1.0,
        "pass_at_n": 1.0,
        "failed": pytest.approx(1 / 3, abs=1e-12),
        "truncated": 0.0,
        "reasoned": 0.0,
        "capped": None,
    }


def test_a_summary_without_similarity_has_no_score_but_its_rouge():
    found = pro("t4_1", ["a b", "c"], ["a b"])
    assert list(found) == [
        "score",
        "best_of_n",
        "pass_at_n",
        "rouge_l",
        "semantic_similarity",
        "failed",
        "truncated",
        "reasoned",
        "capped",
    ]
    assert found["score"] is found["best_of_n"] is found["pass_at_n"] is None
    assert found["semantic_similarity"] is None
    assert found["rouge_l"] == pytest.approx(0.5, abs=1e-6)
