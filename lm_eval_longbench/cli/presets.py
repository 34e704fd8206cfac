"""`lm-eval-longbench presets`: the published settings that `run --preset` takes."""

from __future__ import annotations

import fnmatch
import json
from collections.abc import Iterator
from typing import Annotated, Any

import typer

from lm_eval_longbench.benchmarks.registry import short_names
from lm_eval_longbench.catalog.presets import Preset, PresetTable
from lm_eval_longbench.cli.tasks import wildcard
from lm_eval_longbench.console import say_json, say_line, say_table, table_of
from lm_eval_longbench.errors import UnknownNameError


def _tables(short: str | None = None) -> list[PresetTable]:
    own = [one.presets for name, one in short_names().items() if short in (None, name)]
    return list(dict.fromkeys(one for one in own if one is not None))


def matching(pattern: str | None) -> Iterator[tuple[PresetTable, list[Preset]]]:
    """Yield the tables of benchmarks, with the settings that a pattern stands for.

    Args:
        pattern: short name of a benchmark (v1, with LongBench-E; v2; pro), part of a model's name,
            or a pattern with wildcards; None: all.

    Raises:
        UnknownNameError: it stands for none.
    """
    whole = pattern is None or pattern in short_names()
    tables = _tables(pattern if whole else None)
    wild = wildcard(pattern or "").casefold()
    met = False
    for table in tables:
        found = [
            preset
            for preset in table.published()
            if whole or fnmatch.fnmatchcase(preset.model.casefold(), wild)
        ]
        if found:
            met = True
            yield table, found
    if not met:
        names = [name for table in tables for name in table.names()]
        raise UnknownNameError("preset", pattern, [*names, *short_names()])


def described(table: PresetTable, preset: Preset) -> dict[str, Any]:
    """Return a preset as JSON has it; null: the benchmark's own."""
    return {
        "preset": preset.model,
        "benchmark": table.title,
        "mode": table.mode_of(preset) or None,
        "truncate_to": preset.truncate_to,
        "max_gen_toks": preset.max_gen_toks,
        "temperature": preset.temperature,
        "note": preset.note or None,
        "source": preset.source,
    }


def _print(table: PresetTable, presets: list[Preset]) -> None:
    rows = []
    for preset in presets:
        row = {"preset": preset.model, "mode": table.mode_of(preset)}
        budget = preset.max_gen_toks
        numbers = {"truncate_to": preset.truncate_to, "budget": budget, "t": preset.temperature}
        rows.append(row | {name: "-" if n is None else str(n) for name, n in numbers.items()})
    say_table(table_of(rows, 2, table.title))
    for preset in presets:
        if preset.note:
            say_line(f"{preset.model}: {preset.note}.")
    for source in dict.fromkeys(preset.source for preset in presets):
        models = [one.model for one in presets if one.source == source]
        whose = "all others" if len(models) > 2 else ", ".join(dict.fromkeys(models))
        say_line(f"source of {whose}: {source}.")


def presets(
    pattern: Annotated[
        str | None,
        typer.Argument(help="v1, v2 or pro; part of a model's name; or a pattern."),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON, not a table.")] = False,
) -> None:
    """List the published settings of models, with their sources."""
    found = list(matching(pattern))
    if as_json:
        rows = [described(table, preset) for table, own in found for preset in own]
        say_json(json.dumps(rows, indent=1))
        return
    for table, own in found:
        _print(table, own)
