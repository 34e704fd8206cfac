"""This machine: packages, results, caches and disk."""

import os
import shutil
from collections import namedtuple
from importlib.metadata import requires

import pytest

from lm_eval_longbench.benchmarks.longbench_pro import PRO
from lm_eval_longbench.benchmarks.longbench_v1 import V1
from lm_eval_longbench.doctor import environment
from lm_eval_longbench.doctor.environment import (
    PACKAGE,
    PACKAGES,
    RESERVE,
    accepted_range,
    cache_lines,
    existing,
    extra_lines,
    installed,
    kept_answers_lines,
    log_bytes,
    needed,
    output_folder,
    output_line,
    output_lines,
    package_line,
    python_line,
    python_range,
    same,
    space_line,
    version_lines,
)
from lm_eval_longbench.doctor.line import ERROR, OK, WARNING
from lm_eval_longbench.options import Options

# -------------------------------------------------- The tested ranges come from the package's own


def test_ranges_are_those_of_the_metadata():
    (own,) = [text for text in requires(PACKAGE) if text.startswith(("lm-eval<", "lm-eval!"))]
    assert own == f"lm-eval{accepted_range('lm_eval')}"
    assert str(accepted_range("jieba")) == "==0.42.1"
    assert python_range().contains("3.10") and not python_range().contains("3.9")


def test_an_extra_does_not_make_a_core_requirement():
    """sentence-transformers is required by extras alone."""
    assert any(text.startswith("sentence-transformers") for text in requires(PACKAGE))
    assert str(accepted_range("sentence-transformers")) == ""


@pytest.mark.parametrize(("one", "other"), [("lm_eval", "lm-eval"), ("PyYAML", "pyyaml")])
def test_spellings_of_a_name(one, other):
    assert same(one, other)
    assert not same(one, "other")


def test_what_is_not_installed_has_no_version():
    assert installed("jieba") == "0.42.1"
    assert installed("no-such-package-anywhere") is None


# -------------------------------------------------- Versions against the tested ranges


def test_this_installation_is_in_range():
    lines = list(version_lines())
    assert [line.status for line in lines] == [OK] * (1 + len(PACKAGES))
    for name, line in zip(PACKAGES, lines[1:], strict=True):
        assert line.found.startswith(f"{name} ")
    assert "lm-eval-longbench" in lines[0].found


@pytest.mark.parametrize(
    ("found", "wanted", "status"),
    [
        ("0.4.13", ">=0.4.13,<0.5", OK),
        ("0.4.99", ">=0.4.13,<0.5", OK),
        ("0.4.12", ">=0.4.13,<0.5", ERROR),
        ("0.5.0", ">=0.4.13,<0.5", ERROR),
        ("0.4.14rc1", ">=0.4.13,<0.5", OK),
        ("0.5.0.dev1", ">=0.4.13,<0.5.1,!=0.5.0", OK),
        ("0.5.0", ">=0.4.13,<0.5.1,!=0.5.0", ERROR),
        ("1.0", "", OK),
    ],
)
def test_a_package_outside_the_accepted_range_is_an_error(found, wanted, status):
    line = package_line("lm_eval", found, wanted)
    assert line.status == status
    assert found in line.found
    if status == ERROR:
        assert line.todo == f'pip install "lm-eval{wanted}"'


def test_a_missing_package_is_an_error():
    line = package_line("jieba", None, "==0.42.1")
    assert line.status == ERROR
    assert line.todo == 'pip install "jieba==0.42.1"'


def test_an_old_python_is_an_error():
    assert python_line("3.11.2", ">=3.10").status == OK
    line = python_line("3.9.1", ">=3.10")
    assert line.status == ERROR
    assert ">=3.10" in line.found


# -------------------------------------------------- Packages beyond the core, by what the run need


def modules(backend, **options):
    return {what: names for what, names, _ in needed(backend, Options(**options))}


def test_what_each_backend_needs(a_backend):
    assert modules(a_backend("local")) == {
        "the model hf": ("torch", "transformers", "accelerate", "peft")
    }
    assert modules(a_backend("local", "vllm")) == {"the model vllm": ("vllm",)}
    assert modules(a_backend("local", "sglang")) == {"the model sglang": ("sglang",)}
    assert "aiohttp" in modules(a_backend("text", "local-completions"))["servers"]
    assert set(modules(a_backend("messages", "litellm"))) == {"the model litellm", "servers"}
    assert set(modules(a_backend("text", "sglang-generate"))) == {"servers"}
    assert modules(a_backend("other", "longbench-extractive")) == {}


