"""The official prompt templates as byte-exact files, checked against their hashes when read."""

from __future__ import annotations

import functools
import hashlib
from pathlib import Path

from lm_eval_longbench.errors import PromptError

_FOLDER = Path(__file__).parent / "templates"


@functools.cache
def _hashes() -> dict[str, str]:
    lines = (_FOLDER / "SHA256SUMS").read_text(encoding="utf-8").splitlines()
    return {name: digest for digest, name in (line.split("  ", 1) for line in lines)}


def template_sha256(benchmark: str, name: str) -> str:
    """Return the sha256 of the official template, as hexadecimal digits."""
    try:
        return _hashes()[f"{benchmark}/{name}.txt"]
    except KeyError:
        raise PromptError(f"There is no prompt template {benchmark}/{name}.txt.") from None


@functools.cache
def load_template(benchmark: str, name: str) -> str:
    """Return a template byte for byte.

    Raises:
        PromptError: there is no such template, or the file was changed (an editor's whitespace or
            quote fixer is enough): its scores would not be comparable with anybody's.
    """
    expected = template_sha256(benchmark, name)
    raw = (_FOLDER / benchmark / f"{name}.txt").read_bytes()
    found = hashlib.sha256(raw).hexdigest()
    if found != expected:
        raise PromptError(
            f"Prompt template {benchmark}/{name}.txt was changed: sha256 {found}, official "
            f"{expected}. Restore it: pip install --force-reinstall lm-eval-longbench"
        )
    return raw.decode("utf-8")
