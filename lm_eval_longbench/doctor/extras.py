"""Packages beyond the core that a given run needs."""

from __future__ import annotations

import importlib.util
from collections.abc import Iterable, Iterator

from lm_eval_longbench.doctor.line import ERROR, OK, Line
from lm_eval_longbench.doctor.requirements import installed
from lm_eval_longbench.harness.preflight_facts import LOCAL, MESSAGES, TEXT, Backend
from lm_eval_longbench.options import Options

TOPIC = "packages"
_API = ("requests", "aiohttp", "tenacity", "tqdm")
_OURS = 'pip install "lm-eval-longbench[{}]"'
# Backends whose own library is no part of `hf` or `api`: what to import, and how to install it.
_OWN = {
    "vllm": (("vllm",), 'pip install "lm-eval[vllm]"'),
    "sglang": (("sglang",), "Install sglang as its documentation says: https://docs.sglang.ai"),
    "litellm": (("litellm",), 'pip install "lm-eval[litellm]"'),
    "azure": (("openai",), "pip install openai"),
}


def needed(backend: Backend, options: Options) -> Iterator[tuple[str, tuple[str, ...], str]]:
    """Yield what a run needs: for what, the modules, and the line that installs them."""
    # sglang-generate, a client of a server, needs no sglang.
    names = ("vllm", "sglang") if backend.kind == LOCAL else ("litellm", "azure")
    own = next((name for name in names if backend.name.startswith(name)), None)
    if own is not None:
        yield (f"the model {backend.name}", *_OWN[own])
    if backend.kind == LOCAL and own is None:
        modules = ("torch", "transformers", "accelerate", "peft")
        yield f"the model {backend.name}", modules, _OURS.format("hf")
    if backend.kind in (TEXT, MESSAGES):
        yield "servers", _API, _OURS.format("api")
    if options.embedding_url:
        yield "the embedding server", ("requests", "tenacity"), _OURS.format("semantic")
    elif options.embedding_model:
        yield "the embedding model", ("sentence_transformers",), _OURS.format("semantic")


def extra_lines(backend: Backend, options: Options) -> Iterator[Line]:
    """Yield a line for each kind of packages that the run needs."""
    for what, modules, todo in needed(backend, options):
        missing = [name for name in modules if importlib.util.find_spec(name) is None]
        if missing:
            yield Line(ERROR, TOPIC, f"{what}: not installed: {', '.join(missing)}", todo)
        else:
            yield Line(OK, TOPIC, f"{what}: {_listed(modules)}")


def _listed(modules: Iterable[str]) -> str:
    return ", ".join(f"{name} {installed(name) or ''}".rstrip() for name in modules)
