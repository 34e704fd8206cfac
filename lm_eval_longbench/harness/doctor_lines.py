"""What the report of `doctor` says of a run: its model, data, first prompts, server and costs."""

from __future__ import annotations

import importlib.util
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from lm_eval.config.evaluate_config import EvaluatorConfig

from lm_eval_longbench.benchmarks.registry import benchmark_of, families, read_options, title_of
from lm_eval_longbench.data.open import SAMPLE
from lm_eval_longbench.errors import DataError, LongBenchError, UnknownNameError, few
from lm_eval_longbench.harness.arguments import Beside
from lm_eval_longbench.harness.doctor_report import (
    ERROR,
    OK,
    WARNING,
    Line,
    absent_line,
    cache_lines,
    is_offline,
    output_line,
    space_line,
)
from lm_eval_longbench.harness.doctor_tasks import Built, ask, build_tasks, measure, read_run
from lm_eval_longbench.harness.in_memory import has_template
from lm_eval_longbench.harness.models import (
    LOCAL,
    MESSAGES,
    NO_TOKENIZER,
    TEXT,
    Backend,
    FoundTokenizer,
    describe,
    endpoint_of,
    get_models,
    models_url,
)
from lm_eval_longbench.harness.run import advice
from lm_eval_longbench.options import Options
from lm_eval_longbench.prompts.tokenizer import any_cached
from lm_eval_longbench.records.summary import TaskAnswers
from lm_eval_longbench.result_files import output_folder
from lm_eval_longbench.retrieval.remote import RemoteEmbedder
from lm_eval_longbench.retrieval.vectors import OFFICIAL_MODEL
from lm_eval_longbench.secrets import masked_url
from lm_eval_longbench.signature.protocol import is_greedy
from lm_eval_longbench.version import installed

# ---------------------------------------------------------------------- the whole


def run_lines(arguments: Sequence[str], beside: Beside, first: int | None) -> Iterator[Line]:
    """Yield the lines on a run; see `doctor.examine`."""
    try:
        run, parsed, said = read_run(arguments, beside)
        options = read_options(run.metadata)
        backend = describe(run.model, run.model_args)
    except (LongBenchError, ValueError, TypeError, OSError) as error:
        yield Line(ERROR, "arguments", str(error), "Correct the arguments.")
        return
    yield from (Line(OK, "preset", text) for text in said)
    yield from _package_lines(run, options)
    yield from _model_lines(run, backend)
    try:
        found = build_tasks(run, parsed)
    except Exception as error:  # the run would end with it, whoever raises it
        todo = advice(error, run.model) or "Correct the names, or the file that has them."
        yield Line(ERROR, "tasks", _words(error), todo)
        found = []
    for one in (own for own in found if own.official is None and own.problem is None):
        yield Line(OK, "tasks", "not of this package, and not looked at", "", (one.name,))
    tasks = [one for one in found if one.task is not None]
    for one in tasks:
        measure(run, backend, one)
    yield from _data_lines(found)
    for one in tasks[:first]:
        if one.problem is None:
            try:
                ask(run, backend, one, [own.name for own in found])
            except Exception as error:
                one.problem = error
    for check in (_problem_lines, _prompt_lines, _limit_lines, _chat_lines, _generation_lines):
        for one in found if check is _problem_lines else tasks[:first]:
            yield from (replace(line, tasks=(one.name,)) for line in check(run, backend, one))
    if left := len(tasks) - len(tasks[:first]):
        what = f"{left} of {len(tasks)} tasks were not looked at closely"
        yield Line(OK, "tasks", what, "--all looks at all of them.")
    yield from _server_lines(run, backend, tasks)
    yield from _embedding_lines(options, tasks)
    yield output_line(run.output_path, log_samples=run.log_samples)
    yield from _bill_lines(run, tasks)
    ours = (benchmark_of(one.official) for one in found if one.official and one.data_dir is None)
    yield from cache_lines(sorted({one.prepared_as for one in ours if one.source.sha256}))


def _words(error: Exception) -> str:
    name = "" if isinstance(error, LongBenchError) else f"{type(error).__name__}: "
    return f"{name}{error}"


# ---------------------------------------------------------------------- packages and model

