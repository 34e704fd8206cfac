"""docs/suites.md, run: a user's own groups, with overrides, beside a built-in task of the harness.

gsm8k is the harness's own task, with two made-up questions in local files for its data.
"""

import json
import os
import re
from pathlib import Path

import pytest
import yaml
from asked import prompts_of
from lm_eval import simple_evaluate
from lm_eval.tasks import TaskManager

from lm_eval_longbench.errors import OptionError
from lm_eval_longbench.harness.record import flat
from lm_eval_longbench.task_folder import task_folder

PAGE = (Path(__file__).parents[2] / "docs" / "suites.md").read_text(encoding="utf-8")
SAMPLE = {"longbench": {"data_dir": "sample"}}


def block(name):
    """The file of this name on the page, decoded, with our task folder for TASKS."""
    (text,) = re.findall(rf"```yaml\n# (?:my_tasks/)?{re.escape(name)}\n(.*?)```", PAGE, re.DOTALL)
    return yaml.safe_load(text.replace("TASKS", str(task_folder())))


def write(path, value):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(yaml.safe_dump(value))


@pytest.fixture(scope="module")
def suite(tmp_path_factory):
    """The folder of the page's first suite; gsm8k's data is local, as the page has it elsewhere."""
    folder = tmp_path_factory.mktemp("my_tasks")
    rows = [
        {"question": f"What is {n} plus 1?", "answer": f"{n} + 1 is {n + 1}.\n#### {n + 1}"}
        for n in (1, 2, 3)
    ]
    files = {"train": folder / "gsm8k_train.jsonl", "test": folder / "gsm8k_test.jsonl"}
    for name, own in (("train", rows), ("test", rows[:2])):
        files[name].write_text("".join(json.dumps(row) + "\n" for row in own))
    group = block("my_suite.yaml")
    offline = block("my_offline.yaml")["task"][1]
    assert offline["task"] == group["task"][2]["task"] == "gsm8k"
    assert offline["dataset_kwargs"]["data_files"] == {k: f.name for k, f in files.items()}
    offline["dataset_kwargs"]["data_files"] = {k: str(f) for k, f in files.items()}
    group["task"][2] |= offline
    write(folder / "my_suite.yaml", group)
    return folder


@pytest.fixture(scope="module")
def process(tmp_path_factory, processes):
    """Run a console script; return the one results file it wrote."""
    cache = tmp_path_factory.mktemp("cache")

    def process(*arguments, output):
        environment = {**os.environ, "HF_HUB_OFFLINE": "1", "HF_DATASETS_CACHE": str(cache)}
        done = processes.run(*arguments, env=environment, all_tasks=True)
        assert done.returncode == 0, done.stdout + done.stderr
        (results,) = output.rglob("results_*.json")
        return json.loads(results.read_text())

    return process


def signature(results, task):
    return results["configs"][task]["metadata"]["longbench_run"]


def test_our_command_line_runs_the_suite(suite, process, tmp_path):
    found = process(
        *("lm-eval-longbench", "run", "--model", "longbench-extractive"),
        *("--include_path", suite, "--tasks", "my_suite", "--metadata", json.dumps(SAMPLE)),
        *("--output_path", tmp_path, "--log_samples"),
        output=tmp_path,
    )
    names = ["longbench_v1_qasper", "longbench_v1_trec", "gsm8k"]
    assert set(found["group_subtasks"]["my_suite"]) == set(found["configs"]) == set(names)
    assert found["results"]["longbench_v1_qasper"]["alias"].endswith("qasper, short answers")
    assert found["n-shot"]["gsm8k"] == 2
    assert found["results"]["gsm8k"]["sample_len"] == 2
    assert 0 <= found["results"]["gsm8k"]["exact_match,strict-match"] <= 1
    # The override is in the signature; what was not overridden stayed official.
    assert signature(found, "longbench_v1_qasper")["generation"] == {
        "until": [],
        "max_gen_toks": 16,
        "do_sample": False,
        "temperature": 0.0,
    }
    assert signature(found, "longbench_v1_trec")["generation"]["max_gen_toks"] == 64
    assert signature(found, "longbench_v1_trec")["answered"] == 5
    logs = {path.name.rpartition("_")[0] for path in tmp_path.rglob("samples_*.jsonl")}
    assert logs == {f"samples_{name}" for name in names}


