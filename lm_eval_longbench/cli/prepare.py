"""`lm-eval-longbench prepare`: download and convert data ahead of a run."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Annotated

import typer
from rich.table import Column, Table

from lm_eval_longbench.catalog import SPLITS
from lm_eval_longbench.catalog_pro import QUESTIONS_PER_TASK, SECONDARY_TASKS
from lm_eval_longbench.catalog_v2 import COUNTS, DOMAINS
from lm_eval_longbench.data.sources import LONGBENCH_PRO, LONGBENCH_V1, LONGBENCH_V2, Source
from lm_eval_longbench.errors import UnknownNameError
from lm_eval_longbench.options import Options
from lm_eval_longbench.terminal import say_line, say_table

if TYPE_CHECKING:
    from lm_eval_longbench.data.documents import Documents

# Name of a dataset, its official number of documents, and what was loaded.
Prepared = tuple[str, int, "Documents"]


def _prepare_v1(data_dir: str | None) -> Iterator[Prepared]:
    from lm_eval_longbench.data.longbench_v1 import load  # slow to import

    for split in SPLITS:
        yield split.file_stem, split.rows, load(split, data_dir)


def _prepare_v2(data_dir: str | None) -> Iterator[Prepared]:
    from lm_eval_longbench.data.longbench_v2 import load  # slow to import

    for code, name in DOMAINS.items():
        yield name, COUNTS["domain"][name], load(code, data_dir)


def _prepare_pro(data_dir: str | None) -> Iterator[Prepared]:
    from lm_eval_longbench.data.longbench_pro import load  # slow to import

    for task in SECONDARY_TASKS.values():
        yield task.name, QUESTIONS_PER_TASK, load(task, data_dir)


BENCHMARKS: dict[str, tuple[str, Source, Callable[[str | None], Iterator[Prepared]]]] = {
    "v1": ("LongBench v1 and LongBench-E", LONGBENCH_V1, _prepare_v1),
    "v2": ("LongBench v2", LONGBENCH_V2, _prepare_v2),
    "pro": ("LongBench Pro", LONGBENCH_PRO, _prepare_pro),
}


def benchmarks_of(name: str) -> list[str]:
    """Return the benchmarks that an argument names.

    Raises:
        UnknownNameError: there is no such benchmark.
    """
    if name == "all":
        return list(BENCHMARKS)
    if name not in BENCHMARKS:
        raise UnknownNameError("benchmark", name, ["all", *BENCHMARKS])
    return [name]


def prepared_table(title: str, prepared: list[Prepared]) -> Table:
    """Lay out the datasets with their counts, data and hashes; the last line has the sum."""
    table = Table(
        Column("dataset", overflow="fold"),
        Column("documents", justify="right"),
        Column("official", justify="right"),
        Column("data", overflow="fold"),
        title=title,
    )
    for name, official, documents in prepared:
        table.add_row(name, f"{len(documents.rows):,}", f"{official:,}", documents.label)
    found = sum(len(documents.rows) for _, _, documents in prepared)
    official = sum(number for _, number, _ in prepared)
    table.add_section()
    table.add_row(f"all {len(prepared)}", f"{found:,}", f"{official:,}", "")
    return table


def sources_of(source: Source, prepared: list[Prepared]) -> list[str]:
    """Return one line for each file that was read: the pinned revision or the label, and sha256."""
    pinned = f"{source.repo} at revision {source.revision}, {source.file}"
    files = {
        (pinned if documents.official else documents.label, documents.sha256): None
        for _, _, documents in prepared
    }
    return [f"{name}, sha256 {digest}" for name, digest in files]


def register(app: typer.Typer) -> None:
    """Add the command to the command line."""

    @app.command("prepare")
    def prepare(
        benchmark: Annotated[
            str, typer.Argument(help="v1 (with LongBench-E), v2, pro, or all of them.")
        ] = "all",
        data_dir: Annotated[
            str | None,
            typer.Option(help="Folder, archive or JSON file with the data, or 'sample'."),
        ] = None,
    ) -> None:
        """Download and convert data ahead of a run; print counts, revisions and hashes."""
        names = benchmarks_of(benchmark)
        given = Options(data_dir=data_dir).data_dir
        for name in names:
            title, source, load_all = BENCHMARKS[name]
            prepared = list(load_all(given))
            say_table(prepared_table(title, prepared), shutil.get_terminal_size().columns)
            for line in sources_of(source, prepared):
                say_line(line)
