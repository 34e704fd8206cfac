"""The backend of a run without its model: tokenizer, chat template, and a server's address."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

import jinja2

from lm_eval_longbench.api.server import CHAT, KEY_VARIABLE, headers
from lm_eval_longbench.errors import UnknownNameError
from lm_eval_longbench.harness.api_model import LongBenchAPI
from lm_eval_longbench.harness.baseline import ExtractiveBaseline
from lm_eval_longbench.harness.preflight_facts import (
    LOCAL,
    MESSAGES,
    OTHER,
    TEXT,
    Backend,
    FoundTokenizer,
    PlannedRun,
    find_tokenizer,
)
from lm_eval_longbench.harness.private_names import DOCTOR, require
from lm_eval_longbench.prompts.tokenizer import is_true, tokenizer_name

if TYPE_CHECKING:
    from transformers import PreTrainedTokenizerBase

# Modules of the harness that have servers' models; the others need torch to be imported.
_SERVERS = ("openai_completions", "anthropic_llms", "litellm_llms", "sglang_generate_API")
_IN_PROCESS = ("hf", "hf-auto", "huggingface", "vllm", "sglang")
_CHAT_ONLY = {"LocalChatCompletion", "AnthropicChat"}
# Environment variables of keys that are not OPENAI_API_KEY, by class.
_KEYS = {
    "AnthropicChat": "ANTHROPIC_API_KEY",
    "AzureOpenaiChatCompletionsLM": "AZURE_OPENAI_API_KEY",
}


def check_model(name: str) -> None:
    """Raise UnknownNameError if the harness has no model of this name."""
    from lm_eval.api.registry import model_registry

    if name not in model_registry:
        raise UnknownNameError("model", name, model_registry)


def describe(run: PlannedRun) -> Backend:
    """Return the backend of a run; it is asked nothing, and no weights are loaded.

    Raises:
        UnknownNameError: the harness has no such model.
    """
    require(DOCTOR)
    check_model(run.model)
    backend = _backend(run)
    if backend.chat_template is None:
        return backend
    try:
        backend.chat_template([{"role": "user", "content": "?"}])
    except Exception as error:  # templates are programs, and tokenizers without one raise too
        problem = f"{type(error).__name__}: {error}"
        return replace(backend, chat_template=None, template_problem=problem)
    return backend


def _backend(run: PlannedRun) -> Backend:
    from lm_eval.api.registry import get_model
    from lm_eval.models import MODEL_MAPPING

    module = MODEL_MAPPING.get(run.model, "").partition(":")[0].rpartition(".")[2]
    if module in _SERVERS or not module:
        cls = get_model(run.model)
        if issubclass(cls, ExtractiveBaseline):
            return Backend(run.model, OTHER, chat_template=cls().apply_chat_template)
        if issubclass(cls, LongBenchAPI):
            return _own_server(run)
        if "TemplateAPI" in _names(cls):
            return _server(run, cls)
    if run.model in _IN_PROCESS or run.model_args.get("pretrained"):
        return describe_local(run)
    return Backend(run.model, OTHER)


def _names(cls: type) -> set[str]:
    return {base.__name__ for base in cls.__mro__}


# ---------------------------------------------------------------------- models in this process


def describe_local(run: PlannedRun) -> Backend:
    """Return a backend that runs the model in this process."""
    args = run.model_args
    # sglang has its own name for it.
    name = args.get("tokenizer_path") or tokenizer_name(None, args)
    found = find_tokenizer(name, args)
    template = None
    if found.tokenizer is not None:
        template = partial(_templated, found.tokenizer, _template_args(run))
    return Backend(run.model, LOCAL, tokenizer=found, chat_template=template)


def _template_args(run: PlannedRun) -> dict[str, Any] | None:
    """Return what the backend hands to the template beside the messages; None for sglang."""
    given = dict(run.model_args.get("chat_template_args") or {})
    thinking = run.model_args.get("enable_thinking")
    if run.model == "sglang":
        return None
    if run.model.startswith("vllm"):
        return {**given, "enable_thinking": thinking}
    return given if thinking is None else {**given, "enable_thinking": thinking}


def _templated(
    tokenizer: PreTrainedTokenizerBase,
    more: Mapping[str, Any] | None,
    messages: list[dict[str, str]],
    add_generation_prompt: bool = True,
) -> str:
    """Apply the tokenizer's chat template as the harness's backends in this process do."""
    apply: Callable[..., Any] = partial(
        tokenizer.apply_chat_template,
        tokenize=False,
        add_generation_prompt=add_generation_prompt,
        continue_final_message=not add_generation_prompt,
        **(more or {}),
    )
    try:
        return str(apply(messages))
    except jinja2.exceptions.TemplateError:
        if more is None:
            raise
        # All backends but sglang try again without the system message.
        return str(apply([message for message in messages if message["role"] != "system"]))


# ---------------------------------------------------------------------- servers


def _server(run: PlannedRun, cls: Any) -> Backend:
    args = run.model_args
    # The class's own methods answer, on an object that was never constructed: the constructor
    # would ask the server for a tokenizer.
    model = cls.__new__(cls)
    wanted = _argument(args, cls, "tokenizer_backend")
    model.tokenizer_backend = "huggingface" if wanted == "auto" else wanted
    model.tokenized_requests = _argument(args, cls, "tokenized_requests")
    if model.tokenizer_backend in (None, "None", "none"):
        model.tokenizer_backend, model.tokenized_requests = None, False
    model.tokenizer = None
    model._header = args.get("header")
    found = FoundTokenizer()
    if model.tokenizer_backend == "huggingface":
        found = find_tokenizer(tokenizer_name(None, args), args)
        model.tokenizer = found.tokenizer
    applies = model.tokenizer_backend == "huggingface" and model.tokenized_requests
    headers, key_problem = _headers(model)
    return Backend(
        run.model,
        MESSAGES if _names(cls) & _CHAT_ONLY else TEXT,
        base_url=_argument(args, cls, "base_url"),
        headers=headers,
        verify=_verify(args),
        key_variable=None if args.get("header") else _key_variable(cls),
        key_problem=key_problem,
        tokenizer=found,
        guessed=wanted == "auto",
        chat_template=None if applies and model.tokenizer is None else model.apply_chat_template,
    )


def _own_server(run: PlannedRun) -> Backend:
    """Return what our own client would ask; it is built, and asks nothing."""
    args = {name: value for name, value in run.model_args.items() if name != "tokenizer"}
    model = LongBenchAPI(**args)
    found = FoundTokenizer()
    if model.server.endpoint != CHAT and (run.model_args.get("tokenizer") or run.chat):
        found = find_tokenizer(run.model_args.get("tokenizer"), run.model_args)
        if found.tokenizer is not None:
            model = LongBenchAPI(**run.model_args)
    applies = model.server.endpoint == CHAT or found.tokenizer is not None
    return Backend(
        run.model,
        MESSAGES if model.server.endpoint == CHAT else TEXT,
        base_url=model.server.whole,
        headers=headers(model.server),
        verify=model.server.verify,
        key_variable=None if "Authorization" in model.server.header else KEY_VARIABLE,
        tokenizer=found,
        chat_template=model.apply_chat_template if applies else None,
        model=model,
    )


def _argument(args: Mapping[str, Any], cls: Any, name: str) -> Any:
    """Return an argument of the model, or its default, which a base class may hold."""
    if name in args:
        return args[name]
    for base in cls.__mro__:
        found = inspect.signature(base.__init__).parameters.get(name)
        if "__init__" in vars(base) and found is not None:
            return None if found.default is found.empty else found.default
    return None


def _key_variable(cls: type) -> str:
    known = [_KEYS[name] for name in _names(cls) if name in _KEYS]
    return known[0] if known else "OPENAI_API_KEY"


def _headers(model: Any) -> tuple[dict[str, str], str]:
    """Return the headers of the backend's requests, or why there are none."""
    try:
        return dict(model.header), ""
    except ValueError as error:  # some backends refuse to start without a key
        return {}, str(error)


def _verify(args: Mapping[str, Any]) -> bool | str:
    """Return the certificate to check a server against, or whether to."""
    check = is_true(args.get("verify_certificate", True))
    return str(args["ca_cert_path"]) if check and args.get("ca_cert_path") else check