# What models and embeddings import, and what installs it; of other models the run says it.
_HF = ("torch", "transformers", "accelerate", "peft"), 'pip install "lm-eval-longbench[hf]"'
_API = ("requests", "aiohttp", "tenacity"), 'pip install "lm-eval-longbench[api]"'
_NEEDED = {
    **dict.fromkeys(("hf", "hf-auto", "huggingface"), _HF),
    **dict.fromkeys(("local-completions", "local-chat-completions"), _API),
    "vllm": (("vllm",), 'pip install "lm-eval[vllm]"'),
    "longbench-api": (("openai", *_API[0]), _API[1]),
}


def _package_lines(run: EvaluatorConfig, options: Options) -> Iterator[Line]:
    """Yield a line for each kind of packages that the run needs."""
    needed = {f"the model {run.model}": _NEEDED[run.model]} if run.model in _NEEDED else {}
    if options.embedding_model:
        own = ("openai",) if options.embedding_url else ("sentence_transformers",)
        needed["embeddings"] = own, 'pip install "lm-eval-longbench[semantic]"'
    for what, (names, todo) in needed.items():
        missing = [name for name in names if importlib.util.find_spec(name) is None]
        if missing:
            yield Line(ERROR, "packages", f"{what}: not installed: {', '.join(missing)}", todo)
        else:
            versions = (f"{name} {installed(name) or ''}".rstrip() for name in names)
            yield Line(OK, "packages", f"{what}: {', '.join(versions)}")


# Any of these tells that weights are there, whole or as the list of their parts.
_WEIGHTS = (
    *("model.safetensors", "model.safetensors.index.json"),
    *("pytorch_model.bin", "pytorch_model.bin.index.json", "modules.json"),
)


def _weights_line(topic: str, name: str, revision: str, repo: str) -> Line:
    """Say whether weights are in a folder, in the hub's cache, or not here."""
    folder = Path(name)
    if folder.is_dir() and any((folder / file).is_file() for file in _WEIGHTS):
        return Line(OK, topic, f"{name} is a folder with a model, which is not loaded here")
    if folder.is_dir():
        todo = f"One of these is needed: {', '.join(_WEIGHTS)}."
        return Line(WARNING, topic, f"the folder {name} has no weights of the usual names", todo)
    if any_cached(repo, _WEIGHTS, revision):
        return Line(OK, topic, f"{name} is in the hub's cache, and is not loaded here")
    return _not_here(topic, f"{name} is not on this machine", f"hf download {repo}")


def _not_here(topic: str, what: str, fetch: str) -> Line:
    """Say that files of the hub are missing: the run fetches them if it may."""
    if is_offline():
        return Line(ERROR, topic, f"{what}, and HF_HUB_OFFLINE is set", fetch)
    return Line(WARNING, topic, what, f"The run downloads it; to do it ahead: {fetch}")


def _tokenizer_line(found: FoundTokenizer) -> Line:
    if found.absent:
        what = f"{found.problem}: no prompt can be shown as it is sent"
        fetch = f'hf download {found.name} --include "*.json" "*.jinja" "*.txt" "*.model"'
        return _not_here("tokenizer", what, fetch)
    if found.problem:
        todo = "Add tokenizer=NAME_OR_FOLDER to --model_args, or the option tokenizer."
        return Line(ERROR, "tokenizer", found.problem, todo)
    template = "with" if getattr(found.tokenizer, "chat_template", None) else "without"
    end = getattr(found.tokenizer, "eos_token", None)
    what = f"{found.name}, {template} a chat template"
    if not end:
        todo = "Answers would fill their whole output budget: use the model's own tokenizer."
        return Line(WARNING, "tokenizer", f"{what} and without an end-of-text token", todo)
    return Line(OK, "tokenizer", f"{what}; end of text is {end!r}")


_APPLY = "Add --apply_chat_template"


