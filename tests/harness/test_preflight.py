"""The first request of a preflight is that of the run; real runs are the oracle."""

import json

import pytest

from lm_eval_longbench.harness.preflight import REASONING, ask_task, open_tasks, read_run
from lm_eval_longbench.harness.preflight_model import describe


def ask(model, tasks, model_args=None, options=None, arguments=()):
    """Return what a preflight finds of tasks, on the sample."""
    metadata = {"longbench": {"data_dir": "sample", **(options or {})}}
    given = ("--model_args", json.dumps(model_args)) if model_args else ()
    run = read_run(
        [
            *("--model", model, *given, "--tasks", *tasks),
            *("--metadata", json.dumps(metadata), *arguments),
        ]
    )
    manager, leaves = open_tasks(run, include_defaults=False)
    backend, names = describe(run), [leaf.name for leaf in leaves]
    return [ask_task(run, leaf, backend, manager, names) for leaf in leaves]


@pytest.mark.parametrize("chat", [False, True])
@pytest.mark.parametrize("task", ["longbench_v1_qasper", "longbench_v1_trec", "longbench_v2"])
def test_hf_gets_the_same_prompt_and_arguments(evaluate, model_folder, task, chat):
    model_args = {"pretrained": model_folder, "device": "cpu"}
    options = {"truncate_to": 400, "log_prompts": "full"}
    arguments = ("--gen_kwargs", "max_gen_toks=2", *(("--apply_chat_template",) if chat else ()))
    (facts,) = ask("hf", [task], model_args, options, arguments)
    result = evaluate(
        "hf", [task], options, model_args, limit=1, apply_chat_template=chat,
        gen_kwargs={"max_gen_toks": 2}, log_samples=True,
    )  # fmt: skip
    (sample,) = result["samples"][task]
    ((prompt, generation),) = sample["arguments"]
    assert facts.problem == ""
    assert facts.sent == prompt
    assert facts.sent_generation == generation
    signature = result["configs"][task]["metadata"]["longbench_run"]
    assert facts.chat == signature["chat"]
    assert (facts.limit.tokens, facts.limit.source) == (400, signature["limit_source"])
    assert facts.repeats == signature["repeats"]
    assert not facts.as_messages


@pytest.mark.parametrize("task", ["longbench_v1_trec", "longbench_pro_t1_1", "longbench_v2_rag"])
def test_a_chat_server_gets_the_same_messages(evaluate, api_server, task):
    model_args = {"model": "tiny", "base_url": api_server.url("/v1/chat/completions")}
    (facts,) = ask(
        "local-chat-completions", [task], model_args, arguments=("--apply_chat_template",)
    )
    assert api_server.payloads == []  # nothing was sent
    evaluate(
        "local-chat-completions",
        [task],
        model_args=model_args,
        limit=1,
        apply_chat_template=True,
    )
    _, first = api_server.payloads[0]
    assert facts.as_messages
    assert json.loads(facts.sent) == first["messages"]
    assert facts.repeats == len(api_server.payloads)


def test_a_completions_server_gets_the_same_text(evaluate, api_server, tokenizer_folder):
    model_args = {
        "model": "tiny",
        "base_url": api_server.url("/v1/completions"),
        "tokenizer": tokenizer_folder,
        "tokenizer_backend": "huggingface",
        "max_length": 1024,
    }
    task = "longbench_v1_e_qasper"
    (facts,) = ask("local-completions", [task], model_args, arguments=("--apply_chat_template",))
    evaluate("local-completions", [task], model_args=model_args, limit=1, apply_chat_template=True)
    ((_, payload),) = api_server.payloads
    tokenizer = facts.tokenizer.tokenizer
    assert payload["prompt"] == [tokenizer(facts.sent, add_special_tokens=False)["input_ids"]]


def test_chosen_samples_and_limits(model_folder):
    whole, few, chosen = (
        ask("hf", ["longbench_v1_trec"], {"pretrained": model_folder}, arguments=more)[0]
        for more in ((), ("--limit", "2"), ("--samples", '{"longbench_v1_trec": [3, 4]}'))
    )
    assert (whole.questions, whole.asked) == (5, 5)
    assert (few.questions, few.asked) == (5, 2)
    assert (chosen.questions, chosen.asked) == (5, 2)
    assert few.whole == whole.whole != chosen.whole


def test_pass_two_embeds_what_pass_one_will_reason():
    one, two = ask("longbench-extractive", ["longbench_v2_cot"])
    assert one.name == "longbench_v2_cot"
    assert REASONING in two.sent and two.problem == ""


def test_pass_two_alone_stops_as_the_run_would():
    (facts,) = ask("longbench-extractive", ["longbench_v2_cot_answer"])
    assert "needs the reasoning of pass one" in facts.problem
    assert facts.sent is None


@pytest.mark.parametrize(
    ("options", "arguments", "words"),
    [
        ({"repeats": 3}, (), "repeats with greedy decoding"),
        ({"truncate_to": 10, "overlength": "fail"}, (), "are longer than 10 tokens"),
        ({}, ("--gen_kwargs", "max_gen_toks=3000"), "leaves no room for a prompt"),
        ({}, ("--gen_kwargs", "max_tokens=3,max_new_tokens=3"), "both name the output budget"),
        ({"only": {"language": "English"}}, (), "selects questions of LongBench Pro"),
    ],
)
def test_whatever_stops_the_run_is_the_problem(model_folder, options, arguments, words):
    (facts,) = ask("hf", ["longbench_v1_qasper"], {"pretrained": model_folder}, options, arguments)
    assert words in facts.problem
    assert facts.sent is None


def test_what_a_template_adds_can_be_seen(model_folder):
    args = {"pretrained": model_folder}
    more = ("--apply_chat_template", "--system_instruction", "Be short.")
    wrapped, raw = ask("hf", ["longbench_v1_qasper", "longbench_v1_trec"], args, arguments=more)
    assert wrapped.probe == "<|system|>\nBe short.\n<|user|>\n?\n<|assistant|>\n"
    assert raw.probe == "?"
    assert "Be short." not in raw.sent
    (off,) = ask(
        "hf", ["longbench_v1_qasper"], args, arguments=("--system_instruction", "Be short.")
    )
    assert off.probe == "Be short.?"
    assert off.sent.startswith("Be short.You are given")
