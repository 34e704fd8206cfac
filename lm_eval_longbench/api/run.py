"""A run that has ended: its scores, answers, tables and files; and reports on several."""

from __future__ import annotations

import json
import shlex
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lm_eval_longbench.benchmarks.registry import signs, table_of
from lm_eval_longbench.errors import (
    DataError,
    EmbeddingError,
    LongBenchError,
    MissingDependencyError,
    OptionError,
    UnknownNameError,
)
from lm_eval_longbench.language import said
from lm_eval_longbench.records.results import is_scored
from lm_eval_longbench.reporting import retained, run_end
from lm_eval_longbench.reporting.cost import cost_text, read_price
from lm_eval_longbench.reporting.formats import check_format, escaped_markdown
from lm_eval_longbench.reporting.render import render
from lm_eval_longbench.reporting.report import make_report
from lm_eval_longbench.reporting.scored_run import ScoredRun, read_run, unique_names
from lm_eval_longbench.result_files import output_folder
from lm_eval_longbench.scoring.score import score_paths, score_rows
from lm_eval_longbench.signature.signature import combined, counted, line

if TYPE_CHECKING:
    from pandas import DataFrame

    from lm_eval_longbench.harness.evaluate import Captured
    from lm_eval_longbench.records.scored import SampleLine

THIS = "this run"
PUBLISHED = "published"


def check_against(against: str | None) -> None:
    """Raise UnknownNameError for what no report is compared with."""
    if against not in (None, PUBLISHED):
        raise UnknownNameError("comparison of against", against, [PUBLISHED])


def signatures_of_tables(signatures: Sequence[Mapping[str, Any]]) -> dict[str, str]:
    """Return the signature of all tasks of a table together, in one line, by the table's name."""
    tables: dict[str, list[Mapping[str, Any]]] = {}
    for signature in signatures:
        table = table_of(signature["task"])
        if table is not None:
            tables.setdefault(table.name, []).append(signature)
    return {name: line(combined(own), signs()) for name, own in tables.items()}


def options_lines(options: Mapping[str, Mapping[str, Any]]) -> list[str]:
    """Return the options that were in force, by task: one line for each set of them."""
    tasks: dict[str, list[str]] = {}
    for task, own in options.items():
        text = ", ".join(
            f"{name}={json.dumps(value, ensure_ascii=False)}" for name, value in own.items()
        )
        tasks.setdefault(text or said("none, all are at their default"), []).append(task)
    if len(tasks) == 1:
        return [f"{said('Options')}: {text}" for text in tasks]
    return [f"{said('Options of {}', ', '.join(own))}: {text}" for text, own in tasks.items()]


