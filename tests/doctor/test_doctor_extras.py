"""Packages beyond the core, by what the run needs."""

import pytest

from lm_eval_longbench.doctor import extras
from lm_eval_longbench.doctor.environment import extra_lines, needed
from lm_eval_longbench.doctor.line import ERROR, OK
from lm_eval_longbench.options import Options


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
        extras.importlib.util,
        "find_spec",
        lambda module: None if module in ("torch", "aiohttp", "vllm") else object(),
    )
    (line,) = extra_lines(a_backend(kind, name), Options())
    assert line.status == ERROR
    assert line.todo == todo
    assert line.found.endswith(("torch", "aiohttp", "vllm"))
