"""Flags of our options: on `run`, `doctor` and `lock`, beside --metadata and a config file."""

import json
import os
import re

import pytest

from lm_eval_longbench.cli.main import command
from lm_eval_longbench.cli.run import help_text
from lm_eval_longbench.errors import OptionError
from lm_eval_longbench.options import FLAGS, MOST_REPEATS, Options, flag, with_flags

TASK = "longbench_v1_passage_count"
SAMPLE = '{"longbench": {"data_dir": "sample"}}'


@pytest.fixture
def run(processes, tmp_path):
    """Run the real command with the baseline; the options of its results file."""

    def begin(*arguments, command="run", status=0):
        done = processes.run(
            *("lm-eval-longbench", command, "--model", "longbench-extractive"),
            *("--tasks", TASK, *map(str, arguments)),
            cwd=tmp_path,
            env={**os.environ, "HF_DATASETS_CACHE": str(tmp_path / "hf")},
        )
        assert done.returncode == status, done.stdout + done.stderr
        return done

    return begin


def options_of(folder):
    (file,) = folder.rglob("results_*.json")
    return json.loads(file.read_text(encoding="utf-8"))["configs"][TASK]["metadata"]["longbench"]


def test_flags_are_the_options_of_a_run(run, tmp_path, tokenizer_folder):
    run(
        *("--truncate-to", "500", "--data-dir", "sample", "--tokenizer", tokenizer_folder),
        *("--repeats", "2", "--gen_kwargs", "temperature=1.0,do_sample=True", "--limit", "1"),
        *("--output_path", tmp_path / "out", "--log_samples"),
    )
    given = {"truncate_to": 500, "tokenizer": tokenizer_folder, "repeats": 2}
    assert options_of(tmp_path / "out") == {"data_dir": "sample", **given}


def test_a_config_file_keeps_what_flags_do_not_say(run, tmp_path):
    config = tmp_path / "run.yaml"
    config.write_text("metadata: {longbench: {data_dir: sample}, note: mine}\n")
    run("--config", config, "--repeats", "1", "--limit", "1", "--output_path", tmp_path / "out")
    assert options_of(tmp_path / "out") == {"data_dir": "sample", "repeats": 1}
    done = run("--config", config, "--data-dir", "x", status=2)
    assert "--data-dir x and the metadata, where data_dir is 'sample'" in done.stderr


@pytest.mark.parametrize("option", FLAGS)
def test_what_contradicts_is_refused_and_what_agrees_is_not(option):
    values = (5, 6) if option in ("truncate_to", "repeats") else ("a", "b")
    given = {"longbench": {option: values[0], "log_prompts": "full"}, "note": 1}
    assert with_flags(given, {option: values[0]}) == given
    assert with_flags(given, {option: None}) == given
    with pytest.raises(OptionError, match=f"{flag(option)} {values[1]} and the metadata"):
        with_flags(given, {option: values[1]})
    assert with_flags({}, {option: values[0]}) == {"longbench": {option: values[0]}}
    assert with_flags({"longbench": 5}, {option: values[0]}) == {"longbench": 5}


def test_flags_are_options_of_lock_and_of_the_help():
    listed = {name for one in command("lock").params for name in one.opts}
    text = help_text()
    for name in FLAGS:
        assert name in Options.__dataclass_fields__
        # A lock is of all shards.
        assert (flag(name) in listed) == (name != "shard")
        assert re.search(rf"^  {flag(name)} ", text, re.MULTILINE)
    assert f"at most {MOST_REPEATS};" in text and "MOST_REPEATS" not in text
