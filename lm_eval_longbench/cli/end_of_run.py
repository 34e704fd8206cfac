"""What `run` prints after the harness's own table: the report, and the signature of each table."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lm_eval_longbench.errors import EmbeddingError

if TYPE_CHECKING:
    from lm_eval_longbench.harness.capture import Captured

RUN = "this run"


def counted(signatures: Mapping[str, Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """Return the signatures of what the report counts.

    Where one task was run in two settings, that is the one under our own name, if there is one.
    """
    return [
        own
        for name, own in signatures.items()
        if name == own["task"] or own["task"] not in signatures
    ]


def signature_lines(signatures: Sequence[Mapping[str, Any]]) -> list[str]:
    """Return one line for each table: its name, and the signature of all its tasks together."""
    from lm_eval_longbench.offline.score_tables import table_of
    from lm_eval_longbench.provenance.signature import combined, line

    tables: dict[str, list[Mapping[str, Any]]] = {}
    for signature in signatures:
        table = table_of(signature["task"])
        if table is not None:
            tables.setdefault(table.name, []).append(signature)
    return [f"{name}: {line(combined(own))}" for name, own in tables.items()]


def end_of_run(kept: Captured, width: int | None) -> str:
    """Return the report on a run that has just ended; empty if it had none of our tasks.

    Args:
        kept: what the run found.
        width: longest line; None: no limit.

    Raises:
        LongBenchError: the answers cannot be scored again, or there is no place for the scores.
    """
    if not kept.rows:
        return ""
    from lm_eval_longbench.offline.score import score_rows  # slow to import
    from lm_eval_longbench.reports.read_run import read_run
    from lm_eval_longbench.reports.render import render
    from lm_eval_longbench.reports.report import make_report

    with tempfile.TemporaryDirectory(prefix="lm-eval-longbench-") as scratch:
        signatures = counted(kept.signatures)
        score = partial(
            score_rows, kept.rows, Path(scratch), signatures=signatures, rouge_google=True
        )
        try:
            score(embedder=kept.embedder)
        except EmbeddingError:  # the task has said why; its summaries are shown as unscored
            score()
        text = render(make_report([read_run(Path(scratch), RUN)]), "table", width)
    return "\n".join([text, *signature_lines(signatures), ""])
