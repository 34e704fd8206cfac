"""The official result files of LongBench v2."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from lm_eval_longbench.benchmarks.longbench_v2_facts import ASKED, COT, COT_ANSWER, NO_CONTEXT, RAG
from lm_eval_longbench.benchmarks.official_files import (
    OfficialFiles,
    WrittenRun,
    known_fields,
    scored_text,
)

if TYPE_CHECKING:
    from lm_eval_longbench.benchmarks.parts import Table, Task
    from lm_eval_longbench.benchmarks.sample import Sample, Scored

# Chunks of the official retrieval, where the run does not say how many.
_CHUNKS = 4
_ENDS = {COT_ANSWER: "_cot", NO_CONTEXT: "_no_context", RAG: f"_rag_{_CHUNKS}"}
_FIELDS = ("_id", "domain", "sub_domain", "difficulty", "length", *ASKED, "answer", "context")
# Characters of the document that the official files keep.
_EXCERPT = 1000


class V2Files(OfficialFiles):
    """`results/<model>[_cot|_no_context|_rag_<n>].jsonl`.

    Source: LongBench at commit 2e00731, pred.py and result.py.
    """

    def path(self, table: Table, task: Task, run: WrittenRun, repeat: int) -> str:
        # Officially there is one answer to a question.
        model = run.model if repeat == 1 else f"{run.model}_repeat-{repeat}"
        return f"results/{model}{_ENDS.get(table.name, '')}.jsonl"

    def row(self, sample: Sample, scored: Scored, reasoning: str) -> dict[str, Any] | None:
        if sample.dropped or sample.table == COT:  # a first pass is in no file of its own
            return None
        row = known_fields(sample, _FIELDS)
        # Mirrors of the data can have ids and answers of other types.
        row |= {"_id": sample.id, "answer": sample.golds[0]}
        if isinstance(row.get("context"), str):
            row["context"] = row["context"][:_EXCERPT]
        row |= known_fields(sample, ("response_cot",))
        if sample.response is not None:
            row["response"] = scored_text(sample, reasoning).strip()
        letter = scored.shown["choice"]
        return {**row, "pred": letter, "judge": letter == sample.golds[0]}

    def model_of(self, path: Path) -> str:
        name = path.name.removesuffix(".gz").rpartition(".")[0]
        for end in _ENDS.values():
            name = name.removesuffix(end)
        return name