def test_the_plain_harness_runs_the_suite_from_a_config_file(
    suite, process, tmp_path, model_folder
):
    config = block("my_run.yaml")
    assert config["include_path"] == ["my_tasks", str(task_folder())]
    config["include_path"][0] = str(suite)
    config["model_args"] = {"pretrained": model_folder}
    config["metadata"]["longbench"] |= {"data_dir": "sample", "truncate_to": 700}
    config |= {"output_path": str(tmp_path / "out"), "device": "cpu", "limit": 2}
    write(tmp_path / "my_run.yaml", config)
    found = process("lm_eval", "run", "--config", tmp_path / "my_run.yaml", output=tmp_path / "out")
    ours = {"longbench_v1_qasper", "longbench_v1_trec"}
    assert set(found["results"]) == {"my_suite", "gsm8k", *ours}
    for task in ours:
        own = signature(found, task)
        assert (own["limit"], own["answered"]) == (700, 2)
    assert signature(found, "longbench_v1_qasper")["generation"]["max_gen_toks"] == 16


# ---------------------------------------------------------------------- overrides, in this process


@pytest.fixture
def run(tmp_path, recording_lm):
    """Write a group, or a task, into a folder of a user and run it: run(group, metadata)."""

    def run(group, metadata=None, **arguments):
        write(tmp_path / f"{group.get('group') or group['task']}.yaml", group)
        manager = TaskManager(
            include_path=[str(tmp_path), str(task_folder())],
            include_defaults=False,
            metadata=metadata or {},
        )
        return simple_evaluate(
            model=recording_lm,
            tasks=[group.get("group") or group["task"]],
            task_manager=manager,
            bootstrap_iters=0,
            **arguments,
        )

    return run


def on_the_sample(group):
    """Let every member with options of its own read the sample."""
    for member in group["task"]:
        member["metadata"]["longbench"]["data_dir"] = "sample"
    return group


def test_members_have_options_of_their_own(run, recording_lm, tokenizer_folder):
    group = on_the_sample(block("my_lengths.yaml"))
    for member in group["task"]:
        member["metadata"]["longbench"]["tokenizer"] = tokenizer_folder
    found = run(group)
    qasper, trec = (signature(found, f"longbench_v1_{name}") for name in ("qasper", "trec"))
    assert (qasper["limit"], qasper["repeats"], qasper["version"]) == (3500, 1, "1.2")
    assert (trec["limit"], trec["repeats"], trec["version"]) == (7500, 2, "1.2")
    assert trec["generation"] == {
        "until": [],
        "max_gen_toks": 64,
        "do_sample": True,
        "temperature": 0.7,
    }
    assert len(recording_lm.requests) == 4 + 2 * 5
    assert found["versions"]["longbench_v1_trec"].startswith("1.2 data: sample-")


def test_options_of_the_command_line_replace_those_of_a_member_as_a_whole(run):
    group = on_the_sample(block("my_lengths.yaml"))
    found = run(group, {"longbench": {"data_dir": "sample", "overlength": "skip"}})
    for name in ("longbench_v1_qasper", "longbench_v1_trec"):
        own = signature(found, name)
        assert (own["limit"], own["overlength"], own["repeats"]) == (None, "skip", 1)


