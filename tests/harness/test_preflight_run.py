"""The arguments of a run, read as the harness reads them."""

import pytest

from lm_eval_longbench.errors import OptionError
from lm_eval_longbench.harness.preflight import read_run
from lm_eval_longbench.task_folder import task_folder


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
        ["--tasks", "a", "--metadata", "{'not': 'JSON'}"],
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


def test_sys_argv_is_left_as_it_was():
    import sys

    before = list(sys.argv)
    with pytest.raises(SystemExit):
        read_run(["--no-such-argument"])
    assert sys.argv == before
