"""Send request files to the provider's batch API, wait for days, and fetch the results."""

from __future__ import annotations

import importlib
import json
import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from lm_eval_longbench.errors import MissingDependencyError, OptionError, RunStopped
from lm_eval_longbench.files import read_json
from lm_eval_longbench.result_files import written_together
from lm_eval_longbench.server.batch import ANTHROPIC, OPENAI

MANIFEST = "manifest.json"
# Seconds between two looks at a batch.
WAIT = 60.0
_KEYS = {OPENAI: "OPENAI_API_KEY", ANTHROPIC: "ANTHROPIC_API_KEY"}
_ENDED = ("completed", "failed", "expired", "cancelled")


def client_of(form: str) -> Any:
    """Return the provider's own client, with the key of the environment.

    Raises:
        OptionError: the form has no provider, or there is no key.
        MissingDependencyError: its package is missing.
    """
    if form not in _KEYS:
        raise OptionError(f"--submit is for --format {OPENAI} and {ANTHROPIC}, not {form}.")
    if not os.environ.get(_KEYS[form]):
        raise OptionError(f"--submit needs the key in {_KEYS[form]}.")
    try:
        package = importlib.import_module(form)
    except ImportError as error:
        pip = f"pip install {form}"
        raise MissingDependencyError(f"--submit needs the package {form}: {pip}") from error
    return package.OpenAI() if form == OPENAI else package.Anthropic()


def submit(folder: Path, say: Callable[[str], None], wait: float = WAIT) -> list[Path]:
    """Send the request files of a folder, wait for all of them, and fetch their results.

    What was sent is in the manifest at once: after an interruption the same call goes on waiting,
    and sends nothing twice.

    Args:
        folder: with the manifest of `--write-requests`.
        say: gets a line whenever something has changed.
        wait: seconds between two looks.

    Returns:
        The result files, in the folder.

    Raises:
        OptionError: there is no manifest, no key, or no such provider.
        MissingDependencyError: the provider's package is missing.
        RunStopped: a batch ended without results.
    """
    manifest = read_json(folder / MANIFEST, OptionError)
    form, files = manifest["format"], manifest["files"]
    client = client_of(form)
    for own in files:
        if not own.get("batch"):
            own["batch"] = _sent(form, client, folder / own["file"])
            with written_together([folder / MANIFEST]) as (file,):
                file.document(manifest)
            say(f"{own['file']}: sent as {own['batch']}")
    told: dict[str, str] = {}
    found: dict[str, Path] = {}
    while True:
        for own in files:
            name = own["file"]
            if name in found:
                continue
            state, lines = _state(form, client, own["batch"])
            if told.get(name) != state:
                told[name] = state
                say(f"{name}: {state}")
            if lines is not None:
                found[name] = _kept(folder, own, state, lines)
        if len(found) == len(files):
            return list(found.values())
        time.sleep(wait)


def _kept(folder: Path, own: Any, state: str, lines: list[bytes]) -> Path:
    """Write the results of a batch beside its requests."""
    name = str(own["file"]).replace("requests", "results")
    path = (folder / name).with_suffix(".jsonl")
    if not lines:
        raise RunStopped(
            f"The batch {own['batch']} of {own['file']} has no results: {state}. To send it again, "
            f'take its "batch" out of {folder / MANIFEST}.'
        )
    with written_together([path]) as (file,):
        file.write(b"\n".join([*lines, b""]))
    return path


def _sent(form: str, client: Any, path: Path) -> str:
    """Send a file of requests; return the name of its batch."""
    if form == ANTHROPIC:
        return str(client.messages.batches.create(**json.loads(path.read_bytes())).id)
    with path.open("rb") as file:
        first = json.loads(file.readline())
        file.seek(0)
        sent = client.files.create(file=file, purpose="batch")
    made = client.batches.create(
        input_file_id=sent.id, endpoint=first["url"], completion_window="24h"
    )
    return str(made.id)


def _state(form: str, client: Any, batch: str) -> tuple[str, list[bytes] | None]:
    """Return in print how far a batch is, and at its end the rows of its results."""
    if form == ANTHROPIC:
        found = client.messages.batches.retrieve(batch)
        counts = [f"{number} {name}" for name, number in found.request_counts if number]
        state = f"{found.processing_status}, {', '.join(counts)}"
        if found.processing_status != "ended":
            return state, None
        rows = client.messages.batches.results(batch)
        return state, [own.model_dump_json().encode() for own in rows]
    found = client.batches.retrieve(batch)
    counts, state = found.request_counts, found.status
    if counts is not None:
        state += f", {counts.completed} of {counts.total} done, {counts.failed} failed"
    problems = [one.message for one in getattr(found.errors, "data", None) or ()]
    state = ": ".join([state, *problems[:1]])
    if found.status not in _ENDED:
        return state, None
    contents = [
        client.files.content(name).content
        for name in (found.output_file_id, found.error_file_id)
        if name
    ]
    return state, [line for content in contents for line in content.splitlines()]
