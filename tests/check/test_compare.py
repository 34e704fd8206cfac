"""Two results beside each other: which tasks they share and what their signatures differ in."""

import pytest
from real_runs import EXTRACTIVE, AnsweringLM, Files, write_run

from lm_eval_longbench.check.compare import compare_results
from lm_eval_longbench.check.sides import read_side
from lm_eval_longbench.errors import PredictionError
from lm_eval_longbench.scoring.score import score_paths
from lm_eval_longbench.signature.ingredients import CARE, COMPARABLE, NOT

QASPER, V2 = "longbench_v1_qasper", "longbench_v2"


def differing(compared):
    return {
        (task.task, difference.ingredient)
        for task in compared.tasks
        for difference in task.comparison.differences
    }


def test_the_same_run(base_run):
    compared = compare_results(base_run, base_run)
    assert compared.verdict == COMPARABLE
    assert len(compared.tasks) == 8
    assert (compared.only_left, compared.only_right) == ([], [])
    for task in compared.tasks:
        assert task.figures
        assert all(left == right or left != left for _, left, right in task.figures)
    names = {name for task in compared.tasks for name, _, _ in task.figures}
    assert {"score", "score_0_4k", "acc_hard", "pass_at_n", "failed"} <= names
    assert not any("stderr" in name or "," in name for name in names)


def test_another_model_and_other_questions(base_run, tmp_path):
    def answer(number, prompt):
        return "The correct answer is (A)"

    write_run(tmp_path / "model", AnsweringLM(answer), [QASPER, V2])
    compared = compare_results(base_run, tmp_path / "model")
    assert compared.verdict == CARE  # other tasks are on one side only
    assert len(compared.only_left) == 6
    assert differing(compared) <= {(QASPER, "failed"), (V2, "failed")}

    chosen = {QASPER: [0, 1], V2: [3, 4]}
    write_run(tmp_path / "one", AnsweringLM(answer), [QASPER, V2], samples=chosen)
    chosen = {QASPER: [0, 1], V2: [3, 5]}
    write_run(tmp_path / "two", AnsweringLM(answer), [QASPER, V2], samples=chosen)
    # As many questions, but others.
    compared = compare_results(tmp_path / "one", tmp_path / "two")
    assert compared.verdict == NOT
    assert differing(compared) == {(V2, "questions_sha256"), (V2, "questions")}
    (task,) = [task for task in compared.tasks if task.task == V2]
    difference = next(own for own in task.comparison.differences if own.ingredient == "questions")
    assert difference.left == difference.right == "2, 1 of them only here"


def test_without_logs_questions_are_not_compared(base, tmp_path):
    for path in base.folder.rglob("*.jsonl"):
        path.unlink()
    side = read_side(base.folder, tmp_path / "scratch", "A")
    assert {side.asked(task) for task in side.entries} == {None}
    compared = compare_results(base.folder, base.folder)
    assert (compared.verdict, compared.headlines, compared.why) == (COMPARABLE, [], None)
    assert "holds scores and no answers" in compared.untold


def test_a_scored_folder(base_run, tmp_path):
    """It has the signature of its run; without that, ingredients are named as not stated."""
    files = Files(base_run)
    whole = tmp_path / "whole"
    score_paths([files.log(V2), files.log("longbench_pro_t3_1")], whole, workers=1)
    compared = compare_results(whole, base_run)
    assert [task.comparison.verdict for task in compared.tasks] == [COMPARABLE, COMPARABLE]
    assert all(not task.comparison.unstated for task in compared.tasks)

    logs = [tmp_path / files.log(task).name for task in (V2, "longbench_pro_t3_1")]
    for log in logs:  # without the results file beside them
        log.write_bytes((base_run / files.log(V2).parent / log.name).read_bytes())
    out = tmp_path / "scored"
    score_paths(logs, out, workers=1)
    compared = compare_results(out, base_run)
    assert {task.task for task in compared.tasks} == {V2, "longbench_pro_t3_1"}
    assert differing(compared) == set()
    assert compared.verdict == CARE
    for task in compared.tasks:
        assert {"template_sha256", "generation", "limit"} <= set(task.comparison.unstated)
        ((_, left, right),) = task.figures
        assert left == pytest.approx(right)
    assert compare_results(out, out).verdict == CARE


def test_equal_results_are_one(base_run, tmp_path):
    """A folder that was copied, or a finished command that was started again."""
    folder = tmp_path / "runs"
    for name in ("a", "b"):
        Files.copy(base_run, folder / name)
    compared = compare_results(base_run, folder)
    assert compared.verdict == COMPARABLE
    assert [own.b.n for own in compared.headlines] == [own.a.n for own in compared.headlines]


def test_two_results_of_one_task(base_run, tmp_path):
    """Repeats are merged where there are answers; figures alone cannot be."""
    folder = tmp_path / "runs"
    copies = [Files.copy(base_run, folder / name) for name in ("a", "b")]
    copies[1].edit_run(V2, seeds=[7])
    copies[1].edit_log(V2, lambda rows: rows[0].update(resps=[["(A)"]], filtered_resps=["(A)"]))
    compared = compare_results(base_run, folder)
    (task,) = [task for task in compared.tasks if task.task == V2]
    assert ("repeats", 1, 2) in [
        (own.ingredient, own.left, own.right) for own in task.comparison.differences
    ]
    for path in folder.rglob("*.jsonl"):
        path.unlink()
    with pytest.raises(PredictionError, match="two results of longbench_pro_t3_1: "):
        compare_results(base_run, folder)


def test_broken_files(base, base_run, tmp_path):
    with pytest.raises(PredictionError, match="does not exist"):
        compare_results(tmp_path / "nothing", base_run)
    path = base.log(V2)
    path.write_bytes(path.read_bytes()[:-30])
    found = compare_results(base.folder, base_run)
    assert (found.verdict, differing(found)) == (NOT, {(V2, "questions")})
    assert any("1 rows are no answers and are left out" in note for note in found.why.notes)
    base.results.write_text('{"results": {}, "configs": {}}', encoding="utf-8")
    for log in base.folder.rglob("samples_*"):
        log.unlink()
    with pytest.raises(PredictionError, match="no results of tasks of this package"):
        compare_results(base.folder, base_run)


def test_the_model_is_no_ingredient(tmp_path, model_folder):
    """The baseline and a real model, nothing cut: only the tokenizer tells them apart."""
    task = "longbench_v1_multifieldqa_en"
    model = {"pretrained": model_folder, "device": "cpu", "max_length": 60000}
    budget = {"max_gen_toks": 3}
    write_run(tmp_path / "a", EXTRACTIVE, [task], gen_kwargs=budget, limit=1)
    write_run(tmp_path / "b", "hf", [task], {}, model, gen_kwargs=budget, limit=1)
    compared = compare_results(tmp_path / "a", tmp_path / "b")
    assert compared.verdict == CARE
    names = {ingredient for _, ingredient in differing(compared)}
    assert (
        {"limit", "tokenizer", "tokenizer_sha256"}
        <= names
        <= {
            "limit",
            "tokenizer",
            "tokenizer_sha256",
            "failed",
        }
    )
