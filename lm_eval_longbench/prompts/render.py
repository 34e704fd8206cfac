"""Prompt templates, which stand in the task files, and how fields of a row are put into them."""

from __future__ import annotations

import functools
import hashlib
import operator
import re
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any

from lm_eval_longbench.catalog.model import Task, prompt_sha256
from lm_eval_longbench.errors import PromptError

if TYPE_CHECKING:
    from jinja2 import Template


def text_sha256(text: str) -> str:
    """Return the sha256 of a text's UTF-8 bytes; lone surrogates count as Python encodes them."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def joined_sha256(hashes: Iterable[str]) -> str:
    """Return one hash of several in any order, which parts of them can be joined to again."""
    return f"{functools.reduce(operator.xor, (int(own, 16) for own in hashes)):064x}"


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


# ---------------------------------------------------------------------- templates

_FIELD = re.compile(r"\{\{(\w+)\}\}")
# What begins anything else that Jinja reads.
_MORE = re.compile(r"\{\{|\{%|\{#")


def checked_template(task: Task) -> str:
    """Return a task's template byte for byte.

    Raises:
        PromptError: it is not the official one: an editor that trims trailing space is enough. Its
            scores would compare with nobody's.
    """
    found = prompt_sha256(task.prompt)
    if found != task.prompt_sha256:
        raise PromptError(
            f"The prompt of {task.name} was changed in {task.file}: sha256 {found}, official "
            f"{task.prompt_sha256}. Restore the file: install its package again."
        )
    return task.prompt


def render(task: Task, row: Mapping[str, Any]) -> str:
    """Return the whole prompt of a row, before truncation and any chat template.

    The values of fields go in as they are: what looks like a template in them is text.

    Raises:
        PromptError: a field is missing in the row or is not a text; or see `checked_template`.
    """
    template, wanting = checked_template(task), f"The {task.label} prompt"
    if task.hook:
        return _HOOKS[task.hook](template, row, wanting)
    return _filled(template, row, wanting)


def question(task: Task, row: Mapping[str, Any]) -> str:
    """Return the end of a whole prompt that follows the document; "" where nothing does.

    Of a prompt without a document that is the whole prompt.
    """
    template, wanting = checked_template(task), f"The {task.label} prompt"
    if task.hook:
        return _HOOKS[task.hook](template.rpartition(_DOCUMENT)[2], row, wanting)
    if not _is_plain(template):
        return _filled(template, {**row, "context": _HERE}, wanting).rpartition(_HERE)[2]
    return _filled(template.rpartition("{{context}}")[2], row, wanting)


# Stands for the document where the end of a prompt is wanted alone.
_HERE = "\ue000context\ue000"


@functools.cache
def _is_plain(template: str) -> bool:
    """Whether all that Jinja would read in a template are fields."""
    return not _MORE.search(_FIELD.sub("", template))


def fields_of(template: str) -> tuple[str, ...]:
    """Return the fields of a row that a template in Jinja needs."""
    return tuple(_FIELD.findall(template)) if _is_plain(template) else _compiled(template)[1]


def _filled(template: str, row: Mapping[str, Any], wanting: str) -> str:
    """Return a template in Jinja with the values of its fields, as the harness fills it."""
    if _is_plain(template):
        return _FIELD.sub(lambda found: text_field(row, found[1], wanting), template)
    compiled, fields = _compiled(template)
    return compiled.render({field: text_field(row, field, wanting) for field in fields})


@functools.cache
def _compiled(template: str) -> tuple[Template, tuple[str, ...]]:
    """Return a template of Jinja, and the fields that it needs.

    Results files carry templates of others, which must not run anything here.
    """
    from jinja2 import StrictUndefined, TemplateError, meta
    from jinja2.sandbox import ImmutableSandboxedEnvironment

    environment = ImmutableSandboxedEnvironment(
        undefined=StrictUndefined, keep_trailing_newline=True
    )
    try:
        fields = meta.find_undeclared_variables(environment.parse(template))
        return environment.from_string(template), tuple(sorted(fields))
    except TemplateError as error:
        raise PromptError(f"A prompt is no template of Jinja: {error}") from error


# ---------------------------------------------------------------------- hooks

_DOCUMENT = "$DOC$"
_REASONING = "$COT$"
# In the official order.
_MARKS = (
    (_DOCUMENT, "context"),
    ("$Q$", "question"),
    ("$C_A$", "choice_A"),
    ("$C_B$", "choice_B"),
    ("$C_C$", "choice_C"),
    ("$C_D$", "choice_D"),
)


def in_order(template: str, row: Mapping[str, Any], wanting: str) -> str:
    """Return a template of LongBench v2 with each mark replaced by a stripped field of the row.

    Each replacement sees the text that the ones before it put in, so that a document with a literal
    "$Q$" gets the question there: this is part of the protocol. The reasoning of a first pass,
    `cot` of the row, comes last.

    Raises:
        PromptError: a field that the template needs is missing in the row or is not a text.
    """
    prompt, needs_document = template, _DOCUMENT in template
    for mark, field in _MARKS:
        if mark != _DOCUMENT or needs_document:
            prompt = prompt.replace(mark, text_field(row, field, wanting).strip())
    if _REASONING in template:
        if not isinstance(row.get("cot"), str):
            raise PromptError(f"{wanting} needs the reasoning of pass one.")
        prompt = prompt.replace(_REASONING, row["cot"].strip())
    return prompt


_HOOKS: dict[str, Callable[[str, Mapping[str, Any], str], str]] = {
    f"{__name__}.{in_order.__name__}": in_order
}
