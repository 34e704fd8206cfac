"""A user's YAML may not change the official prompts, and does not lose the task's version."""

import pytest

from lm_eval_longbench.errors import OptionError
from lm_eval_longbench.harness.task import LongBenchTask

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
    assert task.config.metadata["longbench_run"]["version"] == "1.0"
    assert str(task.VERSION).startswith("1.0 data: sample-")


def test_a_users_filters_are_in_the_signature():
    filters = [{"name": "short", "filter": [{"function": "take_first"}]}]
    plain, own = LongBenchTask(TASK), LongBenchTask({**TASK, "filter_list": filters})
    runs = [task.config.metadata["longbench_run"] for task in (plain, own)]
    assert [run["filters"] for run in runs] == [None, filters]
    assert runs[0]["signature"] != runs[1]["signature"]
