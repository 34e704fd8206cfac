"""The figures of one question, as the harness has them and as `verify` computes them again."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from lm_eval_longbench.catalog.model import CAPPED, FAILED, REASONED, TRUNCATED
from lm_eval_longbench.metrics.reasoning import reasoned_share
from lm_eval_longbench.records.answer import capped_share
from lm_eval_longbench.records.sample import Scored, add_replies, document_of_hash, line_of
from lm_eval_longbench.statistics.answers import Columns

if TYPE_CHECKING:
    from lm_eval_longbench.benchmarks.base import Benchmark
    from lm_eval_longbench.catalog.model import Task

# Adds to what the responses to a document are worth what is not known from each of them alone.
Complete = Callable[[Mapping[str, Any], Sequence[Scored]], None]


def question_values(
    benchmark: Benchmark,
    task: Task,
    doc: Mapping[str, Any],
    responses: Sequence[str],
    policy: str,
    *,
    complete: Complete | None = None,
    lines: list[dict[str, Any]] | None = None,
) -> dict[str, float | None]:
    """Return every figure of one question, in the order of `harness_metrics`.

    Args:
        benchmark: whose question it is.
        task: that asks it.
        doc: the question as the sample log has it, with its `index`, its `prompt` and, if anything
            is known of them, its `replies`.
        responses: all of them, one or more.
        policy: for reasoning in them, see `metrics.reasoning`.
        complete: called with the document and what the responses are worth.
        lines: gets the line of each response in samples.jsonl.

    Returns:
        Figures in [0, 1] (a cosine from -1); None where one is not about the question or not known.
    """
    table = benchmark.tables[task.table]
    counted = table.tasks[task.counted]
    prompt = doc["prompt"]
    truncated, document = bool(prompt["truncated"]), document_of_hash(prompt.get("document_sha256"))
    more: dict[str, Any] = {"index": doc["index"], "truncated": truncated, "document": document}
    samples = [
        benchmark.sample(doc, counted, repeat, response, **more)
        for repeat, response in enumerate(responses, start=1)
    ]
    add_replies(samples, doc)
    for sample in samples:
        sample.policy, sample.worth = policy, benchmark.score(sample, policy, extras=True)
    scored = [sample.worth for sample in samples]
    if complete is not None:
        complete(doc, scored)
    columns = Columns(benchmark, table, len(samples))
    lines = [] if lines is None else lines
    for sample in samples:
        lines.append(line_of(sample))
        columns.add(lines[-1])
    figures = benchmark.question_figures(columns.finish())
    values: dict[str, float | None] = {
        **{figure.metric: figure.of_question() for figure in figures},
        FAILED.name: sum(worth.failed for worth in scored) / len(scored),
        TRUNCATED.name: float(truncated),
        REASONED.name: reasoned_share(responses),
        CAPPED.name: capped_share([sample.reply for sample in samples]),
    }
    return {metric.name: values[metric.name] for metric in benchmark.harness_metrics(task)}
