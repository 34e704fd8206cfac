"""The rank that a run would take among published models."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from lm_eval_longbench.reports.published import Place, PublishedRow
from lm_eval_longbench.reports.scored import ScoredTable

# Tasks named in a reason.
_NAMED = 3


@dataclass(frozen=True)
class Rank:
    """The rank of one figure of a run.

    Attributes:
        column: the run, as the report calls it.
        place: section and name of the figure.
        mode: of the published rows; "" where there is only one.
        rank: 1 for the best; None if there is none.
        of: models ranked, the run among them.
        ties: published models with the same figure, at the precision it was published with.
        reason: why there is no rank; "" otherwise.
    """

    column: str
    place: Place
    mode: str
    rank: int | None
    of: int
    ties: tuple[str, ...]
    reason: str = ""


def why_not_ranked(table: ScoredTable, tasks: Iterable[str]) -> str:
    """Return why figures over some tasks cannot be ranked, or "".

    They must be of the official data, with all of their questions, repeats and scores.
    """
    facts = table.facts
    if not facts.is_official:
        return f"its data is not the official set (data: {facts.data_text})"
    short = []
    for task in tasks:
        asked = facts.tasks.get(task, {}).get("questions", 0)
        official = table.info.questions[task]
        if asked != official:
            short.append(f"{task} has {asked} of {official} questions")
    if short:
        more = f" and {len(short) - _NAMED} more tasks" if len(short) > _NAMED else ""
        return f"it is incomplete: {', '.join(short[:_NAMED])}{more}"
    lacking = facts.counts.get("inconsistent") or 0
    if lacking:
        return f"it is incomplete: {lacking} questions lack repeats"
    return ""


def rank_of(
    column: str,
    place: Place,
    mode: str,
    value: float | None,
    rows: Sequence[PublishedRow],
    reason: str = "",
) -> Rank:
    """Return the rank of a value among published rows.

    The value is rounded to the digits that were published; the rank is 1 plus the number of rows
    above it, so that a run that ties with others takes the best of their ranks.

    Args:
        column: the run.
        place: of the figure.
        mode: of the rows.
        value: in the benchmark's unit; None if it has none.
        rows: published rows of the mode; those with a caveat or without the figure do not count.
        reason: why it cannot be ranked; "" if it can.
    """
    rows = [row for row in rows if place in row.values and not row.caveat]
    of = len(rows) + 1
    if not reason and value is None:
        reason = "it has no such figure (a sample is unscored)"
    if not reason and not rows:
        reason = "no published figure of this mode can be counted"
    if reason or value is None:
        return Rank(column, place, mode, None, of, (), reason)
    digits = max(row.decimals[place] for row in rows)
    rounded = round(value, digits)
    above = sum(row.values[place] > rounded for row in rows)
    ties = tuple(row.model for row in rows if row.values[place] == rounded)
    return Rank(column, place, mode, above + 1, of, ties)
