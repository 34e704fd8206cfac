"""The evaluated model's own tokenizer, or an encoding of tiktoken, loaded once.

Source for encodings: LongBench at commit 2e00731, pred.py: special tokens in a prompt are read as
text, and both ends are decoded at once.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from lm_eval_longbench.errors import TokenizerError, UnknownNameError
from lm_eval_longbench.prompts.tokens.official import panicked, remember_origin

if TYPE_CHECKING:
    from transformers import PreTrainedTokenizerBase


# ---------------------------------------------------------------------- encodings of tiktoken

PREFIX = "tiktoken:"


class EncodingTokenizer:
    """An encoding with as much of a tokenizer's interface as cutting and counting need.

    Attributes:
        name_or_path: its name, with the prefix.
        chat_template, bos_token: there are none.
    """

    is_fast = False
    chat_template = None
    bos_token = None

    def __init__(self, name: str, encoding: Any) -> None:
        self.name_or_path = f"{PREFIX}{name}"
        self._encoding = encoding

    def __call__(self, text: str, **options: Any) -> dict[str, list[int]]:
        """Return the ids of a text under "input_ids"; no special tokens are added."""
        return {"input_ids": self._encoding.encode(text, disallowed_special=())}

    def decode(self, ids: Sequence[int], **options: Any) -> str:
        """Return the text of ids; bytes that are no UTF-8 become replacement characters."""
        return str(self._encoding.decode(list(ids)))

    @functools.cached_property
    def description_sha256(self) -> str:
        """Hash of all that its ids depend on: ranks, pattern and special tokens."""
        digest = hashlib.sha256(repr(self._encoding._pat_str).encode())
        for token, rank in sorted(self._encoding._mergeable_ranks.items(), key=lambda one: one[1]):
            digest.update(b"%d %d " % (rank, len(token)) + token)
        digest.update(repr(sorted(self._encoding._special_tokens.items())).encode())
        return digest.hexdigest()


@functools.cache
def load_encoding(name: str) -> EncodingTokenizer:
    """Return the encoding of a model, such as "gpt-4o", or of its own name, such as "o200k_base".

    tiktoken looks for its file in the folder that TIKTOKEN_CACHE_DIR names, and downloads it once
    where it is not there.

    Raises:
        TokenizerError: tiktoken is not installed, or the file cannot be had.
        UnknownNameError: tiktoken knows no such model or encoding.
    """
    try:
        import tiktoken
        from tiktoken.model import MODEL_TO_ENCODING
    except ImportError as error:
        raise TokenizerError(
            f"The tokenizer {PREFIX + name!r} needs the package tiktoken: "
            'pip install "lm-eval-longbench[tiktoken]".'
        ) from error
    own = name
    try:
        own = tiktoken.encoding_name_for_model(name)
    except KeyError:
        if name not in tiktoken.list_encoding_names():
            known = (*MODEL_TO_ENCODING, *tiktoken.list_encoding_names())
            raise UnknownNameError("model or encoding of tiktoken", name, known) from None
    try:
        return EncodingTokenizer(name, tiktoken.get_encoding(own))
    except Exception as error:  # its own, and whatever its HTTP library raises
        raise TokenizerError(
            f"The encoding {own!r} of tiktoken cannot be loaded ({type(error).__name__}: {error}). "
            "Without a network, copy its file from another machine: the folder that "
            "TIKTOKEN_CACHE_DIR names there, filled by one call with a network, and the same "
            "variable here."
        ) from error


# ---------------------------------------------------------------------- the model's own

# Any of these tells that a tokenizer is there.
_FILES = ("tokenizer_config.json", "tokenizer.json", "tokenizer.model", "vocab.json")
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


def any_cached(repo: str, files: Iterable[str], revision: str = "main") -> bool:
    """Whether the hub's cache has at least one of these files of a model's repository."""
    from huggingface_hub import try_to_load_from_cache

    try:
        return any(
            isinstance(try_to_load_from_cache(repo, file, revision=revision), str) for file in files
        )
    except ValueError:  # no name of a repository, such as a path that does not exist
        return False


def is_here(name: str, revision: str = "main") -> bool:
    """Whether a tokenizer is on this machine: an encoding, a folder or in the hub's cache."""
    return name.startswith(PREFIX) or Path(name).is_dir() or any_cached(name, _FILES, revision)


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
            "Prompts must be cut or counted, but neither the model arguments nor the option "
            "'tokenizer' name a tokenizer. Give the option a name or a folder."
        )
    if name in _LENT:
        return _LENT[name]
    if name.startswith(PREFIX):
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
