"""Encodings of tiktoken as tokenizers that cut prompts, as official code cuts them for GPT models.

Source: LongBench at commit 2e00731, pred.py: special tokens in a prompt are read as text, and both
ends are decoded at once.
"""

from __future__ import annotations

import functools
import hashlib
from collections.abc import Sequence
from typing import Any

from lm_eval_longbench.errors import TokenizerError, UnknownNameError

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
