"""The harness model `longbench-api`: an OpenAI-compatible server behind the LM interface."""

from __future__ import annotations

import asyncio
import inspect
import json
from collections.abc import Callable, Coroutine, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import lm_eval.models  # noqa: F401  the harness registers its own models only into an empty registry
from lm_eval.api.instance import Instance
from lm_eval.api.registry import register_model
from tqdm.auto import tqdm

from lm_eval_longbench.errors import OptionError, UnknownNameError
from lm_eval_longbench.harness.generation import BUDGETS, FIRST_SEED, SAMPLING
from lm_eval_longbench.harness.in_memory import TextModel
from lm_eval_longbench.options import REPEAT
from lm_eval_longbench.prompts.tokenizer import is_true, load_tokenizer
from lm_eval_longbench.records.answer import ANSWERED, Answer, AnswerText
from lm_eval_longbench.server.asking import Asker, Manners
from lm_eval_longbench.server.client import Client, Request
from lm_eval_longbench.server.server import CHAT, Server, read_address

NAME = "longbench-api"
# The harness's own where a task says nothing.
_BUDGET = 256
# The most of `patience` that one request may be silent.
_SHARE = 0.75
# Generation arguments that are read here and not sent as they stand.
_READ = {*BUDGETS, "until", "do_sample", "seed", REPEAT}
# What each request has from elsewhere, and generation arguments, which a signature must show.
_SENT = {"model", "messages", "prompt", "stream", "stream_options", "n"}
_GENERATION = {
    *(*SAMPLING, *BUDGETS[1:], "min_tokens", "stop", "seed", "typical_p"),
    *("logit_bias", "ignore_eos", "best_of", "use_beam_search"),
}

Keep = Callable[[int, Answer], None]


