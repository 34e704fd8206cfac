"""Mistakes that users make: each ends in a few lines that say what to do, with status 2."""

import json
import re
import sys

import pytest

from lm_eval_longbench.cli import main as main_module
from lm_eval_longbench.errors import HarnessError
from lm_eval_longbench.harness.evaluate import Captured
from lm_eval_longbench.harness.run import explained

MOST_LINES = 6
MOST_CHARACTERS = 1100
# Of another tool of the harness.
RESULTS = "other/results_2026-01-01T00-00-00.000000.json"
NOWHERE = "http://127.0.0.1:9/v1"
API = f"model=m,base_url={NOWHERE},endpoint=chat"


def run(tasks="longbench_v1_trec", *more, model="longbench-extractive", metadata=None, **options):
    given = metadata or json.dumps({"longbench": {"data_dir": "sample", **options}})
    wanted = [] if tasks is None else ["--tasks", tasks]
    return ["run", "--model", model, *wanted, "--metadata", given, *more]


def api(arguments, *more, chat=True):
    template = ["--apply_chat_template"] if chat else []
    return run("longbench_v1_trec", "--model_args", arguments, *template, model="longbench-api")


# What is typed, and what the message must say.
MISTAKES = {
    "a misspelt task": (run("longbench_v1_hotpot"), "'longbench_v1_hotpotqa'? Or '"),
    "a misspelt group": (run("longbench_v3"), "'longbench_v2'? Or 'longbench_v1'"),
    "a full-width comma": (
        run("longbench_v1_trec，longbench_v1_lcc"),
        "plain commas: longbench_v1_trec,longbench_v1_lcc",
    ),
    "capitals": (run("LongBench_v1"), "'longbench_v1'? Or '"),
    "no tasks": (run(None), "--tasks NAMES"),
    "a misspelt model": (run(model="hff"), "Did you mean 'hf'? Or '"),
    "a missing brace": (run(metadata='{"longbench": {"data_dir": "sample"}'), "single quotes go"),
    "single quotes": (run(metadata="{'longbench': {}}"), "double quotes inside"),
    "quotes of a word processor": (
        run(metadata="{“longbench”: {“data_dir”: “sample”}}"),
        "it holds “ ” as another program",
    ),
    "an unknown option": (run(truncate=3500), "'truncate_to'? Or '"),
    "a text for a number": (run(truncate_to="31k"), "must be a whole number"),
    "the harness's cache": (
        run("longbench_v1_trec", "--use_cache", "cache"),
        "answers are kept in the output_path as they come",
    ),
    "logs without a place": (run("longbench_v1_trec", "--log_samples"), "give output_path"),
    "logs to a file": (
        run("longbench_v1_trec", "--output_path", "a file", "--log_samples"),
        "Give another output_path",
    ),
    "a task twice": (run("longbench_v1,longbench_v1_trec"), "asked for twice"),
    "no such folder": (
        run("longbench_v1_trec", "--model_args", "pretrained=/no/such", model="hf"),
        "pretrained=/no/such: there is no such folder",
    ),
    "no such model": (
        run("longbench_v1_trec", "--model_args", "pretrained=no/such", model="hf"),
        "is no folder here",
    ),
    "hf without a model": (run(model="hf"), "pretrained=NAME"),
    "no server": (
        run(
            *("longbench_v1_trec", "--apply_chat_template", "--model_args"),
            f"model=m,base_url={NOWHERE}/chat/completions,max_retries=1",
            model="local-chat-completions",
        ),
        "No server answers there",
    ),
    "no config file": (run("longbench_v1_trec", "--config", "no.yaml"), "no.yaml is no file"),
    "limit below zero": (run("longbench_v1_trec", "--limit", "-1"), "must be above 0"),
    "gen_kwargs": (run("longbench_v1_trec", "--gen_kwargs", "foo"), "key=value"),
    "a misspelt argument of generation": (
        run("longbench_v1_trec", "--gen_kwargs", "temprature=1"),
        "did you mean 'temperature'?",
    ),
    "a temperature for greedy tasks": (
        run("longbench_pro_t1_1,longbench_v1_trec", "--gen_kwargs", "temperature=0.7"),
        "longbench_v1_trec: temperature 0.7 with do_sample=False",
    ),
    "samples of another task": (
        run("longbench_v1_trec", "--samples", '{"longbench_v1_lcc": [0]}'),
        "Did you mean 'longbench_v1_trec'?",
    ),
    "a misspelt preset": (run("longbench_pro_t4_1", "--preset", "Qwen3-9B"), "'Qwen3-8B'? Or '"),
    "thinking alone": (run("longbench_pro_t4_1", "--thinking"), "give --preset too"),
    "include_path": (run("longbench_v1_trec", "--include_path", "nope"), "nope is no folder"),
    "no address": (api("model=m"), "needs base_url="),
    "a misspelt argument": (api(f"{API},numconcurrent=3"), "Did you mean 'num_concurrent'?"),
    "an address without http": (api("model=m,base_url=127.0.0.1:9,endpoint=chat"), "http or"),
    "chat without a template": (api(API, chat=False), "give apply_chat_template"),
    "the same answer thrice": (run(repeats=3), "gen_kwargs temperature=1.0"),
    "a dimension": (run("longbench_pro_t4_1", only={"lang": "English"}), "'language'"),
    "a value of one": (run("longbench_pro_t4_1", only={"language": "German"}), "'English'"),
    "an embedding model": (run("longbench_pro_t4_1", embedding_model="no/such"), "Give a model"),
    "a tokenizer": (run(tokenizer="no/such", truncate_to=100), "cannot be loaded (OSError"),
    "no first pass": (run("longbench_v2_cot_answer"), "longbench_v2_cot"),
    "no log of it": (run("longbench_v2_cot_answer", cot_samples="no.jsonl"), "does not exist"),
    "a flag": (run("longbench_v1_trec", "--taks", "x"), "flag '--taks'. Did you mean '--tasks'?"),
    "a word alone": (["run", "longbench_v1"], "'longbench_v1' stands alone"),
    "a text for a flag": (run("longbench_v1_trec", "--truncate-to", "31k"), "'31k'"),
    "a flag out of range": (run("longbench_v1_trec", "--repeats", "257"), "at most 256"),
    "a flag against the metadata": (
        run("longbench_v1_trec", "--truncate-to", "7500", truncate_to=3500),
        "--truncate-to 7500 and the metadata, where truncate_to is 3500, contradict each other",
    ),
    "one of lock": (
        [*("lock", "--data-dir", "x", "--metadata"), '{"longbench": {"data_dir": "sample"}}'],
        "--data-dir x and the metadata, where data_dir is 'sample', contradict each other",
    ),
    "the harness's own group": (
        run("longbench"),
        "longbench is a group or a task of the harness itself, with prompts, cuts and scores of "
        "its own: `lm_eval run` runs it. Of this package you mean longbench_v1; its benchmarks are "
        "longbench_v1, longbench_v1_e, longbench_v2, longbench_pro.",
    ),
    "a task of it": (run("longbench_qasper_e", model="hf"), "you mean longbench_v1_e_qasper;"),
    "an argument without its value": (["run", "--tasks"], "--tasks"),
    "examples": (run("longbench_v1_trec", "--num_fewshot", "5"), "no few-shot examples"),
    "no lock": (run("longbench_v1_trec", "--locked", "no.lock"), "There is no lock file"),
    "a seed": (run("longbench_v1_trec", "--seed", "abc"), "--seed"),
    "score of nothing": (["score"], "PATH"),
    "score of no such": (["score", "no/such", "--output", "o"], "is not a folder or a file"),
    "score of a file of results": (["score", RESULTS, "--output", "o"], "nothing is recognised"),
    "score of a benchmark": (["score", ".", "--benchmark", "v3", "--output", "o"], "'v2'?"),
    "report of no such": (["report", "no/such"], "does not exist"),
    "a misspelt format": (["report", ".", "--format", "jsno"], "Did you mean 'json'?"),
    "verify of no such": (["verify", "no/such"], "does not exist"),
    "compare with another tool": (
        ["compare", "other", "other"],
        "other has no results of tasks of this package",
    ),
    "prompt of a misspelt task": (["prompt", "longbench_v1_hotpot"], "'longbench_v1_hotpotqa'?"),
    "prompt of a group": (["prompt", "longbench_v1"], "is a group of 21 tasks"),
    "prompt of no document": (
        ["prompt", "longbench_v1_trec", "--data-dir", "sample", "--index", "99"],
        "from 0 to 4",
    ),
    "lock of a file of results": (
        run("longbench_v1_trec", "--locked", RESULTS),
        "is not a lock file",
    ),
    "a page into a folder": (
        ["report", "--against", "published", "--format", "html", "--output", "other"],
        "Give another place",
    ),
    "a leaderboard of a file": (
        ["leaderboard", RESULTS, "--output", "site"],
        "Give the folders",
    ),
    "prepare of a misspelt name": (["prepare", "v9"], "Did you mean"),
    "tasks that are none": (["tasks", "triviaq_a"], "longbench_v1_triviaqa"),
    "answers of no such": (["answers", "no/such"], "There is no file of answers"),
    "a misspelt command": (["scroe"], "Did you mean 'score'?"),
}


