"""The evaluated model's own tokenizer, loaded once."""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from lm_eval_longbench.errors import TokenizerError
from lm_eval_longbench.prompts.encodings import PREFIX, load_encoding
from lm_eval_longbench.prompts.tokens.official import panicked, remember_origin

if TYPE_CHECKING:
    from transformers import PreTrainedTokenizerBase

# Where model arguments name the tokenizer, most telling first.
_ARGUMENTS = ("tokenizer", "pretrained", "model")
# Tokenizers that a Python caller has in memory, by the name that stands for each.
_LENT: dict[str, PreTrainedTokenizerBase] = {}


@contextlib.contextmanager
def lent(name: str, tokenizer: PreTrainedTokenizerBase) -> Iterator[None]:
    """While open, `load_tokenizer` returns this tokenizer for its name."""
    _LENT[name] = tokenizer
    try:
        yield
    finally:
        del _LENT[name]


def tokenizer_name(option: str | None, model_args: Mapping[str, Any]) -> str | None:
    """Return the tokenizer's name: the option, else what the model arguments imply, else None."""
    for name in (option, *(model_args.get(argument) for argument in _ARGUMENTS)):
        if isinstance(name, str) and name:
            return name
    return None


def is_encoding(name: str) -> bool:
    """Return whether a tokenizer is an encoding of tiktoken, by its name."""
    return name.startswith(PREFIX)


def is_true(value: Any) -> bool:
    """Read a model argument that may be a bool or the text of one."""
    return str(value).strip().lower() in {"true", "1"}


def load_tokenizer(name: str | None, model_args: Mapping[str, Any]) -> PreTrainedTokenizerBase:
    """Load a tokenizer by name or folder, with the revision the model arguments ask for.

    "tiktoken:" and the name of a model or an encoding loads an encoding of tiktoken.
    One that is lent has its name.

    Raises:
        TokenizerError: no name is known, or it cannot be loaded.
    """
    if name is None:
        raise TokenizerError(
            "Prompts must be cut, but neither the model arguments nor the option 'tokenizer' name "
            'a tokenizer. Add --metadata \'{"longbench": {"tokenizer": "NAME_OR_FOLDER"}}\'.'
        )
    if name in _LENT:
        return _LENT[name]
    if is_encoding(name):
        return cast("PreTrainedTokenizerBase", load_encoding(name.removeprefix(PREFIX)))
    revision = model_args.get("revision")
    same_repo = name in (model_args.get("pretrained"), model_args.get("model"))
    return _load(
        name,
        str(revision) if revision and same_repo else None,
        is_true(model_args.get("trust_remote_code")),
    )


@functools.cache
def _load(name: str, revision: str | None, trust_remote_code: bool) -> PreTrainedTokenizerBase:
    from transformers import AutoTokenizer  # slow to import, and only needed to cut

    try:
        tokenizer = AutoTokenizer.from_pretrained(
            name, revision=revision or "main", trust_remote_code=trust_remote_code
        )
        remember_origin(tokenizer, name, revision)
    except BaseException as error:  # transformers raises whatever its backends raise
        if not isinstance(error, Exception) and not panicked(error):
            raise
        nowhere = name[:1] in "/.~" and not Path(name).exists()
        why = "no such folder" if nowhere else f"{type(error).__name__}: {error}"
        raise TokenizerError(
            f"The tokenizer {name!r} cannot be loaded ({why}). Prompts "
            "are cut with the evaluated model's own tokenizer: name it with the option "
            "'tokenizer', or leave out 'truncate_to' and the model's length to send prompts whole."
        ) from error
    return tokenizer