@register_model(NAME)
class LongBenchAPI(TextModel):
    """A model behind an OpenAI-compatible server.

    Args:
        model: name that the server knows the model by.
        base_url: address of the server; it may end in /chat/completions or /completions.
        endpoint: "chat" or "completions"; None: as base_url ends.
        num_concurrent: requests in flight at most, from 1; fewer while the server has too many.
        patience: seconds without a part of an answer after which the run stops, and that one
            request may wait which is refused while others are answered.
        max_failed: share of requests, from 0 to 1, that may fail for good.
        tries: attempts of a request while the server answers others, from 1.
        timeout: seconds that the server may be silent about one request, three quarters of
            `patience` at most; before an answer begins one more for each thousand characters of
            the prompt.
        header: further HTTP headers by name, or their JSON.
        verify_certificate: whether a server's certificate is checked.
        ca_cert_path: file with the certificates that it is checked against.
        tokenizer: name or folder; applies the chat template where the endpoint takes text.
        max_length: longest request in tokens, answer included; prompts are cut to it before.
        eos_string: one more stop string.
        chat_template_kwargs: sent as such; an object or its JSON.
        extra_body: what each request has beside; an object or its JSON.
        trust_remote_code, revision: of the tokenizer.
        batch_size, max_batch_size, device: the harness always gives them; without effect.

    Raises:
        UnknownNameError: an argument does not exist; names the nearest.
        OptionError: an argument is missing, or has an impossible value.
        LongBenchError: the package openai is missing.
    """

    def __init__(
        self,
        model: str | None = None,
        base_url: str | None = None,
        endpoint: str | None = None,
        num_concurrent: int | str = 8,
        patience: float | str = 900.0,
        max_failed: float | str = 0.05,
        tries: int | str = 6,
        timeout: float | str = 600.0,
        header: Mapping[str, str] | str | None = None,
        verify_certificate: bool | str = True,
        ca_cert_path: str | None = None,
        tokenizer: str | None = None,
        max_length: int | str | None = None,
        eos_string: str | None = None,
        chat_template_kwargs: Mapping[str, Any] | str | None = None,
        extra_body: Mapping[str, Any] | str | None = None,
        trust_remote_code: bool | str = False,
        revision: str | None = None,
        batch_size: int | str | None = None,
        max_batch_size: int | None = None,
        device: str | None = None,
        **unknown: Any,
    ) -> None:
        super().__init__()
        for name in unknown:
            raise UnknownNameError(f"argument of the model {NAME}", name, ARGUMENTS)
        if not model or not base_url:
            lacking = "base_url=http://HOST:PORT/v1" if model else "model=NAME"
            raise OptionError(f"The model {NAME} needs {lacking} in model_args.")
        if max_length is not None:
            _whole("max_length", max_length)  # prompts are cut to it before they come here
        extra = _extra(extra_body)
        if chat_template_kwargs is not None:
            extra["chat_template_kwargs"] = _object("chat_template_kwargs", chat_template_kwargs)
        self.base_url = str(base_url)
        self.model = str(model)
        base, endpoint, query = read_address(self.base_url, endpoint)
        check = is_true(verify_certificate)
        silence = _real("patience", patience)
        self.server = Server(
            base,
            endpoint,
            self.model,
            query,
            {name: str(value) for name, value in _object("header", header).items()},
            str(ca_cert_path) if check and ca_cert_path else check,
            # A silent request fails before the server counts as dead: a tiny one tells.
            min(_real("timeout", timeout), _SHARE * silence),
            extra,
        )
        self.manners = Manners(
            _whole("num_concurrent", num_concurrent),
            silence,
            _real("max_failed", max_failed, most=1.0),
            _whole("tries", tries),
        )
        self._eos = eos_string
        self._tokenizer: Any = None
        if tokenizer and endpoint != CHAT:
            own = {"tokenizer": tokenizer, "trust_remote_code": trust_remote_code}
            if revision:
                own |= {"model": tokenizer, "revision": revision}
            self._tokenizer = load_tokenizer(str(tokenizer), own)
        self._tokenizer_name = str(tokenizer or model)
        Client(self.server)  # what is wrong with it is said before a run begins

    # ------------------------------------------------------------------ chat templates

    @property
    def tokenizer_name(self) -> str:
        """The name that the harness's request cache files this model's prompts under."""
        return self._tokenizer_name.replace("/", "__")

    def chat_template(self, chat_template: bool | str = False) -> str | None:
        """Return the template that is applied here; "" where the server has its own."""
        return (self._tokenizer and self._tokenizer.chat_template) or ""

    def apply_chat_template(
        self, chat_history: list[dict[str, str]], add_generation_prompt: bool = True
    ) -> Any:
        """Return chat messages as the endpoint takes them: themselves, or as one text.

        A beginning-of-text token that the template writes is left out where the tokenizer adds it
        to each text: the server does so too.

        Raises:
            OptionError: the endpoint takes text, and there is no tokenizer with a template.
        """
        if self.server.endpoint == CHAT:
            from lm_eval.models.api_models import JsonChatStr

            return JsonChatStr(json.dumps(chat_history, ensure_ascii=False))
        if self._tokenizer is None:
            raise OptionError(
                "endpoint=completions takes text, and apply_chat_template makes it from messages "
                "with the model's tokenizer: add tokenizer=NAME_OR_FOLDER to model_args, or use "
                "endpoint=chat."
            )
        text = str(
            self._tokenizer.apply_chat_template(
                chat_history,
                tokenize=False,
                add_generation_prompt=add_generation_prompt,
                continue_final_message=not add_generation_prompt,
                **self.server.extra.get("chat_template_kwargs", {}),
            )
        )
        begin = self._tokenizer.bos_token
        if begin and text.startswith(begin):
            ids = self._tokenizer("?")["input_ids"]
            if ids and ids[0] == self._tokenizer.bos_token_id:
                return text.removeprefix(begin)
        return text

    # ------------------------------------------------------------------ answers

    def generate_answers(
        self,
        requests: list[Instance],
        keep: Keep,
        stopping: Callable[[], bool],
        disable_tqdm: bool = False,
    ) -> list[Answer]:
        """Return one answer a request, in order.

        Args:
            requests: of the harness.
            keep: called with a request's number and its answer the moment that it is there; what
                it raises ends the run.
            stopping: true: nothing more is sent, and what is in flight may finish.
            disable_tqdm: whether to show no progress.

        Raises:
            Interrupted: `stopping` said so.
            RunStopped: the server is dead or refuses every request, or too many failed.
            OptionError: a prompt is not as the endpoint takes it, or its arguments are impossible.
        """
        asked = _Requests(requests, self.request_of)
        with tqdm(
            total=len(asked), desc=NAME, unit=" answers", disable=disable_tqdm or self.rank != 0
        ) as bar:
            client = Client(self.server)
            return _run(Asker(client, asked, self.manners, keep, stopping, bar).run())

    def generate_until(self, requests: list[Instance], disable_tqdm: bool = False) -> list[str]:
        """Return the text of one answer a request, in order; "" where there is none.

        Raises:
            LongBenchError: as `generate_answers`.
        """

        def cache(index: int, answer: Answer) -> None:
            if answer.state == ANSWERED:
                self.cache_hook.add_partial("generate_until", requests[index].args, answer.text)

        answers = self.generate_answers(requests, cache, lambda: False, disable_tqdm)
        return [AnswerText(answer) for answer in answers]

    def request_of(self, instance: Instance) -> Request:
        """Return what is asked of the server for a request of the harness."""
        prompt, generation = instance.args
        messages = getattr(prompt, "prompt", None)
        if (self.server.endpoint == CHAT) != isinstance(messages, str):
            raise OptionError(
                "endpoint=chat takes chat messages: give apply_chat_template, or use "
                "endpoint=completions for a base model."
                if messages is None
                else "endpoint=completions takes text, and got chat messages."
            )
        stops = generation.get("until") or []
        stops = [stops] if isinstance(stops, str) else list(stops)
        if self._eos and self._eos not in stops:
            stops.append(self._eos)
        budget = next((generation[name] for name in BUDGETS if name in generation), _BUDGET)
        parameters = {
            "max_tokens": _whole("max_gen_toks", budget),
            "temperature": 0,
            **{name: value for name, value in generation.items() if name not in _READ},
        }
        if stops:
            parameters["stop"] = stops
        own = (instance.doc or {}).get("prompt") if isinstance(instance.doc, Mapping) else None
        return Request(
            messages if isinstance(messages, str) else prompt,
            parameters,
            generation.get("seed", FIRST_SEED),
            own.get("document_sha256") if isinstance(own, Mapping) else None,
        )