@pytest.mark.parametrize("mistake", MISTAKES)
def test_it_is_said_in_a_few_lines(mistake, monkeypatch, capfd, tmp_path):
    arguments, words = MISTAKES[mistake]
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a file").touch()
    if "other" in " ".join(arguments):
        (tmp_path / "other").mkdir()
        (tmp_path / RESULTS).write_text('{"results": {"mmlu": {}}, "configs": {"mmlu": {}}}')
    monkeypatch.setenv("HF_DATASETS_CACHE", str(tmp_path / "hf"))
    # A message of the cache, not minutes of retries: huggingface_hub has read the variable.
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)
    monkeypatch.setattr(sys, "argv", ["lm-eval-longbench", *arguments])
    with pytest.raises(SystemExit) as caught:
        main_module.main()
    out, err = capfd.readouterr()
    said = "".join(line for line in err.splitlines(True) if "it/s]" not in line)
    begun = mistake == "no server"
    assert caught.value.code == (1 if begun else 2), err
    assert "Traceback" not in err
    if not begun:
        assert len([line for line in said.splitlines() if line.strip()]) <= MOST_LINES, said
        assert len(said) <= MOST_CHARACTERS, said
    assert words in err.replace("\n", " "), err
    assert out == "" or mistake.startswith(("a preset", "doctor"))


