"""Without --apply_chat_template a run says first what is officially wrapped, and what is not."""

import os

import pytest

from lm_eval_longbench.api.evaluate import evaluate as evaluate_by_name
from lm_eval_longbench.task_folder import task_folder

V1 = (
    "No apply_chat_template: officially a chat model gets the prompts of LongBench v1 and "
    "LongBench-E in its template, but for trec, triviaqa, samsum, lsht, lcc, repobench-p, which go "
    "out raw. Give it, unless this is a base model."
)
WHOLE = "officially a chat model gets the prompts of {} in its template. Give it,"
# What is asked, and what must be said.
SAID = {
    "longbench_v1_qasper": V1,
    "longbench_v1_e_qasper": V1,
    "longbench_v1": V1,
    "longbench_v2": WHOLE.format("LongBench v2"),
    "longbench_pro_t1_1": WHOLE.format("LongBench Pro"),
}


def notices(text):
    return [line for line in text.splitlines() if "No apply_chat_template" in line]


@pytest.mark.parametrize("task", SAID)
def test_it_is_said_before_a_model_is_loaded(task, processes, tmp_path):
    """The model cannot be loaded: what is said stands before that."""
    done = processes.run(
        *("lm-eval-longbench", "run", "--model", "hf", "--model_args", f"pretrained={tmp_path}"),
        *("--tasks", task, "--data-dir", "sample"),
        cwd=tmp_path,
        env={**os.environ, "HF_HUB_OFFLINE": "1"},
    )
    assert done.returncode == 2
    assert SAID[task] in done.stderr.splitlines()[0]
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


def test_plain_lm_eval_says_it_before_requests(processes, model_folder, tmp_path):
    done = processes.run(
        *("lm_eval", "run", "--model", "hf", "--model_args", f"pretrained={model_folder}"),
        *("--device", "cpu", "--include_path", str(task_folder()), "--limit", "1"),
        *("--tasks", "longbench_v1_qasper", "--gen_kwargs", "max_gen_toks=2"),
        *("--metadata", '{"longbench": {"data_dir": "sample"}}'),
        cwd=tmp_path,
        env={**os.environ, "HF_DATASETS_CACHE": str(tmp_path / "hf")},
        all_tasks=True,
    )
    assert done.returncode == 0, done.stderr
    before, _, after = done.stderr.partition("Running generate_until")
    assert V1 in before and len(notices(before)) == 1
    assert not notices(after)


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
