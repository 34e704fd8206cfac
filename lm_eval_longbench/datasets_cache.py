"""Where the `datasets` library keeps its cache; to import it for this alone would take a second."""

from __future__ import annotations

import os
import sys
from pathlib import Path


def datasets_cache() -> Path:
    """Return the folder that `datasets.config.HF_DATASETS_CACHE` names; it may not exist.

    Source: datasets/config.py, the same in all versions from 3.0. A caller may have set the
    attribute, so that it holds where the library is imported already.
    """
    config = sys.modules.get("datasets.config")
    if config is not None:
        return Path(config.HF_DATASETS_CACHE)
    general = os.path.join(os.getenv("XDG_CACHE_HOME", "~/.cache"), "huggingface")
    home = os.path.expanduser(os.getenv("HF_HOME", general))
    return Path(os.getenv("HF_DATASETS_CACHE", os.path.join(home, "datasets")))


def our_cache() -> Path:
    """Return the folder in it that is this package's; it may not exist."""
    return datasets_cache() / "lm_eval_longbench"
