"""Options given to `simple_evaluate` beside a TaskManager are used, or refused."""

import pytest
from lm_eval import simple_evaluate
from lm_eval.tasks import TaskManager

from lm_eval_longbench.errors import OptionError
from lm_eval_longbench.task_folder import task_folder

TASK = "longbench_v1_e_qasper"
SAMPLE = {"data_dir": "sample"}


def manager(**metadata):
    return TaskManager(
        include_path=str(task_folder()), include_defaults=False, metadata=metadata or None
    )


def run_of(result):
    return result["configs"][TASK]["metadata"]["longbench_run"]


def call(model, tasks, manager, **more):
    return simple_evaluate(
        model=model, tasks=tasks, task_manager=manager, bootstrap_iters=0, **more
    )


def test_options_of_the_call_reach_the_tasks(recording_lm, tokenizer_folder):
    given = {"longbench": {**SAMPLE, "truncate_to": 300}, "tokenizer": tokenizer_folder}
    result = call(recording_lm, [TASK], manager(), metadata=given)
    run = run_of(result)
    assert (run["limit"], run["data"][:7], run["truncated"]) == (300, "sample-", 4)
    assert run["tokenizer"] == tokenizer_folder


def test_a_misspelt_option_of_the_call_is_refused(recording_lm):
    with pytest.raises(Exception, match="truncate_to"):
        call(recording_lm, [TASK], manager(), metadata={"longbench": {"truncate_too": 300}})


def test_the_same_options_in_both_places_are_fine(recording_lm):
    given = {"longbench": SAMPLE}
    assert run_of(call(recording_lm, [TASK], manager(**given), metadata=given))["limit"] is None


def test_other_options_in_both_places_are_refused(recording_lm):
    given = {"longbench": {**SAMPLE, "repeats": 1}}
    with pytest.raises(OptionError, match="Give them in one place"):
        call(recording_lm, [TASK], manager(longbench=SAMPLE), metadata=given)


def test_tasks_that_were_built_before_cannot_take_options(recording_lm):
    ours = manager(longbench=SAMPLE)
    built = list(ours.load([TASK])["tasks"].values())
    with pytest.raises(OptionError, match="Give them in one place"):
        call(recording_lm, built, ours, metadata={"longbench": {**SAMPLE, "truncate_to": 300}})
    result = call(recording_lm, list(ours.load([TASK])["tasks"].values()), ours)
    assert run_of(result)["limit"] is None
