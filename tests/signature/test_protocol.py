"""The official protocol against the tasks themselves, and in what signatures depart from it."""

import pytest
from departing import departures
from lm_eval.tasks import TaskManager
from longbench_pro_facts import BY_CODE
from v1_tasks import E_TASKS, V1_TASKS

from lm_eval_longbench.benchmarks.registry import benchmark_of, find_task, protocol_of
from lm_eval_longbench.benchmarks.v1 import V1
from lm_eval_longbench.signature.protocol import is_greedy
from lm_eval_longbench.signature.signature import UNKNOWN
from lm_eval_longbench.task_folder import task_folder

QASPER, TREC = "longbench_v1_qasper", "longbench_v1_trec"
V2, PRO = "longbench_v2", "longbench_pro_t1_1"
TASKS = (
    *(split.name for split in V1_TASKS + E_TASKS),
    *(f"longbench_v2{mode}" for mode in ("", "_no_context", "_cot", "_cot_answer", "_rag")),
    *(f"longbench_pro{form}_{code}" for form in ("", "_thinking") for code in BY_CODE),
)


def test_limits():
    assert protocol_of(QASPER).limits == (3500, 7500, 15500, 31500)
    assert protocol_of(V2).limits == (120_000, 200_000)
    assert {120_000, 224_000, 1_000_000} <= set(protocol_of(PRO).limits)


def test_budgets_of_pro_are_those_of_the_published_models():
    preset = benchmark_of(find_task(PRO)).presets.find("Gemini-2.5-Flash", thinking=True)
    assert preset.max_gen_toks in protocol_of(PRO, thinking=True).budgets
    assert 1024 in protocol_of(PRO).budgets and 8192 in protocol_of(PRO, thinking=True).budgets
    assert protocol_of(QASPER).budgets == (128,)


@pytest.fixture(scope="module")
def tasks():
    """Every task of ours, on the sample."""
    manager = TaskManager(
        include_path=str(task_folder()),
        include_defaults=False,
        metadata={"longbench": {"data_dir": "sample"}},
    )
    return manager.load(list(TASKS))["tasks"]


@pytest.mark.parametrize("name", TASKS)
def test_the_tasks_do_what_the_protocol_says(tasks, name):
    task = tasks[name]
    official = protocol_of(name, thinking="_thinking" in name)
    benchmark, own = task.asking.benchmark, task.asking.task
    generation = benchmark.generation(own)
    assert generation == task.config.generation_kwargs
    assert generation["max_gen_toks"] in official.budgets
    assert generation["until"] == []
    assert is_greedy(generation) == (official.temperature == 0.0)
    assert official.temperature in (None, generation["temperature"])
    assert official.repeats == task.asking.repeats
    assert ("on" if own.chat else "raw") == official.chat


def signature(task, **changes):
    """That of an official run of a task."""
    official = protocol_of(task, thinking="_thinking" in task)
    temperature = 0.7 if official.temperature is None else official.temperature
    benchmark = benchmark_of(find_task(task))
    return {
        "benchmark": benchmark.name,
        "data_sha256": benchmark.source.sha256,
        "truncation": benchmark.rule.__name__,
        "limit": official.limits[0],
        "overlength": "truncate",
        "chat": official.chat,
        "generation": {
            "until": [],
            "max_gen_toks": official.budgets[-1],
            "temperature": temperature,
            **({"do_sample": False} if temperature == 0.0 else {}),
        },
        "filters": None,
        "metrics": benchmark.metrics,
    } | changes


def generation(task, **changes):
    return signature(task)["generation"] | changes


@pytest.mark.parametrize("task", TASKS)
def test_an_official_run_departs_in_nothing(task):
    repeats = 3 if "pro" in task else 1
    found = departures(task, signature(task), repeats, thinking="_thinking" in task)
    assert (found.found, found.unknown) == ((), ())
    # All of what a run of several merged ones states.
    alone = ("filters", "metrics", "benchmark")
    several = {
        name: value if name in alone else [value, value] for name, value in signature(task).items()
    }
    found = departures(task, several, repeats, thinking="_thinking" in task)
    assert (found.found, found.unknown) == ((), ())


