"""A user's YAML may not change the official prompts, and does not lose the task's version."""

import pytest
from departing import departures
from lm_eval import simple_evaluate
from lm_eval.tasks import TaskManager
from real_runs import AnsweringLM

from lm_eval_longbench.errors import OptionError, OverlengthError
from lm_eval_longbench.harness.task import LongBenchTask
from lm_eval_longbench.task_folder import task_folder

SAMPLE = {"longbench": {"data_dir": "sample"}}
TASK = {
    "task": "mine",
    "dataset_path": "zai-org/LongBench",
    "definition": "longbench_v1_trec",
    "test_split": "test",
    "output_type": "generate_until",
    "metric_list": [{"metric": "score", "aggregation": "mean", "higher_is_better": True}],
    "metadata": {"version": 1.0, **SAMPLE},
}


def test_a_version_that_an_override_lost_is_found_again():
    task = LongBenchTask({**TASK, "metadata": SAMPLE})
    assert task.config.metadata["longbench_run"]["version"] == "1.2"
    assert str(task.VERSION).startswith("1.2 data: sample-")


# ---------------------------------------------------------------------- options of a call


ASKED = "longbench_v1_e_qasper"
LOCAL = {"data_dir": "sample"}


def manager(**metadata):
    return TaskManager(
        include_path=str(task_folder()), include_defaults=False, metadata=metadata or None
    )


def run_of(result):
    return result["configs"][ASKED]["metadata"]["longbench_run"]


def call(model, tasks, manager, **more):
    return simple_evaluate(
        model=model, tasks=tasks, task_manager=manager, bootstrap_iters=0, **more
    )


def test_options_of_the_call_count_where_the_harness_passes_them_on(recording_lm, tokenizer_folder):
    """Where the caller makes the TaskManager it drops them, and the verdict says: no limit."""
    given = {"longbench": {**LOCAL, "truncate_to": 300}, "tokenizer": tokenizer_folder}
    run = run_of(call(recording_lm, [ASKED], manager(**given), metadata=given))
    dropped = run_of(call(recording_lm, [ASKED], manager(longbench=LOCAL), metadata=given))
    assert (run["limit"], dropped["limit"]) == (300, None)
    assert any("no limit" in said for said in departures(ASKED, dropped, 1).found)


def test_a_model_of_the_call_is_known_whoever_made_the_task_manager(model_folder):
    """The harness gives `model_args` to a TaskManager that it makes itself alone."""
    result = simple_evaluate(
        model="hf",
        model_args={"pretrained": model_folder},
        tasks=[ASKED],
        task_manager=manager(longbench=LOCAL),
        device="cpu",
        limit=1,
        gen_kwargs="max_gen_toks=4",
        bootstrap_iters=0,
    )
    run = run_of(result)
    assert (run["limit"], run["tokenizer"]) == (2048 - 4 - 64, model_folder)


@pytest.fixture(scope="module")
def short_model(model_folder):
    """A model of the harness that was made before the call, and takes 700 tokens."""
    from lm_eval.models.huggingface import HFLM

    return HFLM(pretrained=model_folder, device="cpu", max_length=700, think_end_token="</think>")


def test_the_length_of_a_model_in_memory_cuts_prompts_in_the_middle(short_model, model_folder):
    """Nobody told the tasks of it; the model cut prompts on the left, and no signature said so."""
    from lm_eval import evaluate

    arguments = {"limit": 1, "gen_kwargs": "max_gen_toks=4"}
    result = call(short_model, [ASKED], manager(longbench=LOCAL), **arguments)
    run = run_of(result)
    assert (run["limit"], run["truncated"], run["tokenizer"]) == (700 - 4 - 64, 1, model_folder)
    assert run["model_settings"] == {"think_end_token": "</think>"}
    # Of one task in two calls, each has its own model.
    loaded = manager(longbench=LOCAL).load([ASKED])
    evaluate(short_model, loaded, limit=1)
    (task,) = loaded["tasks"].values()
    assert task.signature.run["limit"] == 700 - 128 - 64
    evaluate(AnsweringLM(lambda number, prompt: "x"), loaded, limit=1)
    assert (task.signature.run["limit"], task.signature.run["model_settings"]) == (None, None)
    assert "max_length" not in task.config.metadata


def test_a_model_in_memory_that_is_too_short_for_truncate_to_is_refused(short_model):
    given = manager(longbench={**LOCAL, "truncate_to": 1500})
    with pytest.raises(OverlengthError, match="would cut it on the left"):
        call(short_model, [ASKED], given, limit=1)


def test_another_tokenizer_than_that_of_the_model_is_refused(
    short_model, model_folder, tokenizer_folder, tmp_path
):
    """Prompts were cut by its ids, and again on the left by those of the model."""
    from transformers import AutoTokenizer

    tokenizer = AutoTokenizer.from_pretrained(model_folder)
    tokenizer.add_tokens(["harbour"])
    tokenizer.save_pretrained(tmp_path)
    for name, refused in ((str(tmp_path), True), (tokenizer_folder, False)):
        options = {**LOCAL, "truncate_to": 300, "tokenizer": name}
        for model, more in (
            ("hf", {"model_args": f"pretrained={model_folder}"}),
            (short_model, {}),
        ):
            given = {"limit": 1, "gen_kwargs": "max_gen_toks=4", **more}
            given |= {"device": "cpu"} if model == "hf" else {}
            if refused:
                with pytest.raises(OptionError, match="leave the option out"):
                    call(model, [ASKED], manager(longbench=options), **given)
            else:  # another name of the same
                assert run_of(call(model, [ASKED], manager(longbench=options), **given))


def test_ids_without_the_beginning_of_text_are_a_departure(evaluate, api_server, tokenizer_folder):
    """The harness's client of text endpoints leaves it out where no chat template writes it."""
    address = f"http://127.0.0.1:{api_server.server_address[1]}/v1/completions"
    given = {"model": "m", "base_url": address, "tokenizer": tokenizer_folder, "max_length": 8000}
    given["tokenizer_backend"] = "huggingface"
    begun = []
    for more in ({}, {"add_bos_token": True}, {"tokenized_requests": False}):
        result = evaluate("local-completions", ["longbench_v1_trec"], None, given | more, limit=1)
        run = result["configs"]["longbench_v1_trec"]["metadata"]["longbench_run"]
        found = [said for said in departures(run["task"], run, 1).found if "beginning" in said]
        prompt = api_server.payloads[-1][1]["prompt"]
        ids = prompt[0] if isinstance(prompt, list) else [0]  # servers add it to a text
        assert (ids[0] == 0) == (not found)
        begun.append(bool(found))
    assert begun == [True, False, False]


def test_a_model_that_cannot_tell_its_tokenizer_is_asked_all_the_same(
    evaluate, recording_lm, monkeypatch
):
    """As the harness's dummy model without a network: it loads one from a hub when asked."""

    def fails(self):
        raise OSError("no network")

    monkeypatch.setattr(type(recording_lm), "tokenizer", property(fails), raising=False)
    monkeypatch.setattr(type(recording_lm), "max_length", property(fails), raising=False)
    result = evaluate(recording_lm, ["longbench_v1_trec"])
    run = result["configs"]["longbench_v1_trec"]["metadata"]["longbench_run"]
    assert (run["limit"], run["answered"], run["model_settings"]) == (None, 5, None)
