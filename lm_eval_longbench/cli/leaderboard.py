"""`lm-eval-longbench leaderboard`: a page of runs, and which of them `verify` confirms."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Annotated

import typer

from lm_eval_longbench.console import say_line, working
from lm_eval_longbench.errors import WRONG_USAGE
from lm_eval_longbench.options import in_flags
from lm_eval_longbench.page.build import build_page
from lm_eval_longbench.page.leaderboard import leaderboard_data
from lm_eval_longbench.result_files import written_together

PAGE = "index.html"


def leaderboard(
    folders: Annotated[
        list[Path], typer.Argument(help="Folders of runs with sample logs, one a run.")
    ],
    output: Annotated[Path, typer.Option(help="Folder for index.html, made if need be.")],
    published: Annotated[
        bool, typer.Option(help="Show published rows of the same benchmarks beside them.")
    ] = True,
    data_dir: Annotated[
        str | None, typer.Option(help="Folder or file of the data, as for `verify`.")
    ] = None,
    tokenizer: Annotated[
        str | None, typer.Option(help="Name or folder of the tokenizer, as for `verify`.")
    ] = None,
) -> None:
    """Recompute runs and write their leaderboard, which marks those that `verify` confirms."""
    with (
        tempfile.TemporaryDirectory(prefix="lm-eval-longbench-") as scratch,
        working("recomputing ...") as update,
    ):
        data, found = leaderboard_data(
            folders,
            Path(scratch),
            published=published,
            data_dir=data_dir,
            tokenizer=tokenizer,
            progress=lambda name: update(f"recomputing {name} ..."),
        )
    with written_together([output / PAGE]) as (file,):
        file.write(build_page(data).encode("utf-8"))
    for one in found:
        if one.reasons:
            shown = "not confirmed" if one.run is not None else "not shown"
            say_line(f"{shown}: {one.name}: {in_flags(' '.join(one.reasons[:2]))}")
    confirmed = sum(not one.reasons for one in found)
    say_line(f"written: {output / PAGE}, {confirmed} of {len(found)} runs confirmed")
    if any(one.run is None for one in found):
        raise typer.Exit(WRONG_USAGE)