def _model_lines(run: EvaluatorConfig, backend: Backend) -> Iterator[Line]:
    """Yield the lines on a model's files and on its chat template; no weights are loaded."""
    if backend.kind == LOCAL:
        name, revision = run.model_args.get("pretrained"), run.model_args.get("revision")
        todo = "Add pretrained=NAME_OR_FOLDER to --model_args."
        if name:
            yield _weights_line("model", str(name), str(revision or "main"), str(name))
        else:
            yield Line(ERROR, "model", f"--model_args names no model for {run.model}", todo)
    if backend.tokenizer != NO_TOKENIZER:
        yield _tokenizer_line(backend.tokenizer)
    if run.apply_chat_template and backend.template_problem:
        what = f"the template of {backend.tokenizer.name or backend.name} cannot be applied: "
        todo = "Leave out --apply_chat_template for a base model, or name a tokenizer that has one."
        yield Line(ERROR, "chat template", what + backend.template_problem, todo)
    if not run.apply_chat_template and backend.kind == MESSAGES:
        what = f"{backend.name} takes chat messages only: the run would stop at the first request"
        yield Line(ERROR, "chat template", what, f"{_APPLY}, or use a completions model.")


# ---------------------------------------------------------------------- data and tasks


def _data_lines(found: Sequence[Built]) -> Iterator[Line]:
    """Yield a line for the data of each benchmark, and for each task whose data is wrong."""
    places: dict[tuple[str, str | None], list[Built]] = {}
    for one in found:
        if isinstance(one.problem, DataError):
            todo = "Correct data_dir or the files there."
            yield Line(ERROR, "data", str(one.problem), todo, (one.name,))
        elif one.absent is not None:
            family, sampled = benchmark_of(one.official).prepared_as, one.task is not None
            yield absent_line(family, one.absent, (one.name,), sampled=sampled)
        elif one.task is not None:
            family = benchmark_of(one.official).prepared_as
            places.setdefault((family, one.data_dir), []).append(one)
    for (family, data_dir), members in places.items():
        data = {one.official.dataset: one for one in members}.values()
        runs = [one.task.signature.run for one in data]
        labels = dict.fromkeys(f"{run['data']}, sha256 {run['data_sha256']}" for run in runs)
        what = f"{title_of(family)}: {few(list(labels), 1)}; {sum(one.questions for one in data):,}"
        official = sum(one.official.questions for one in data)
        what += f" of officially {official:,} documents" if official else " documents"
        pinned = families()[family][0].source.sha256
        if not pinned or {run["data_sha256"] for run in runs} == {pinned}:
            yield Line(OK, "data", what)
        else:
            which = "the embedded sample" if data_dir == SAMPLE else "not the pinned official data"
            todo = "Good for trying things out; for official scores leave out data_dir."
            yield Line(WARNING, "data", f"{what}. This is {which}", todo)


def _problem_lines(run: EvaluatorConfig, backend: Backend, one: Built) -> Iterator[Line]:
    """Yield a line on what stops a task, and one if not all of its questions are asked."""
    if one.problem is not None and not isinstance(one.problem, DataError):
        todo = "Change what the message names; nothing was generated."
        yield Line(ERROR, "task", f"The run would stop: {_words(one.problem)}", todo)
    if one.asked < one.questions:
        what = f"{one.asked} of {one.questions} questions are asked"
        todo = "Only for trying things out: leave out --limit and --samples for a score."
        yield Line(WARNING, "questions", what, todo)


# Characters of a prompt's head and tail that are shown.
_SHOWN = 120


def _prompt_lines(run: EvaluatorConfig, backend: Backend, one: Built) -> Iterator[Line]:
    """Yield a line with both ends of a task's first prompt and its length."""
    if one.whole is None:
        return
    messages = one.sent is not None and not isinstance(one.sent, str)
    text = str(one.whole if one.sent is None else one.sent)
    if messages:
        text = json.loads(one.sent.prompt)[-1]["content"]
    kind = "whole, not as sent" if one.sent is None else "as sent"
    parts = [f"{kind}{', as chat messages' if messages else ''}: {len(text):,} characters"]
    whole, sent = one.tokens
    limit = one.limit.tokens if one.limit is not None else None
    if sent is not None:
        parts.append(f"{sent:,} tokens")
    if whole is None:
        parts.append("tokens not counted for want of a tokenizer")
    elif limit is not None and whole > limit:
        parts.append(f"cut in the middle from {whole:,} to {limit:,} tokens")
    else:
        parts.append(f"{whole:,} tokens before any template, nothing cut")
    ends = [text] if len(text) <= 2 * _SHOWN else [text[:_SHOWN], text[-_SHOWN:]]
    shown = " ... ".join(json.dumps(end, ensure_ascii=False) for end in ends)
    yield Line(OK, "first prompt", f"{', '.join(parts)}: {shown}")


