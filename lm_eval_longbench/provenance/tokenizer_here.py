"""The tokenizer that cut the prompts of a result, where this machine has it."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lm_eval_longbench.errors import LongBenchError
from lm_eval_longbench.provenance.documents_here import Absent

if TYPE_CHECKING:
    from transformers import PreTrainedTokenizerBase

_FILES = ("tokenizer_config.json", "tokenizer.json", "tokenizer.model", "vocab.json")


def _is_here(name: str) -> bool:
    """Whether a tokenizer is a folder or in the hub's cache."""
    from huggingface_hub import try_to_load_from_cache
    from huggingface_hub.errors import HFValidationError

    if Path(name).is_dir():
        return True
    try:
        return any(isinstance(try_to_load_from_cache(name, file), str) for file in _FILES)
    except HFValidationError:  # a folder that is not here
        return False


def open_tokenizer(
    signature: Mapping[str, Any], metadata: Mapping[str, Any], given: str | None
) -> PreTrainedTokenizerBase:
    """Return the tokenizer that cut the prompts of a run.

    Args:
        signature: its `tokenizer` and `tokenizer_sha256` are used.
        metadata: of the task, for the revision that the run asked for.
        given: name or folder that the user gives; it may be downloaded, others are not.

    Raises:
        Absent: it is not here, or it is another one.
    """
    from lm_eval_longbench.prompts.fast_tokenizer import tokenizer_sha256
    from lm_eval_longbench.prompts.tokenizer import load_tokenizer

    name = given or str(signature.get("tokenizer"))
    if given is None and not _is_here(name):
        raise Absent(f"The tokenizer {name!r} is not on this machine: name it with --tokenizer.")
    # Never `trust_remote_code`: a results file must not make this machine run anything.
    wanted = {key: metadata[key] for key in ("revision", "pretrained", "model") if key in metadata}
    try:
        tokenizer = load_tokenizer(name, wanted)
        found = tokenizer_sha256(tokenizer)
    except LongBenchError as error:
        raise Absent(str(error)) from error
    if found != signature.get("tokenizer_sha256"):
        raise Absent(
            f"The tokenizer {name!r} here is another than the one that cut: sha256 {found} instead "
            f"of {signature.get('tokenizer_sha256')}. Name the right one with --tokenizer."
        )
    return tokenizer
