"""Every figure of one question, as the harness has them."""

import pytest
from prediction_rows import pro_question, v1_doc, v2_question
from v1_tasks import BY_FILE, E_TASKS, TASKS

from lm_eval_longbench.benchmarks.longbench_pro import PRO
from lm_eval_longbench.benchmarks.longbench_v1 import V1, E
from lm_eval_longbench.benchmarks.longbench_v2 import V2
from lm_eval_longbench.benchmarks.questions import question_values
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


@pytest.mark.parametrize("task", TASKS, ids=lambda task: task.dataset)
def test_figures_and_their_order(task):
    benchmark = E if task in E_TASKS else V1
    expected = [metric.name for metric in benchmark.harness_metrics(task)]
    for response in ("", "Paragraph 3", "<think>"):
        found = v1(task.dataset, response, answers=["Paragraph 3"], classes=["a"], length=5000)
        assert list(found) == expected
        known = [value for value in found.values() if value is not None]
        assert all(type(value) is float and 0 <= value <= 1 for value in known)
        assert len(expected) - len(known) == (3 if benchmark is E else 1)  # capped


@pytest.mark.parametrize(
    ("length", "own"),
    [(0, 0), (3999, 0), (4000, 1), (7999, 1), (8000, 2), (99999, 2)],
)
def test_a_sample_is_in_one_bucket(length, own):
    found = v1("qasper_e", "Emma Smith", length=length)
    values = [found[key] for key in BUCKET_KEYS]
    assert values[own] == found["score"] == pytest.approx(2 / 3)
    assert [value is None for value in values].count(True) == 2


def test_a_score_of_zero_is_in_its_bucket_too():
    found = v1("qasper_e", "nobody", length=4000)
    assert [found[key] for key in BUCKET_KEYS] == [None, 0.0, None]


def test_the_best_gold_answer_counts():
    assert v1("qasper", "The Emma!", answers=["Bob", "Emma"])["score"] == 1.0


def test_classes_are_used():
    found = v1("trec", "Human and Animal", answers=["Human"], classes=["Human", "Animal", "O"])
    assert found["score"] == 0.5


def test_googles_rouge_is_another_figure():
    text, answer = "The cat sat. A dog ran.", "A dog ran. The cat sat."
    found = v1("gov_report", text, answers=[answer, "none"])
    # One longest common subsequence of three words out of six, not the union over sentences.
    assert found["rougeL_google"] == pytest.approx(0.5)
    assert found["score"] > 0.99


def test_googles_rouge_reads_the_first_line_of_samsum_only():
    found = v1("samsum", "\nAmy sings.\nAnd more and more.", answers=["Amy sings."])
    assert found["rougeL_google"] == 1.0
    assert found["score"] == pytest.approx(1.0)


def test_googles_rouge_reads_no_reasoning():
    found = v1("qmsum", "<think>Amy sings.</think>\nBob.", answers=["Amy sings."])
    assert found["rougeL_google"] == 0.0
    found = v1("qmsum", "<think>Bob</think>\nAmy sings.", answers=["Amy sings."])
    assert found["rougeL_google"] == 1.0


def test_reasoning_is_dropped_before_scoring():
    found = v1("qasper", "<think>Bob? No.</think>\n\nEmma")
    assert (found["score"], found["failed"]) == (1.0, 0.0)
    assert v1("qasper", "Bob? No.</think>Emma")["score"] == 1.0
    # The first line of a few-shot answer is found behind the reasoning.
    assert v1("triviaqa", "<think>\nBob\n</think>\nEmma\nBob")["score"] == 1.0


@pytest.mark.parametrize(
    ("response", "failed"),
    [
        ("", 1.0),
        (" \n\t", 1.0),
        ("<think>Emma", 1.0),
        ("\n <think>\nEmma\n", 1.0),
        ("<think>Emma</think>", 1.0),
        ("<think>Emma</think>\n ", 1.0),
        ("Emma", 0.0),
        ("0", 0.0),
        (".", 0.0),
        ("Emma <think>Bob", 0.0),
        ("<think>x</think>.", 0.0),
    ],
)
def test_failed_is_an_answer_without_anything_in_it(response, failed):
    found = v1("qasper", response)
    assert found["failed"] == failed
    if failed:
        assert found["score"] == 0.0


def test_a_wrong_answer_is_not_failed():
    expected = {"score": 0.0, "failed": 0.0, "truncated": 0.0, "reasoned": 0.0}
    expected["capped"] = None
    assert v1("qasper", "Bob") == expected


def test_truncated_is_told():
    assert v1("qasper", "Emma", truncated=True)["truncated"] == 1.0
    assert v1("qasper", "Emma", truncated=False)["truncated"] == 0.0


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


def test_a_domain_is_asked_as_the_whole_is():
    whole = v2("The correct answer is (A)")
    assert v2("The correct answer is (A)", mode="longbench_v2_single_document_qa") == whole


def test_one_call():
    assert v2("The correct answer is B", mode="longbench_v2_cot") == {
        "acc_one_call": 0.0,
        "unparsed": 0.0,
        "failed": 0.0,
        "truncated": 0.0,
        "reasoned": 0.0,
        "capped": None,
    }


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


def test_no_repeat_passes():
    found = pro("t5_1", ["[Answer]\nx"], ["x", "y"], truncated=True)
    assert found["pass_at_n"] == 0.0
    assert found["truncated"] == 1.0


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


def test_an_official_similarity_makes_the_score():
    found = pro("t4_1", ["a b", "c"], ["a b"], [0.8, 0.2], official=True)
    # (0.5 * 0.8 + 0.5 * 1 + 0.5 * 0.2 + 0.5 * 0) / 2
    assert found["score"] == pytest.approx(0.5, abs=1e-6)
    assert found["best_of_n"] == pytest.approx(0.9, abs=1e-6)
    assert found["pass_at_n"] == 1.0
    assert found["semantic_similarity"] == pytest.approx(0.5, abs=1e-12)


def test_another_models_similarity_is_shown_and_makes_no_score():
    found = pro("t4_1", ["a b"], ["a b"], [0.8], official=False)
    assert found["semantic_similarity"] == 0.8
    assert found["score"] is None


def test_an_empty_summary_is_zero_and_failed():
    found = pro("t4_1", ["", "a b"], ["a b"], [None, 1.0], official=True)
    assert found["failed"] == 0.5
    assert found["score"] == pytest.approx(0.5, abs=1e-6)
    assert found["semantic_similarity"] == 0.5
