"""The first request that `doctor` shows is that of the run; real runs are the oracle."""

import json

import pytest

from lm_eval_longbench.harness.arguments import Beside
from lm_eval_longbench.harness.doctor_tasks import REASONING, ask, build_tasks, measure, read_run
from lm_eval_longbench.harness.models import describe
from lm_eval_longbench.task_folder import task_folder


@pytest.fixture(autouse=True)
def _without_the_harnesss_own_tasks(own_tasks_only):
    """To read them takes ten seconds."""


def asked(model, tasks, model_args=None, options=None, arguments=()):
    """Return what a preflight finds of tasks, on the sample."""
    metadata = {"longbench": {"data_dir": "sample", **(options or {})}}
    given = ("--model_args", json.dumps(model_args)) if model_args else ()
    run, parsed, _ = read_run(
        [
            *("--model", model, *given, "--tasks", *tasks),
            *("--metadata", json.dumps(metadata), *arguments),
        ],
        Beside(),
    )
    found = build_tasks(run, parsed)
    backend = describe(run.model, run.model_args)
    for one in found:
        if one.task is None:
            continue
        measure(run, backend, one)
        if one.problem is None:
            try:
                ask(run, backend, one, [own.name for own in found])
            except Exception as error:
                one.problem = error
    return found


@pytest.mark.parametrize("chat", [False, True])
@pytest.mark.parametrize("task", ["longbench_v1_qasper", "longbench_v1_trec", "longbench_v2"])
def test_hf_gets_the_same_prompt_and_arguments(evaluate, model_folder, task, chat):
    model_args = {"pretrained": model_folder, "device": "cpu"}
    options = {"truncate_to": 400, "log_prompts": "full"}
    arguments = ("--gen_kwargs", "max_gen_toks=2", *(("--apply_chat_template",) if chat else ()))
    (facts,) = asked("hf", [task], model_args, options, arguments)
    result = evaluate(
        "hf", [task], options, model_args, limit=1, apply_chat_template=chat,
        gen_kwargs={"max_gen_toks": 2}, log_samples=True,
    )  # fmt: skip
    (sample,) = result["samples"][task]
    ((prompt, generation),) = sample["arguments"]
    assert facts.problem is None
    assert facts.sent == prompt
    assert facts.task.instances[0].args[1] == generation
    signature = result["configs"][task]["metadata"]["longbench_run"]
    before = {key: own for key, own in facts.signature.items() if own is not None}
    del before["signature"]  # in one line, with the answers
    assert before["questions_sha256"] and before["chat_sha256"]
    assert before == {key: signature[key] for key in before}
    assert (facts.limit.tokens, facts.limit.source) == (400, signature["limit_source"])


@pytest.mark.parametrize("task", ["longbench_v1_trec", "longbench_pro_t1_1", "longbench_v2_rag"])
def test_a_chat_server_gets_the_same_messages(evaluate, api_server, task):
    model_args = {"model": "tiny", "base_url": api_server.url("/v1/chat/completions")}
    (facts,) = asked(
        "local-chat-completions", [task], model_args, arguments=("--apply_chat_template",)
    )
    assert api_server.payloads == []  # nothing was sent
    evaluate(
        "local-chat-completions", [task], model_args=model_args, limit=1, apply_chat_template=True
    )
    _, first = api_server.payloads[0]
    assert json.loads(facts.sent.prompt) == first["messages"]
    assert facts.signature["repeats"] == len(api_server.payloads)


def test_a_completions_server_gets_the_same_text(evaluate, api_server, tokenizer_folder):
    model_args = {
        "model": "tiny",
        "base_url": api_server.url("/v1/completions"),
        "tokenizer": tokenizer_folder,
        "tokenizer_backend": "huggingface",
        "max_length": 1024,
    }
    task = "longbench_v1_e_qasper"
    (facts,) = asked("local-completions", [task], model_args, arguments=("--apply_chat_template",))
    evaluate("local-completions", [task], model_args=model_args, limit=1, apply_chat_template=True)
    ((_, payload),) = api_server.payloads
    tokenizer = facts.tokenizer.tokenizer
    assert payload["prompt"] == [tokenizer(facts.sent, add_special_tokens=False)["input_ids"]]


