"""Score what was generated before: prediction files and sample logs in, figures out.

No model is called and nothing is downloaded, but for the embedding model that a user names.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, cast

from lm_eval_longbench.benchmarks.registry import benchmark_of_table, layouts, short_names, table_of
from lm_eval_longbench.errors import UnknownNameError
from lm_eval_longbench.files import ByteChunk
from lm_eval_longbench.metrics.reasoning import KEEP, POLICIES
from lm_eval_longbench.records.sample import Sample
from lm_eval_longbench.records.scored import REPORT, SAMPLES, SCORES, SampleLine
from lm_eval_longbench.result_files import ResultFile, written_together
from lm_eval_longbench.retrieval.embedding import summary_similarities
from lm_eval_longbench.retrieval.vectors import OFFICIAL_MODEL, Embedder, VectorCache
from lm_eval_longbench.scoring.files import LOG, InputFile, chunks_of, recognise_log, rows_of
from lm_eval_longbench.scoring.merge import Gathered, TableAnswers, canonical, merge
from lm_eval_longbench.scoring.plan import Plan, plan_paths, policy_of
from lm_eval_longbench.scoring.problems import Problems, check_scored, check_strict
from lm_eval_longbench.scoring.report import gaps, make_report, stated_figures, write_official
from lm_eval_longbench.scoring.score_chunk import (
    Outcome,
    number_of_workers,
    score_chunks,
    score_row,
)

# ---------------------------------------------------------------------- similarities

# Summaries embedded at once: few enough that their vectors stay small.
BATCH = 512


def embed_summaries(samples: Iterable[Sample], embedder: Embedder) -> None:
    """Give every summary its similarity; EmbeddingError if the embedder fails.

    The official model's makes its score. Another one's is shown alone.
    """
    waiting = [
        (sample, worth, worth.summary)
        for sample in samples
        # With its reasoning a summary is a long text to embed, for a figure that nobody asked for.
        for worth in (sample.worth, sample.other if sample.policy == KEEP else None)
        if worth is not None and worth.summary is not None
    ]
    cache = VectorCache() if waiting else None
    for start in range(0, len(waiting), BATCH):
        batch = waiting[start : start + BATCH]
        pairs = [(summary, sample.golds) for sample, _, summary in batch]
        similarities = summary_similarities(pairs, embedder, cache)
        for (sample, worth, _), similarity in zip(batch, similarities, strict=True):
            worth.score, worth.failed, worth.shown = benchmark_of_table(
                sample.table
            ).with_similarity(worth.shown, similarity, official=embedder.name == OFFICIAL_MODEL)


# ---------------------------------------------------------------------- everything

AUTO = "auto"
_FILES = (SAMPLES, SCORES, REPORT)
# Called with the bytes of text that were read, and with how many there are in all.
Progress = Callable[[int, int], None]


def _jobs(plan: Plan, progress: Progress | None) -> Iterator[tuple[InputFile, ByteChunk]]:
    total = sum(file.size for file in plan.files)
    for file in plan.files:
        for chunk in chunks_of(file.place, layout=file.layout):
            yield file, chunk
            if progress is not None:
                progress(len(chunk.data), total)


def _input(file: InputFile, lines: Mapping[int, int]) -> dict[str, Any]:
    """Return what the report says of an input, which is a file or in memory."""
    known: dict[str, Any] = {
        "name": file.name,
        "sha256": file.sha256,
        "kind": file.kind,
        "rows": lines[file.number],
        "table": file.table,
        "task": file.task,
    }
    if file.layout:
        layout = layouts()[file.layout]
        rows = (row for _, row in rows_of(file.place, file.layout) if isinstance(row, dict))
        remarks = layout.remarks(rows)
        known |= {"made_by": layout.title, "notes": list(layout.notes), "remarks": remarks}
    if file.recorded.model:
        known["model"] = file.recorded.model
    return known


def _finished(
    gathered: Gathered,
    runs: Sequence[str],
    embedder: Embedder | None,
    signatures: Sequence[Mapping[str, Any] | None],
    *,
    strict: bool,
) -> tuple[dict[str, TableAnswers], dict[str, Any]]:
    """Give summaries their similarity, merge, and report; refuse what must not be written."""
    gathered.labels.check()
    gathered.samples.sort(key=canonical)
    if embedder is not None:
        embed_summaries(gathered.samples, embedder)
    merged = merge(gathered, runs, None if embedder is None else embedder.name)
    check_scored(sum(len(table.samples) for table in merged.values()), gathered.problems)
    if strict:
        check_strict(gathered.problems)
    inputs = [_input(file, gathered.lines) for file in gathered.sources]
    return merged, {**make_report(merged, gathered.problems, signatures, inputs)}


def _lines(merged: Mapping[str, TableAnswers]) -> list[SampleLine]:
    """Return the lines of samples.jsonl."""
    return [cast(SampleLine, line) for table in merged.values() for line in table.lines]


def _write(files: list[ResultFile], lines: Iterable[SampleLine], report: dict[str, Any]) -> None:
    """Write samples.jsonl, scores.json and report.json."""
    samples, scores, whole = files
    for line in lines:
        samples.add(line)
    official = {name: table["official"] for name, table in report["tables"].items()}
    scores.document(official if len(official) > 1 else next(iter(official.values())))
    whole.document(report)


def score_paths(
    paths: Iterable[Path | str] | Path | str,
    output: Path | str,
    *,
    benchmark: str | None = None,
    embedder: Embedder | None = None,
    strict: bool = False,
    workers: int | None = None,
    progress: Progress | None = None,
    reasoning: str | None = None,
    rouge_google: bool = False,
    official: Path | str | None = None,
) -> dict[str, Any]:
    """Score files and write samples.jsonl, scores.json and report.json.

    The same input gives the same bytes, whatever the order of the paths. Scored samples are in
    memory until they are merged, without the documents that they are about.

    Args:
        paths: a file or several, or folders to search at any depth for JSON Lines files: the
            harness's sample logs, official prediction, result and inference files, compressed with
            gzip or not.
        output: folder of the results, made if need be.
        benchmark: short name of what the files are, such as "v1"; None or "auto": found out.
        embedder: completes the scores of summaries (LongBench Pro, T4).
        strict: fail on any malformed, duplicate, foreign or missing row.
        workers: processes that score; None: as many as there are cores. Small inputs are scored in
            this process.
        progress: called with the bytes of each piece that was read, and with all bytes there are.
        reasoning: "drop" reasoning from answers before they are scored, or "keep" it; None: of logs
            as their run did, of files of the official scripts "keep", as their evaluation does.
        rouge_google: also compute `rougeL_google`, as runs do; it takes as long as the official
            ROUGE-L.
        official: folder for the answers as the official scripts write them, and their figures.

    Returns:
        The report, as in report.json.

    Raises:
        UnknownNameError: there is no such benchmark or policy.
        PredictionError: nothing can be recognised or scored, inputs must not be merged, or
            `strict` found something. Nothing is written, nor in the other cases.
        EmbeddingError: the embedding model fails.
        LongBenchError: the output cannot be written; earlier results are untouched.
    """
    given = [Path(path) for path in ([paths] if isinstance(paths, str | Path) else paths)]
    if benchmark == AUTO:
        benchmark = None
    if benchmark not in (None, *short_names()):
        raise UnknownNameError("benchmark", benchmark, (*short_names(), AUTO))
    if reasoning not in (None, *POLICIES):
        raise UnknownNameError("policy of reasoning", reasoning, POLICIES)
    plan = plan_paths(
        given, benchmark, reasoning, rouge_google=rouge_google, official=official is not None
    )
    if embedder is not None:
        embedder.check()
    processes = number_of_workers(workers, sum(file.size for file in plan.files))
    gathered = Gathered(plan.files, plan.problems)
    # Opened first: a folder that cannot be written to is told before anything is scored.
    with written_together([Path(output) / name for name in _FILES]) as results:
        for outcome in score_chunks(_jobs(plan, progress), processes):
            gathered.add(outcome)
        signatures = [file.recorded.signature for file in plan.files if file.kind == LOG]
        merged, report = _finished(gathered, plan.runs, embedder, signatures, strict=strict)
        more = {"stated": stated_figures(plan, report), "equal": plan.equal}
        more["shards"] = gaps(signatures)
        report |= {name: part for name, part in more.items() if part}
        _write(results, _lines(merged), report)
        if official is not None:
            write_official(Path(official), plan, merged, report)
    return report


def score_rows(
    rows: Mapping[str, Iterable[Mapping[str, Any]]],
    output: Path | str | None = None,
    *,
    embedder: Embedder | None = None,
    strict: bool = False,
    signatures: Sequence[Mapping[str, Any]] = (),
    rouge_google: bool = False,
) -> tuple[dict[str, Any], list[SampleLine]]:
    """Score sample logs of one harness run that are still in memory, in this process.

    Args:
        rows: by task, as in `simple_evaluate(..., log_samples=True)["samples"]`. Other tasks than
            ours are left out without a word.
        output: folder for the files that `score_paths` writes; None: nothing is written.
        embedder, strict, rouge_google: as for `score_paths`.
        signatures: of the run's tasks, for the report.

    Returns:
        The report and the lines of samples.jsonl.

    Raises as `score_paths` does.
    """
    stated = {str(own["task"]): own for own in signatures}
    gathered = Gathered([], Problems())
    # Of two settings of one task the one under our own name comes first; the other is a duplicate.
    for name, given in sorted(rows.items(), key=lambda one: (table_of(one[0]) is None, one[0])):
        own = list(given)
        file = InputFile(name, number=len(gathered.sources), rouge_google=rouge_google)
        if not own or recognise_log(file, own[0]) is not None:
            continue
        file.reasoning = policy_of(stated.get(own[0]["doc"].get("task", name)))
        gathered.sources.append(file)
        outcome = Outcome(file.number)
        for index, row in enumerate(own):
            score_row(outcome, file, index + 1, index, row)
        gathered.add(outcome)
    merged, report = _finished(gathered, ["memory"], embedder, signatures, strict=strict)
    lines = _lines(merged)
    if output is not None:
        with written_together([Path(output) / name for name in _FILES]) as results:
            _write(results, lines, report)
    return report, lines
