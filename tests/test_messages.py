"""What is said of mistakes, of users and of callers in Python: messages.json has each whole.

Each message is a few lines. `WRITE_MESSAGES=1 pytest -n0 tests/test_messages.py` writes the file
anew; read what changed of it.
"""

import json
import os
import re
import sys
from pathlib import Path

import pytest

from lm_eval_longbench import evaluate, figures, judge, load, prompt, report, score
from lm_eval_longbench.cli import main as main_module
from lm_eval_longbench.errors import HarnessError, LongBenchError
from lm_eval_longbench.harness.evaluate import Captured
from lm_eval_longbench.harness.run import explained

FILE = Path(__file__).parent / "messages.json"
WRITE = bool(os.environ.get("WRITE_MESSAGES"))
MOST_LINES, MOST_CHARACTERS = 6, 1100
# Of another tool of the harness.
RESULTS = "other/results_2026-01-01T00-00-00.000000.json"
NOWHERE = "http://127.0.0.1:9/v1"
API = f"model=m,base_url={NOWHERE},endpoint=chat"
TASK, SAMPLE = "longbench_v1_qasper", {"data_dir": "sample"}
FLAG = re.compile(r"(?<!\S)[`'\"(]?--[a-z]")
# What others say, what a release of theirs has, and what differs by folder and moment.
OTHERS = (
    (r"\((\w*Error): .*\)", r"(\1: ...)"),
    (r"^(error: \w*Error): .*?(?= The model is no| --model hf needs)", r"\1: ..."),
    (r"invalid functools.partial.* value:", "invalid value:"),
    (r"(cannot be read as JSON): .*?(?= In a shell)", r"\1: ..."),
    (r"(Did you mean '[^']+'\?) Or .*", r"\1 Or ..."),
    (r"in \S+/lm-eval-longbench_\S+\.log", "in LOG"),
    (r"_[0-9a-f]{8}\.sqlite", "_HASH.sqlite"),
)


def run(tasks="longbench_v1_trec", *more, model="longbench-extractive", metadata=None, **options):
    given = metadata or json.dumps({"longbench": {"data_dir": "sample", **options}})
    wanted = [] if tasks is None else ["--tasks", tasks]
    return ["run", "--model", model, *wanted, "--metadata", given, *more]


def api(arguments, *more, chat=True):
    template = ["--apply_chat_template"] if chat else []
    return run("longbench_v1_trec", "--model_args", arguments, *template, model="longbench-api")


