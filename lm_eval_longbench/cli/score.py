"""`lm-eval-longbench score`: score what was generated before, without a model."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated, Any

import typer
from rich.table import Table

from lm_eval_longbench.api.run import THIS
from lm_eval_longbench.benchmarks.registry import short_names, tables
from lm_eval_longbench.console import say, say_line, say_table, table_of, warn
from lm_eval_longbench.errors import few
from lm_eval_longbench.metrics.reasoning import KEEP
from lm_eval_longbench.reporting import run_end
from lm_eval_longbench.reporting.report import make_report
from lm_eval_longbench.reporting.scored_run import read_run
from lm_eval_longbench.retrieval.embedding import choose_embedder
from lm_eval_longbench.scoring.problems import sentence
from lm_eval_longbench.scoring.score import AUTO, score_paths

# ---------------------------------------------------------------------- warnings and notes

# Problems shown of each kind; all are counted.
SHOWN = 20
# Runs named in a note.
_RUNS = 5
# What is said before and after a problem, and what several are called.
_WORDS = {
    "malformed": ("malformed, not scored: ", "", "malformed lines"),
    "duplicate": ("duplicate, not scored: ", "", "duplicates"),
    "foreign": ("", "; not scored", "foreign files or lines"),
    "copied": ("not the official questions: ", "", "tasks with copied questions"),
    "differing_pred": ("another letter is stored than is read: ", "", "differing letters"),
}


def _of_kind(problems: Mapping[str, Any], kind: str) -> list[str]:
    before, after, several = _WORDS[kind]
    shown = [f"{before}{sentence(kind, own)}{after}" for own in problems[kind][:SHOWN]]
    more = problems[f"{kind}_total"] - len(shown)
    return shown + ([f"... and {more} more {several}"] if more else [])


def _notes(name: str, facts: Mapping[str, Any]) -> list[str]:
    counts, lines = facts["counts"], []
    if counts["reasoned"]:
        how, other = facts["reasoning"]["policy"], facts["reasoning"]["other"]["policy"]
        official = ", as the official evaluation does" if how == KEEP else ""
        lines.append(
            f"{name}: {counts['reasoned']} of {counts['samples']} answers hold reasoning "
            f"(<think>...</think>). Figures {how} it{official}; beside them stands what they are "
            f"with --reasoning {other}."
        )
    if counts["unscored"]:
        lines.append(
            f"{name}: {counts['unscored']} summaries (T4) have no score: it needs the similarity "
            "of Qwen/Qwen3-Embedding-8B. Add --embedding-model Qwen/Qwen3-Embedding-8B (with "
            "--embedding-url to ask a server)."
        )
    return lines


def warnings_of(report: Mapping[str, Any]) -> list[str]:
    """Return the warnings about a report, each a line."""
    lines = [line for kind in _WORDS for line in _of_kind(report["problems"], kind)]
    for name, facts in report["tables"].items():
        lines += _notes(name, facts)
    return lines


def _stated(own: Mapping[str, Any]) -> str:
    """Return how the figures of an official result file compare with those computed here."""
    if "problem" in own:
        return f"{own['name']} is not compared: {own['problem']}"
    if not own["differing_total"]:
        return f"{own['name']}: its {own['same']} figures are those computed here"
    first, number = own["differing"][0], own["differing_total"]
    return (
        f"{own['name']}: {number} of {own['same'] + number} figures "
        f"are not those computed here, {first['figure']} first: {first['stated']} is stated, "
        f"{first['computed']} computed"
    )


def _made_elsewhere(report: Mapping[str, Any]) -> list[str]:
    """Return what must be known of files of other programs, each thing once."""
    files: dict[str, list[str]] = {}
    notes: dict[str, None] = {}
    for own in report["inputs"]:
        if "made_by" in own:
            files.setdefault(own["made_by"], []).append(own["name"])
            label = tables()[own["table"]].tasks[own["task"]].label if own["task"] else ""
            notes |= dict.fromkeys(own["notes"])
            notes |= dict.fromkeys(f"{label}: {one}." for one in own["remarks"])
    notes |= dict.fromkeys(map(_stated, report.get("stated", ())))
    named = [f"{few(names, _RUNS)}: {title}" for title, names in files.items()]
    return [*named, *notes]


def notes_of(report: Mapping[str, Any]) -> list[str]:
    """Return what is worth to say besides: several runs that became repeats."""
    lines = _made_elsewhere(report)
    if report.get("equal"):
        first, number = report["equal"][0], len(report["equal"])
        what = "log is equal to another one" if number == 1 else "logs are equal to others"
        what += " or a part of it" if number == 1 else " or parts of them"
        named = f"{first['name']} is {first['as']}{', ...' if number > 1 else ''}"
        lines.append(f"{number} sample {what} and counted once: {named}")
    for name, facts in report["tables"].items():
        runs = facts["runs"]
        if len(runs) > 1:
            named = ", ".join(runs[:_RUNS]) + (", ..." if len(runs) > _RUNS else "")
            lines.append(f"{name}: merged from {len(runs)} runs, counted as one model's: {named}")
    return lines


def shards_table(gaps: Sequence[Mapping[str, Any]]) -> Table:
    """Return a line for each task whose shards are not all there once, and what makes up for it."""
    rows = []
    for own in gaps:
        number = own["shards"]
        missing, double = ([f"{n}/{number}" for n in own[kind]] for kind in ("missing", "double"))
        again = f"lm-eval-longbench run ... --shard {missing[0]}" if missing else ""
        rows.append(
            {
                "task": own["task"],
                "questions": f"{own['asked']} of {own['of']}",
                "missing": few(missing, _RUNS),
                "double": few(double, _RUNS),
                "do": again or "score one log of each double shard",
            }
        )
    return table_of(rows, title="shards that are missing or double")


# ---------------------------------------------------------------------- the command


def figures_text(folder: Path, width: int | None = None) -> str:
    """Return the figures of a scored folder as `run` prints them last, without intervals."""
    made = make_report([read_run(folder, THIS)], intervals=False)
    parts = (run_end.opening(made), run_end.categories(made, width), run_end.notes(made))
    return "\n".join(filter(None, parts))


@contextmanager
def _bar() -> Iterator[Callable[[int, int], None]]:
    """Yield what moves a bar over the bytes read; there is none unless stderr is a terminal."""
    from tqdm import tqdm

    with tqdm(
        unit="B", unit_scale=True, desc="scoring", disable=None, leave=False, file=sys.stderr
    ) as bar:

        def move(step: int, total: int) -> None:
            bar.total = total
            bar.update(step)

        yield move


def score(
    paths: Annotated[
        list[Path],
        typer.Argument(
            metavar="PATH...",
            help="The harness's sample logs, official prediction, result or inference files, "
            "or folders with such; several runs of one task are repeats.",
        ),
    ],
    output: Annotated[
        Path | None,
        typer.Option(
            help="Folder for samples.jsonl, scores.json and report.json; without it the "
            "figures are on the screen alone."
        ),
    ] = None,
    benchmark: Annotated[
        str, typer.Option(help=f"What the files are: {', '.join((*short_names(), AUTO))}.")
    ] = AUTO,
    strict: Annotated[
        bool,
        typer.Option("--strict", help="Fail on any malformed, duplicate, foreign or missing row."),
    ] = False,
    embedding_model: Annotated[
        str | None,
        typer.Option(help="LongBench Pro: model for the similarity of summaries (T4)."),
    ] = None,
    embedding_url: Annotated[
        str | None, typer.Option(help="Ask this OpenAI-compatible server for the embeddings.")
    ] = None,
    reasoning: Annotated[
        str | None,
        typer.Option(
            help="drop or keep <think>...</think> in what is scored. Without it: logs as their "
            "run did, files of the official scripts keep it, as their evaluation does."
        ),
    ] = None,
    rouge_google: Annotated[
        bool,
        typer.Option(
            "--rouge-google", help="LongBench v1 and E: Google's ROUGE-L too, as runs show it."
        ),
    ] = False,
    official: Annotated[
        Path | None,
        typer.Option(
            help="Folder for the answers as the official scripts write them, and their figures."
        ),
    ] = None,
    workers: Annotated[
        int | None, typer.Option(help="Processes that score; as many as cores if not given.")
    ] = None,
) -> None:
    """Score answers that are there already: official figures, and every sample."""
    embedder = choose_embedder(embedding_model, embedding_url)
    width = shutil.get_terminal_size().columns if sys.stdout.isatty() else None
    with _bar() as progress, TemporaryDirectory(prefix="lm-eval-longbench-") as scratch:
        folder = output or Path(scratch)
        report = score_paths(
            paths,
            folder,
            benchmark=benchmark,
            embedder=embedder,
            strict=strict,
            workers=workers,
            progress=progress,
            reasoning=reasoning,
            rouge_google=rouge_google,
            official=official,
        )
        figures = figures_text(folder, width)
    for line in warnings_of(report):
        warn(f"warning: {line}")
    say(figures, end="")
    if report.get("shards"):
        say_table(shards_table(report["shards"]))
    for line in notes_of(report):
        say_line(f"note: {line}")
    for name, facts in report["tables"].items():
        say_line(f"{name}: {facts['signature']['line']}")
    if output is None:
        say_line("not written: give --output FOLDER for report, verify and leaderboard")
    else:
        names = ("scores.json", "samples.jsonl", "report.json")
        say_line(f"written: {', '.join(str(output / name) for name in names)}")
    if official is not None:
        say_line(f"written: official files in {official}")
