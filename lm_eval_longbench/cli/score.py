"""`lm-eval-longbench score`: score what was generated before, without a model."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

import typer

from lm_eval_longbench.offline.score_tables import AUTO, BENCHMARKS
from lm_eval_longbench.terminal import say_line, say_table, warn


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


def register(app: typer.Typer) -> None:
    """Add the command to the command line."""

    @app.command("score")
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
            Path, typer.Option(help="Folder for samples.jsonl, scores.json and report.json.")
        ],
        benchmark: Annotated[
            str, typer.Option(help=f"What the files are: {', '.join((*BENCHMARKS, AUTO))}.")
        ] = AUTO,
        strict: Annotated[
            bool,
            typer.Option(
                "--strict", help="Fail on any malformed, duplicate, foreign or missing row."
            ),
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
        workers: Annotated[
            int | None, typer.Option(help="Processes that score; as many as cores if not given.")
        ] = None,
    ) -> None:
        """Score answers that are there already: official figures, and every sample."""
        from lm_eval_longbench.cli.score_tables import tables_of
        from lm_eval_longbench.cli.score_warnings import notes_of, warnings_of
        from lm_eval_longbench.offline.score import score_paths
        from lm_eval_longbench.semantic.choose import choose_embedder

        embedder = choose_embedder(embedding_model, embedding_url)
        with _bar() as progress:
            report = score_paths(
                paths,
                output,
                benchmark=benchmark,
                embedder=embedder,
                strict=strict,
                workers=workers,
                progress=progress,
                reasoning=reasoning,
                rouge_google=rouge_google,
            )
        for line in warnings_of(report):
            warn(f"warning: {line}")
        for table in tables_of(report):
            say_table(table)
        for line in notes_of(report):
            say_line(f"note: {line}")
        for name, facts in report["tables"].items():
            say_line(f"{name}: {facts['signature']['line']}")
        names = ("scores.json", "samples.jsonl", "report.json")
        say_line(f"written: {', '.join(str(output / name) for name in names)}")
