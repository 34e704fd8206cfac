"""Keep the harness's response cache (--use_cache) to one model.

The harness finds an answer by prompt and generation arguments alone: with one path for two models
the second would get the first one's answers. So the cache says whose answers it holds.
"""

from __future__ import annotations

import contextlib
import glob
import json
import logging
import os
import sqlite3
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from lm_eval_longbench.errors import OptionError

logger = logging.getLogger(__name__)

# Arguments of models that do not change what is answered to a prompt: where and how fast it is
# answered, and what makes the prompt, which is part of the harness's key.
_NO_ANSWERS = frozenset(
    {
        *("base_url", "num_concurrent", "max_retries", "timeout", "verify_certificate"),
        *("ca_cert_path", "auth_token", "token", "header", "batch_size", "max_batch_size"),
        *("device", "tokenizer", "tokenizer_backend", "tokenized_requests", "max_length"),
        *("max_model_len", "context_length", "gpu_memory_utilization", "tensor_parallel_size"),
        *("data_parallel_size", "swap_space", "trust_remote_code", "parallelize", "device_map"),
        *("patience", "max_failed", "tries"),
        *("max_memory_per_gpu", "max_cpu_memory", "offload_folder", "truncation"),
    }
)


def _identity(model: str, arguments: Mapping[str, Any]) -> str:
    own = {name: value for name, value in arguments.items() if name not in _NO_ANSWERS}
    return json.dumps({"model": model, "model_args": own}, sort_keys=True, default=str)


def _shown(identity: str) -> str:
    told = json.loads(identity)
    parts = [f"{name}={value}" for name, value in told["model_args"].items()]
    return " ".join([f"--model {told['model']}", *parts])


def _recorded(connection: sqlite3.Connection) -> tuple[str | None, bool]:
    """Return whose answers a cache file holds, and whether it holds any."""
    tables = {name for (name,) in connection.execute("SELECT name FROM sqlite_master")}
    found = None
    if "longbench_model" in tables:
        row = connection.execute("SELECT identity FROM longbench_model").fetchone()
        found = row[0] if row else None
    answers = "unnamed" in tables and bool(
        connection.execute("SELECT EXISTS (SELECT 1 FROM unnamed)").fetchone()[0]
    )
    return found, answers


def claim_cache(path: str, model: str, arguments: Mapping[str, Any]) -> None:
    """Make sure that a response cache is this model's, and write down that it is.

    Args:
        path: as given to --use_cache; the harness adds "_rank<n>.db".
        model: the harness's name of the backend.
        arguments: --model_args.

    Raises:
        OptionError: it holds another model's answers, or it cannot be used; names both models.
    """
    own = _identity(model, arguments)
    rank = os.environ.get("RANK") or os.environ.get("LOCAL_RANK") or "0"
    mine = f"{path}_rank{rank}.db"
    files = sorted({*glob.glob(f"{glob.escape(path)}_rank*.db"), mine})
    try:
        for file in files:
            _claim(file, own, write=file == mine)
    except (sqlite3.Error, OSError) as error:
        raise OptionError(
            f"--use_cache {path}: {error}. Give a path where a file can be written, or move the "
            "damaged cache away."
        ) from error


def _claim(file: str, own: str, *, write: bool) -> None:
    if write:
        Path(file).absolute().parent.mkdir(parents=True, exist_ok=True)
    with contextlib.closing(sqlite3.connect(file, timeout=60)) as connection, connection:
        found, answers = _recorded(connection)
        if found is not None and found != own and answers:
            raise OptionError(
                f"--use_cache: {file} holds answers of another model, and they would be filed as "
                f"this one's: {_shown(found)}; this run is {_shown(own)}. Give each model a path "
                "of its own."
            )
        if found is None and answers:
            logger.warning(
                f"--use_cache: {file} does not say whose answers it holds: the harness alone wrote "
                "it. They are taken for this model's; if another one gave them, give another path."
            )
        if write:
            connection.execute("CREATE TABLE IF NOT EXISTS longbench_model (identity TEXT)")
            connection.execute("DELETE FROM longbench_model")
            connection.execute("INSERT INTO longbench_model VALUES (?)", (own,))
