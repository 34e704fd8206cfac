"""A model that is not loaded: its tokenizer, its chat template, its server's list of models.

A run whose answers are all there loads none: its stand-in only makes the same prompts.
"""

from __future__ import annotations

import json
import os
from argparse import Namespace
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, NoReturn
from urllib.parse import urlsplit, urlunsplit

import jinja2
from lm_eval.api.instance import Instance
from lm_eval.api.model import TemplateLM
from lm_eval.api.registry import get_model, model_registry
from lm_eval.models import MODEL_MAPPING

from lm_eval_longbench.errors import TokenizerError, UnknownNameError
from lm_eval_longbench.harness.api_model import LongBenchAPI
from lm_eval_longbench.harness.baseline import ExtractiveBaseline
from lm_eval_longbench.prompts.tokenizer import is_here, is_true, load_tokenizer, tokenizer_name
from lm_eval_longbench.server.server import CHAT, KEY_VARIABLE, headers

if TYPE_CHECKING:
    from transformers import PreTrainedTokenizerBase

    from lm_eval_longbench.harness.kept_answers import KeptAnswers

# How a model takes its prompts.
LOCAL = "local"  # runs in this process
TEXT = "text"  # a server that gets text or tokens; templates are applied here
MESSAGES = "messages"  # a server that gets chat messages and applies its own template
OTHER = "other"  # none of these: nothing is known of tokenizer and template

# ---------------------------------------------------------------------- files on this machine


@dataclass(frozen=True)
class FoundTokenizer:
    """A tokenizer, if it can be had on this machine.

    Attributes:
        name: its name or folder; None: nobody names one.
        tokenizer: the tokenizer; None: it cannot be had.
        problem: why it cannot; "": it can, or none is needed.
        absent: whether it would only have to be downloaded.
    """

    name: str | None = None
    tokenizer: PreTrainedTokenizerBase | None = field(default=None, repr=False)
    problem: str = ""
    absent: bool = False


# Nobody needs one.
NO_TOKENIZER = FoundTokenizer()


def find_tokenizer(name: str | None, model_args: Mapping[str, Any]) -> FoundTokenizer:
    """Return a tokenizer of this machine, or why there is none.

    Args:
        name: name or folder; None: nobody names one.
        model_args: the harness's model arguments.
    """
    if name is None:
        return FoundTokenizer(None, problem="no tokenizer is named")
    revision = str(model_args.get("revision") or "main")
    if not is_here(name, revision):
        problem = f"the tokenizer {name!r} is not on this machine"
        return FoundTokenizer(name, problem=problem, absent=True)
    try:
        return FoundTokenizer(name, load_tokenizer(name, model_args))
    except TokenizerError as error:
        return FoundTokenizer(name, problem=str(error))


# ---------------------------------------------------------------------- a model by its arguments


@dataclass
class Backend:
    """A model of the harness, before it is loaded.

    Attributes:
        name: the harness's name of it.
        kind: LOCAL, TEXT, MESSAGES or OTHER.
        tokenizer: the one that applies the chat template.
        chat_template: what the harness hands to tasks in a chat run; None: it cannot be had.
        template_problem: why applying it fails; "": it works, or there is none.
        base_url: what requests are posted to; None: it is no server, or its library knows.
        headers: sent with requests; they may hold the key.
        verify: whether, or with which file, a server's certificate is checked.
        key_variable: environment variable of the key.
        problem: why the model cannot start; "": nothing is seen.
        model: the model itself, where it could be built; tasks know it by its arguments.
    """

    name: str
    kind: str
    tokenizer: FoundTokenizer = NO_TOKENIZER
    chat_template: Callable[..., Any] | None = field(default=None, repr=False)
    template_problem: str = ""
    base_url: str | None = None
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    verify: bool | str = True
    key_variable: str = KEY_VARIABLE
    problem: str = ""
    model: Any = field(default=None, repr=False)


def check_model(name: str) -> None:
    """Raise UnknownNameError if the harness has no model of this name."""
    if name not in model_registry:
        raise UnknownNameError("model", name, model_registry)


# Modules of the harness that have servers' models; the others need torch to be imported.
_SERVERS = ("openai_completions", "anthropic_llms", "litellm_llms", "sglang_generate_API")
_IN_PROCESS = ("hf", "hf-auto", "huggingface", "vllm", "sglang")


def describe(name: str, args: Mapping[str, Any]) -> Backend:
    """Return a model by its name and arguments; it is asked nothing, and no weights are loaded.

    Raises:
        LongBenchError: the harness has no such model, or ours refuses its arguments.
    """
    check_model(name)
    backend = Backend(name, OTHER)
    module = MODEL_MAPPING.get(name, "").partition(":")[0].rpartition(".")[2]
    cls = get_model(name) if module in _SERVERS or not module else None
    if cls is not None and issubclass(cls, ExtractiveBaseline):
        backend.chat_template = cls().apply_chat_template
    elif cls is not None and issubclass(cls, LongBenchAPI):
        backend = _own_server(name, args)
    elif cls is not None and "TemplateAPI" in _bases(cls):
        backend = _server(name, args, cls)
    elif name in _IN_PROCESS or args.get("pretrained"):
        backend = describe_local(name, args)
    if backend.chat_template is not None:
        try:
            backend.chat_template([{"role": "user", "content": "?"}])
        except Exception as error:  # templates are programs, and tokenizers without one raise too
            backend.template_problem = f"{type(error).__name__}: {error}"
            backend.chat_template = None
    return backend


