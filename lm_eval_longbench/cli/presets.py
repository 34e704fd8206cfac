"""`lm-eval-longbench presets`: the published settings that `run --preset` takes."""

from __future__ import annotations

from typing import Annotated

import typer

from lm_eval_longbench.benchmarks.registry import short_names
from lm_eval_longbench.errors import UnknownNameError
from lm_eval_longbench.terminal import say_line, say_table, table_of


def register(app: typer.Typer) -> None:
    """Add the command to the command line."""

    @app.command("presets")
    def presets(
        benchmark: Annotated[
            str | None, typer.Argument(help="v1 (with LongBench-E), v2 or pro; all if not given.")
        ] = None,
    ) -> None:
        """List the published settings of models, with their sources."""
        known = short_names()
        if benchmark is not None and benchmark not in known:
            raise UnknownNameError("benchmark", benchmark, known)
        own = [one.presets for name, one in known.items() if benchmark in (None, name)]
        for table in dict.fromkeys(one for one in own if one is not None):
            shown = table_of(["preset", "mode"], ["truncate_to", "budget", "t"], table.title)
            for preset in table.published():
                numbers = (preset.truncate_to, preset.max_gen_toks, preset.temperature)
                texts = ["-" if number is None else str(number) for number in numbers]
                shown.add_row(preset.model, table.mode_of(preset), *texts)
            say_table(shown)
            for preset in table.published():
                if preset.note:
                    say_line(f"{preset.model}: {preset.note}.")
            for source in dict.fromkeys(preset.source for preset in table.published()):
                models = [one.model for one in table.published() if one.source == source]
                whose = "all others" if len(models) > 2 else ", ".join(models)
                say_line(f"source of {whose}: {source}.")
