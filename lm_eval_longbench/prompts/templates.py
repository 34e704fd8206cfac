"""The official prompt templates as byte-exact files, checked against their hashes when read."""

from __future__ import annotations

import functools
import hashlib
from pathlib import Path

from lm_eval_longbench.errors import PromptError

FOLDER = Path(__file__).parent / "templates"


@functools.cache
def _hashes(folder: Path) -> dict[str, str]:
    lines = (folder / "SHA256SUMS").read_text(encoding="utf-8").splitlines()
    return {name: digest for digest, name in (line.split("  ", 1) for line in lines)}


def template_sha256(family: str, name: str, folder: Path | None = None) -> str:
    """Return the sha256 of a template, as hexadecimal digits.

    Args:
        family: of benchmarks, which is a folder of templates.
        name: of the template.
        folder: of families, with the file SHA256SUMS; None: ours.
    """
    try:
        return _hashes(folder or FOLDER)[f"{family}/{name}.txt"]
    except KeyError:
        raise PromptError(f"There is no prompt template {family}/{name}.txt.") from None


@functools.cache
def load_template(family: str, name: str, folder: Path | None = None) -> str:
    """Return a template byte for byte; see `template_sha256`.

    Raises:
        PromptError: there is no such template, or the file was changed (an editor's whitespace or
            quote fixer is enough): its scores would not be comparable with anybody's.
    """
    expected = template_sha256(family, name, folder)
    raw = ((folder or FOLDER) / family / f"{name}.txt").read_bytes()
    found = hashlib.sha256(raw).hexdigest()
    if found != expected:
        raise PromptError(
            f"Prompt template {family}/{name}.txt was changed: sha256 {found}, official "
            f"{expected}. Restore it: pip install --force-reinstall lm-eval-longbench"
        )
    return raw.decode("utf-8")
