"""The first request of a preflight is that of the run; real runs are the oracle."""

import json

import pytest
from lm_eval.tasks import TaskManager

from lm_eval_longbench.errors import OptionError, UnknownNameError
from lm_eval_longbench.harness.preflight import REASONING, ask_task, open_tasks, read_run
from lm_eval_longbench.harness.preflight_model import describe
from lm_eval_longbench.task_folder import task_folder


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


# ---------------------------------------------------------------------- the arguments


def test_everything_a_preflight_looks_at():
    run = read_run(
        [
            *("--model", "hf", "--model_args", "pretrained=x,max_length=4096"),
            *("--tasks", "a,b", "c", "--apply_chat_template"),
            *("--metadata", '{"longbench": {"truncate_to": 3500}}'),
            *("--gen_kwargs", "temperature=0.5", "--limit", "3"),
            *("--use_cache", "cache", "--output_path", "out", "--log_samples"),
        ]
    )
    assert run.model == "hf"
    assert run.model_args == {"pretrained": "x", "max_length": 4096}
    assert run.tasks == ("a", "b", "c")
    assert run.metadata == {**run.model_args, "longbench": {"truncate_to": 3500}}
    assert run.gen_kwargs == {"temperature": 0.5}
    assert (run.chat, run.limit, run.use_cache) == (True, 3.0, "cache")
    assert (run.output_path, run.log_samples) == ("out", True)
    assert run.include_path == (str(task_folder()),)


def test_a_config_file_and_the_command_line_over_it(tmp_path, capsys):
    config = tmp_path / "config.yaml"
    config.write_text(
        "model: longbench-extractive\ntasks: [a, b]\ngen_kwargs: {temperature: 0.3}\n"
        f"include_path: {tmp_path}\nmetadata: {{longbench: {{data_dir: sample}}}}\n"
    )
    run = read_run(["--config", str(config), "--tasks", "c"])
    assert run.model == "longbench-extractive"
    assert run.tasks == ("c",)
    assert run.gen_kwargs == {"temperature": 0.3}
    assert run.metadata["longbench"] == {"data_dir": "sample"}
    assert run.metadata["engine"] == run.model  # a name for its files
    assert run.include_path == (str(tmp_path), str(task_folder()))
    assert capsys.readouterr().out == ""  # the harness prints the file; a report must not have it


def test_chain_of_thought_brings_its_second_pass():
    run = read_run(["--model", "hf", "--tasks", "longbench_v2_cot"])
    assert run.tasks == ("longbench_v2_cot", "longbench_v2_cot_answer")


def test_a_preset_fills_in(tmp_path):
    """The tasks of its benchmark take its settings; those of others and of the harness do not."""
    arguments = ["--tasks", "longbench_pro,longbench_v2", "--gen_kwargs", "temperature=0.5"]
    run = read_run(arguments, "gemma-3-27b-it")
    assert run.metadata["longbench"] == {"preset": "Gemma-3-27B-It"}
    assert run.gen_kwargs == {"temperature": 0.5}
    assert "temperature=0.5 (yours; published: 1.0)" in run.said
    assert "truncate_to=120000, max_gen_toks=1024" in run.said
    assert "preset Gemma-3-27B-It of LongBench Pro, non-thinking" in run.said
    assert "1 tasks of other benchmarks keep their official settings" in run.said


def test_a_preset_for_tasks_that_have_none_is_refused():
    with pytest.raises(OptionError, match="settings for LongBench Pro, and this run asks for none"):
        read_run(["--tasks", "longbench_v1,longbench_v2"], "Qwen3-8B")
    # A user's own group may hold anything.
    assert read_run(["--tasks", "my_group"], "Qwen3-8B").said


def test_a_preset_with_a_doubt_says_so():
    run = read_run(["--tasks", "longbench_pro"], "MiniMax-M2", thinking=True)
    assert "truncate_to=120000" in run.said
    assert "Note: the published table of settings says 120000, although" in run.said


@pytest.mark.parametrize(
    "arguments",
    [
        ["--tasks", "a", "--log_samples"],
        ["--config", "/no/such/file.yaml"],
        ["--tasks", "a", "--limit", "2", "--samples", '{"a": [1]}'],
    ],
)
def test_what_the_harness_refuses_is_our_error(arguments):
    with pytest.raises(OptionError, match="The harness refuses"):
        read_run(arguments)


def test_samples_that_are_no_json_and_no_file():
    with pytest.raises(OptionError, match=r"no-such-file\.json"):
        read_run(["--tasks", "a", "--samples", "no-such-file.json"])


def test_what_cannot_be_read_is_said_as_by_run():
    with pytest.raises(UnknownNameError, match="Did you mean '--truncate-to'"):
        read_run(["--truncate_to", "5"])
    with pytest.raises(OptionError, match="--metadata cannot be read as JSON"):
        read_run(["--tasks", "a", "--metadata", "{'not': 'JSON'}"])