def _bases(cls: type) -> set[str]:
    return {base.__name__ for base in cls.__mro__}


def describe_local(name: str, args: Mapping[str, Any]) -> Backend:
    """Return a model that runs in this process."""
    # sglang has its own name for it.
    found = find_tokenizer(args.get("tokenizer_path") or tokenizer_name(None, args), args)
    backend = Backend(name, LOCAL, found)
    if found.tokenizer is not None:
        # What the model hands to the template beside the messages; None for sglang.
        more: dict[str, Any] | None = dict(args.get("chat_template_args") or {})
        if name == "sglang":
            more = None
        elif name.startswith("vllm") or args.get("enable_thinking") is not None:
            more = {**(more or {}), "enable_thinking": args.get("enable_thinking")}
        backend.chat_template = partial(_templated, found.tokenizer, more)
    return backend


def _templated(
    tokenizer: PreTrainedTokenizerBase,
    more: Mapping[str, Any] | None,
    messages: list[dict[str, str]],
    add_generation_prompt: bool = True,
) -> str:
    """Apply the tokenizer's chat template as the harness's models in this process do."""
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
        # All models but sglang try again without the system message.
        return str(apply([message for message in messages if message["role"] != "system"]))


def _server(name: str, args: Mapping[str, Any], cls: Any) -> Backend:
    """Return a client of the harness, built without its tokenizer: it would ask the server."""
    messages = bool(_bases(cls) & {"LocalChatCompletion", "AnthropicChat"})
    key = "ANTHROPIC_API_KEY" if "AnthropicChat" in _bases(cls) else KEY_VARIABLE
    backend = Backend(name, MESSAGES if messages else TEXT, key_variable=key)
    try:
        model = cls(**{**args, "tokenizer_backend": None})
        backend.base_url, backend.headers = model.base_url, dict(model.header)
    except Exception as error:  # packages, keys and addresses are missing in many ways
        backend.problem = f"{type(error).__name__}: {error}"
        return backend
    backend.verify = model.verify_certificate and (model.ca_cert_path or True)
    usual = None if messages else "tiktoken" if name.startswith("openai") else "auto"
    if args.get("tokenizer_backend", usual) in ("auto", "huggingface"):
        backend.tokenizer = find_tokenizer(tokenizer_name(None, args), args)
        model.tokenizer_backend, model.tokenizer = "huggingface", backend.tokenizer.tokenizer
        model.tokenized_requests = is_true(args.get("tokenized_requests", not messages))
    applies = model.tokenized_requests and model.tokenizer is None
    backend.chat_template = None if applies else model.apply_chat_template
    return backend


def _own_server(name: str, args: Mapping[str, Any]) -> Backend:
    """Return what our own client would ask; it is built, and asks nothing."""
    model = LongBenchAPI(**{key: value for key, value in args.items() if key != "tokenizer"})
    server, found = model.server, NO_TOKENIZER
    if server.endpoint != CHAT and args.get("tokenizer"):
        found = find_tokenizer(args["tokenizer"], args)
        if found.tokenizer is not None:
            model = LongBenchAPI(**args)
    return Backend(
        name,
        MESSAGES if server.endpoint == CHAT else TEXT,
        found,
        model.apply_chat_template,
        base_url=server.whole,
        headers=headers(server),
        verify=server.verify,
        model=model,
    )


# ---------------------------------------------------------------------- a run without its model

# Models in this process whose prompts the stand-in knows to make.
_KNOWN = ("hf", "vllm")


class NeedModel(BaseException):
    """Raised where an answer is not there; nothing that catches errors catches it."""


