"""What releases of the harness call differently is found under either name."""

from types import SimpleNamespace

import lm_eval.api.task

from lm_eval_longbench.harness.releases import building_module, sample_size, task_index
from lm_eval_longbench.harness.task import LongBenchTask


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


def test_chosen_questions_have_their_place_among_them(evaluate, recording_lm):
    task = "longbench_v1_qasper"
    found = evaluate(recording_lm, [task], samples={task: [1, 3]}, log_samples=True)
    logged = found["samples"][task]
    assert [row["doc_id"] for row in logged] == [1, 3]
    assert [row["doc"]["index"] for row in logged] == [1, 3]