# ---------------------------------------------------------------------- the tasks


SAMPLE = {"longbench": {"data_dir": "sample"}}


def leaves_of(*tasks, include=None, metadata='{"longbench": {"data_dir": "sample"}}'):
    more = ("--include_path", str(include)) if include else ()
    run = read_run(["--model", "hf", "--tasks", *tasks, "--metadata", metadata, *more])
    return open_tasks(run, include_defaults=False)


@pytest.mark.parametrize(
    "tasks",
    [
        ["longbench_v1"],
        ["longbench_v1_e_few_shot", "longbench_v1_qasper"],
        ["longbench_pro"],
        ["longbench_pro_thinking_t4", "longbench_v2"],
        ["longbench_v2_domains"],
    ],
)
def test_groups_expand_to_what_the_harness_builds(tasks):
    manager = TaskManager(
        include_path=str(task_folder()), include_defaults=False, metadata=dict(SAMPLE)
    )
    built = manager.load(tasks)["tasks"]
    _, leaves = leaves_of(*tasks)
    assert [leaf.name for leaf in leaves] == list(built)
    for leaf in leaves:
        task = built[leaf.name]
        assert leaf.task == task.asking.task.name
        assert leaf.repeats == task.config.metadata["longbench_run"]["repeats"]


def test_patterns():
    _, leaves = leaves_of("longbench_v1_passage_*")
    assert [leaf.name for leaf in leaves] == [
        "longbench_v1_passage_count",
        "longbench_v1_passage_retrieval_en",
        "longbench_v1_passage_retrieval_zh",
    ]


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
        "  - group: longbench_v1_e_code\n"
        "    repeats: 2\n"
        "  - theirs\n"
    )
    (tmp_path / "theirs.yaml").write_text(
        "task: theirs\ndataset_path: nobody/nothing\noutput_type: generate_until\n"
    )
    return tmp_path


def test_a_users_own_group(suite):
    manager, leaves = leaves_of("my_suite", include=suite)
    by_name = {leaf.name: leaf for leaf in leaves}
    assert list(by_name) == [
        "longbench_v1_lcc",
        "longbench_v1_trec",
        "longbench_v1_samsum",
        "longbench_v1_e_lcc",
        "longbench_v1_e_repobench_p",
        "theirs",
    ]
    assert by_name["theirs"].task is None
    assert by_name["longbench_v1_e_lcc"].repeats == 2
    (task,) = manager.load(by_name["longbench_v1_trec"].spec)["tasks"].values()
    assert task.config.task == "longbench_v1_trec"
    assert task.config.generation_kwargs["max_gen_toks"] == 7
    assert task.config.generation_kwargs["until"] == []


def test_a_yaml_file_by_its_path(suite):
    _, by_name = leaves_of("my_suite", include=suite)
    _, by_path = leaves_of(str(suite / "suite.yaml"), include=suite)
    assert by_path == by_name
    _, (leaf,) = leaves_of(str(task_folder() / "longbench_v1" / "longbench_v1_lcc.yaml"))
    assert (leaf.name, leaf.task) == ("longbench_v1_lcc", "longbench_v1_lcc")
    manager, _ = leaves_of("longbench_v1_lcc")
    (task,) = manager.load(dict(leaf.spec))["tasks"].values()
    assert task.config.task == "longbench_v1_lcc"


def test_options_of_a_yaml_reach_the_leaf(tmp_path):
    (tmp_path / "own.yaml").write_text(
        "group: own\ntask:\n  - task: longbench_v1_lcc\n"
        "    metadata: {version: 1.0, longbench: {data_dir: sample}}\n"
    )
    _, (leaf,) = leaves_of("own", include=tmp_path, metadata="{}")
    assert leaf.metadata["longbench"] == {"data_dir": "sample"}


@pytest.mark.parametrize("wanted", ["longbench_v1_qaspar", "no/such/file.yaml"])
def test_an_unknown_task_names_the_nearest(wanted):
    with pytest.raises(UnknownNameError, match="Did you mean"):
        leaves_of(wanted)


def test_a_member_that_is_nowhere_is_unknown(tmp_path):
    (tmp_path / "own.yaml").write_text("group: own\ntask: [longbench_v1_lccc]\n")
    with pytest.raises(UnknownNameError, match="longbench_v1_lcc"):
        leaves_of("own", include=tmp_path)


def test_embedding_options_stay_out_of_the_built_tasks():
    """The preflight asks the embedding server itself."""
    metadata = '{"longbench": {"data_dir": "sample", "embedding_model": "m"}}'
    manager, (leaf,) = leaves_of("longbench_pro_t4_1", metadata=metadata)
    assert leaf.metadata["longbench"]["embedding_model"] == "m"
    (task,) = manager.load(leaf.spec)["tasks"].values()
    assert "embedding_model" not in task.config.metadata["longbench"]
