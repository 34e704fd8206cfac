"""What an answer depends on: which model gives it, and all of the request that can change it.

Two runs share answers where both are the same. No host, port or key is part of either.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping
from typing import Any

from lm_eval_longbench.options import REPEAT
from lm_eval_longbench.secrets import masked

# Arguments of models that do not change what is answered to a prompt: where and how fast it is
# answered, and what makes the prompt, which is part of a request.
_NO_ANSWERS = frozenset(
    {
        *("base_url", "num_concurrent", "max_retries", "timeout", "verify_certificate"),
        *("ca_cert_path", "auth_token", "token", "header", "batch_size", "max_batch_size"),
        *("device", "tokenizer_backend", "tokenized_requests", "max_length"),
        *("max_model_len", "context_length", "gpu_memory_utilization", "tensor_parallel_size"),
        *("data_parallel_size", "swap_space", "trust_remote_code", "parallelize", "device_map"),
        *("patience", "max_failed", "tries"),
        *("max_memory_per_gpu", "max_cpu_memory", "offload_folder", "truncation"),
    }
)
# Of those, what cuts prompts inside the model. Prompts of our tasks fit; others may not.
_CUTS = ("max_length", "max_model_len", "context_length", "truncation", "truncate")
# A model in this process is fed the ids of its tokenizer; a server is sent texts.
_TOKENIZER = "tokenizer"
_SERVERS = re.compile(
    r"(local|openai|anthropic)-|litellm|gg[mu][lf]|textsynth|watsonx|longbench-api"
)
# The arguments that the harness takes a model's name from, the first one first; without one it
# makes a name up.
NAMING = ("peft", "delta", "pretrained", "model", "path", "engine")
_LONGEST_NAME = 100


def asks_server(model: str, arguments: Mapping[str, Any]) -> bool:
    """Return whether a backend of the harness sends its requests to a server."""
    return bool(arguments.get("base_url")) or _SERVERS.match(model) is not None


def model_identity(model: str, arguments: Mapping[str, Any]) -> str:
    """Return as JSON which model answers: its backend, and the arguments that change an answer.

    Args:
        model: the harness's name of the backend.
        arguments: --model_args.
    """
    own = {name: value for name, value in arguments.items() if name not in _NO_ANSWERS}
    if asks_server(model, arguments):
        own.pop(_TOKENIZER, None)
    return json.dumps({"model": model, "model_args": masked(own)}, sort_keys=True, default=str)


def shown(identity: Any) -> str | None:
    """Return an identity in print; None: it is none."""
    try:
        told = json.loads(identity)
        parts = [f"{name}={value}" for name, value in told["model_args"].items()]
        return " ".join([f"model {told['model']}", *parts])
    except (ValueError, TypeError, KeyError, AttributeError):
        return None


def model_name(model: str, arguments: Mapping[str, Any]) -> str:
    """Return the name of a model: of its weights, or else of its backend."""
    return next((str(arguments[name]) for name in NAMING if arguments.get(name)), model)


def file_stem(name: str, identity: str) -> str:
    """Return how the names of all files begin that keep a model's answers.

    Args:
        name: of the model, fit for a file name.
        identity: of the model.
    """
    digest = hashlib.sha256(identity.encode()).hexdigest()[:8]
    return f"answers_{name[-_LONGEST_NAME:]}_{digest}"


def cuts(arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Return the arguments of a model that may cut a prompt inside it."""
    return {name: arguments[name] for name in _CUTS if name in arguments}


def sent_generation(generation: Mapping[str, Any]) -> dict[str, Any]:
    """Return generation arguments without our own mark of a repeat."""
    return {name: value for name, value in generation.items() if name != REPEAT}


def answer_key(prompt: str, generation: Mapping[str, Any], more: Mapping[str, Any]) -> str:
    """Return the sha256, in hex, of all that changes the answer to a request but the model.

    Args:
        prompt: as it is sent, chat messages as their JSON.
        generation: generation arguments; our own mark of a repeat does not count.
        more: what else counts, {} for nothing.
    """
    whole = json.dumps(
        [prompt, sent_generation(generation), dict(more)], sort_keys=True, default=str
    )
    return hashlib.sha256(whole.encode()).hexdigest()
