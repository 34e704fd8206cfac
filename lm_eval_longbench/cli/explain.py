"""`lm-eval-longbench explain`: why two numbers differ."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.table import Table

from lm_eval_longbench.terminal import say_json, say_line, say_table, table_of

if TYPE_CHECKING:
    from lm_eval_longbench.explain.explain import Explanation


def shares_table(found: Explanation) -> Table:
    """Return a line a cause, and one for all."""
    table = table_of(["cause"], ["points", "95% interval", "questions"])
    for share in found.shares:
        interval = "-"
        if share.low is not None and share.high is not None:
            interval = f"{share.low:+.2f} to {share.high:+.2f}"
        table.add_row(share.cause, f"{share.points:+.2f}", interval, str(share.questions))
    table.add_section()
    table.add_row("all", f"{found.gap:+.2f}", "", str(found.counts[2]))
    return table


def register(app: typer.Typer) -> None:
    """Add the command to the command line."""

    @app.command("explain")
    def explain(
        theirs: Annotated[
            Path, typer.Argument(help="Logs, official files or files of other programs.")
        ],
        ours: Annotated[Path, typer.Argument(help="The other ones, of the same questions.")],
        as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
    ) -> None:
        """Say why two numbers differ: split the gap into its causes, in points."""
        from lm_eval_longbench.explain.explain import explain as explained  # slow to import

        found = explained(theirs, ours)
        if as_json:
            say_json(json.dumps(found.as_json(), indent=1))
            return
        say_line(f"theirs: {found.theirs:.2f}, {found.counts[0]} questions of {theirs}")
        say_line(f"ours:   {found.ours:.2f}, {found.counts[1]} questions of {ours}")
        say_line("percent, mean over questions; ours less theirs, split by cause:")
        say_table(shares_table(found))
        if abs(found.largest.points) > 0:
            say_line(f"largest: {found.largest.cause}, {found.largest.points:+.2f} points")
        for line in found.notes:
            say_line(f"note: {line}")