def _limit_lines(run: EvaluatorConfig, backend: Backend, one: Built) -> Iterator[Line]:
    """Yield the lines on the limit of a task's prompts, its tokenizer and what is over it."""
    limit = one.limit
    if limit is None:
        return
    official = benchmark_of(one.official).protocol(one.official).limits
    todo = "There is no official limit; whole prompts are officially asked."
    if official:
        fitting = [own for own in official if own <= (limit.tokens or 0)]
        chosen = fitting[-1] if fitting else "TOKENS"
        numbers = ", ".join(map(str, official))
        todo = f"Official limits are {numbers} tokens: --truncate-to {chosen}."
    if limit.tokens is None or limit.assumed:
        todo = f"Give the model's length with max_length=TOKENS in --model_args. {todo}"
    departs = one.departs(limit=limit.tokens)
    if limit.tokens is None:
        what = "no limit is known: prompts go out whole, and whatever serves the model may cut them"
        if backend.kind == LOCAL:
            what = "not known before the model's config is on this machine"
        yield Line(WARNING, "limit", what, todo)
    elif departs or limit.assumed:
        yield Line(WARNING, "limit", f"{limit.tokens:,} tokens ({limit.source}); {departs}", todo)
    else:
        which = "an official limit" if official else "there is no official limit"
        yield Line(OK, "limit", f"{limit.tokens:,} tokens ({limit.source}), {which}")
    if limit.tokens is not None and one.tokenizer.problem and one.tokenizer != backend.tokenizer:
        yield _tokenizer_line(one.tokenizer)
    longest = (limit.tokens or 0) + one.template
    if limit.official and limit.room is not None and longest > limit.room:
        what = f"a request may have {longest:,} tokens, and the model takes {limit.room:,} before"
        todo = "Lower truncate_to, or give the model's real length with max_length=TOKENS."
        yield Line(ERROR, "limit", f"{what} its answer: the run would stop there", todo)
    if one.task.asking.options.overlength == "skip":
        what = "overlength=skip: longer prompts are not asked; officially they are cut"
        yield Line(WARNING, "overlength", what, "Leave the option out.")


def _chat_lines(run: EvaluatorConfig, backend: Backend, one: Built) -> Iterator[Line]:
    """Yield the lines on how a task's prompts are wrapped."""
    chat = one.signature.get("chat")
    messages, tokenizer = not isinstance(one.sent, str), backend.tokenizer.tokenizer
    is_base = tokenizer is not None and getattr(tokenizer, "chat_template", None) is None
    departs = one.departs(chat=chat, system_sha256=one.signature.get("system_sha256"))
    if chat is None or (chat == "off" and backend.kind == MESSAGES):  # then it has been said
        return
    if chat == "on" and messages and backend.kind == TEXT:
        what = f"{backend.name} would send chat messages to a completions endpoint"
        todo = "Set tokenized_requests=True, or use the chat-completions model of the harness."
        yield Line(ERROR, "chat template", what, todo)
    elif chat == "off" and departs and (is_base or not has_template(run.model)):
        yield Line(OK, "chat template", "off, as for a base model")
    elif departs:
        todo = "Scores are not comparable: use a completions model, and no --system_instruction."
        todo = f"{_APPLY} unless this is a base model." if chat == "off" else todo
        yield Line(WARNING, "chat template", departs, todo)
    else:
        whose = "the server" if messages else backend.tokenizer.name or backend.name
        shown = f"on, one user message in the template of {whose}"
        what = shown if chat == "on" else f"{chat}: officially these prompts are not wrapped"
        yield Line(OK, "chat template", what)


