"""Keep the harness's response cache (--use_cache) to one model.

The harness finds an answer by prompt and generation arguments alone: with one path for two models
the second would get the first one's answers. So the cache says whose answers it holds.
"""

from __future__ import annotations

import contextlib
import glob
import logging
import os
import sqlite3
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from lm_eval_longbench.answers.store import model_identity, shown
from lm_eval_longbench.errors import OptionError

logger = logging.getLogger(__name__)


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
    own = model_identity(model, arguments)
    rank = os.environ.get("RANK") or os.environ.get("LOCAL_RANK") or "0"
    mine = f"{path}_rank{rank}.db"
    files = sorted({*glob.glob(f"{glob.escape(path)}_rank*.db"), mine})
    try:
        for file in files:
            _claim(file, own, write=file == mine)
    except (sqlite3.Error, OSError) as error:
        raise OptionError(
            f"use_cache {path}: {error}. Give a path where a file can be written, or move the "
            "damaged cache away."
        ) from error


def _claim(file: str, own: str, *, write: bool) -> None:
    if write:
        Path(file).absolute().parent.mkdir(parents=True, exist_ok=True)
    with contextlib.closing(sqlite3.connect(file, timeout=60)) as connection, connection:
        found, answers = _recorded(connection)
        if found is not None and found != own and answers:
            raise OptionError(
                f"use_cache: {file} holds answers of another model, and they would be filed as "
                f"this one's: {shown(found) or 'unknown'}; this run is {shown(own)}. Give each "
                "model a path of its own."
            )
        if found is None and answers:
            logger.warning(
                f"use_cache: {file} does not say whose answers it holds: the harness alone wrote "
                "it. They are taken for this model's; if another one gave them, give another path."
            )
        if write:
            connection.execute("CREATE TABLE IF NOT EXISTS longbench_model (identity TEXT)")
            connection.execute("DELETE FROM longbench_model")
            connection.execute("INSERT INTO longbench_model VALUES (?)", (own,))
