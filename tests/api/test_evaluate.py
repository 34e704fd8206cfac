"""`evaluate` goes the way of `run`: the same figures, signature, logs and kept answers."""

import dataclasses
import json
import os
import re
import shutil
import sqlite3

import datasets
import pytest
from lm_eval.config.evaluate_config import EvaluatorConfig
from lm_eval.models.huggingface import HFLM

import lm_eval_longbench
from lm_eval_longbench.api.evaluate import _HARNESS, evaluate
from lm_eval_longbench.errors import (
    OptionError,
    RunStopped,
    TokenizerError,
)

TASKS = ["longbench_v1_qasper", "longbench_v1_samsum"]
QASPER = TASKS[0]
SAMPLE = {"data_dir": "sample"}
SHORT = {"truncate_to": 400, "limit": 2, "gen_kwargs": "max_gen_toks=6", **SAMPLE}
CHAT = {**SHORT, "apply_chat_template": True}
# What a results file has of a moment, a machine or a folder, and what tells how a model was given.
_OWN = {"date", "git_hash", "start_time", "end_time", "total_evaluation_time_seconds", "config"}
_OWN |= {"model_source", "model_name", "model_name_sanitized"}


@pytest.fixture(scope="module")
def by_command(processes, model_folder, tmp_path_factory):
    """A run of the command line on the tiny model: its output folder, and what it printed."""
    folder = tmp_path_factory.mktemp("command")
    arguments = ["run", "--model", "hf", "--model_args", f"pretrained={model_folder}"]
    arguments += ["--device", "cpu", "--tasks", ",".join(TASKS), "--limit", "2"]
    arguments += ["--gen_kwargs", "max_gen_toks=6", "--apply_chat_template", "--log_samples"]
    arguments += ["--output_path", str(folder)]
    arguments += ["--metadata", '{"longbench": {"data_dir": "sample", "truncate_to": 400}}']
    cache = datasets.config.HF_DATASETS_CACHE
    done = processes.run(
        "lm-eval-longbench", *arguments, env={**os.environ, "HF_DATASETS_CACHE": cache}
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return folder, done.stdout


def results_of(folder):
    (file,) = folder.rglob("results_*.json")
    found = json.loads(file.read_text(encoding="utf-8"))
    return {name: value for name, value in found.items() if name not in _OWN}


def logs_of(folder):
    """The sample logs by task, without the moment at which each answer came."""
    return {
        file.name.partition("_2")[0]: re.sub(
            r'"at": [0-9.]+', '"at": 0', file.read_text(encoding="utf-8")
        )
        for file in folder.rglob("samples_longbench*.jsonl")
    }


def in_memory(model_folder):
    from transformers import AutoModelForCausalLM, AutoTokenizer

    model = AutoModelForCausalLM.from_pretrained(model_folder)
    return model, AutoTokenizer.from_pretrained(model_folder)


def by_name(model_folder, **more):
    return evaluate(
        "hf", TASKS, model_args={"pretrained": model_folder}, device="cpu", **CHAT, **more
    )


def test_a_model_by_name_gives_what_the_command_line_gives(
    by_command, model_folder, tmp_path, capsys
):
    folder, printed = by_command
    run = by_name(model_folder, output_path=tmp_path)
    assert capsys.readouterr().out == ""
    assert results_of(tmp_path) == results_of(folder)
    assert logs_of(tmp_path) == logs_of(folder)
    assert len(logs_of(tmp_path)) == 2
    run.name = "this run"
    tables, options, _ = run.ending(str).partition(
        '\nOptions: data_dir="sample", truncate_to=400\n'
    )
    assert options and tables + options in printed
    assert all(line in printed for line in run.signature.values())


def test_answers_that_a_command_kept_are_not_asked_again(
    by_command, model_folder, tmp_path, monkeypatch
):
    folder = shutil.copytree(by_command[0], tmp_path / "copy")

    def answers():
        (file,) = folder.glob("answers_*.sqlite")
        with sqlite3.connect(file) as connection:
            return connection.execute("SELECT * FROM answers").fetchall()

    before = answers()
    assert len(before) == 4
    monkeypatch.setattr(HFLM, "_model_generate", None)  # to ask for an answer is an error
    run = by_name(model_folder, output_path=folder, log_samples=False)
    assert answers() == before
    assert [sample["failed"] for sample in run.samples] == [False] * 4


@pytest.mark.parametrize("kind", ["pair", "object"])
def test_a_model_in_memory_gives_what_its_name_gives(by_command, model_folder, tmp_path, kind):
    model, tokenizer = in_memory(model_folder)
    given = (model, tokenizer)
    if kind == "object":
        given = HFLM(pretrained=model, tokenizer=tokenizer)
    run = evaluate(given, TASKS, name="tiny", output_path=tmp_path, **CHAT)
    folder, _ = by_command
    found, expected = results_of(tmp_path), results_of(folder)
    assert found["results"] == expected["results"]
    for task in TASKS:
        one, other = (own["configs"][task]["metadata"] for own in (found, expected))
        assert one["longbench_run"]["signature"] == other["longbench_run"]["signature"]
    assert logs_of(tmp_path) == logs_of(folder)
    assert (run.name, [file.name for file in tmp_path.iterdir() if file.is_dir()]) == (
        "tiny",
        ["tiny"],
    )


def test_a_tokenizer_in_memory_alone_cuts_prompts(model_folder):
    """Its files say something else: it counts as it is."""
    model, tokenizer = in_memory(model_folder)
    tokenizer.add_tokens(["the "])
    model.resize_token_embeddings(len(tokenizer))
    run = evaluate((model, tokenizer), [QASPER], **SHORT)
    (own,) = {sample["truncated"] for sample in run.samples}
    signed = run.results["configs"][QASPER]["metadata"]["longbench_run"]
    assert own is True
    assert signed["tokenizer"] == f"{model_folder} in memory"
    document = lm_eval_longbench.load(QASPER, **SAMPLE)[0]
    with pytest.raises(TokenizerError):  # lent for the run alone
        lm_eval_longbench.prompt(QASPER, document, tokenizer=signed["tokenizer"], truncate_to=10)


# ---------------------------------------------------------------------- functions


def test_a_function_gets_prompts_and_what_it_asks_for(capsys):
    calls = []

    def answer(prompts, question_at, generation):
        calls.append((prompts, question_at, generation))
        return [f"answer {place}" for place in question_at]

    run = evaluate(answer, QASPER, batch_size=3, **SAMPLE)
    documents = lm_eval_longbench.load(QASPER, **SAMPLE)
    assert [len(prompts) for prompts, _, _ in calls] == [3, 1]
    asked = [
        (prompt, place, own["max_gen_toks"])
        for prompts, places, generation in calls
        for prompt, place, own in zip(prompts, places, generation, strict=True)
    ]
    expected = [(doc.prompt, doc.question_at, doc.budget) for doc in documents]
    assert sorted(asked) == sorted(expected)
    assert len(run.samples) == len(documents) == 4
    assert run.name == "this run"
    assert re.search("Running generate_until requests: 100%.* 4/4 ", capsys.readouterr().err)


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (lambda prompts: "text", "returned str for 4 prompts"),
        (lambda prompts: ["a"], "returned 1 answers for 4 prompts"),
        (lambda prompts: [None] * len(prompts), "returned NoneType as an answer"),
    ],
)
def test_a_function_that_returns_something_else_stops_the_run(answer, said):
    with pytest.raises(RunStopped, match=said):
        evaluate(answer, QASPER, batch_size="auto", **SAMPLE)