DEPARTURES = {
    "other data": (QASPER, {"data_sha256": "0" * 64}, "other data than zai-org/LongBench@5e628be"),
    "another rule": (
        QASPER,
        {"truncation": "ends_decoded_together"},
        "prompts cut by ends_decoded_together (officially by halves_decoded_apart)",
    ),
    "the model's own limit": (
        QASPER,
        {"limit": 8000},
        "prompts cut at 8000 tokens (officially cut at 3500, 7500, 15500 or 31500)",
    ),
    "no limit": (V2, {"limit": None}, "no limit of prompts (officially cut at 120000 or 200000)"),
    "skipped": (QASPER, {"overlength": "skip"}, "overlength skip (officially truncate)"),
    "no template": (QASPER, {"chat": "off"}, "chat template off (officially on)"),
    "a template on raw": (TREC, {"chat": "on"}, "chat template on (officially raw)"),
    "a small budget": (
        QASPER,
        {"generation": generation(QASPER, max_gen_toks=8)},
        "an output budget of 8 tokens (officially 128)",
    ),
    "a thinking budget for a score without": (
        PRO,
        {"generation": generation(PRO, max_gen_toks=8192)},
        "an output budget of 8192 tokens (officially 1024)",
    ),
    "stops": (
        QASPER,
        {"generation": generation(QASPER, until=["\n"])},
        "stop strings (officially none)",
    ),
    "sampled": (
        QASPER,
        {"generation": generation(QASPER, do_sample=True, temperature=0.7)},
        "temperature 0.7 (officially greedy)",
    ),
    "greedy": (
        V2,
        {"generation": generation(V2, do_sample=False)},
        "greedy (officially temperature 0.1)",
    ),
    "warmer": (
        V2,
        {"generation": generation(V2, temperature=0.7)},
        "temperature 0.7 (officially temperature 0.1)",
    ),
    "Pro without sampling": (
        PRO,
        {"generation": generation(PRO, temperature=0.0)},
        "greedy (officially the model's own temperature, above 0)",
    ),
    "a nucleus": (
        V2,
        {"generation": generation(V2, top_p=0.9)},
        "top_p 0.9 (officially left out)",
    ),
    "a penalty": (
        QASPER,
        {"generation": generation(QASPER, repetition_penalty=1.1)},
        "the generation argument repetition_penalty (officially left out)",
    ),
    "a temperature that servers heed": (
        QASPER,
        {"generation": generation(QASPER, temperature=0.7)},
        "temperature 0.7 without sampling, at which servers sample (officially greedy)",
    ),
    "a temperature that the server refused": (
        QASPER,
        {"generation": generation(QASPER, temperature=None)},
        "the server's own temperature (officially greedy)",
    ),
    "a stop string of the model": (
        QASPER,
        {"model_settings": {"eos_string": "\n"}},
        "stop strings (officially none)",
    ),
    "reasoning that the harness took out": (
        QASPER,
        {"model_settings": [None, {"think_end_token": "</think>"}]},
        "reasoning taken out of answers (officially scored with them)",
    ),
    "no beginning-of-text token": (
        QASPER,
        {"model_settings": {"add_bos_token": "False"}},
        "prompts without a beginning-of-text token (officially as the tokenizer has them)",
    ),
    "guided answers": (
        V2,
        {"model_settings": {"extra_body": {"guided_choice": ["A"], "user": "me"}}},
        "the field guided_choice beside prompts (officially left out)",
    ),
    "damaged settings": (QASPER, {"model_settings": 5}, "model settings 5"),
    "filters": (QASPER, {"filters": [{"name": "mine"}]}, "filters of answers (officially none)"),
    "an older scorer": (
        QASPER,
        {"metrics": "0.9"},
        f"scored with version 0.9 of the metrics (here {V1.metrics})",
    ),
    "half of it merged with another run": (
        QASPER,
        {"chat": ["off", "on"]},
        "chat template off (officially on)",
    ),
    "answers without their reasoning": (
        QASPER,
        {"reasoning": "drop", "reasoned": [0, 3]},
        "reasoning taken out of answers (officially scored with them)",
    ),
    "a part of the questions": (
        PRO,
        {"data": "caskcsg/LongBench-Pro@4996884 (only language: English)"},
        "a part of the questions (officially all)",
    ),
    "a shard": (V2, {"shard": "1/8 of 503"}, "a part of the questions (officially all)"),
    "a system instruction": (
        QASPER,
        {"system_sha256": "a" * 64},
        "a system instruction (officially none)",
    ),
    "own retrieval": (
        "longbench_v2_rag",
        {"retrieval": "BM25 here"},
        "parts of documents chosen by this package (officially by others)",
    ),
    "own retrieval in half of it": (
        "longbench_v1_retrieval_qasper",
        {"retrieval": ["file sha256 1", "BM25 here"]},
        "parts of documents chosen by this package (officially by others)",
    ),
    "damaged": (QASPER, {"generation": 5}, "generation arguments 5"),
    "no number": (
        QASPER,
        {"generation": generation(QASPER, temperature="hot")},
        "temperature 'hot'",
    ),
}