def test_what_the_harness_lacks_of_its_own_is_told_apart():
    for raised, said in (
        (ConnectionError("Couldn't reach 'x/y' on the Hub"), "a task of the harness itself could"),
        (ModuleNotFoundError("No module named 'rouge'", name="rouge"), "module rouge is missing"),
        (ImportError("vllm is not installed"), 'pip install "lm-eval[vllm]"'),
        (ModuleNotFoundError("No torch", name="torch"), 'pip install "lm-eval-longbench[hf]"'),
        (ValueError("Tasks not found: hotpotqa."), "'longbench_v1_hotpotqa'?"),
    ):
        with (
            pytest.raises(HarnessError, match=re.escape(said)),
            explained("hf", Captured(), debug=False),
        ):
            raise raised


def test_debug_prints_the_traceback_before_the_message(monkeypatch, capfd, tmp_path):
    arguments = run("longbench_v1_trec", "--debug", "--model_args", "pretrained=no/such")
    arguments[2] = "hf"
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "argv", ["lm-eval-longbench", *arguments])
    with pytest.raises(SystemExit) as caught:
        main_module.main()
    assert caught.value.code == 2
    err = capfd.readouterr().err
    assert "Traceback" in err.partition("error: OSError")[0]
    assert "error: OSError" in err.splitlines()[-1]
    assert "fault of lm-eval-longbench" not in err