def test_a_chat_template_of_a_function_is_that_of_its_tokenizer(model_folder):
    prompts = []

    def answer(own):
        prompts.extend(own)
        return ["a"] * len(own)

    with pytest.raises(OptionError, match="needs the template"):
        evaluate(answer, QASPER, apply_chat_template=True, limit=1, **SAMPLE)
    _, tokenizer = in_memory(model_folder)
    evaluate(answer, QASPER, apply_chat_template=True, limit=1, tokenizer=tokenizer, **SAMPLE)
    assert prompts[0].startswith("<|user|>\n")
    assert prompts[0].endswith("<|assistant|>\n")


def test_kept_answers_of_a_function_are_known_by_its_name(tmp_path):
    asked = []

    def answer(prompts):
        asked.extend(prompts)
        return ["Paris"] * len(prompts)

    with pytest.raises(OptionError, match="needs its name"):
        evaluate(answer, QASPER, output_path=tmp_path, **SAMPLE)
    first = evaluate(answer, QASPER, name="one", output_path=tmp_path, **SAMPLE)
    again = evaluate(answer, QASPER, name="one", output_path=tmp_path, **SAMPLE)
    assert len(asked) == 4
    assert again.samples == first.samples
    evaluate(answer, QASPER, name="two", output_path=tmp_path, **SAMPLE)
    assert len(asked) == 8


# ---------------------------------------------------------------------- options


def nothing(prompts):
    return [""] * len(prompts)


def test_options_that_are_none_are_left_out_and_samples_choose_questions():
    run = evaluate(nothing, QASPER, truncate_to=None, limit=None, samples={QASPER: [2]}, **SAMPLE)
    assert run.options == {QASPER: SAMPLE}
    assert [line["index"] for line in run.samples] == [2]


def test_a_preset_and_repeats_reach_the_tasks(tokenizer_folder):
    given = {"preset": "Qwen3-8B", "repeats": 2, "tokenizer": tokenizer_folder, **SAMPLE}
    run = evaluate(nothing, "longbench_pro_t1_1", limit=1, **given)
    (signed,) = run._kept.signatures.values()
    assert (signed["repeats"], signed["generation"]["temperature"]) == (2, 0.7)


def test_every_option_of_the_harness_is_taken_or_left_out_on_purpose():
    harness = set(_HARNESS)
    of_harness = {one.name for one in dataclasses.fields(EvaluatorConfig)}
    # What `evaluate` has of its own, what is about examples that LongBench has none of, and what
    # prints, tests, says how to log or is refused.
    left_out = {"config", "model", "model_args", "tasks", "metadata"}
    left_out |= {"num_fewshot", "fewshot_as_multiturn", "cache_requests", "confirm_run_unsafe_code"}
    left_out |= {"check_integrity", "write_out", "show_config", "verbosity", "use_cache"}
    assert of_harness == harness | left_out
