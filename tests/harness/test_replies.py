"""What is known of answers reaches the log and the results, through the harness."""

import json
import math

import pytest
from real_runs import AnsweringLM

from lm_eval_longbench.harness.record import Signature
from lm_eval_longbench.records.answer import Answer, AnswerText

QASPER = "longbench_v1_qasper"
PRO = "longbench_pro_t3_1"


def ended(number, prompt, arguments=None):
    """Every third answer ends at its budget, every fourth request fails."""
    if number % 4 == 3:
        return AnswerText(Answer("", "failed", "HTTP 400: maximum context length"))
    reason = "length" if number % 3 == 0 else "stop"
    return AnswerText(Answer(f"answer {number}", finish_reason=reason, completion_tokens=2))


def plain(number, prompt, arguments=None):
    return str(ended(number, prompt))


def by_id(result, task):
    return {
        row["doc"]["_id" if "_id" in row["doc"] else "id"]: row for row in result["samples"][task]
    }


def test_a_row_keeps_what_is_known_and_is_the_same_otherwise(evaluate):
    with_replies, without = (
        evaluate(AnsweringLM(answer), [QASPER], log_samples=True) for answer in (ended, plain)
    )
    rows, others = by_id(with_replies, QASPER), by_id(without, QASPER)
    assert rows.keys() == others.keys() and len(rows) > 3
    for number, (name, row) in enumerate(rows.items()):
        replies = row["doc"].pop("replies")
        assert replies == [ended(number, "").answer.reply()]
        capped = row.pop("capped")
        assert capped == float(number % 3 == 0 and number % 4 != 3)
        assert others[name].pop("capped") is None
        # Hashes among the rest: what was asked does not depend on how it was answered.
        assert json.dumps(row, default=str) == json.dumps(others[name], default=str)
    share = sum(n % 3 == 0 and n % 4 != 3 for n in range(len(rows))) / len(rows)
    assert with_replies["results"][QASPER]["capped,none"] == share
    assert math.isnan(without["results"][QASPER]["capped,none"])
    runs = [one["configs"][QASPER]["metadata"]["longbench_run"] for one in (with_replies, without)]
    assert runs[0]["capped"] == round(share * len(rows))
    assert runs[1]["capped"] is None


@pytest.mark.parametrize("seeded", [False, True])
def test_replies_are_in_the_order_of_repeats(evaluate, seeded, tokenizer_folder):
    """In-process repeats are one request, a server's are three; the model is ours in both."""
    # That there is a server is what makes them three; this model asks none.
    server = {"base_url": "http://127.0.0.1:9/v1", "model": "m", "tokenizer": tokenizer_folder}
    arguments = {**server, "max_length": 10**7} if seeded else {}
    model = AnsweringLM(ended)
    result = evaluate(model, [PRO], model_args=arguments or None, log_samples=True)
    capped = []
    for row in result["samples"][PRO]:
        assert len(row["arguments"]) == (3 if seeded else 1)
        texts = [text for own in row["resps"] for text in own]
        assert len(texts) == 3
        assert row["doc"]["replies"] == [text.answer.reply() for text in texts]
        capped.append(sum(text.answer.finish_reason == "length" for text in texts) / 3)
        assert row["capped"] == pytest.approx(capped[-1])
    assert result["results"][PRO]["capped,none"] == pytest.approx(sum(capped) / len(capped))


def test_a_question_with_an_answer_of_which_nothing_is_known_counts_for_none(evaluate):
    def answer(number, prompt):
        return "plain" if number == 0 else ended(number, prompt)

    result = evaluate(AnsweringLM(answer), [PRO], log_samples=True)
    first, *others = result["samples"][PRO]
    assert first["doc"]["replies"][0] == {} and first["capped"] is None
    known = [row["capped"] for row in others]
    assert None not in known
    assert result["results"][PRO]["capped,none"] == pytest.approx(sum(known) / len(known))
    run = result["configs"][PRO]["metadata"]["longbench_run"]
    assert run["capped"] == round(3 * sum(known))


def test_a_list_of_metrics_without_it_still_runs(evaluate, tmp_path):
    """The harness takes its own mean of figures that are not listed, which None would end."""
    from lm_eval import simple_evaluate
    from lm_eval.tasks import TaskManager

    from lm_eval_longbench.task_folder import task_folder

    (tmp_path / "mine.yaml").write_text(
        f"include: {task_folder()}/longbench_v1/{QASPER}.yaml\n"
        "task: mine\ntag: []\n"
        "metric_list:\n  - metric: score\n    aggregation: mean\n    higher_is_better: true\n"
        "  - metric: failed\n    aggregation: mean\n    higher_is_better: false\n"
    )
    manager = TaskManager(
        include_path=[str(task_folder()), str(tmp_path)],
        include_defaults=False,
        metadata={"longbench": {"data_dir": "sample"}},
    )
    result = simple_evaluate(
        model=AnsweringLM(plain), tasks=["mine"], task_manager=manager, bootstrap_iters=0
    )
    assert "capped,none" not in result["results"]["mine"]
    assert "score,none" in result["results"]["mine"]


def test_counts_of_a_signature():
    signature = Signature()
    signature.update(benchmark="longbench_pro", repeats=3)
    for values, expected in (([1 / 3, None, 2 / 3], 3), ([None, None], None), ([0.0], 0), ([], 0)):
        signature.count("capped", values)
        assert (signature.run["capped"], signature.run["answered"]) == (expected, len(values))
