"""The lines on results, sample log and response cache."""

import os

import pytest

from lm_eval_longbench.doctor.environment import response_cache_lines as cache_lines, existing, output_folder, output_lines
from lm_eval_longbench.doctor.line import ERROR, OK, WARNING


def test_output(a_run, tmp_path):
    (line,) = output_lines(a_run())
    assert line.status == WARNING
    (line,) = output_lines(a_run(output_path=str(tmp_path / "new")))
    assert (line.status, line.todo.split()[1]) == (WARNING, "--log_samples:")
    (line,) = output_lines(a_run(output_path=str(tmp_path / "new"), log_samples=True))
    assert line.status == OK
    assert not (tmp_path / "new").exists()


def test_a_place_that_cannot_be_written(a_run, tmp_path, monkeypatch):
    (tmp_path / "file").write_text("")
    (line,) = output_lines(a_run(output_path=str(tmp_path / "file" / "out"), log_samples=True))
    assert line.status == ERROR
    monkeypatch.setattr(os, "access", lambda path, mode: False)  # root may write everywhere
    (line,) = output_lines(a_run(output_path=str(tmp_path / "out"), log_samples=True))
    assert line.status == ERROR


def test_folders(tmp_path):
    assert output_folder(str(tmp_path / "a.json")) == tmp_path
    assert output_folder(str(tmp_path / "a")) == tmp_path / "a"
    assert existing(tmp_path / "a" / "b") == tmp_path


@pytest.mark.parametrize("kind", ["text", "messages"])
def test_a_server_without_a_cache_is_a_warning(a_run, a_backend, kind):
    (line,) = cache_lines(a_run(), a_backend(kind), [])
    assert line.status == WARNING
    assert "--use_cache" in line.todo


def test_a_model_in_this_process_needs_none(a_run, a_backend):
    assert list(cache_lines(a_run(), a_backend("local"), [])) == []


def test_sampling_switches_it_off(a_run, a_backend, a_task):
    run = a_run(use_cache="cache")
    (line,) = cache_lines(run, a_backend("text"), [a_task()])
    assert line.status == OK
    sampled = a_task(name="sampled", sent_generation={"do_sample": True})
    _, line = cache_lines(run, a_backend("text"), [a_task(), sampled])
    assert (line.status, line.tasks) == (WARNING, ("sampled",))
