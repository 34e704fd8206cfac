"""Score what was generated before: prediction files and sample logs in, figures out.

No model is called and nothing is downloaded, but for the embedding model that a user names.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from operator import attrgetter
from pathlib import Path
from typing import Any, cast

from lm_eval_longbench.benchmarks.registry import benchmark_of_table, layouts, short_names, table_of
from lm_eval_longbench.errors import UnknownNameError
from lm_eval_longbench.files import ByteChunk
from lm_eval_longbench.metrics.reasoning import OTHERWISE, POLICIES
from lm_eval_longbench.records.scored import REPORT, SAMPLES, SCORES, SampleLine
from lm_eval_longbench.result_files import ResultFile, written_together
from lm_eval_longbench.retrieval.embedding import summary_similarities
from lm_eval_longbench.retrieval.vectors import Embedder, VectorCache
from lm_eval_longbench.scoring.files import LOG, PredictionSource, chunks_of, rows_of
from lm_eval_longbench.scoring.merge import Gathered, MergedTable, merge
from lm_eval_longbench.scoring.official import stated_figures, write_official
from lm_eval_longbench.scoring.plan import Plan, PlannedFile, plan_paths, policy_of
from lm_eval_longbench.scoring.problems import Problems, check_scored, check_strict
from lm_eval_longbench.scoring.recognise import log_of_task
from lm_eval_longbench.scoring.report import make_report
from lm_eval_longbench.scoring.score_chunk import (
    Outcome,
    ScoredSample,
    number_of_workers,
    score_chunks,
    score_row,
)

# ---------------------------------------------------------------------- similarities

# Summaries embedded at once: few enough that their vectors stay small.
BATCH = 512


def _complete(
    sample: ScoredSample, similarity: float | None, *, official: bool, other: bool
) -> None:
    """Give a summary its similarity, and its score if the model is official.

    Args:
        sample: the summary.
        similarity: its highest cosine with a reference; None: it is empty.
        official: whether the official model gave it. Another one's is shown, but makes no score.
        other: whether it is of the text that the other policy for reasoning leaves.
    """
    line = sample.line
    benchmark = benchmark_of_table(line["table"])
    if other:
        line = line[next(name for name in OTHERWISE.values() if name in line)]
    score, failed, shown = benchmark.with_similarity(line, similarity, official=official)
    line.update({**shown, "score": score, "failed": failed})
    if failed and not other and sample.failure and "failure" not in line:
        fields = list(line.items())
        after = list(line).index("capped") + 1
        sample.line = dict([*fields[:after], ("failure", sample.failure), *fields[after:]])


def embed_summaries(samples: Iterable[ScoredSample], embedder: Embedder) -> None:
    """Give every summary its similarity; EmbeddingError if the embedder fails."""
    waiting = [(sample, other) for sample in samples for other in sorted(sample.summaries)]
    cache = VectorCache() if waiting else None
    for start in range(0, len(waiting), BATCH):
        batch = waiting[start : start + BATCH]
        pairs = [sample.summaries[other] for sample, other in batch]
        similarities = summary_similarities(pairs, embedder, cache)
        for (sample, other), similarity in zip(batch, similarities, strict=True):
            _complete(sample, similarity, official=embedder.official, other=other)


# ---------------------------------------------------------------------- everything

AUTO = "auto"
_FILES = (SAMPLES, SCORES, REPORT)
# Called with the bytes of text that were read, and with how many there are in all.
Progress = Callable[[int, int], None]


def _jobs(plan: Plan, progress: Progress | None) -> Iterator[tuple[PredictionSource, ByteChunk]]:
    total = sum(file.survey.size for file in plan.files)
    for file in plan.files:
        for chunk in chunks_of(file.path, layout=file.source.layout):
            yield file.source, chunk
            if progress is not None:
                progress(len(chunk.data), total)


def _input(
    source: PredictionSource, lines: Mapping[int, int], file: PlannedFile | None = None
) -> dict[str, Any]:
    """Return what the report says of an input, which is a file or in memory."""
    known: dict[str, Any] = {
        "name": source.name,
        "sha256": None if file is None else file.survey.sha256,
        "kind": source.kind,
        "rows": lines[source.number],
        "table": source.table,
        "task": source.task,
    }
    if source.layout and file is not None:
        layout = layouts()[source.layout]
        rows = (row for _, row in rows_of(file.path, source.layout) if isinstance(row, dict))
        remarks = layout.remarks(rows)
        known |= {"made_by": layout.title, "notes": list(layout.notes), "remarks": remarks}
    if file is not None and file.recorded.model:
        known["model"] = file.recorded.model
    return known


def _finished(
    gathered: Gathered,
    runs: Sequence[str],
    embedder: Embedder | None,
    signatures: Sequence[Mapping[str, Any] | None],
    inputs: Iterable[dict[str, Any]],
    *,
    strict: bool,
) -> tuple[dict[str, MergedTable], dict[str, Any]]:
    """Give summaries their similarity, merge, and report; refuse what must not be written."""
    gathered.labels.check()
    gathered.samples.sort(key=attrgetter("key"))
    if embedder is not None:
        embed_summaries(gathered.samples, embedder)
    merged = merge(gathered)
    check_scored(sum(len(table.samples) for table in merged.values()), gathered.problems)
    if strict:
        check_strict(gathered.problems)
    model = None if embedder is None else embedder.name
    return merged, {**make_report(merged, gathered, runs, model, signatures, inputs)}


def _lines(merged: Mapping[str, MergedTable]) -> list[SampleLine]:
    """Return the lines of samples.jsonl."""
    return [cast(SampleLine, one.line) for table in merged.values() for one in table.samples]


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
    processes = number_of_workers(workers, sum(file.survey.size for file in plan.files))
    gathered = Gathered([file.source for file in plan.files], plan.problems)
    # Opened first: a folder that cannot be written to is told before anything is scored.
    with written_together([Path(output) / name for name in _FILES]) as results:
        for outcome in score_chunks(_jobs(plan, progress), processes):
            gathered.add(outcome)
        inputs = [_input(file.source, gathered.lines, file) for file in plan.files]
        signatures = [file.recorded.signature for file in plan.files if file.source.kind == LOG]
        merged, report = _finished(gathered, plan.runs, embedder, signatures, inputs, strict=strict)
        more = {"stated": stated_figures(plan, report), "equal": plan.equal}
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
    problems = Problems()
    stated = {str(own["task"]): own for own in signatures}
    sources: list[PredictionSource] = []
    kept: list[list[Mapping[str, Any]]] = []
    # Of two settings of one task the one under our own name comes first; the other is a duplicate.
    for name, own in sorted(rows.items(), key=lambda one: (table_of(one[0]) is None, one[0])):
        own = list(own)
        found = log_of_task(own[0], name) if own else None
        if found is not None:
            told = own[0]["doc"].get("task", name)
            sources.append(
                PredictionSource(
                    len(sources),
                    0,
                    name,
                    LOG,
                    task=found.task,
                    filter=found.filter,
                    reasoning=policy_of(stated.get(told)),
                    rouge_google=rouge_google,
                )
            )
            kept.append(own)
    gathered = Gathered(sources, problems)
    for source, own in zip(sources, kept, strict=True):
        outcome = Outcome(source.number)
        for index, row in enumerate(own):
            score_row(outcome, source, index + 1, index, row)
        gathered.add(outcome)
    inputs = [_input(source, gathered.lines) for source in sources]
    merged, report = _finished(gathered, ["memory"], embedder, signatures, inputs, strict=strict)
    lines = _lines(merged)
    if output is not None:
        with written_together([Path(output) / name for name in _FILES]) as results:
            _write(results, lines, report)
    return report, lines