class Run:
    """What a run found for our tasks. In a notebook it shows its table; `print` prints it.

    Attributes:
        name: in its tables.
        results: what the harness writes into its results file: under "results" the figures of
            each task, from 0 to 1; empty on all ranks but the first.
    """

    def __init__(self, kept: Captured, name: str = THIS) -> None:
        self.name = name
        self._kept = kept
        self.results: Mapping[str, Any] = (kept.writer and kept.writer.results) or {}

    def __repr__(self) -> str:
        tables = ", ".join(self.scores) or "no answers of LongBench tasks"
        return f"<Run {self.name!r}: {tables}>"

    def __str__(self) -> str:
        return self.summary()

    # ------------------------------------------------------------------ what was found

    def _score(self, folder: Path) -> tuple[dict[str, Any], list[SampleLine]]:
        """Score the answers into a folder; return report.json and the lines of samples.jsonl."""
        kept = self._kept
        signatures = counted(kept.signatures)
        score = partial(score_rows, kept.rows, folder, signatures=signatures, rouge_google=True)
        try:
            return score(embedder=kept.embedder)
        except EmbeddingError:  # the task has said why; its summaries are shown as unscored
            return score()

    @cached_property
    def _scored(self) -> tuple[dict[str, Any], list[SampleLine], ScoredRun | None]:
        if not self._kept.rows:
            return {"tables": {}}, [], None
        with tempfile.TemporaryDirectory(prefix="lm-eval-longbench-") as scratch:
            report, samples = self._score(Path(scratch))
            return report, samples, read_run(Path(scratch), self.name)

    @property
    def scores(self) -> dict[str, Any]:
        """By table the figures in the shape and the unit of its official result file."""
        return {name: table["official"] for name, table in self._scored[0]["tables"].items()}

    @property
    def samples(self) -> list[SampleLine]:
        """All answers with what each is worth: the lines of samples.jsonl."""
        return self._scored[1]

    @property
    def signature(self) -> dict[str, str]:
        """By table what its figures depend on besides the model, in one line."""
        return signatures_of_tables(counted(self._kept.signatures))

    @property
    def options(self) -> dict[str, dict[str, Any]]:
        """By task the options that were in force; those that are not there are at their default."""
        return {name: dict(own) for name, own in self._kept.options.items()}

    @property
    def unwritten(self) -> str:
        """Which files could not be written, and what to do; "" for none."""
        return self._kept.unwritten

    @property
    def answered(self) -> int:
        """How many answers have not failed: an empty one has."""
        counts = [table["counts"] for table in self._scored[0]["tables"].values()]
        return sum(own["samples"] - own["failed"] for own in counts)

    # ------------------------------------------------------------------ tables

    @property
    def scored(self) -> ScoredRun:
        """The run as `reports` takes it.

        Raises:
            OptionError: it has no answers.
        """
        found = self._scored[2]
        if found is None:
            raise OptionError(f"{self.name} has no answers to LongBench tasks to report on.")
        return found

    def report(
        self, format: str = "table", *, against: str | None = None, width: int | None = None
    ) -> str:
        """Return the table of each benchmark with intervals, as `lm-eval-longbench report` does.

        Args:
            format: "table", "markdown", "csv", "json" or another one of `report`.
            against: "published" adds published figures and the run's rank.
            width: longest line of "table"; None: no limit.

        Raises:
            UnknownNameError: there is no such format or comparison.
            OptionError: the run has no answers to our tasks.
        """
        check_format(format)
        check_against(against)
        scored = self.scored
        named = replace(scored, name=scored.model or scored.name)
        return render(make_report([named], published=against is not None), format, width)

    def summary(self, width: int | None = None) -> str:
        """Return the table, the options that were in force, and the signatures.

        Args:
            width: longest line of the table; None: no limit.
        """
        if not self._kept.rows:
            return ""
        return "\n".join([self.report(width=width), *self._setting(), ""])

    def _setting(self) -> list[str]:
        """Return the options that were in force, and the signatures, a line each."""
        signed = [f"{table}: {text}" for table, text in self.signature.items()]
        return [*options_lines(self._kept.options), *signed]

    @property
    def _asked(self) -> run_end.Asked:
        """How many questions the run was told to ask."""
        limit = self.results.get("config", {}).get("limit")
        counts = self.results.get("n-samples", {})
        return run_end.Asked(
            "--samples" if limit is None else f"--limit {limit:g}",
            {
                own["task"]: (counts[name]["effective"], counts[name]["original"])
                for name, own in self._kept.signatures.items()
                if name in counts
            },
        )

    def ending(
        self, next_command: Callable[[], str], width: int | None = None, *, verbose: bool = False
    ) -> str:
        """Return what `run` prints last: headlines and verdicts, categories, notes, files.

        Args:
            next_command: gives a command to go on with; asked if the run is not official.
            width: longest line of figures; None: no limit.
            verbose: whether there are whole tables in place of the categories.
        """
        kept = self._kept
        places = run_end.Files(kept.model, str(kept.folder or ""), str(kept.log or ""), "")
        if kept.predicted:
            score = f"lm-eval-longbench score {shlex.quote(places.results)}"
            return run_end.predicted(sum(kept.predicted.values()), replace(places, next=score))
        if not kept.rows:
            return ""
        made, asked = make_report([self.scored]), self._asked
        figures = (
            [self.report(width=width)]
            if verbose
            else [run_end.categories(made, width), run_end.notes(made)]
        )
        if not run_end.is_official(made, asked):
            places = replace(places, next=next_command())
        options = "".join(f"{line}\n" for line in options_lines(kept.options))
        parts = [run_end.opening(made, asked), *figures[:1], "".join([*figures[1:], options])]
        return "\n".join(filter(None, [*parts, run_end.block(self.signature, places)]))

    def _repr_markdown_(self) -> str:
        if not self._kept.rows:
            return escaped_markdown(repr(self))
        setting = "\n".join(f"- {escaped_markdown(text)}" for text in self._setting())
        return f"{self.report('markdown')}\n{setting}\n"

    def to_pandas(self) -> DataFrame:
        """Return the answers as a data frame, a row an answer; columns as in `samples`.

        Raises:
            MissingDependencyError: pandas is not installed.
        """
        try:
            import pandas
        except ImportError as error:
            raise MissingDependencyError(
                f"to_pandas needs the package pandas, which cannot be imported ({error}). Install "
                "it with: pip install pandas"
            ) from error
        return pandas.DataFrame(self.samples)

    # ------------------------------------------------------------------ files

    def save(self, folder: Path | str) -> Path:
        """Write the run into a folder, as `run --output_path --log_samples` does; return it.

        The results file and the sample logs are what `verify`, `compare`, `score` and `report`
        read. The folder is made if need be.

        Raises:
            OptionError: the run has nothing to save: on other ranks than the first, and with
                predict_only, where all is in the output folder.
            LongBenchError: a file cannot be written.
        """
        writer, rows = self._kept.writer, self._kept.rows
        if writer is None or writer.results is None or not rows:
            raise OptionError(f"{self.name} has nothing to save: no answer of it was scored here.")
        place = output_folder(str(folder))
        before, writer.output_path = writer.output_path, str(place)
        try:
            writer.save_results_aggregated(results=writer.results, samples=rows)
            for task, own in rows.items():
                writer.save_results_samples(task_name=task, samples=own)
            unwritten = writer.take_back_parts()
        finally:
            writer.output_path = before
        if unwritten:
            raise LongBenchError(unwritten)
        return place

    def save_scores(self, folder: Path | str) -> Path:
        """Write the run's scores into a folder, as `lm-eval-longbench score` does; return it.

        samples.jsonl, scores.json and report.json are what `report` reads at once, and `verify`.
        They have the semantic similarity of summaries too, which sample logs have not. The folder
        is made if need be.

        Raises:
            OptionError: the run has no answers to our tasks.
            LongBenchError: a file cannot be written.
        """
        if not self._kept.rows:
            raise OptionError(f"{self.name} has nothing to save: no answer of it was scored here.")
        self._score(Path(folder))
        return Path(folder)


