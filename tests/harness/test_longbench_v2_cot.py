"""Chain of thought in two passes: in one run, by hand, and after pass two was interrupted."""

import json

import pytest
from asked import rows_of
from lm_eval import simple_evaluate
from lm_eval.tasks import TaskManager
from v2_prompts import COT, COT_ANSWER, render

from lm_eval_longbench.errors import DataError, OptionError
from lm_eval_longbench.harness.arguments import Beside, complete, parse
from lm_eval_longbench.harness.evaluate import evaluated
from lm_eval_longbench.task_folder import task_folder

ROWS = rows_of("longbench_v2")
BOTH = ["longbench_v2_cot", "longbench_v2_cot_answer"]


def thought(number):
    """Every third reasoning already names a letter in the official words."""
    return f" It may be ({'ABCD'[number % 4]})." + (
        " The correct answer is (A)" if number % 3 == 0 else ""
    )


def in_turn(number, prompt, generation):
    if generation["max_gen_toks"] == 1024:
        return thought(number)
    return "The correct answer is (B)"


@pytest.fixture
def log(tmp_path):
    """Write sample rows as the harness does."""

    def write(samples):
        file = tmp_path / "samples_longbench_v2_cot_2026-01-02T03-04-05.678.jsonl"
        rows = [{key: sample[key] for key in ("doc_id", "doc", "resps")} for sample in samples]
        file.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
        return str(file)

    return write


def answer_prompts(rows=ROWS):
    return [render(row, COT_ANSWER, thought(number)) for number, row in enumerate(rows)]


def share(letter, rows=ROWS):
    return sum(row["answer"] == letter for row in rows) / len(rows)


def test_both_passes_in_one_run(evaluate, recording_lm, tmp_path):
    recording_lm.answer = in_turn
    with evaluated():
        result = evaluate(recording_lm, [*BOTH, "longbench_v1_trec"], log_samples=True)
    cot = [render(row, COT) for row in ROWS]
    assert [prompt for prompt in recording_lm.prompts if prompt in cot] == cot
    assert recording_lm.prompts[-len(ROWS) :] == answer_prompts()
    one = result["results"]["longbench_v2_cot"]
    says_a = [row for number, row in enumerate(ROWS) if number % 3 == 0]
    right = sum(row["answer"] == "A" for row in says_a)
    assert one["acc_one_call,none"] == pytest.approx(right / len(ROWS))
    assert one["unparsed,none"] == pytest.approx(1 - len(says_a) / len(ROWS))
    assert result["results"]["longbench_v2_cot_answer"]["acc,none"] == pytest.approx(share("B"))
    assert set(result["samples"]) == {*BOTH, "longbench_v1_trec"} == set(result["versions"])
    for part in ("configs", "n-samples", "n-shot", "higher_is_better", "results"):
        assert set(BOTH) <= set(result[part])


def test_chosen_samples_hold_for_both_passes(evaluate, recording_lm, tmp_path):
    recording_lm.answer = in_turn
    with evaluated():
        evaluate(recording_lm, BOTH, samples={"longbench_v2_cot": [4, 7]})
    expected = [render(ROWS[row], COT_ANSWER, thought(n)) for n, row in enumerate([4, 7])]
    assert recording_lm.prompts[2:] == expected


def test_by_hand_with_the_log_of_pass_one(evaluate, recording_lm, log):
    recording_lm.answer = in_turn
    first = evaluate(recording_lm, BOTH[:1], log_samples=True)
    recording_lm.requests.clear()
    path = log(first["samples"]["longbench_v2_cot"])
    result = evaluate(recording_lm, BOTH[1:], {"cot_samples": path})
    assert recording_lm.prompts == answer_prompts()
    assert result["results"]["longbench_v2_cot_answer"]["acc,none"] == pytest.approx(share("B"))
    # With a log, a run with both tasks needs no second call either.
    recording_lm.requests.clear()
    run = result["configs"]["longbench_v2_cot_answer"]["metadata"]["longbench_run"]
    assert run["reasoning_sha256"]