def test_what_embeddings_need(a_backend):
    other = a_backend("other", "longbench-extractive")
    assert modules(other, embedding_model="m") == {
        "the embedding model": ("sentence_transformers",)
    }
    assert modules(other, embedding_model="m", embedding_url="http://h/v1") == {
        "the embedding server": ("requests", "tenacity")
    }


def test_here_everything_of_hf_and_api_is_installed(a_backend):
    for kind, name in (("local", "hf"), ("text", "local-completions")):
        (line,) = extra_lines(a_backend(kind, name), Options())
        assert line.status == OK
        assert any(char.isdigit() for char in line.found)  # versions


@pytest.mark.parametrize(
    ("kind", "name", "todo"),
    [
        ("local", "hf", 'pip install "lm-eval-longbench[hf]"'),
        ("text", "local-completions", 'pip install "lm-eval-longbench[api]"'),
        ("local", "vllm", 'pip install "lm-eval[vllm]"'),
    ],
)
def test_what_is_missing_is_named_with_the_line_that_installs_it(
    a_backend, monkeypatch, kind, name, todo
):
    monkeypatch.setattr(
        environment.importlib.util,
        "find_spec",
        lambda module: None if module in ("torch", "aiohttp", "vllm") else object(),
    )
    (line,) = extra_lines(a_backend(kind, name), Options())
    assert line.status == ERROR
    assert line.todo == todo
    assert line.found.endswith(("torch", "aiohttp", "vllm"))


# -------------------------------------------------- The lines on results, sample log and response


def test_output(a_run, tmp_path):
    (line,) = output_lines(a_run())
    assert line.status == WARNING
    assert "goes on where it was" in line.todo
    (line,) = output_lines(a_run(output_path=str(tmp_path / "new")))
    assert (line.status, line.todo.split()[1]) == (WARNING, "--log_samples:")
    # The store keeps the answers; it is the log that is not there.
    assert line.found.endswith(", without a sample log") and "kept" not in line.found
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


def test_answers_are_kept_beside_the_results(a_run):
    assert list(kept_answers_lines(a_run(output_path=None))) == []
    (line,) = kept_answers_lines(a_run(output_path="out"))
    assert (line.status, line.found) == (OK, "answers are kept in out as they arrive")


def test_the_harness_cache_is_refused(a_run):
    (line,) = kept_answers_lines(a_run(use_cache="cache"))
    assert (line.status, line.found) == (ERROR, "run refuses --use_cache")


# -------------------------------------------------- Free space against the estimate


Usage = namedtuple("Usage", "total used free")


@pytest.fixture
def free(monkeypatch):
    """Set the free bytes of every disk."""

    def put(number):
        monkeypatch.setattr(shutil, "disk_usage", lambda path: Usage(10**12, 0, number))

    return put


@pytest.mark.parametrize(
    ("more", "status"), [(-1, ERROR), (0, WARNING), (RESERVE - 1, WARNING), (RESERVE, OK)]
)
def test_space(free, tmp_path, more, status):
    free(5_000_000_000 + more)
    line = space_line("results", tmp_path / "new" / "er", 5_000_000_000, "by guess")
    assert line.status == status
    assert "5.0 GB needed (by guess)" in line.found


def test_a_log_of_whole_prompts_is_larger():
    small, large = log_bytes(100, 1024, 0), log_bytes(100, 1024, 400_000)
    assert large - small == 100 * 400_000
    assert log_bytes(200, 1024, 0) > small


def test_results(a_run, a_task, tmp_path):
    assert list(output_line(a_run(), 100, [a_task()])) == []
    run = a_run(output_path=str(tmp_path))
    (line,) = output_line(run, 100, [a_task()])
    assert "no sample log" in line.found
    run = a_run(output_path=str(tmp_path), log_samples=True)
    (line,) = output_line(run, 4500, [a_task()])
    assert "4,500 answers x (3,000 bytes + 128 tokens x 4)" in line.found
    (line,) = output_line(run, 4500, [a_task(log_prompts="full", whole="x" * 5000)])
    assert "a whole prompt of 5,000 characters" in line.found


def test_caches(empty_caches, free):
    free(10**12)
    datasets, downloads = cache_lines(["v1", "pro"])
    assert str(empty_caches / "datasets") in datasets.found
    assert "to be converted: v1, pro" in datasets.found
    assert f"{(V1.source.converted + PRO.source.converted) / 1e9:.1f} GB needed" in datasets.found
    assert f"{(V1.source.size + PRO.source.size) / 1e9:.1f} GB needed" in downloads.found
    _, downloads = cache_lines([])
    assert "nothing to be downloaded" in downloads.found
    free(100)
    assert [line.status for line in cache_lines(["v1"])] == [ERROR, ERROR]