# ---------------------------------------------------------------------- reports on several


def report(
    *runs: Run | Path | str,
    format: str = "table",
    against: str | None = None,
    benchmark: str | None = None,
    baseline: str | None = None,
    x: str | None = None,
    without_known_errors: bool = False,
    price: str | None = None,
    width: int | None = None,
) -> str:
    """Return the report on some runs side by side: figures, intervals, differences.

    Args:
        runs: runs of `evaluate`, and folders: scored ones, or with predictions or sample logs. A
            folder given as "name=path" has that name in the report; else a single one is called
            as its model, if a results file names it, and several by their folders.
        format: "table", "markdown", "csv", "json" or "latex".
        against: "published" adds published figures and ranks.
        benchmark: short name of what predictions in folders are, such as "v1"; None: found out.
        baseline: name of one of the runs, or its path: the report says which share of its score
            each other run keeps; None: the plain report.
        x: with `baseline`: name of the number in which the runs differ and by which they are named,
            such as "ratio".
        without_known_errors: add the headline without the questions that are publicly known to be
            wrong; never the headline itself.
        price: in,out[,cached], money for a million tokens: add tokens, time and cost to "table".
        width: longest line of "table"; None: no limit.

    Raises:
        UnknownNameError: there is no such format or comparison.
        OptionError: a run is given twice, or has no answers to our tasks.
        LongBenchError: a folder cannot be read or scored.
    """
    check_format(format)
    check_against(against)
    if x is not None and baseline is None:
        raise OptionError("x names what runs along a baseline differ in: give baseline too.")
    if against is not None and baseline is not None:
        raise OptionError("baseline and against are two reports: ask for one.")
    money = None if price is None else read_price(price)
    if money is not None and format != "table":
        raise OptionError("price adds a table to the report in the format table alone.")
    with tempfile.TemporaryDirectory(prefix="lm-eval-longbench-") as scratch:
        given, scored = read_named(runs, Path(scratch), benchmark)
        if baseline is None:
            made = make_report(
                scored, published=against is not None, without_errors=without_known_errors
            )
            text = render(made, format, width)
        else:
            paths = {str(path): own.name for path, own in zip(given, scored, strict=True)}
            kept = retained.make_retained(scored, paths.get(str(Path(baseline)), baseline), x)
            text = retained.render(kept, format, width)
        if money is None:
            return text
        places = (one._kept.folder if isinstance(one, Run) else one for one in given)
        known = zip(scored, places, strict=True)
        folders = {own.name: place for own, place in known if place is not None}
        return text + cost_text(make_report(scored, intervals=False), folders, money)


def read_named(
    runs: Sequence[Run | Path | str], scratch: Path, benchmark: str | None
) -> tuple[list[Run | Path], list[ScoredRun]]:
    """Return the runs and paths that are meant, without their names, and the scored runs.

    Args:
        runs: see `report`; what is no scored folder is scored first, into `scratch`.
        scratch: a folder.
        benchmark: see `report`.

    Raises as `report`.
    """
    named = [("", run) if isinstance(run, Run) else _named(run) for run in runs]
    paths = [run for _, run in named if isinstance(run, Path)]
    seen: set[Path] = set()
    for path in paths:
        if not path.exists():
            raise DataError(
                f"{path} does not exist. Give folders that `lm-eval-longbench score` wrote, or "
                "predictions or sample logs."
            )
        if path.resolve() in seen:
            raise OptionError(f"{path} is given twice. Name each run once.")
        seen.add(path.resolve())
    otherwise = iter(unique_names(paths))
    scored = []
    for number, (name, run) in enumerate(named):
        if isinstance(run, Run):
            scored.append(run.scored)
            continue
        folder, usual = run, next(otherwise)
        if not is_scored(run):
            folder = scratch / str(number)
            score_paths([run], folder, benchmark=benchmark)
        scored.append(read_run(folder, name or usual))
    if len(named) == 1 and not named[0][0] and scored[0].model:
        # A single folder need not be told apart.
        scored = [replace(scored[0], name=scored[0].model)]
    names = [own.name for own in scored]
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise OptionError(
            f"Several runs are called {', '.join(twice)}. Give each a name of its own: "
            "evaluate(..., name=...), or NAME=PATH for a folder."
        )
    return [run for _, run in named], scored


def _named(run: Path | str) -> tuple[str, Path]:
    """Return name and path of "name=path"; a path that exists as it stands has no name."""
    name, sign, path = str(run).partition("=")
    if not sign or not name or Path(run).exists():
        return "", Path(run)
    return name, Path(path)