class _Requests(Sequence[Request]):
    """Requests that are made when they are asked for: all prompts at once are gigabytes."""

    def __init__(self, instances: Sequence[Instance], make: Callable[[Instance], Request]) -> None:
        self._instances, self._make = instances, make

    def __len__(self) -> int:
        return len(self._instances)

    def __getitem__(self, index: Any) -> Any:
        return self._make(self._instances[index])


# Names of the arguments that the model takes.
ARGUMENTS = tuple(
    name
    for name, own in inspect.signature(LongBenchAPI.__init__).parameters.items()
    if name != "self" and own.kind is not own.VAR_KEYWORD
)


def _run(asking: Coroutine[Any, Any, list[Answer]]) -> list[Answer]:
    """Run until all is asked; beside a loop that runs already, as in a notebook, in a thread."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return asyncio.run(asking)
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(asyncio.run, asking).result()


def _whole(name: str, value: Any, least: int = 1) -> int:
    if isinstance(value, bool) or not str(value).isdecimal() or int(value) < least:
        raise OptionError(f"{name} must be a whole number from {least}, not {value!r}.")
    return int(value)


def _real(name: str, value: Any, most: float = float("inf")) -> float:
    try:
        number = float(value)
    except (TypeError, ValueError):
        number = -1.0
    if isinstance(value, bool) or not 0 <= number <= most or number == float("inf"):
        upper = "" if most == float("inf") else f" to {most:g}"
        raise OptionError(f"{name} must be a number from 0{upper}, not {value!r}.")
    return number


def _extra(value: Any) -> dict[str, Any]:
    """Return `extra_body`; OptionError if it holds what is given in another way."""
    extra = _object("extra_body", value)
    for name in extra:
        if name in _SENT:
            raise OptionError(f"extra_body: {name} is sent anyway. Leave it out.")
        if name in _GENERATION:
            known = {"stop": "until"}.get(name, "max_gen_toks" if name in BUDGETS else name)
            raise OptionError(
                f"extra_body: {name} is a generation argument. Give it in gen_kwargs, "
                f"{known}=..., so that the signature shows it."
            )
    return extra


def _object(name: str, value: Any) -> dict[str, Any]:
    """Return an argument that is an object, or its JSON; {} for None."""
    if isinstance(value, str):
        try:
            value = json.loads(value)
        except ValueError:
            raise OptionError(f"{name} is no JSON.") from None  # not quoted: it may hold a key
    if value is not None and not isinstance(value, Mapping):
        raise OptionError(f'{name} must be a JSON object such as {{"name": "value"}}.')
    return dict(value or {})
