"""`lm-eval-longbench prepare`: download and convert data ahead of a run."""

from __future__ import annotations

from typing import Annotated

import typer
from rich.table import Table

from lm_eval_longbench.benchmarks.registry import families, title_of
from lm_eval_longbench.catalog.model import Source
from lm_eval_longbench.console import say_line, say_table, table_of
from lm_eval_longbench.data.fetch import provide
from lm_eval_longbench.data.open import CONVERTED, DOWNLOADED, Documents, stored
from lm_eval_longbench.errors import OptionError, UnknownNameError
from lm_eval_longbench.options import Options

# Name of a dataset, its official number of documents, and what was loaded.
Prepared = tuple[str, int, Documents]


def families_of(name: str) -> list[str]:
    """Return the families of benchmarks that an argument names.

    Raises:
        UnknownNameError: there is no such family.
    """
    if name == "all":
        return list(families())
    if name not in families():
        raise UnknownNameError("benchmark", name, ["all", *families()])
    return [name]


def prepared_table(title: str, prepared: list[Prepared]) -> Table:
    """Lay out the datasets with their counts and data; the last line has the sum.

    Where questions share documents a column says how much of the text is shared: what a model reads
    once, if it keeps what it has read of a document.
    """
    found = [
        {
            "dataset": name,
            "data": documents.label,
            "documents": f"{len(documents.rows):,}",
            "official": f"{official:,}",
            **({"shared": f"{documents.shared:.0%}"} if documents.shared else {}),
        }
        for name, official, documents in prepared
    ]
    number = sum(len(documents.rows) for _, _, documents in prepared)
    official = sum(official for _, official, _ in prepared)
    total = {
        "dataset": f"all {len(found)}",
        "documents": f"{number:,}",
        "official": f"{official:,}",
    }
    return table_of([*found, total], 2, title, total=True)


def sources_of(source: Source, prepared: list[Prepared]) -> list[str]:
    """Return one line for each file that was read: the pinned revision or the label, and sha256."""
    pinned = f"{source.repo} at revision {source.revision}, {source.file}"
    files = {
        (pinned if documents.official else documents.label, documents.sha256): None
        for _, _, documents in prepared
    }
    return [f"{name}, sha256 {digest}" for name, digest in files]


def prepare(
    benchmark: Annotated[
        str, typer.Argument(help="v1 (with LongBench-E), v2, pro, or all of them.")
    ] = "all",
    data_dir: Annotated[
        str | None,
        typer.Option(help="Folder, archive or JSON file with the data, or 'sample'."),
    ] = None,
    origin: Annotated[
        str | None,
        typer.Option(
            "--from",
            metavar="hub|modelscope|URL|FOLDER",
            help="Where to get the pinned file; its sha256 decides, so that any copy will do.",
        ),
    ] = None,
) -> None:
    """Download and convert data ahead of a run; print counts, revisions and hashes.

    A download that broke off goes on where it ended. HF_ENDPOINT names another hub.
    """
    given = Options(data_dir=data_dir).data_dir
    if given is not None and origin is not None:
        raise OptionError(
            "--data-dir uses data as it is, and --from gets the pinned file: give one of them."
        )
    for family in families_of(benchmark):
        members = families()[family]
        source = members[0].source
        if origin is not None and stored(members).state not in (CONVERTED, DOWNLOADED):
            provide(source, origin, family)
        prepared = [
            (name, task.questions, one.load(task, given))
            for one in members
            for name, task in one.prepared()
        ]
        say_table(prepared_table(title_of(family), prepared))
        for line in sources_of(source, prepared):
            say_line(line)
