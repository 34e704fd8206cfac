"""Published rows of a table with the runs among them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from lm_eval_longbench.catalog import V1, Split
from lm_eval_longbench.reports import longbench_pro, longbench_v1, longbench_v2
from lm_eval_longbench.reports.published import Place, PublishedRow, published_rows
from lm_eval_longbench.reports.rank import Rank, protocol_of_run, rank_of, why_not_ranked
from lm_eval_longbench.reports.scored import Run, ScoredTable
from lm_eval_longbench.reports.tables import TABLES

_V2 = tuple(
    (longbench_v2.OFFICIAL, n) for n in ("overall", "easy", "hard", "short", "medium", "long")
)
_PRO = (
    (longbench_pro.OVERALL, longbench_pro.OVERALL),
    (longbench_pro.BEST, "best of 3"),
    (longbench_pro.PASS, "pass@3"),
)
_V1 = tuple((longbench_v1.HEADLINE, language) for language in longbench_v1.LANGUAGES)
# Figures shown of each benchmark, and how many of them, from the first, are ranked.
_SHOWN: dict[str, tuple[tuple[Place, ...], int]] = {
    "longbench_v1": (_V1, 2),
    "longbench_v2": (_V2, 1),
    "longbench_pro": (_PRO, 1),
}
# Published modes that a table is comparable with; the first one's rows are shown. A thinking model
# officially gets the non-thinking prompt, and its score is a thinking score.
_MODES = {
    "longbench_v1": ("",),
    "longbench_v2": ("direct",),
    "longbench_v2_cot_answer": ("CoT",),
    "longbench_pro": ("nonthinking", "thinking"),
    "longbench_pro_thinking": ("thinking",),
}
# Where the reasoning comes from that a table's prompts embed.
_FIRST_PASS = {"longbench_v2_cot_answer": "longbench_v2_cot"}


@dataclass(frozen=True)
class Entry:
    """One line: a published row, or a run.

    Attributes:
        name: model, or column of the run.
        values: in the benchmark's unit; None where there is none.
        published: the row it is, None for a run.
    """

    name: str
    values: tuple[float | None, ...]
    published: PublishedRow | None


@dataclass(frozen=True)
class Leaderboard:
    """The published rows comparable with one table, and the runs.

    Attributes:
        table: one of TABLES.
        mode: of the published rows.
        places: the figures that are shown.
        entries: the best first by the first figure; published rows before runs that tie.
        ranks: of the runs; those that have one, also in other modes that fit.
        reason: why there is nothing to compare with; "" otherwise.
    """

    table: str
    mode: str
    places: tuple[Place, ...]
    entries: tuple[Entry, ...]
    ranks: tuple[Rank, ...]
    reason: str = ""


def _tasks(table: ScoredTable, place: Place) -> list[str]:
    """Return the tasks that a ranked figure is made of."""
    if table.info.benchmark != "longbench_v1":
        return list(table.info.tasks)
    datasets = longbench_v1.datasets_of(longbench_v1.LANGUAGES[place[1]])
    return [Split(table.name, V1[name]).task for name in datasets]


def _passes(
    run: Run, table: ScoredTable, tasks: Sequence[str]
) -> list[tuple[ScoredTable, Sequence[str]]]:
    """Return what a ranked figure is made of: with chain of thought the first pass, too."""
    first = _FIRST_PASS.get(table.name, "")
    passes: list[tuple[ScoredTable, Sequence[str]]] = [(table, tasks)]
    if first in run.tables:
        passes.append((run.tables[first], list(run.tables[first].info.tasks)))
    return passes


def _in_mode(benchmark: str, mode: str) -> list[PublishedRow]:
    return [row for row in published_rows(benchmark) if row.mode == mode]


def leaderboard(
    name: str, runs: Sequence[tuple[str, Run, Mapping[Place, float | None]]]
) -> Leaderboard:
    """Return the published rows of a table with runs of it.

    Rows whose mode is not stated are shown with every mode and counted in none.

    Args:
        name: the table.
        runs: column, the run, which has the table, and figures in the benchmark's unit.
    """
    benchmark = TABLES[name].benchmark
    if name not in _MODES:
        title = f"{TABLES[name].title} {TABLES[name].mode}".strip()
        return Leaderboard(name, "", (), (), (), f"no figures of {title} are published here")
    modes = _MODES[name]
    places, ranked = _SHOWN[benchmark]
    rows = [row for row in published_rows(benchmark) if row.mode in ("", modes[0])]
    entries = [Entry(row.model, tuple(map(row.values.get, places)), row) for row in rows]
    entries += [Entry(column, tuple(map(own.get, places)), None) for column, _, own in runs]
    entries.sort(key=lambda entry: -(entry.values[0] if entry.values[0] is not None else -1))
    ranks = []
    for column, run, own in runs:
        table = run.tables[name]
        for place in places[:ranked]:
            tasks = _tasks(table, place)
            reason = why_not_ranked(table, tasks)
            found = []
            for mode in modes:
                departs, unknown = protocol_of_run(_passes(run, table, tasks), mode)
                if departs:
                    departs = f"it is no run of the official protocol: {departs}"
                published = _in_mode(benchmark, mode)
                value = own.get(place)
                found.append(
                    rank_of(column, place, mode, value, published, reason or departs, unknown)
                )
            ranks += [rank for rank in found if rank.rank or rank.mode == modes[0]]
    return Leaderboard(name, modes[0], places, tuple(entries), tuple(ranks))
