"""`lm-eval-longbench tasks`."""

import json
from statistics import median

from transformers import PreTrainedTokenizerFast

from lm_eval_longbench.benchmarks.registry import benchmark_of, find_task, tasks, valid_names


def listed(invoke, *arguments):
    result = invoke("tasks", *arguments, "--json")
    assert result.exit_code == 0, result.output
    return {row["name"]: row for row in json.loads(result.stdout)}


def test_all_tasks_and_groups(invoke):
    found = listed(invoke)
    assert list(found) == valid_names()
    for name, task in tasks().items():
        assert found[name]["kind"] == "task"
        assert found[name]["questions"] == task.questions
        assert found[name]["output_budget"] == task.budget


def test_a_task_and_groups(invoke):
    assert listed(invoke, "v1_trec")["longbench_v1_trec"] == {
        "name": "longbench_v1_trec",
        "kind": "task",
        "tasks": 1,
        "questions": 200,
        "benchmark": "LongBench v1",
        "repeats": 1,
        "output_budget": 64,
        "metric": "score",
        "prompt": "raw",
        "median_document_length": {"low": 5190, "high": 5190, "unit": "words"},
    }
    found = listed(invoke, "longbench_v1*")
    own = found["longbench_v1"]
    assert (own["kind"], own["tasks"], own["questions"]) == ("group", 21, 4750)
    assert (own["output_budget"], own["prompt"]) == (None, None)
    pro = listed(invoke, "longbench_pro_t1*")["longbench_pro_t1"]
    assert (pro["tasks"], pro["repeats"], pro["prompt"]) == (2, 3, "chat")


def test_the_median_prompt_is_measured(invoke, tokenizer_folder):
    arguments = ("v1_trec", "--data-dir", "sample", "--tokenizer", tokenizer_folder)
    own = listed(invoke, *arguments)["longbench_v1_trec"]
    task, tokenizer = find_task("longbench_v1_trec"), PreTrainedTokenizerFast.from_pretrained
    encode = tokenizer(tokenizer_folder).encode
    benchmark = benchmark_of(task)
    rows = benchmark.load(task, "sample").rows
    lengths = [len(encode(benchmark.render(task, row))) for row in rows]
    assert own["median_prompt_tokens"] == int(median(lengths))
