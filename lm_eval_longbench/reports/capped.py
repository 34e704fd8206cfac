"""Warn of tables where many answers ended at the output budget, and say what can be done."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from lm_eval_longbench.benchmarks.base import Table
from lm_eval_longbench.protocol import any_of, protocol_of
from lm_eval_longbench.signature.signature import values_of

# Share of a table's answers beyond which it is worth a warning.
MOST = 0.02


def capped_warning(
    table: Table, counts: Mapping[str, int | None], signatures: Mapping[str, Any]
) -> str:
    """Return what to know of a table where many answers ended at the budget; "" of another one.

    Args:
        table: of answers.
        counts: of it, as in report.json; those of earlier versions have no "capped".
        signatures: of its tasks, as far as they are known.
    """
    capped, samples = counts.get("capped") or 0, counts.get("samples") or 0
    if capped <= MOST * samples:
        return ""
    found = (
        f"{capped} of {samples} answers ({100 * capped / samples:.1f}%) ended at the output budget "
        "(capped): what is scored may be missing in them"
    )
    official = f"Official runs have {_official(table)}"
    if any(_is_less(task, signatures.get(task)) for task in table.tasks):
        return f"{found}. This run had a smaller budget than official ones. {official}"
    return (
        f"{found}. A larger budget (--gen_kwargs max_gen_toks=TOKENS) gives them room, but it is "
        f"another protocol, and its scores are not comparable with these. {official}"
    )


def _budgets(task: str, *, thinking: bool) -> tuple[int, ...]:
    return protocol_of(task, thinking=thinking).budgets


def _official(table: Table) -> str:
    """Return the official budgets in words."""
    usual, thinking = (
        sorted({own for task in table.tasks for own in _budgets(task, thinking=mode)})
        for mode in (False, True)
    )
    text = f"{any_of(usual)} tokens"
    if any(len(_budgets(task, thinking=False)) < len(usual) for task in table.tasks):
        text += ", each dataset its own"
    return text if usual == thinking else f"{text}, and {any_of(thinking)} for thinking scores"


def _is_less(task: str, signature: Any) -> bool:
    """Whether a task was asked with less than any official budget."""
    least = min(_budgets(task, thinking=False))
    return any(budget < least for budget in _asked(signature))


def _asked(signature: Any) -> Iterator[int]:
    """Yield the budgets with which a task was asked, as far as its signature states them."""
    generation = signature.get("generation") if isinstance(signature, Mapping) else None
    for one in values_of(generation):
        budget = one.get("max_gen_toks") if isinstance(one, Mapping) else None
        if isinstance(budget, int):
            yield budget