@pytest.mark.parametrize(("task", "changes", "said"), DEPARTURES.values(), ids=DEPARTURES.keys())
def test_departures(task, changes, said):
    found = departures(task, signature(task, **changes), 3 if task == PRO else 1)
    assert (found.found, found.unknown) == ((said,), ())


def test_what_does_not_count():
    fine = {
        "an official limit of another model": (QASPER, {"limit": 31500}),
        "raw without any template": (TREC, {"chat": "off"}),
        "fail, and the run ended": (QASPER, {"overlength": "fail"}),
        "a seed": (V2, {"generation": generation(V2, seed=7)}),
        "the whole nucleus": (V2, {"generation": generation(V2, top_p=1.0)}),
        "a nucleus of greedy answers": (QASPER, {"generation": generation(QASPER, top_p=0.5)}),
        "no reasoning to drop": (V2, {"reasoning": "drop", "reasoned": 0}),
        "reasoning that is kept": (V2, {"reasoning": "keep", "reasoned": 7}),
        "given chunks": ("longbench_v2_rag", {"retrieval": "file sha256 12ab"}),
        "a beginning-of-text token": (QASPER, {"model_settings": {"add_bos_token": True}}),
        "how a model thinks": (
            V2,
            {
                "model_settings": {
                    "chat_template_kwargs": {"enable_thinking": True},
                    "extra_body": {"reasoning_effort": "low"},
                }
            },
        ),
        "Pro at the server's own temperature": (
            PRO,
            {"generation": generation(PRO, temperature=None)},
        ),
        "the model's own sampling": (PRO, {"generation": generation(PRO, top_k=20, top_p=0.8)}),
    }
    for why, (task, changes) in fine.items():
        found = departures(task, signature(task, **changes), 3 if task == PRO else 1)
        assert found.found == (), why


def test_a_thinking_score_needs_a_thinking_budget():
    for budget, thinking, departs in (
        (1024, False, False),
        (1024, True, True),
        (8192, True, False),
        (32768, True, False),
        (32768, False, True),
    ):
        own = signature(PRO, generation=generation(PRO, max_gen_toks=budget))
        found = departures(PRO, own, 3, thinking=thinking)
        assert bool(found.found) == departs, (budget, thinking)


@pytest.mark.parametrize(("task", "official"), [(QASPER, 1), (V2, 1), (PRO, 3)])
def test_repeats(task, official):
    assert departures(task, signature(task), official).found == ()
    (said,) = departures(task, signature(task), 2).found
    assert said == f"2 answers to each question (officially {official})"


def test_what_nobody_knows():
    for nothing in ({}, dict.fromkeys(signature(QASPER), UNKNOWN)):
        found = departures(QASPER, nothing, 1)
        assert found.found == ()
        assert found.nothing_known
    found = departures(QASPER, signature(QASPER, chat=UNKNOWN, limit=[31500, UNKNOWN]), 1)
    assert (found.found, found.unknown) == ((), ("limit", "chat"))
    assert not found.nothing_known
    found = departures(QASPER, signature(QASPER, chat=UNKNOWN, limit=5), 1)
    assert len(found.found) == 1
