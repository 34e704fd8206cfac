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
    provider = _OpenAI(client) if form == OPENAI else _Anthropic(client)
    for own in files:
        if not own.get("batch"):
            own["batch"] = provider.send(folder / own["file"])
            with written_together([folder / MANIFEST]) as (file,):
                file.document(manifest)
            say(f"{own['file']}: sent as {own['batch']}")
    found: list[Path] = []
    told: dict[str, str] = {}
    left = list(files)
    while left:
        for own in list(left):
            state, is_ended = provider.look(own["batch"])
            if told.get(own["file"]) != state:
                told[own["file"]] = state
                say(f"{own['file']}: {state}")
            if is_ended:
                found.append(_fetched(provider, folder, own, state))
                left.remove(own)
        if left:
            time.sleep(wait)
    return found


def _fetched(provider: Any, folder: Path, own: Any, state: str) -> Path:
    """Write the results of a batch beside its requests."""
    path = folder / f"results-{Path(own['file']).stem.rpartition('-')[2]}.jsonl"
    lines = [line.rstrip(b"\n") for line in provider.results(own["batch"])]
    if not lines:
        raise RunStopped(
            f"The batch {own['batch']} of {own['file']} has no results: {state}. To send it again, "
            f'take its "batch" out of {folder / MANIFEST}.'
        )
    with written_together([path]) as (file,):
        for line in lines:
            file.write(line + b"\n")
    return path


class _OpenAI:
    def __init__(self, client: Any) -> None:
        self._client = client

    def send(self, path: Path) -> str:
        with path.open("rb") as file:
            first = json.loads(file.readline())
            file.seek(0)
            sent = self._client.files.create(file=file, purpose="batch")
        made = self._client.batches.create(
            input_file_id=sent.id, endpoint=first["url"], completion_window="24h"
        )
        return str(made.id)

    def look(self, batch: str) -> tuple[str, bool]:
        found = self._client.batches.retrieve(batch)
        counts = found.request_counts
        text = found.status
        if counts is not None:
            text += f", {counts.completed} of {counts.total} done, {counts.failed} failed"
        problems = [one.message for one in getattr(found.errors, "data", None) or ()]
        return ": ".join([text, *problems[:1]]), found.status in _ENDED

    def results(self, batch: str) -> Any:
        found = self._client.batches.retrieve(batch)
        for name in (found.output_file_id, found.error_file_id):
            if name:
                yield from self._client.files.content(name).content.splitlines()


class _Anthropic:
    def __init__(self, client: Any) -> None:
        self._batches = client.messages.batches

    def send(self, path: Path) -> str:
        return str(self._batches.create(**json.loads(path.read_bytes())).id)

    def look(self, batch: str) -> tuple[str, bool]:
        found = self._batches.retrieve(batch)
        counts = {name: number for name, number in found.request_counts if number}
        text = ", ".join(f"{number} {name}" for name, number in counts.items())
        return f"{found.processing_status}, {text}", found.processing_status == "ended"

    def results(self, batch: str) -> Any:
        for own in self._batches.results(batch):
            yield own.model_dump_json().encode()
