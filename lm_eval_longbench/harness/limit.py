"""How long a prompt may be: the official limit, or the model's own."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from lm_eval_longbench.errors import OptionError, OverlengthError
from lm_eval_longbench.harness.backend import has_own_client
from lm_eval_longbench.prompts.tokenizer import is_true, tokenizer_name

# Tokens kept free for the chat template when the limit follows from the model's length. Raw
# prompts keep it free too, so that a model's raw and chat runs are cut alike.
TEMPLATE_RESERVE = 64
# What the harness takes for API models and for configs that name no length.
HARNESS_DEFAULT_LENGTH = 2048
_ASSUMED = f"the harness's default max_length={HARNESS_DEFAULT_LENGTH}"
_UNKNOWN = "unknown"
# Names of the model's length: of hf, of vllm, of sglang.
_LENGTH_ARGUMENTS = ("max_length", "max_model_len", "context_length")
_CONFIG_FIELDS = ("n_positions", "max_position_embeddings", "n_ctx")
# `tokenizer.model_max_length` of a tokenizer that does not know.
_UNKNOWN_LENGTH = 1_000_000_000


@dataclass(frozen=True)
class Limit:
    """The limit of a task's prompts.

    Attributes:
        tokens: longest prompt in tokens; None: no limit is known, prompts go out whole.
        room: tokens the harness lets a whole request have before it cuts on the left; None: it
            does not cut, or nobody knows.
        source: where `tokens` comes from, in words.
        official: whether the user set it with `truncate_to`.
        assumed: whether nobody gave the model's length and the harness assumes one.
    """

    tokens: int | None
    room: int | None
    source: str
    official: bool = False
    assumed: bool = False


def _harness_cuts(model_args: Mapping[str, Any]) -> bool:
    """Whether the harness tokenizes for this API server, and then cuts on the left."""
    if has_own_client(model_args):
        return False
    tokenized = model_args.get("tokenized_requests", True)
    backend = str(model_args.get("tokenizer_backend", "auto")).lower()
    return is_true(tokenized) and backend != "none"


def _config_length(model_args: Mapping[str, Any]) -> int | None:
    """Read the context length of a local or cached `pretrained`, as the harness does."""
    name = model_args.get("pretrained")
    if not isinstance(name, str) or not name:
        return None
    from transformers import AutoConfig, AutoTokenizer

    revision = str(model_args.get("revision") or "main")
    trust = is_true(model_args.get("trust_remote_code"))
    try:
        config = AutoConfig.from_pretrained(
            name, revision=revision, trust_remote_code=trust, local_files_only=True
        )
    except Exception:  # not here or not a transformers model: then its length is not known
        return None
    config = getattr(config, "text_config", None) or config
    for field in _CONFIG_FIELDS:
        value = getattr(config, field, None)
        if value is not None:
            return int(value)
    try:
        tokenizer = AutoTokenizer.from_pretrained(
            str(model_args.get("tokenizer") or name),
            revision=revision,
            trust_remote_code=trust,
            local_files_only=True,
        )
    except Exception:  # no tokenizer here to ask: what the harness would take
        return HARNESS_DEFAULT_LENGTH
    known = tokenizer.model_max_length
    return int(known) if known and known < _UNKNOWN_LENGTH else HARNESS_DEFAULT_LENGTH


def _given(model_args: Mapping[str, Any], names: tuple[str, ...]) -> tuple[int, str] | None:
    """Return the first length that the model arguments name, and how."""
    for name in names:
        given = str(model_args.get(name) or "")
        if given.isdecimal():
            return int(given), f"{name}={given}"
    return None


def _api_length(model_args: Mapping[str, Any], cuts: bool) -> tuple[int | None, str]:
    """Return the length of a model behind an API."""
    # Where the harness cuts, it does so by max_length, whatever other names say.
    given = _given(model_args, ("max_length",) if cuts else _LENGTH_ARGUMENTS)
    if given:
        return given[0] - 1, given[1]  # the harness keeps one token for itself
    # Servers of a kind that the harness does not tokenize for name no tokenizer.
    if cuts and tokenizer_name(None, model_args):
        return HARNESS_DEFAULT_LENGTH - 1, _ASSUMED
    return None, _UNKNOWN


def resolve_limit(
    truncate_to: int | None,
    model_args: Mapping[str, Any],
    budget: int,
    *,
    messages_only: bool = False,
) -> Limit:
    """Return the limit of a task's prompts.

    Args:
        truncate_to: the official way, in tokens; it wins over the model's length.
        model_args: the harness's model arguments.
        budget: output tokens of the task.
        messages_only: whether the backend takes chat messages; the harness never cuts those.

    Raises:
        OverlengthError: the model's length leaves no room for a prompt.
        OptionError: the model arguments make the backend cut the end of prompts.
    """
    if is_true(model_args.get("truncation")):
        raise OptionError(
            "truncation=True in --model_args makes the hf model cut the end of every long prompt, "
            "question included. Leave it out: prompts are cut in the middle before."
        )
    if model_args.get("base_url"):
        cuts = not messages_only and _harness_cuts(model_args)
        length, source = _api_length(model_args, cuts)
    else:
        cuts = not messages_only
        given = _given(model_args, _LENGTH_ARGUMENTS)
        length, source = given or (_config_length(model_args), "the model's config")
    room = length - budget if length is not None and cuts else None
    if truncate_to is not None:
        return Limit(truncate_to, room, f"truncate_to={truncate_to}", official=True)
    if length is None:
        return Limit(None, room, _UNKNOWN)
    tokens = length - budget - TEMPLATE_RESERVE
    if tokens < 2:
        raise OverlengthError(
            f"{source} leaves no room for a prompt: {budget} tokens are for the answer and "
            f"{TEMPLATE_RESERVE} for the chat template. Give the model's real length with "
            "max_length=... in --model_args."
        )
    words = f"{source} - {budget} for the answer - {TEMPLATE_RESERVE} in reserve"
    return Limit(tokens, room, words, assumed=source == _ASSUMED)
