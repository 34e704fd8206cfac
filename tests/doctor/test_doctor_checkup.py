"""The whole preflight without a run, and with arguments that cannot be read."""

import pytest

from lm_eval_longbench.doctor import checkup
from lm_eval_longbench.doctor.checkup import examine
from lm_eval_longbench.doctor.line import ERROR, WARNING


def test_without_arguments_versions_data_and_disk(empty_caches):
    lines = examine([])
    assert list(dict.fromkeys(line.topic for line in lines)) == ["versions", "data", "disk"]
    assert ERROR not in [line.status for line in lines]
    assert [line.status for line in lines if line.topic == "data"] == [WARNING] * 3


def test_arguments_that_do_not_go_together_are_an_error(report, statuses):
    lines = report("--model", "hf", "--tasks", "longbench_v1_lcc", "--log_samples")
    (line,) = [line for line in lines if line.topic == "arguments"]
    assert line.status == ERROR
    assert "--output_path" in line.found


@pytest.mark.parametrize(
    ("metadata", "words"),
    [
        ('{"longbench": {"truncate": 5}}', "Did you mean 'truncate_to'?"),
        ('{"longbench": {"truncate_to": 1}}', "at least 2"),
    ],
)
def test_a_wrong_option_is_an_error(report, metadata, words):
    lines = report("--tasks", "longbench_v1_lcc", metadata=metadata)
    (line,) = [line for line in lines if line.topic == "arguments"]
    assert line.status == ERROR
    assert words in line.found


def test_an_unknown_model_is_an_error(report):
    lines = report("--model", "hff", "--tasks", "longbench_v1_lcc")
    assert "Did you mean 'hf'?" in lines[-1].found


def test_a_presets_settings_are_told(report):
    lines = report(
        *("--model", "longbench-extractive", "--tasks", "longbench_pro_t3_2"),
        preset="Gemma-3-27B-It",
    )
    (line,) = [line for line in lines if line.topic == "preset"]
    assert "truncate_to=120000" in line.found


def test_without_the_harness_only_versions_are_looked_at(monkeypatch):
    monkeypatch.setattr(checkup, "installed", lambda name: None)
    assert {line.topic for line in examine(["--model", "hf"])} == {"versions"}
