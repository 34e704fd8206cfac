"""Files of runs that were lost, mixed or changed: what is recomputed tells."""

import pytest
from real_runs import AnsweringLM, Files, write_run

from lm_eval_longbench.check.verification import DIFFERENT, NOT_CHECKABLE
from lm_eval_longbench.check.verify import verify
from lm_eval_longbench.errors import PredictionError
from lm_eval_longbench.scoring.score import score_paths

QASPER, TREC, V2 = "longbench_v1_qasper", "longbench_v1_e_trec", "longbench_v2"
CHINESE = "longbench_v1_multifieldqa_zh"
PRO, GROUP = "longbench_pro_t3_1", "own_single_doc_qa"


def different(files, *arguments):
    """What differs, by kind and place."""
    report = verify([files.folder], *arguments)
    assert report.exit_status == 1
    return {(check.kind, check.place): check for check in report.with_status(DIFFERENT)}


def open_(files):
    """What could not be checked of a run in which nothing differs."""
    report = verify([files.folder])
    assert report.with_status(DIFFERENT) == []
    assert report.exit_status == 3
    return {(check.kind, check.place): check.meaning for check in report.with_status(NOT_CHECKABLE)}


@pytest.mark.parametrize(
    ("task", "figure"),
    [
        (QASPER, "score,none"),
        (QASPER, "score_stderr,none"),
        (TREC, "score_0_4k,none"),
        (V2, "acc_compensated,none"),
        (PRO, "pass_at_n,none"),
    ],
)
def test_a_changed_figure(base, task, figure):
    base.edit_results(lambda whole: whole["results"][task].update({figure: 0.987}))
    found = different(base)
    check = found.pop(("figures", task))
    assert (check.name, check.found) == (figure, 0.987)
    assert "do not follow from the answers" in check.meaning
    assert found == {}


def test_a_figure_that_no_answer_gives(base):
    base.edit_results(lambda whole: whole["results"][V2].update({"acc_bogus,none": 0.99}))
    report = verify([base.folder])
    assert report.exit_status == 0
    (check,) = report.with_status(NOT_CHECKABLE)
    assert (check.name, check.meaning) == (
        "acc_bogus,none",
        "The answers in the log do not give it.",
    )


def test_a_changed_headline(base):
    """That of the group; and that of its tasks with it, which fits them but not the answers."""
    base.edit_results(lambda whole: whole["results"][GROUP].update({"score,none": 0.9}))
    (check,) = different(base).values()
    assert (check.place, check.name) == (GROUP, "score,none")
    assert "no mean of its tasks' figures" in check.meaning

    def edit(whole):
        for name in (GROUP, *whole["group_subtasks"][GROUP]):
            whole["results"][name]["score,none"] = 0.9

    base.edit_results(edit)
    assert len(different(base)) == 5


def score_of(rows):
    metric = next(name for name in rows[0]["metrics"] if name in ("score", "acc"))
    rows[1][metric] = 0.75


def answer_of(rows):
    rows[0]["filtered_resps"] = rows[0]["resps"][0] = rows[0]["doc"]["answers"][:1]


def repeat_of(rows):
    for part in ("resps", "filtered_resps"):
        own = rows[0][part]
        (own if len(own) > 1 else own[0]).pop()


def other_task(rows):
    rows[0]["doc"]["task"] = CHINESE


# Of each edit of a log: the task, the check that must tell, what it says, and what may differ too.
LOGS = {
    "score v1": (QASPER, score_of, "sample scores", "0.75, recomputed ", set()),
    "score v2": (V2, score_of, "sample scores", "line 2 (", set()),
    "score pro": (PRO, score_of, "sample scores", "0.75, recomputed ", set()),
    "answer": (QASPER, answer_of, "sample scores", "recomputed 1.0", {"figures", "groups"}),
    "gold": (
        QASPER,
        lambda rows: rows[0]["doc"].update(answers=["nobody wrote this"]),
        "questions",
        "has answers ['nobody wrote this']",
        {"sample scores", "figures", "groups"},
    ),
    "lost row": (
        QASPER,
        lambda rows: rows[1:],
        "log rows",
        "4",
        {"counts", "questions asked", "figures", "groups"},
    ),
    "row twice": (
        QASPER,
        lambda rows: [*rows, rows[0]],
        "duplicate rows",
        "line 5 (",
        {"log rows", "counts", "questions asked", "figures", "groups"},
    ),
    "another run": (QASPER, other_task, "foreign rows", f"is of {CHINESE}", {"questions"}),
    "lost repeat": (PRO, repeat_of, "repeats", "has 2 answers", {"sample scores", "figures"}),
    "prompt": (
        QASPER,
        lambda rows: rows[1]["doc"]["prompt"].update(sha256="0" * 64),
        "prompts",
        "1 of 4: line 2 (",
        set(),
    ),
}


