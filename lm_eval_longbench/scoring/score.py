"""Score what was generated before: prediction files and sample logs in, figures out.

No model is called and nothing is downloaded, but for the embedding model that a user names.
"""

from __future__ import annotations

import contextlib
import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from lm_eval_longbench.benchmarks.registry import (
    benchmark_of_table,
    layouts,
    short_names,
    table_of,
    tables,
)
from lm_eval_longbench.errors import UnknownNameError
from lm_eval_longbench.input_files import ByteChunk, decoded
from lm_eval_longbench.logs.scored_files import SampleLine
from lm_eval_longbench.metrics.reasoning import OTHERWISE, POLICIES
from lm_eval_longbench.scoring.files import LOG, PredictionSource, chunks_of, find_files
from lm_eval_longbench.scoring.official import official_folder, stated_figures
from lm_eval_longbench.scoring.output import Results
from lm_eval_longbench.scoring.plan import Plan, plan_files, policy_of
from lm_eval_longbench.scoring.problems import Problems, check_scored, check_strict
from lm_eval_longbench.scoring.recognise import log_of_task, recognise
from lm_eval_longbench.scoring.scan import Gathered, scan_store
from lm_eval_longbench.scoring.score_chunk import (
    Outcome,
    number_of_workers,
    score_chunks,
    score_row,
)
from lm_eval_longbench.scoring.store import Row, Store, open_store
from lm_eval_longbench.semantic.cache import VectorCache
from lm_eval_longbench.semantic.embedder import Embedder
from lm_eval_longbench.semantic.similarity import summary_similarities

# ---------------------------------------------------------------------- similarities

# Summaries embedded at once: few enough that their vectors stay small.
BATCH = 512


def completed(row: Row, similarity: float | None, *, official: bool, other: bool = False) -> Row:
    """Return a summary's row with its similarity, and with its score if the model is official.

    Args:
        row: of a summary.
        similarity: its highest cosine with a reference; None: it is empty.
        official: whether the official model gave it. Another one's is shown, but makes no score.
        other: whether it is of the text that the other policy for reasoning leaves.
    """
    benchmark = benchmark_of_table(tuple(tables())[row.table])
    shown = json.loads(row.shown)
    if other:
        (name,) = shown.keys() & set(OTHERWISE.values())
        score, failed, own = benchmark.with_similarity(shown[name], similarity, official=official)
        shown[name] = {**own, "score": score, "failed": failed}
        return row._replace(shown=json.dumps(shown))
    score, failed, own = benchmark.with_similarity(shown, similarity, official=official)
    return row._replace(score=score, failed=int(failed), shown=json.dumps(own))


def embed_summaries(store: Store, embedder: Embedder) -> None:
    """Give every stored summary its similarity; EmbeddingError if the embedder fails."""
    cache = None
    # A row may come twice, for either policy for reasoning: the second change builds on the first.
    changed: dict[tuple[Any, ...], Row] = {}
    for batch in store.summaries(BATCH):
        cache = cache or VectorCache()
        pairs = [(text, references) for _, _, text, references in batch]
        similarities = summary_similarities(pairs, embedder, cache)
        changed = dict(list(changed.items())[-1:])
        for (row, other, _, _), similarity in zip(batch, similarities, strict=True):
            key = row[:8]
            changed[key] = completed(
                changed.get(key, row), similarity, official=embedder.official, other=other
            )
        store.change(list(changed.values()))


# ---------------------------------------------------------------------- everything

AUTO = "auto"
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
    name: str, sha256: str | None, source: PredictionSource, rows: int, path: Path | None = None
) -> dict[str, Any]:
    known: dict[str, Any] = {
        "name": name,
        "sha256": sha256,
        "kind": source.kind,
        "rows": rows,
        "table": source.table,
        "task": source.task,
    }
    if source.layout and path is not None:
        layout = layouts()[source.layout]
        remarks = layout.remarks(_rows(path, source.layout))
        known |= {"made_by": layout.title, "notes": list(layout.notes), "remarks": remarks}
    return known


def _rows(path: Path, layout: str) -> Iterator[Mapping[str, Any]]:
    """Yield the sound rows of a file of another program."""
    for chunk in chunks_of(path, layout=layout):
        for _, _, line in chunk.lines():
            with contextlib.suppress(ValueError, RecursionError):
                row = decoded(line)
                if isinstance(row, dict):
                    yield row


def _completed(
    store: Store,
    gathered: Gathered,
    runs: list[str],
    embedder: Embedder | None,
    *,
    strict: bool,
    signatures: Sequence[Mapping[str, Any] | None] = (),
) -> Results:
    """Give summaries their similarity, and refuse what must not be written."""
    gathered.labels.check()
    if embedder is not None:
        embed_summaries(store, embedder)
    scan = scan_store(store, gathered)
    check_scored(scan.questions.total(), gathered.problems)
    if strict:
        check_strict(gathered.problems)
    name = None if embedder is None else embedder.name
    return Results(store, gathered, scan, runs, name, signatures)


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

    Samples are on disk while they are sorted, so that memory does not grow with them. The same
    input gives the same bytes, whatever the order of the paths.

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
    problems = Problems()
    files = find_files(given)
    recognised = {file: recognise(file, benchmark) for file in files}
    plan = plan_files(
        files,
        recognised,
        given,
        benchmark,
        problems,
        reasoning,
        rouge_google=rouge_google,
        official=official is not None,
    )
    if embedder is not None:
        embedder.check()
    processes = number_of_workers(workers, sum(file.survey.size for file in plan.files))
    gathered = Gathered([file.source for file in plan.files], problems)
    with open_store(Path(output)) as store:
        for outcome in score_chunks(_jobs(plan, progress), processes):
            gathered.add(outcome, store)
        inputs = [
            _input(
                file.source.name,
                file.survey.sha256,
                file.source,
                gathered.lines[file.source.number],
                file.path,
            )
            | ({"model": file.recorded.model} if file.recorded.model else {})
            for file in plan.files
        ]
        signatures = [file.recorded.signature for file in plan.files if file.source.kind == LOG]
        results = _completed(
            store, gathered, plan.runs, embedder, strict=strict, signatures=signatures
        )
        results.finish = lambda report: {
            "stated": stated_figures(plan, report),
            "equal": plan.equal,
        }
        if official is None:
            return results.write(Path(output), inputs)
        with official_folder(Path(official), plan, results.scan.repeats) as results.official:
            return results.write(Path(output), inputs)


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
    with open_store(None) as store:
        for source, own in zip(sources, kept, strict=True):
            outcome = Outcome(source.number)
            for index, row in enumerate(own):
                score_row(outcome, source, index + 1, index, row)
            gathered.add(outcome, store)
        inputs = [
            _input(source.name, None, source, gathered.lines[source.number]) for source in sources
        ]
        results = _completed(
            store, gathered, ["memory"], embedder, strict=strict, signatures=signatures
        )
        lines: list[SampleLine] = []
        report = results.make(lines.append, inputs)
        if output is not None:
            results.write(Path(output), inputs)
    return report, lines