class Unloaded(TemplateLM):
    """Stands in for a model in this process while no answer of it is wanted.

    Args:
        backend: the model, with its tokenizer and chat template.
        arguments: of the model.
        answers: knows which answers are there.

    Attributes:
        stands_for: the backend: what is known of an answer depends on who decoded it.
        add_bos_token: as the model has it.
        config: names the model in results, as the harness reads it.
    """

    def __init__(
        self, backend: Backend, arguments: Mapping[str, Any], answers: KeptAnswers
    ) -> None:
        super().__init__()
        self.stands_for, self.add_bos_token = backend.name, arguments.get("add_bos_token")
        self.config = SimpleNamespace(_name_or_path=backend.name)
        self.tokenizer: Any = backend.tokenizer.tokenizer
        self._template, self._answers = backend.chat_template, answers

    @property
    def eot_token_id(self) -> Any:
        """The token that ends an answer."""
        return self.tokenizer.eos_token_id

    @property
    def tokenizer_name(self) -> str:
        """The name that the harness's request cache files prompts under."""
        return str(self.tokenizer.name_or_path).replace("/", "__")

    def apply_chat_template(
        self, chat_history: list[dict[str, str]], add_generation_prompt: bool = True
    ) -> str:
        """Return messages in the model's template."""
        assert self._template is not None  # see `without_model`
        try:
            return str(self._template(chat_history, add_generation_prompt=add_generation_prompt))
        except Exception as error:  # templates are programs: the model says what is wrong
            raise NeedModel from error

    def check_answers(self, instances: Sequence[Instance]) -> None:
        """Raise NeedModel unless the answers to all requests of a task are there."""
        if self._answers.instead is not None:
            return
        for request in self._answers.requests(instances):
            if self._answers.there(request) is None:
                raise NeedModel

    def generate_until(self, requests: Any, disable_tqdm: bool = False) -> NoReturn:
        """Raise NeedModel: something is asked."""
        raise NeedModel

    def loglikelihood(self, requests: Any, disable_tqdm: bool = False) -> NoReturn:
        """Raise NeedModel: another package's task asks for probabilities."""
        raise NeedModel

    loglikelihood_rolling = loglikelihood
    _loglikelihood_tokens = loglikelihood
    tok_encode = loglikelihood


def without_model(
    execute: Callable[[Namespace], Any],
    parsed: Namespace,
    name: str,
    arguments: Mapping[str, Any],
    answers: KeptAnswers | None,
) -> bool:
    """Execute a run without its model, if nothing is to be asked; return whether it was.

    Every answer is found by its prompt as it is sent. A prompt that the stand-in made in another
    way finds none, and with the first answer that is not there the run begins anew with the model.

    Args:
        execute: the harness's.
        parsed: the arguments of the run.
        name: of the backend.
        arguments: of the model.
        answers: that there are; None: none are kept.
    """
    several = int(os.environ.get("WORLD_SIZE") or 1) > 1
    known = answers is not None and (answers.instead is not None or answers.store.number())
    if name not in _KNOWN or several or answers is None or not known:
        return False
    backend = describe_local(name, arguments)
    if backend.tokenizer.tokenizer is None or backend.chat_template is None:
        return False
    try:
        execute(Namespace(**{**vars(parsed), "model": Unloaded(backend, arguments, answers)}))
    except NeedModel:
        answers.asked = answers.done = 0
        return False
    return True


# ---------------------------------------------------------------------- a server's list of models

# Seconds without an answer.
TIMEOUT = 10.0
_ENDPOINTS = ("/chat/completions", "/completions", "/messages", "/generate")


def endpoint_of(base_url: str) -> str | None:
    """Return the endpoint that an address ends in; None if it ends in none that is known."""
    path = urlsplit(base_url).path.rstrip("/")
    return next((endpoint for endpoint in _ENDPOINTS if path.endswith(endpoint)), None)


def models_url(base_url: str) -> str:
    """Return where the server lists its models: .../v1/chat/completions -> .../v1/models."""
    parts, endpoint = urlsplit(base_url), endpoint_of(base_url)
    path = parts.path.rstrip("/").removesuffix(endpoint or "")
    if endpoint == "/generate" and not path.endswith("/v1"):  # sglang's own, beside /v1
        path += "/v1"
    return urlunsplit(parts._replace(path=f"{path}/models", fragment=""))


@dataclass(frozen=True)
class ServerReply:
    """What a server answers to one GET of its list.

    Attributes:
        status: HTTP status; None: there was no answer.
        problem: why there was none; "": there was one.
        models: objects that describe the models, by their "id"; None: no such list.
    """

    status: int | None
    problem: str = ""
    models: Mapping[str, Mapping[str, Any]] | None = None


def get_models(
    url: str, headers: Mapping[str, str], verify: bool | str = True, timeout: float = TIMEOUT
) -> ServerReply:
    """Return a server's answer to one GET of the list.

    The headers are neither kept nor shown.

    Raises:
        ImportError: the package `requests` is missing.
    """
    import requests

    try:
        reply = requests.get(
            url,
            headers=dict(headers),
            verify=verify,
            timeout=timeout,
            allow_redirects=False,  # perhaps to another host, which has no business with the key
        )
    except (requests.RequestException, UnicodeError, OSError) as error:
        # Not the error's own words: they may quote a header or the address with its query.
        return ServerReply(None, type(error).__name__)
    models = _listed(reply.content) if reply.status_code == 200 else None
    return ServerReply(reply.status_code, models=models)


def _listed(body: bytes) -> dict[str, Mapping[str, Any]] | None:
    """Read {"data": [{"id": ...}, ...]}; None if it is something else."""
    try:
        objects = [one for one in json.loads(body)["data"] if isinstance(one, dict)]
    except (ValueError, KeyError, TypeError):
        return None
    return {one["id"]: one for one in objects if isinstance(one.get("id"), str)}
