"""What Python callers are told names arguments of Python, and no flag of a command line."""

import re

import pytest

from lm_eval_longbench import evaluate, load, prompt, report
from lm_eval_longbench.errors import LongBenchError

TASK = "longbench_v1_qasper"
SAMPLE = {"data_dir": "sample"}


def model(prompts):
    return ["" for _ in prompts]


def by_name(name, arguments, **options):
    return lambda folder: evaluate(name, TASK, model_args=arguments, **SAMPLE, **options)


def with_options(task=TASK, **options):
    return lambda folder: evaluate(model, task, **{**SAMPLE, **options})


API = {"model": "m", "base_url": "http://127.0.0.1:9/v1"}
# What goes wrong, and a word of what is said.
MISTAKES = {
    "logs without a place": (with_options(log_samples=True), "log_samples needs a place"),
    "a temperature": (with_options(gen_kwargs="temperature=0.7"), "temperature=0.7,do_sample"),
    "repeats": (with_options(repeats=3), "gen_kwargs temperature=1.0"),
    "no tokenizer": (with_options(truncate_to=100), "option 'tokenizer'"),
    "the harness's": (with_options("longbench"), "you mean longbench_v1;"),
    "no first pass": (with_options("longbench_v2_cot_answer"), "option cot_samples"),
    "a body": (
        by_name("longbench-api", {**API, "extra_body": {"seed": 1}}, apply_chat_template=True),
        "gen_kwargs, seed=",
    ),
    "a file in the way": (with_options(output_path="/dev/null/x", name="m"), "output_path"),
    "x alone": (lambda folder: report(folder, x="ratio"), "give baseline too"),
    "a prompt": (
        lambda folder: prompt(TASK, load(TASK, data_dir="sample")[0], truncate_to=9),
        "okenizer",
    ),
}
FLAG = re.compile(r"(?<!\S)[`'\"(]?--[a-z]")


@pytest.mark.parametrize("mistake", MISTAKES)
def test_no_flag_is_named(mistake, tmp_path, monkeypatch):
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)
    call, words = MISTAKES[mistake]
    with pytest.raises(LongBenchError) as caught:
        call(tmp_path)
    assert words in str(caught.value)
    assert not FLAG.search(str(caught.value)), str(caught.value)


def test_warnings_name_none_either(caplog):
    evaluate(model, ["longbench_v1_qasper", "longbench_pro_t4_1"], limit=1, **SAMPLE)
    said = [one.getMessage() for one in caplog.records if "longbench" in one.name]
    assert any("option truncate_to" in one for one in said)
    assert any("option embedding_model" in one for one in said)
    assert not [one for one in said if FLAG.search(one)]
