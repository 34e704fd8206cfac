"""Find a tokenizer on this machine, for a preflight that downloads nothing."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from lm_eval_longbench.errors import TokenizerError
from lm_eval_longbench.harness.preflight_cache import any_cached
from lm_eval_longbench.harness.preflight_facts import FoundTokenizer
from lm_eval_longbench.prompts.tokenizer import load_tokenizer

# Any of these tells that a tokenizer is there.
_FILES = ("tokenizer_config.json", "tokenizer.json", "tokenizer.model", "vocab.json")


def find_tokenizer(name: str | None, model_args: Mapping[str, Any]) -> FoundTokenizer:
    """Return a tokenizer of this machine, or why there is none.

    Args:
        name: name or folder; None: nobody names one.
        model_args: the harness's model arguments.
    """
    if name is None:
        return FoundTokenizer(None, problem="no tokenizer is named")
    revision = str(model_args.get("revision") or "main")
    if not Path(name).is_dir() and not any_cached(name, _FILES, revision):
        problem = f"the tokenizer {name!r} is not on this machine"
        return FoundTokenizer(name, problem=problem, absent=True)
    try:
        return FoundTokenizer(name, load_tokenizer(name, model_args))
    except TokenizerError as error:
        return FoundTokenizer(name, problem=str(error))
