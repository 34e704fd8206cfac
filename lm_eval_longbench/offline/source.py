"""What the reading of a file's lines needs to know of the file."""

from __future__ import annotations

from dataclasses import dataclass

from lm_eval_longbench.metrics.reasoning import DROP

LOG = "harness_log"
V1_FILE = "v1_predictions"
V2_FILE = "v2_results"
PRO_FILE = "pro_inference"


@dataclass(frozen=True, slots=True)
class Source:
    """One input file.

    Attributes:
        number: its place in the canonical order of files, from 0.
        run: the place of its run in the canonical order of runs, from 0.
        name: relative to the parent of the path that was given, with "/".
        kind: LOG, V1_FILE, V2_FILE or PRO_FILE.
        table: of all its rows; None where each row says it.
        task: of all its rows, or of logs whose rows do not say it; None: unknown.
        benchmark: rows of another one are foreign; None: any.
        reasoning: policy for the reasoning in its answers, see `metrics.reasoning`.
        rouge_google: whether Google's ROUGE-L is computed too, for the datasets that have it.
        filter: LOG: name of the harness filter whose rows count; None: rows name none.
    """

    number: int
    run: int
    name: str
    kind: str
    table: str | None = None
    task: str | None = None
    benchmark: str | None = None
    filter: str | None = None
    reasoning: str = DROP
    rouge_google: bool = False