# What is typed.
TYPED = {
    "a misspelt task": run("longbench_v1_hotpot"),
    "a misspelt group": run("longbench_v3"),
    "a full-width comma": run("longbench_v1_trec，longbench_v1_lcc"),
    "capitals": run("LongBench_v1"),
    "no tasks": run(None),
    "a misspelt model": run(model="hff"),
    "a missing brace": run(metadata='{"longbench": {"data_dir": "sample"}'),
    "single quotes": run(metadata="{'longbench': {}}"),
    "quotes of a word processor": run(metadata="{“longbench”: {“data_dir”: “sample”}}"),
    "an unknown option": run(truncate=3500),
    "a text for a number": run(truncate_to="31k"),
    "the harness's cache": run("longbench_v1_trec", "--use_cache", "cache"),
    "logs without a place": run("longbench_v1_trec", "--log_samples"),
    "logs to a file": run("longbench_v1_trec", "--output_path", "a file", "--log_samples"),
    "a task twice": run("longbench_v1,longbench_v1_trec"),
    "no such folder": run("longbench_v1_trec", "--model_args", "pretrained=/no/such", model="hf"),
    "no such model": run("longbench_v1_trec", "--model_args", "pretrained=no/such", model="hf"),
    "hf without a model": run(model="hf"),
    "no server": run(
        *("longbench_v1_trec", "--apply_chat_template", "--model_args"),
        f"model=m,base_url={NOWHERE}/chat/completions,max_retries=1",
        model="local-chat-completions",
    ),
    "no config file": run("longbench_v1_trec", "--config", "no.yaml"),
    "limit below zero": run("longbench_v1_trec", "--limit", "-1"),
    "gen_kwargs": run("longbench_v1_trec", "--gen_kwargs", "foo"),
    "a misspelt argument of generation": run("longbench_v1_trec", "--gen_kwargs", "temprature=1"),
    "a temperature for greedy tasks": run(
        "longbench_pro_t1_1,longbench_v1_trec", "--gen_kwargs", "temperature=0.7"
    ),
    "samples of another task": run("longbench_v1_trec", "--samples", '{"longbench_v1_lcc": [0]}'),
    "a misspelt preset": run("longbench_pro_t4_1", "--preset", "Qwen3-9B"),
    "thinking alone": run("longbench_pro_t4_1", "--thinking"),
    "include_path": run("longbench_v1_trec", "--include_path", "nope"),
    "no address": api("model=m"),
    "a misspelt argument": api(f"{API},numconcurrent=3"),
    "an address without http": api("model=m,base_url=127.0.0.1:9,endpoint=chat"),
    "chat without a template": api(API, chat=False),
    "the same answer thrice": run(repeats=3),
    "a shard beyond the last": run(shard="9/8"),
    "a shard that no question is in": run(shard="84/85"),
    "a length of the other kind": run("longbench_v2", only={"length": [0, 9]}),
    "a window turned round": run("longbench_v2", only={"tokens": [9, 3]}),
    "a margin of nothing": ["compare", "a", "b", "--margin", "0"],
    "a figure without a margin": ["compare", "a", "b", "--figure", "easy"],
    "a dimension": run("longbench_pro_t4_1", only={"lang": "English"}),
    "a value of one": run("longbench_pro_t4_1", only={"language": "German"}),
    "an embedding model": run("longbench_pro_t4_1", embedding_model="no/such"),
    "a tokenizer": run(tokenizer="no/such", truncate_to=100),
    "no first pass": run("longbench_v2_cot_answer"),
    "no log of it": run("longbench_v2_cot_answer", cot_samples="no.jsonl"),
    "a flag": run("longbench_v1_trec", "--taks", "x"),
    "a word alone": ["run", "longbench_v1"],
    "a text for a flag": run("longbench_v1_trec", "--truncate-to", "31k"),
    "a flag out of range": run("longbench_v1_trec", "--repeats", "257"),
    "a flag against the metadata": run(
        "longbench_v1_trec", "--truncate-to", "7500", truncate_to=3500
    ),
    "one of lock": [
        *("lock", "--data-dir", "x", "--metadata"),
        '{"longbench": {"data_dir": "sample"}}',
    ],
    "the harness's own group": run("longbench"),
    "a task of it": run("longbench_qasper_e", model="hf"),
    "an argument without its value": ["run", "--tasks"],
    "examples": run("longbench_v1_trec", "--num_fewshot", "5"),
    "no lock": run("longbench_v1_trec", "--locked", "no.lock"),
    "a seed": run("longbench_v1_trec", "--seed", "abc"),
    "score of nothing": ["score"],
    "score of no such": ["score", "no/such", "--output", "o"],
    "score of a file of results": ["score", RESULTS, "--output", "o"],
    "score of a benchmark": ["score", ".", "--benchmark", "v3", "--output", "o"],
    "report of no such": ["report", "no/such"],
    "a misspelt format": ["report", ".", "--format", "jsno"],
    "rows beside a baseline": ["report", ".", "--without-known-errors", "--baseline", "."],
    "verify of no such": ["verify", "no/such"],
    "compare with another tool": ["compare", "other", "other"],
    "prompt of a misspelt task": ["prompt", "longbench_v1_hotpot"],
    "prompt of a group": ["prompt", "longbench_v1"],
    "prompt of no document": [
        "prompt",
        "longbench_v1_trec",
        "--data-dir",
        "sample",
        "--index",
        "99",
    ],
    "lock of a file of results": run("longbench_v1_trec", "--locked", RESULTS),
    "a page into a folder": [
        "report",
        "--against",
        "published",
        "--format",
        "html",
        "--output",
        "other",
    ],
    "a leaderboard of a file": ["leaderboard", RESULTS, "--output", "site"],
    "prepare of a misspelt name": ["prepare", "v9"],
    "tasks that are none": ["tasks", "triviaq_a"],
    "answers of no such": ["answers", "no/such"],
    "a misspelt command": ["scroe"],
    "a benchmark that is none": ["prepare", "longbench"],
    "data of nowhere": ["prepare", "pro", "--data-dir", ""],
    "a preset that is none": ["presets", "Qwen9-1B"],
    "data without a tokenizer": ["tasks", "qasper", "--data-dir", "sample"],
}


def model(prompts):
    return ["" for _ in prompts]


def document():
    return load(TASK, **SAMPLE)[0]


def judged(*left_out):
    line = judge(TASK, document(), "x")
    return {key: value for key, value in line.items() if key not in left_out}


def by_name(name, arguments, **options):
    return lambda folder: evaluate(name, TASK, model_args=arguments, **SAMPLE, **options)


def with_options(task=TASK, **options):
    return lambda folder: evaluate(model, task, **{**SAMPLE, **options})


