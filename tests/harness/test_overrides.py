"""A user's YAML may not change the official prompts, and does not lose the task's version."""

import pytest
from harness_releases import NEXT
from lm_eval import simple_evaluate
from lm_eval.tasks import TaskManager

from lm_eval_longbench.errors import OptionError
from lm_eval_longbench.harness.task import LongBenchTask
from lm_eval_longbench.task_folder import task_folder

SAMPLE = {"longbench": {"data_dir": "sample"}}
TASK = {
    "task": "mine",
    "dataset_path": "zai-org/LongBench",
    "dataset_name": "longbench_v1_trec",
    "test_split": "test",
    "output_type": "generate_until",
    "metric_list": [{"metric": "score", "aggregation": "mean", "higher_is_better": True}],
    "metadata": {"version": 1.0, **SAMPLE},
}


@pytest.mark.parametrize(
    ("changed", "reason"),
    [
        ({"description": "Answer well."}, "mine: 'description' would change the official prompt"),
        ({"gen_prefix": "Sure:"}, "mine: 'gen_prefix' would change the official prompt"),
        ({"num_fewshot": 2}, "mine: num_fewshot must be 0"),
    ],
)
def test_what_stands_around_the_prompt_is_refused(changed, reason):
    with pytest.raises(OptionError, match=reason):
        LongBenchTask({**TASK, **changed})


def test_empty_values_change_nothing():
    task = LongBenchTask({**TASK, "description": "", "num_fewshot": 0})
    assert task.config.metadata["longbench_run"]["version"] == "1.0"


def test_a_version_that_an_override_lost_is_found_again():
    task = LongBenchTask({**TASK, "metadata": SAMPLE})
    assert task.config.metadata["longbench_run"]["version"] == "1.1"
    assert str(task.VERSION).startswith("1.1 data: sample-")


def test_a_users_filters_are_in_the_signature():
    filters = [{"name": "short", "filter": [{"function": "take_first"}]}]
    plain, own = LongBenchTask(TASK), LongBenchTask({**TASK, "filter_list": filters})
    runs = [task.config.metadata["longbench_run"] for task in (plain, own)]
    assert [run["filters"] for run in runs] == [None, filters]
    assert runs[0]["signature"] != runs[1]["signature"]


# ---------------------------------------------------------------------- options of a call


ASKED = "longbench_v1_e_qasper"
LOCAL = {"data_dir": "sample"}


def manager(**metadata):
    return TaskManager(
        include_path=str(task_folder()), include_defaults=False, metadata=metadata or None
    )


def run_of(result):
    return result["configs"][ASKED]["metadata"]["longbench_run"]


def call(model, tasks, manager, **more):
    return simple_evaluate(
        model=model, tasks=tasks, task_manager=manager, bootstrap_iters=0, **more
    )


def test_options_of_the_call_reach_the_tasks(recording_lm, tokenizer_folder):
    given = {"longbench": {**LOCAL, "truncate_to": 300}, "tokenizer": tokenizer_folder}
    result = call(recording_lm, [ASKED], manager(), metadata=given)
    run = run_of(result)
    assert (run["limit"], run["data"][:7], run["truncated"]) == (300, "sample-", 4)
    assert run["tokenizer"] == tokenizer_folder


def test_a_misspelt_option_of_the_call_is_refused(recording_lm):
    with pytest.raises(Exception, match="truncate_to"):
        call(recording_lm, [ASKED], manager(), metadata={"longbench": {"truncate_too": 300}})


def test_the_same_options_in_both_places_are_fine(recording_lm):
    given = {"longbench": LOCAL}
    assert run_of(call(recording_lm, [ASKED], manager(**given), metadata=given))["limit"] is None


def test_other_options_in_both_places_are_refused(recording_lm):
    given = {"longbench": {**LOCAL, "repeats": 1}}
    with pytest.raises(OptionError, match="Give them in one place"):
        call(recording_lm, [ASKED], manager(longbench=LOCAL), metadata=given)


@pytest.mark.skipif(NEXT, reason="simple_evaluate of 0.5 takes no tasks that were built before")
def test_tasks_that_were_built_before_cannot_take_options(recording_lm):
    ours = manager(longbench=LOCAL)
    built = list(ours.load([ASKED])["tasks"].values())
    with pytest.raises(OptionError, match="Give them in one place"):
        call(recording_lm, built, ours, metadata={"longbench": {**LOCAL, "truncate_to": 300}})
    result = call(recording_lm, list(ours.load([ASKED])["tasks"].values()), ours)
    assert run_of(result)["limit"] is None


def test_model_arguments_of_the_call_reach_the_tasks(model_folder):
    """The harness gives them to a TaskManager that it makes itself alone."""
    for given in (f"pretrained={model_folder}", {"pretrained": model_folder}):
        result = simple_evaluate(
            model="hf",
            model_args=given,
            tasks=[ASKED],
            task_manager=manager(longbench=LOCAL),
            device="cpu",
            limit=1,
            gen_kwargs="max_gen_toks=4",
            bootstrap_iters=0,
        )
        run = run_of(result)
        assert (run["limit"], run["tokenizer"]) == (2048 - 4 - 64, model_folder)


def test_an_option_among_the_model_arguments_of_the_call_is_refused(recording_lm):
    """A model in memory takes no arguments: nobody else would say that it was dropped."""
    with pytest.raises(OptionError, match="'truncate_to' stands beside the model arguments"):
        call(recording_lm, [ASKED], manager(longbench=LOCAL), model_args={"truncate_to": 300})


def test_metadata_of_the_call_that_is_no_mapping_is_refused(recording_lm):
    with pytest.raises(OptionError, match="must be a mapping"):
        call(recording_lm, [ASKED], manager(), metadata='{"longbench": {"truncate_to": 300}}')