def test_pass_two_embeds_what_pass_one_will_reason():
    one, two = asked("longbench-extractive", ["longbench_v2_cot"])
    assert one.name == "longbench_v2_cot"
    assert REASONING in two.sent and two.problem is None


def test_what_a_template_adds_is_counted(model_folder):
    args = {"pretrained": model_folder}
    more = ("--apply_chat_template", "--system_instruction", "Be short.")
    wrapped, raw = asked("hf", ["longbench_v1_qasper", "longbench_v1_trec"], args, arguments=more)
    count = wrapped.tokenizer.tokenizer
    template = "<|system|>\nBe short.\n<|user|>\n?\n<|assistant|>\n"
    assert wrapped.template == len(count(template)["input_ids"]) - len(count("?")["input_ids"])
    assert wrapped.tokens == tuple(
        len(count(text)["input_ids"]) for text in (wrapped.whole, wrapped.sent)
    )
    assert raw.template == 0 and "Be short." not in raw.sent
    (off,) = asked(
        "hf", ["longbench_v1_qasper"], args, arguments=("--system_instruction", "Be short.")
    )
    assert off.sent.startswith("Be short.You are given")


# ---------------------------------------------------------------------- the arguments


def test_a_config_file_and_the_command_line_over_it(tmp_path, capsys):
    config = tmp_path / "config.yaml"
    config.write_text(
        "model: longbench-extractive\ntasks: [a, b]\ngen_kwargs: {temperature: 0.3}\n"
        f"include_path: {tmp_path}\nmetadata: {{longbench: {{data_dir: sample}}}}\n"
    )
    run, _, _ = read_run(["--config", str(config), "--tasks", "c"], Beside())
    assert run.model == "longbench-extractive"
    assert run.tasks == "c"
    assert run.gen_kwargs == {"temperature": 0.3}
    assert run.metadata["longbench"] == {"data_dir": "sample"}
    assert run.metadata["engine"] == run.model  # a name for its files
    assert run.include_path == [str(tmp_path), str(task_folder())]
    assert capsys.readouterr().out == ""  # the harness prints the file; a report must not have it


# ---------------------------------------------------------------------- the tasks


def built(*tasks, include=None, metadata='{"longbench": {"data_dir": "sample"}}'):
    more = ("--include_path", str(include)) if include else ()
    given = ["--model", "hf", "--tasks", *tasks, "--metadata", metadata, *more]
    run, parsed, _ = read_run(given, Beside())
    return build_tasks(run, parsed)


@pytest.fixture
def suite(tmp_path):
    """A user's own group, with overrides, an inline group and a task of another kind."""
    (tmp_path / "suite.yaml").write_text(
        "group: my_suite\n"
        "task:\n"
        "  - longbench_v1_lcc\n"
        "  - task: longbench_v1_trec\n"
        "    generation_kwargs: {max_gen_toks: 7}\n"
        "  - group: inner\n"
        "    task: [longbench_v1_samsum]\n"
        "  - longbench_v1_e_code\n"
        "  - theirs\n"
    )
    (tmp_path / "theirs.yaml").write_text(
        "task: theirs\ndataset_path: nobody/nothing\noutput_type: generate_until\n"
    )
    return tmp_path


def test_a_users_own_group(suite):
    found = {one.name: one for one in built("my_suite", include=suite)}
    assert list(found) == [
        "longbench_v1_lcc",
        "longbench_v1_trec",
        "longbench_v1_samsum",
        "longbench_v1_e_lcc",
        "longbench_v1_e_repobench_p",
        "theirs",
    ]
    assert (found["theirs"].official, found["theirs"].problem) == (None, None)  # not opened
    generation = found["longbench_v1_trec"].task.config.generation_kwargs
    assert (generation["max_gen_toks"], generation["until"]) == (7, [])


def test_a_broken_task_does_not_hide_the_others(tmp_path):
    (tmp_path / "bad.yaml").write_text(
        f"include: {task_folder()}/longbench_v1/longbench_v1_lcc.yaml\ntask: bad\ntag: []\n"
        "metric: no_such_metric\n"
    )
    good, bad = built("longbench_v1_trec", "bad", include=tmp_path)
    assert good.task is not None
    assert bad.task is None and "no_such_metric" in str(bad.problem)