def _generation_lines(run: EvaluatorConfig, backend: Backend, one: Built) -> Iterator[Line]:
    """Yield a line on budget, sampling and stop strings, and one on what else is not official."""
    if one.limit is None:  # then the generation arguments were refused
        return
    generation, repeats = one.generation, one.task.asking.repeats
    how = "greedy" if is_greedy(generation) else f"temperature {generation.get('temperature')}"
    number = "1 answer" if repeats == 1 else f"{repeats} answers"
    what = f"at most {generation['max_gen_toks']:,} tokens, {how}, {number} to a question"
    if one.limit.room is not None:
        what = f"{what}; {one.limit.room:,} tokens of the model are left for the request"
    departs = one.departs(repeats, generation=generation)
    if not departs:
        yield Line(OK, "generation", f"{what}; no stop strings: the official settings")
    elif one.problem is None:
        todo = "Leave it out of --gen_kwargs, the options and the task's YAML for official scores."
        yield Line(WARNING, "generation", f"{what}; departs from the official: {departs}", todo)
    others = one.signature.keys() & {"retrieval", "template_sha256", "metric", "filters"}
    departs = one.departs(**{name: one.signature[name] for name in others})
    if departs:
        yield Line(WARNING, "protocol", departs, "The end of the run will say so, too.")


# ---------------------------------------------------------------------- server and embeddings

# Where servers tell a model's length: vLLM and sglang; OpenRouter; LM Studio; Groq; others.
_LENGTHS = (
    *("max_model_len", "context_length", "max_context_length", "context_window"),
    "max_sequence_length",
)
# What to do about some exceptions of `requests`, by name.
_PROBLEMS = {
    "InvalidHeader": "The key holds line breaks or blanks, which no key has: set it again.",
    "ProxyError": "Set NO_PROXY to the server's host, or correct the proxy.",
    "SSLError": "Give ca_cert_path=FILE in --model_args, or verify_certificate=False.",
}


def _server_lines(run: EvaluatorConfig, backend: Backend, tasks: Sequence[Built]) -> Iterator[Line]:
    """Yield the lines on the server that the tasks are sent to; it gets one GET request."""
    if backend.kind not in (TEXT, MESSAGES):
        return
    wanted = "/v1/chat/completions" if backend.kind == MESSAGES else "/v1/completions"
    todo = f"Give base_url=http://HOST:PORT{wanted} in --model_args."
    if backend.problem or not backend.base_url:
        if backend.problem or "litellm" not in backend.name:  # its library knows the address
            problem = backend.problem or "it has no address"
            yield Line(ERROR, "server", f"{backend.name} does not start: {problem}", todo)
        return
    shown = masked_url(backend.base_url)
    try:
        known, url = endpoint_of(backend.base_url), models_url(backend.base_url)
        reply = get_models(url, backend.headers, backend.verify)
    except (ImportError, ValueError) as error:
        yield Line(ERROR, "server", f"{shown} cannot be asked: {error}", todo)
        return
    if known is None:
        yield Line(WARNING, "server", f"base_url {shown} names no endpoint", todo)
    elif {known, wanted.removeprefix("/v1")} == {"/completions", "/chat/completions"}:
        what = f"{backend.name} posts to {shown}, which takes other requests"
        yield Line(ERROR, "server", what, f"Let base_url end in {wanted}.")
    url = masked_url(url)
    if reply.status is None:
        todo = _PROBLEMS.get(reply.problem, "Start the server, or correct base_url.")
        yield Line(ERROR, "server", f"{url} does not answer ({reply.problem})", todo)
    elif reply.status in (401, 403):
        todo = f"Set the environment variable {backend.key_variable}, or correct the header."
        yield Line(ERROR, "server", f"{url} answers with status {reply.status}", todo)
    elif reply.models is None:
        what = f"{url} is reachable and lists no models (status {reply.status})"
        todo = "If base_url is right, the server just has no such list; its length is not checked."
        yield Line(WARNING, "server", what, todo)
    else:
        yield Line(OK, "server", f"{url} answers; {len(reply.models)} models")
        yield from _listed_lines(run, reply.models, tasks)


