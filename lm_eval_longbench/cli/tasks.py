"""`lm-eval-longbench tasks`: list tasks and groups, with what running them means."""

from __future__ import annotations

import fnmatch
import json
from collections.abc import Sequence
from dataclasses import asdict
from statistics import median
from typing import Annotated, Any

import typer

from lm_eval_longbench.benchmarks.registry import (
    benchmark_of,
    expanded,
    find_task,
    kind_of,
    tags,
    valid_names,
)
from lm_eval_longbench.catalog.model import Length
from lm_eval_longbench.console import say_json, say_line, say_table, table_of
from lm_eval_longbench.errors import OptionError, UnknownNameError
from lm_eval_longbench.prompts.tokenizer import load_tokenizer


def wildcard(pattern: str) -> str:
    """Return a pattern as it is if it has wildcards, else one for all names that it is part of."""
    return pattern if any(sign in pattern for sign in "*?[") else f"*{pattern}*"


def matching(pattern: str | None) -> list[str]:
    """Return the names of tasks and groups that a pattern stands for.

    Args:
        pattern: with wildcards, or a part of the names; None: all names.

    Raises:
        UnknownNameError: it stands for none.
    """
    names = valid_names()
    if pattern is None:
        return names
    found = fnmatch.filter(names, wildcard(pattern))
    if not found:
        raise UnknownNameError("task", pattern, names)
    return found


def median_tokens(task: str, data_dir: str | None, tokenizer: str) -> int:
    """Return the median length in tokens of a task's whole prompts, before any chat template."""
    own = find_task(task)
    benchmark, taken = benchmark_of(own), load_tokenizer(tokenizer, {})
    rows = benchmark.load(own, data_dir).rows
    texts = (benchmark.render(own, row) for row in rows)
    return int(median(len(taken.encode(text)) for text in texts))


def described(name: str) -> dict[str, Any]:
    """Return what is known of a task or group.

    Keys: name, kind ("task", "group" or "tag"), benchmark, tasks (number), questions, repeats,
    output_budget, metric, prompt ("chat": in the model's chat template; "raw": never in one),
    median_document_length (`low`, `high` and `unit`; null also where no document is asked, or where
    it is not known). Where the tasks of a group differ, a value is null.
    """
    kind = kind_of(name)
    tasks = [name] if kind == "task" else expanded([name])[0]
    rows = []
    for task in tasks:
        own = find_task(task)
        benchmark = benchmark_of(own)
        official = benchmark.protocol(own, thinking=False)
        rows.append(
            {
                "benchmark": benchmark.title,
                "repeats": official.repeats,
                "output_budget": own.budget,
                "metric": benchmark.harness_metrics(own)[0].name,
                "prompt": "raw" if official.chat == "raw" else "chat",
                "median_document_length": own.length and asdict(own.length),
            }
        )
    shared = {
        key: value if all(row[key] == value for row in rows) else None
        for key, value in rows[0].items()
    }
    questions = sum(find_task(task).questions for task in tasks)
    return {"name": name, "kind": kind, "tasks": len(tasks), "questions": questions, **shared}


def listed_tags(groups: Sequence[str]) -> list[str]:
    """Return all tags, those of a group in one line: the first whole, the others by their ends."""
    lines: dict[str, list[str]] = {}
    for tag in tags():
        group = max((name for name in groups if tag.startswith(f"{name}_")), key=len, default=tag)
        lines.setdefault(group, []).append(tag)
    return [
        ", ".join([tag, *(other.removeprefix(group) for other in others)])
        for group, (tag, *others) in lines.items()
    ]


def tasks(
    pattern: Annotated[
        str | None, typer.Argument(help="Part of a name, or a pattern with wildcards.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON, not a table.")] = False,
    tokenizer: Annotated[
        str | None,
        typer.Option(help="Measure the median prompt in tokens of this tokenizer, too."),
    ] = None,
    data_dir: Annotated[
        str | None, typer.Option(help="Data to measure: as for `run`, or 'sample'.")
    ] = None,
) -> None:
    """List tasks and groups: questions, answers, documents' length, output budget, metric."""
    if data_dir is not None and tokenizer is None:
        raise OptionError("--data-dir is for measuring prompts: give --tokenizer too.")
    names = matching(pattern)
    # Without a pattern only what is part of no group, for the rest is too much to read.
    groups = [name for name in names if kind_of(name) == "group"]
    parts = {*expanded(groups)[0], *tags()}
    shown = [name for name in names if pattern or as_json or name in groups or name not in parts]
    found = [described(name) for name in shown]
    if tokenizer is not None:
        for row in found:
            if row["kind"] == "task":
                row["median_prompt_tokens"] = median_tokens(row["name"], data_dir, tokenizer)
    if as_json:
        say_json(json.dumps(found, indent=1))
        return
    rows = []
    for row in found:
        length = row["median_document_length"] and Length(**row["median_document_length"]).text
        shown_row = {
            **{name: row[name] for name in ("name", "metric", "prompt")},
            "document": length,
            "tasks": row["tasks"],
            "questions": f"{row['questions']:,}",
            "answers": row["repeats"],
            "budget": row["output_budget"],
        }
        if tokenizer is not None:
            shown_row["median prompt"] = row.get("median_prompt_tokens", "")
        rows.append({key: "-" if one is None else str(one) for key, one in shown_row.items()})
    say_table(table_of(rows, 4))
    say_line(
        "document: its median length in the official data; answers: to each question; "
        "budget: of an answer, in tokens; -: it differs, or there is none. --tokenizer "
        "measures whole prompts."
    )
    if not pattern:
        say_line("Tags stand for the tasks of a category or a language, in --tasks too:")
        for line in listed_tags(groups):
            say_line(line)
    if len(shown) < len(names):
        say_line(
            f"{len(names) - len(shown)} more are part of these: `tasks PATTERN` shows what has "
            "PATTERN in its name, such as `tasks longbench_v1_e`, and `tasks '*'` all."
        )