def test_a_pass_two_that_fails_costs_nothing_else(evaluate, recording_lm):
    def breaks(number, prompt, generation):
        if generation["max_gen_toks"] == 128:
            raise ConnectionError("the server has gone")
        return thought(number)

    recording_lm.answer = breaks
    with pytest.raises(ConnectionError), evaluated():
        result = evaluate(recording_lm, [*BOTH, "longbench_v1_trec"], log_samples=True)
    # What was finished is there for the harness to write.
    assert (
        set(result["results"])
        == {"longbench_v1_trec", "longbench_v2_cot"}
        == set(result["samples"])
    )


def test_a_log_that_lacks_questions_is_refused_before_any_request(evaluate, recording_lm, log):
    recording_lm.answer = in_turn
    first = evaluate(recording_lm, BOTH[:1], log_samples=True)
    path = log(first["samples"]["longbench_v2_cot"][1:])
    recording_lm.requests.clear()
    with pytest.raises(DataError, match=ROWS[0]["_id"]):
        evaluate(recording_lm, BOTH[1:], {"cot_samples": path})
    assert not recording_lm.requests
    # The questions that are there can be asked.
    chosen = {"longbench_v2_cot_answer": [1, 2]}
    evaluate(recording_lm, BOTH[1:], {"cot_samples": path}, samples=chosen)
    assert len(recording_lm.requests) == 2


def test_another_tasks_log_is_refused(evaluate, recording_lm, log):
    first = evaluate(recording_lm, ["longbench_v2"], log_samples=True)
    path = log(first["samples"]["longbench_v2"])
    with pytest.raises(DataError, match="not of the task longbench_v2_cot"):
        evaluate(recording_lm, BOTH[1:], {"cot_samples": path})


def test_a_question_whose_reasoning_failed_has_failed(evaluate, recording_lm, tmp_path):
    recording_lm.answer = lambda number, prompt, generation: (
        "" if generation["max_gen_toks"] == 1024 and number < 5 else "The correct answer is (B)"
    )
    with evaluated():
        result = evaluate(recording_lm, BOTH)["results"]["longbench_v2_cot_answer"]
    assert result["failed,none"] == pytest.approx(5 / len(ROWS))
    right = sum(row["answer"] == "B" for row in ROWS[5:])
    assert result["acc,none"] == pytest.approx(right / len(ROWS))


def test_a_group_with_a_figure_over_pass_two_is_refused(recording_lm, tmp_path):
    tasks = "".join(f"  - {name}\n" for name in ("longbench_v2", *BOTH))
    figure = "aggregate_metric_list:\n  - metric: acc\n"
    (tmp_path / "mine.yaml").write_text(f"group: mine\ntask:\n{tasks}{figure}")
    manager = TaskManager(
        include_path=[str(task_folder()), str(tmp_path)],
        include_defaults=False,
        metadata={"longbench": {"data_dir": "sample"}},
    )
    with evaluated(), pytest.raises(OptionError, match="The group 'mine' has a figure"):
        simple_evaluate(recording_lm, tasks=["mine"], task_manager=manager)
    assert not recording_lm.requests


@pytest.mark.parametrize(
    ("options", "reason"), [({"repeats": 2}, "repeats do not go"), ({"overlength": "skip"}, "skip")]
)
@pytest.mark.parametrize("task", BOTH)
def test_what_does_not_go_with_two_passes_is_refused(evaluate, recording_lm, task, options, reason):
    with pytest.raises(OptionError, match=reason):
        evaluate(recording_lm, [task], options)


def test_pass_two_follows_pass_one():
    for given, tasks in (
        ("longbench_v2_cot,longbench_v2", [*BOTH, "longbench_v2"]),
        (["a", " longbench_v2_cot"], ["a", *BOTH]),
        (BOTH, BOTH),
        ("longbench_v2_cot_answer", BOTH[1:]),
    ):
        parsed = parse([])
        parsed.tasks = given
        complete(parsed, Beside())
        assert parsed.tasks == ",".join(tasks)