def _listed_lines(
    run: EvaluatorConfig, models: Mapping[str, Mapping[str, Any]], tasks: Sequence[Built]
) -> Iterator[Line]:
    """Yield the lines on the model among those that a server lists."""
    wanted = str(run.model_args.get("model") or run.model_args.get("pretrained") or "")
    if wanted not in models:
        what = str(UnknownNameError("model of the server", wanted, models))
        todo = "Some servers answer under any name; most refuse."
        yield Line(WARNING if wanted else ERROR, "server", what, todo)
        return
    lengths = (models[wanted].get(name) for name in _LENGTHS)
    length = next((one for one in lengths if type(one) is int and one > 0), None)
    told = "does not tell its length" if length is None else f"takes {length:,} tokens"
    yield Line(OK, "server", f"it has the model {wanted!r}, which {told}")
    todo = f"Give max_length={length} in --model_args, or a lower truncate_to."
    for one in tasks if length is not None else ():
        if one.limit is None:
            continue
        if one.limit.tokens is None:
            what = f"prompts go out whole, and requests over {length:,} tokens will be refused"
            yield Line(WARNING, "server", what, todo, (one.name,))
        elif one.limit.tokens + one.generation["max_gen_toks"] > length:
            what = f"prompts of {one.limit.tokens:,} tokens and their answers do not fit {length:,}"
            yield Line(ERROR, "server", f"{what}: the longest are refused", todo, (one.name,))


# Seconds to wait for a server, once: a report does not wait for one that is busy.
_PATIENCE = 20.0


def _embedding_lines(options: Options, tasks: Sequence[Built]) -> Iterator[Line]:
    """Yield the lines on the embedding model of summaries; a server is asked to embed one word."""
    names = tuple(one.name for one in tasks if one.official.summary)
    model, url = options.embedding_model, options.embedding_url
    if not names:
        return
    if model is None:
        what = "no embedding model: summaries and every figure that contains them have no score"
        todo = (
            "Add the option embedding_model (with embedding_url to ask a server), or score the log "
            f"later: lm-eval-longbench score LOG --output FOLDER --embedding-model {OFFICIAL_MODEL}"
        )
        yield Line(WARNING, "embeddings", what, todo, names)
        return
    if model != OFFICIAL_MODEL:
        what = f"{model} is not the official {OFFICIAL_MODEL}: no official score"
        yield Line(WARNING, "embeddings", what, f"Use {OFFICIAL_MODEL} for a score.", names)
    if url is None:
        # The library looks names without an owner up under its own.
        repo = model if "/" in model else f"sentence-transformers/{model}"
        yield replace(_weights_line("embeddings", model, "main", repo), tasks=names)
        return
    try:
        embedder = RemoteEmbedder(url, model, timeout=_PATIENCE, attempts=1)
        embedder.check()
        yield Line(OK, "embeddings", f"{embedder.shown_url} embeds with {model}", "", names)
    except LongBenchError as error:
        todo = "The run would stop before it generates."
        yield Line(ERROR, "embeddings", str(error), todo, names)


# ---------------------------------------------------------------------- the bill and the disk

# A log keeps of each answer the question, hashes and both ends of the prompt, and the text: bytes.
_EXCERPT, _TOKEN, _RESULTS = 3_000, 4, 1_000_000


def _bill_lines(run: EvaluatorConfig, tasks: Sequence[Built]) -> Iterator[Line]:
    """Yield what is asked at most, in requests and tokens, and the space of its results."""
    bill, sent, need = TaskAnswers(), "", _RESULTS
    for one in tasks:
        if one.limit is None:
            continue
        number, budget = one.asked * one.task.asking.repeats, one.generation["max_gen_toks"]
        sent = "whole, for no limit is known" if one.limit.tokens is None else sent
        prompts = number * (one.limit.tokens or 0)
        bill += TaskAnswers(number, prompt_tokens=prompts, completion_tokens=number * budget)
        whole = len(one.whole or "") if one.task.asking.options.log_prompts == "full" else 0
        need += number * (_EXCERPT + budget * _TOKEN + whole) if run.log_samples else 0
    if bill.answered:
        sent = sent or f"at most {bill.prompt_tokens:,} tokens"
        what = f"{bill.answered:,} requests; prompts: {sent}; "
        yield Line(OK, "bill", f"{what}answers: at most {bill.completion_tokens:,} tokens")
    if run.output_path:
        yield space_line("results", output_folder(run.output_path), need)
