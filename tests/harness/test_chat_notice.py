"""Without --apply_chat_template a run says first what is officially wrapped, and what is not."""

import os

import pytest

from lm_eval_longbench.api.evaluate import evaluate as evaluate_by_name
from lm_eval_longbench.benchmarks.registry import find_task
from lm_eval_longbench.harness.prompts import warn_without_chat

V1 = (
    "No apply_chat_template: officially a chat model gets the prompts of LongBench v1 and "
    "LongBench-E in its template, but for trec, triviaqa, samsum, lsht, lcc, repobench-p, which go "
    "out raw. Give it, unless this is a base model."
)


def notices(text):
    return [line for line in text.splitlines() if "No apply_chat_template" in line]


def test_each_family_is_said_once(caplog):
    warn_without_chat(map(find_task, ("longbench_v1_qasper", "longbench_v1_e_qasper")))
    warn_without_chat(map(find_task, ("longbench_v2", "longbench_pro_t1_1", "longbench_v1_trec")))
    said = [one.getMessage() for one in caplog.records]
    whole = "officially a chat model gets the prompts of {} in its template. Give it,"
    assert said[0] == V1
    for line, title in zip(said[1:], ("LongBench v2", "LongBench Pro"), strict=True):
        assert whole.format(title) in line


def test_it_is_said_before_a_model_is_loaded(processes, tmp_path):
    """The model cannot be loaded: what is said stands before that."""
    done = processes.run(
        *("lm-eval-longbench", "run", "--model", "hf", "--model_args", f"pretrained={tmp_path}"),
        *("--tasks", "longbench_v1_qasper", "--data-dir", "sample"),
        cwd=tmp_path,
        env={**os.environ, "HF_HUB_OFFLINE": "1"},
    )
    assert done.returncode == 2
    assert V1 in done.stderr.splitlines()[0]
    assert len(notices(done.stderr)) == 1


def test_python_callers_are_told(caplog, tmp_path):
    with pytest.raises(ValueError, match="Unrecognized model"):
        evaluate_by_name(
            *("hf", ["longbench_v1_qasper", "longbench_v1_e_hotpotqa"]),
            model_args={"pretrained": str(tmp_path)},
            data_dir="sample",
        )
    assert notices(caplog.text) and V1 in caplog.text


def test_the_task_says_it_in_the_harness_s_own_run(evaluate, recording_lm, caplog):
    evaluate(recording_lm, ["longbench_v1_qasper", "longbench_v1_e_qasper"], limit=1)
    assert [one.getMessage() for one in caplog.records if "No apply" in one.getMessage()] == [V1]


@pytest.mark.parametrize(
    ("tasks", "more"),
    [
        (["longbench_v1_trec", "longbench_v1_e_lcc"], {}),  # officially raw
        (["longbench_v1_qasper"], {"apply_chat_template": True}),
    ],
)
def test_where_all_is_as_officially_nothing_is_said(tasks, more, evaluate, recording_lm, caplog):
    evaluate(recording_lm, tasks, limit=1, **more)
    assert notices(caplog.text) == []


def test_models_without_a_template_are_not_told_to_apply_one(caplog, capfd):
    evaluate_by_name("longbench-extractive", "longbench_v1_qasper", data_dir="sample", limit=1)
    evaluate_by_name(lambda prompts: ["a"], "longbench_v2", data_dir="sample", limit=1)
    assert notices(caplog.text + capfd.readouterr().err) == []