def test_generation_of_group_member_and_command_line(run, recording_lm):
    """The command line before the member, the member before the group, that before the official."""
    group = {
        "group": "own",
        "generation_kwargs": {"max_gen_toks": 5},
        "task": [
            "longbench_v1_lcc",
            {"task": "longbench_v1_trec", "generation_kwargs": {"max_gen_toks": 6, "top_p": 0.5}},
        ],
    }
    found = run(group, SAMPLE)
    lcc, trec = (signature(found, f"longbench_v1_{n}")["generation"] for n in ("lcc", "trec"))
    official = {"until": [], "do_sample": False, "temperature": 0.0}
    assert lcc == {**official, "max_gen_toks": 5}
    assert trec == {**official, "max_gen_toks": 6, "top_p": 0.5}
    sent = [arguments["max_gen_toks"] for _, arguments in recording_lm.requests]
    assert sorted(sent) == [5] * 4 + [6] * 5
    found = run(group, SAMPLE, gen_kwargs={"max_gen_toks": 7})
    for name in ("longbench_v1_lcc", "longbench_v1_trec"):
        assert signature(found, name)["generation"]["max_gen_toks"] == 7
    assert signature(found, "longbench_v1_trec")["generation"]["top_p"] == 0.5


@pytest.mark.parametrize("on_a_server", [False, True])
def test_filters_that_take_more_answers_than_a_request_gets(run, recording_lm, on_a_server):
    """The harness finds out after the last answer, and all are lost."""
    name = "longbench_v1_lcc"
    recording_lm.answer = lambda number, *_: ["return 1", "return 2"][number % 2]
    member = {
        "task": name,
        "repeats": 2,
        "generation_kwargs": {"do_sample": True, "temperature": 0.7},
        "filter_list": [{"name": "all", "filter": [{"function": "take_first_k", "k": 3}]}],
    }
    options = {"longbench": {"data_dir": "sample"}}
    if on_a_server:
        options["base_url"] = "http://127.0.0.1:9"
    group = {"group": "own", "task": [member]}
    said = "takes 3 answers of a request, .* gets " + ("1" if on_a_server else "2")
    with pytest.raises(OptionError, match=said):
        run(group, options)
    assert recording_lm.requests == []
    # As many as there are can be taken.
    member["filter_list"][0]["filter"][0]["k"] = 1 if on_a_server else 2
    found = run(group, options, log_samples=True)
    rows = found["samples"][name]
    assert [len(flat(row["filtered_resps"])) for row in rows] == [2] * len(rows)


def test_one_task_twice_and_a_file_of_its_own(run, recording_lm):
    twice = {
        "group": "twice",
        "task": [
            {"task": "longbench_v1_qasper", "generation_kwargs": {"max_gen_toks": number}}
            for number in (3, 4)
        ],
    }
    found = run(twice, SAMPLE)
    assert [*found["configs"]] == ["longbench_v1_qasper"]
    assert signature(found, "longbench_v1_qasper")["generation"]["max_gen_toks"] == 4
    recording_lm.requests.clear()
    run(block("qasper_one_word.yaml"), SAMPLE)
    both = {"group": "both", "task": ["longbench_v1_qasper", "qasper_one_word"]}
    found = run(both, SAMPLE, log_samples=True)
    assert set(found["configs"]) == {"longbench_v1_qasper", "qasper_one_word"}
    own = signature(found, "qasper_one_word")
    assert (own["task"], own["version"]) == ("longbench_v1_qasper", "1.2")
    assert own["generation"]["max_gen_toks"] == 2
    assert {row["doc"]["task"] for row in found["samples"]["qasper_one_word"]} == {
        "longbench_v1_qasper"
    }
    prompts = prompts_of("longbench_v1_qasper")
    assert sorted(recording_lm.prompts[-8:]) == sorted(prompts * 2)


def test_a_mean_within_one_benchmark(run):
    group = block("my_means.yaml")
    assert group["task"].pop() == "gsm8k"  # needs its data, and has no figure of ours
    found = run(group, SAMPLE)
    means = found["groups"]["my_means::my_longbench"]
    scores = [found["results"][f"longbench_v1_{n}"]["score,none"] for n in ("trec", "qasper")]
    assert means["score,none"] == pytest.approx(sum(scores) / 2)
