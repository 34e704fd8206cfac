"""The official prompt templates as byte-exact files, and how fields are put into them."""

from __future__ import annotations

import functools
import hashlib
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from lm_eval_longbench.errors import PromptError


def text_sha256(text: str) -> str:
    """Return the sha256 of a text's UTF-8 bytes; lone surrogates count as Python encodes them."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


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
            f"{expected}. Restore it: "
            + ("pip install --force-reinstall lm-eval-longbench" if folder is None else str(folder))
        )
    return raw.decode("utf-8")


_FIELDS = ("context", "input", "question")
_DOCUMENT = "{context}"


def after_document(template: str, mark: str = _DOCUMENT) -> str:
    """Return what follows the document in a template: all of it where it has no document."""
    return template.rpartition(mark)[2]


def fill(
    template: str, name: str, document: Mapping[str, Any], fields: Sequence[str] = _FIELDS
) -> str:
    """Return the template with its `{field}`s replaced by the document's values.

    Values go in as they are, in one pass: braces inside a document are never read as a template.

    Args:
        template: text with fields such as `{context}`.
        name: what the template is called in errors.
        document: texts by field name.
        fields: that a template may have; other words in braces stay as they are.

    Raises:
        PromptError: a field of the template is missing in the document or is not a text.
    """

    def value(match: re.Match[str]) -> str:
        return text_field(document, match[1], f"The {name} prompt")

    return re.sub(rf"\{{({'|'.join(map(re.escape, fields))})\}}", value, template)


def text_field(
    document: Mapping[str, Any], field: str, wanting: str, named: str = "document"
) -> str:
    """Return a text of a document.

    Raises:
        PromptError: it is missing or no text; says who is `wanting` it, in what is `named` so.
    """
    text = document.get(field)
    if not isinstance(text, str):
        found = f"{type(text).__name__}." if field in document else "no such field."
        raise PromptError(f"{wanting} needs the field {field!r} as a text; the {named} has {found}")
    return text
