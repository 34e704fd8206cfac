"""Import what only the extra `semantic` brings."""

from __future__ import annotations

import importlib
from typing import Any

from lm_eval_longbench.errors import EmbeddingError

_INSTALL = 'pip install "lm-eval-longbench[semantic]"'


def semantic_package(name: str) -> Any:
    """Return the imported module.

    Raises:
        EmbeddingError: it cannot be imported; the message has the pip line.
    """
    try:
        return importlib.import_module(name)
    except ImportError as error:
        raise EmbeddingError(
            f"Semantic similarity needs the package {name!r}, which cannot be imported ({error}). "
            f"Install it with: {_INSTALL}"
        ) from error
