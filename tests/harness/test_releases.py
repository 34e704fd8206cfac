"""What releases of the harness call differently is found under either name."""

from types import SimpleNamespace

import lm_eval.api.task
import pytest
from harness_releases import for_members, generation_request, image_request

from lm_eval_longbench.errors import OptionError
from lm_eval_longbench.harness.releases import (
    building_module,
    defaults_of_members,
    is_text,
    parsed_arguments,
    sample_size,
    task_index,
)
from lm_eval_longbench.harness.task import LongBenchTask

TASK = {
    "task": "mine",
    "dataset_path": "zai-org/LongBench",
    "definition": "longbench_v2",
    "test_split": "test",
    "output_type": "generate_until",
    "metric_list": [{"metric": "acc", "aggregation": "mean", "higher_is_better": True}],
    "metadata": {"version": 1.0, "longbench": {"data_dir": "sample"}},
}


def test_the_index_has_two_names():
    assert task_index(SimpleNamespace(task_index={"a": 1})) == {"a": 1}
    assert task_index(SimpleNamespace(_task_index={"b": 2})) == {"b": 2}


def test_a_limit_is_a_number_or_a_share():
    task = SimpleNamespace(eval_docs=range(10))
    assert [sample_size(task, limit) for limit in (None, 3, 0.25)] == [None, 3, 3]


def test_the_module_that_builds_prompts_has_the_bar():
    assert callable(building_module().tqdm)
    assert building_module().__name__.startswith(lm_eval.api.task.__name__)


def test_tasks_generate():
    base = getattr(lm_eval.api.task, "GenerateTask", lm_eval.api.task.ConfigurableTask)
    assert issubclass(LongBenchTask, base)


def test_a_request_with_an_image_is_none_for_text():
    assert is_text(generation_request("p", {}))
    assert not is_text(image_request("p", {}))


def test_what_a_group_gives_its_members(tmp_path):
    own = {"generation_kwargs": {"max_gen_toks": 5}}
    group = {"group": "own", "task": ["a"], "metadata": {"version": 1}, **for_members(**own)}
    assert defaults_of_members(group, None) == own
    assert defaults_of_members({"group": "own", "task": ["a"]}, None) == {}


@pytest.mark.parametrize("text", ["{'not': 'JSON'}", '{"longbench": '])
def test_metadata_that_cannot_be_read_is_an_error_to_be_caught(text):
    with pytest.raises(ValueError, match=r"JSON|json|Expecting"):
        parsed_arguments(["--tasks", "a", "--metadata", text])


def test_metadata_that_can_be_read():
    given = '{"longbench": {"truncate_to": 5}}'
    found = parsed_arguments(["--tasks", "a", "--metadata", given])
    assert found.metadata == {"longbench": {"truncate_to": 5}}


def test_repeats_of_the_command_line_are_refused():
    with pytest.raises(OptionError, match=r'metadata \{"longbench": \{"repeats": 3\}\}'):
        LongBenchTask(TASK).set_repeats(3)


def test_the_config_in_results_has_the_filters_of_the_yaml():
    filters = [{"name": "short", "filter": [{"function": "take_first"}]}]
    plain, own = LongBenchTask(TASK), LongBenchTask({**TASK, "filter_list": filters})
    assert "filter_list" not in plain.dump_config()
    assert own.dump_config()["filter_list"] == filters


def test_only_the_harnesss_own_means_have_a_standard_error(evaluate, recording_lm, capfd):
    recording_lm.answer = "The correct answer is (A)"
    found = evaluate(recording_lm, ["longbench_v2"], bootstrap_iters=100)["results"]["longbench_v2"]
    assert found["acc_stderr,none"] > 0
    assert found["acc_hard_stderr,none"] == "N/A"  # it would draw samples in processes
    assert "Bootstrapping" not in capfd.readouterr().out


def test_chosen_questions_have_their_place_among_them(evaluate, recording_lm):
    task = "longbench_v1_qasper"
    found = evaluate(recording_lm, [task], samples={task: [1, 3]}, log_samples=True)
    logged = found["samples"][task]
    assert [row["doc_id"] for row in logged] == [1, 3]
    assert [row["doc"]["index"] for row in logged] == [1, 3]