@pytest.mark.parametrize("case", LOGS)
def test_a_changed_log(base, case):
    task, edit, kind, said, others = LOGS[case]
    base.edit_log(task, edit)
    found = different(base)
    check = found.get((kind, task))
    assert check is not None and said in str(check.found)
    assert {own for own, _ in found} <= {kind, *others}


@pytest.mark.parametrize(
    ("changes", "kinds"),
    [
        ({"signature": "lb-v1|v9"}, {"signature"}),
        ({"limit": 31500}, {"signature"}),
        ({"generation": {"temperature": 0.7}}, {"signature"}),
        ({"data_sha256": "0" * 64}, {"signature"}),  # here is other data
        ({"template_sha256": "0" * 64}, {"signature", "template"}),
        ({"metrics": "0.1"}, {"signature", "metrics version"}),
        ({"failed": 99}, {"signature", "counts"}),
        ({"asked": 200}, {"signature", "counts"}),
        ({"questions_sha256": "0" * 64}, {"signature", "questions asked"}),
        ({"task": "longbench_v9"}, {"signature", "task"}),
    ],
)
def test_another_ingredient(base, changes, kinds):
    base.edit_run(V2, **changes)
    assert {kind for kind, _ in different(base)} == kinds


def test_logs_that_are_gone(base):
    base.log(PRO).unlink()
    said = open_(base)
    assert "is not beside results_" in said["sample log", PRO]
    assert "there is no log" in said["official figures", PRO]


@pytest.mark.parametrize("text", ["", "{}\n", "no JSON\n"])
def test_a_damaged_log(base, text):
    base.log(PRO).write_text(text, encoding="utf-8")
    assert ("sample log", PRO) in different(base)


def test_an_older_jieba(base):
    """It may have segmented otherwise: the figure is neither wrong nor confirmed."""
    base.edit_run(CHINESE, packages={**base.run(CHINESE)["packages"], "jieba": "0.1"})
    base.edit_log(CHINESE, lambda rows: rows[0].update(score=1.0))
    report = verify([base.folder])
    own = {check.kind: check for check in report.checks if check.place == CHINESE}
    assert {own[kind].status for kind in ("sample scores", "official figures")} == {NOT_CHECKABLE}
    assert "instead of 0.1" in own["official figures"].meaning


@pytest.mark.parametrize(
    "how", ["median", "mean_of_known", "def best(values):\n    return max(values)\n"]
)
def test_an_aggregation_of_the_users_own(base, how):
    def edit(whole):
        whole["configs"][PRO]["metric_list"][0]["aggregation"] = how

    base.edit_results(edit)
    said = open_(base)["official figures", PRO]
    assert "It is put together by " in said and "officially by 'mean_if_all_known'" in said


def test_a_scored_folder_holds_nothing_to_confirm(base, tmp_path):
    score_paths([base.folder], tmp_path / "scored", workers=1)
    report = verify([tmp_path / "scored"])
    assert report.exit_status == 3
    (check,) = report.checks
    assert "verify the logs that it was made from" in check.meaning


def test_what_is_no_result(base, tmp_path):
    with pytest.raises(PredictionError, match="does not exist"):
        verify([tmp_path / "none"])
    bad = base.results.with_name("results_2026-01-01T00-00-00.000000.json")
    bad.write_text('{"results": {"x": 3}, "configs": {}}', encoding="utf-8")
    report = verify([base.folder])
    assert report.exit_status == 2  # the other file is verified all the same
    assert report.unreadable == [
        f"{bad} is no sound results file: 'results.x' is 3: input should be a valid dictionary."
    ]
    assert report.answers > 0


def test_tasks_of_others(tmp_path):
    files = Files(write_run(tmp_path, AnsweringLM(lambda number, prompt: "no"), [QASPER]))

    def edit(whole):
        del whole["configs"][QASPER]["metadata"]["longbench_run"]

    files.edit_results(edit)
    report = verify([files.folder])
    assert (report.foreign, report.exit_status) == (1, 2)