SERVER = {"model": "m", "base_url": NOWHERE}
# What is called, with a folder.
CALLED = {
    "logs without a place": with_options(log_samples=True),
    "a temperature": with_options(gen_kwargs="temperature=0.7"),
    "repeats": with_options(repeats=3),
    "no tokenizer": with_options(truncate_to=100),
    "the harness's": with_options("longbench"),
    "no first pass": with_options("longbench_v2_cot_answer"),
    "a body": by_name(
        "longbench-api", {**SERVER, "extra_body": {"seed": 1}}, apply_chat_template=True
    ),
    "a file in the way": with_options(output_path="/dev/null/x", name="m"),
    "x alone": lambda folder: report(folder, x="ratio"),
    "a prompt": lambda folder: prompt(TASK, document(), truncate_to=9),
    "a misspelt option": with_options(truncate_too=100),
    "a misspelt argument": with_options(limits=3),
    "no model": lambda folder: evaluate(7, TASK, **SAMPLE),
    "arguments of a function": with_options(model_args="a=1"),
    "a batch": with_options(batch_size="many"),
    "a preset": with_options(preset="Qwen3-8B"),
    "a cut": with_options(truncate_to=1),
    "samples and a limit": with_options(samples={TASK: [0]}, limit=1),
    "predictions alone": with_options(predict_only=True),
    "a cut of a prompt": lambda folder: prompt(TASK, document(), tokenizer="x", truncate_to=1),
    "half a document": lambda folder: prompt(TASK, {"input": "x"}),
    "an option of load": lambda folder: load(TASK, data_dirs="sample"),
    "a misspelt task": lambda folder: load("longbench_v1_qaspr"),
    "a score of no table": lambda folder: figures([{"score": 1.0}]),
    "a score twice": lambda folder: figures([judged(), judged()]),
    "a score without a field": lambda folder: figures([judged("failed")]),
    "answers that are no list": lambda folder: score(TASK, {**document(), "answers": "x"}, "x"),
    "a score of a misspelt task": lambda folder: score("longbench_v1_qaspr", document(), "x"),
    "a misspelt reasoning": lambda folder: score(TASK, document(), "x", reasoning="kep"),
}
KINDS = {"typed": TYPED, "called": CALLED}


@pytest.fixture(scope="module")
def messages():
    """All messages by kind and mistake, as they are written down."""
    if not WRITE:
        yield json.loads(FILE.read_text(encoding="utf-8"))
        return
    found = {kind: {} for kind in KINDS}
    yield found
    assert all(found[kind].keys() == own.keys() for kind, own in KINDS.items()), "not all ran"
    text = json.dumps(found, indent=1, ensure_ascii=False)
    FILE.write_text(f"{text}\n", encoding="utf-8")


@pytest.fixture
def as_written(messages, tmp_path):
    """See that what is said is what is written down."""

    def compare(kind, mistake, said):
        said = said.replace(str(tmp_path), "HERE")
        for pattern, word in OTHERS:
            said = re.sub(pattern, word, said, flags=re.DOTALL)
        if WRITE:
            messages[kind][mistake] = said.splitlines()
        assert said.splitlines() == messages[kind][mistake]

    return compare


@pytest.fixture(autouse=True)
def _offline(monkeypatch):
    """A message of the cache, not minutes of retries: huggingface_hub has read the variable."""
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)


def test_the_file_has_all_and_no_others(messages):
    assert WRITE or {kind: [*own] for kind, own in messages.items()} == {
        kind: [*own] for kind, own in KINDS.items()
    }


@pytest.mark.parametrize("mistake", TYPED)
def test_a_command_says_it_in_a_few_lines(mistake, monkeypatch, capfd, tmp_path, as_written):
    arguments = TYPED[mistake]
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a file").touch()
    if "other" in " ".join(arguments):
        (tmp_path / "other").mkdir()
        (tmp_path / RESULTS).write_text('{"results": {"mmlu": {}}, "configs": {"mmlu": {}}}')
    monkeypatch.setenv("HF_DATASETS_CACHE", str(tmp_path / "hf"))
    monkeypatch.setattr(sys, "argv", ["lm-eval-longbench", *arguments])
    with pytest.raises(SystemExit) as caught:
        main_module.main()
    out, err = capfd.readouterr()
    lines = [line for line in err.splitlines() if line.strip() and "it/s]" not in line]
    begun = mistake == "no server"
    assert caught.value.code == (1 if begun else 2), err
    assert "Traceback" not in err and out == ""
    if not begun:
        assert len(lines) <= MOST_LINES and len("".join(lines)) <= MOST_CHARACTERS, err
    # Of typer's frame what is in it; of what a run says, what it ends with.
    inside = [line.strip("│ ") for line in lines if line.startswith("│")]
    ends = [place for place, line in enumerate(lines) if line.startswith("error: ")]
    own = inside or (lines[ends[-1] :] if ends else lines[-1:])
    if begun:
        own = re.findall(r"No server answers there[^.]*\.", err)[:1]
    as_written("typed", mistake, "\n".join(own))


@pytest.mark.parametrize("mistake", CALLED)
def test_a_caller_in_python_is_told_no_flag(mistake, tmp_path, as_written):
    with pytest.raises(LongBenchError) as caught:
        CALLED[mistake](tmp_path)
    assert not FLAG.search(str(caught.value)), str(caught.value)
    as_written("called", mistake, f"{type(caught.value).__name__}: {caught.value}")


def test_warnings_name_no_flag_either(caplog):
    evaluate(model, ["longbench_v1_qasper", "longbench_pro_t4_1"], limit=1, **SAMPLE)
    said = [one.getMessage() for one in caplog.records if "longbench" in one.name]
    assert any("option truncate_to" in one for one in said)
    assert any("option embedding_model" in one for one in said)
    assert not [one for one in said if FLAG.search(one)]


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
