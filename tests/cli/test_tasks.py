"""`lm-eval-longbench tasks`."""

import json
from statistics import median

from transformers import PreTrainedTokenizerFast

from lm_eval_longbench.benchmarks.registry import (
    benchmark_of,
    find_task,
    kind_of,
    tags,
    tasks,
    valid_names,
)
from lm_eval_longbench.errors import OptionError, UnknownNameError

NAMES = [name for name in valid_names() if kind_of(name) == "group"]


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


def test_the_table(invoke):
    said = invoke("tasks", "qasper").stdout
    (row,) = [line.split() for line in said.splitlines() if "longbench_v1_qasper" in line]
    assert row == ["longbench_v1_qasper", "score", "chat", "3.4k", "words", "1", "200", "1", "128"]
    said = invoke("tasks", "longbench_v2").stdout
    lines = {line.split()[0]: line for line in said.splitlines() if "acc" in line}
    assert "  32k-64k words  " in lines["longbench_v2"]
    assert "  167k words  " in lines["longbench_v2_code_repository"]
    # Neither holds documents; the domains differ.
    for name in ("no_context", "rag", "domains"):
        assert " - " in lines[f"longbench_v2_{name}"]


def test_the_tags_are_named(invoke):
    said = invoke("tasks").stdout
    lines = [line for line in said.splitlines() if line.startswith("longbench_") and ", _" in line]
    found = []
    for line in lines:
        first, *others = line.split(", ")
        group = max((name for name in NAMES if first.startswith(f"{name}_")), key=len)
        found += [first, *(f"{group}{other}" for other in others)]
    assert sorted(found) == sorted(tags()) and "longbench_v1_code" in found
    assert "Tags stand for" not in invoke("tasks", "longbench_v1_code").stdout


def test_the_median_prompt_is_measured(invoke, tokenizer_folder):
    arguments = ("v1_trec", "--data-dir", "sample", "--tokenizer", tokenizer_folder)
    own = listed(invoke, *arguments)["longbench_v1_trec"]
    task, tokenizer = find_task("longbench_v1_trec"), PreTrainedTokenizerFast.from_pretrained
    encode = tokenizer(tokenizer_folder).encode
    benchmark = benchmark_of(task)
    rows = benchmark.load(task, "sample").rows
    lengths = [len(encode(benchmark.render(task, row))) for row in rows]
    assert own["median_prompt_tokens"] == int(median(lengths))


def test_mistakes(raised):
    assert isinstance(raised("tasks", "qaspr"), UnknownNameError)
    assert isinstance(raised("tasks", "qasper", "--data-dir", "sample"), OptionError)
