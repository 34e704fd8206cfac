"""What a user must know of a scored input, in lines."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from lm_eval_longbench.metrics.reasoning import KEEP
from lm_eval_longbench.offline.problems import sentence
from lm_eval_longbench.offline.score_tables import TABLES
from lm_eval_longbench.offline.source import V1_FILE

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


def _row_counts(report: Mapping[str, Any]) -> list[str]:
    """Return the v1 prediction files that have another number of rows than the official data."""
    lines = []
    for own in report["inputs"]:
        if own["kind"] == V1_FILE:
            info = TABLES[own["table"]].tasks[own["task"]]
            if own["rows"] != info.questions:
                lines.append(
                    f"{info.label}: {own['rows']} rows instead of the official {info.questions}"
                )
    return lines


def _missing(report: Mapping[str, Any]) -> list[str]:
    """Return the tasks that are there and lack official questions."""
    counted = {own["task"] for own in report["inputs"] if own["kind"] == V1_FILE}
    lines = [
        f"{task}: {own['missing']} of the official {own['official_questions']} questions are "
        "missing"
        for table in report["tables"].values()
        for task, own in table["tasks"].items()
        if own["missing"] and task not in counted
    ]
    more = len(lines) - SHOWN
    return lines[:SHOWN] + ([f"... and {more} more tasks lack questions"] if more > 0 else [])


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
    lines += [
        f"{name}: runs are merged here that are not comparable: {reason}"
        for reason in facts["signature"]["differences"]
    ]
    if counts["inconsistent"]:
        lines.append(
            f"{name}: {counts['inconsistent']} of {counts['questions']} questions have fewer than "
            f"{facts['repeats']} answers"
        )
    return lines


def warnings_of(report: Mapping[str, Any]) -> list[str]:
    """Return the warnings about a report, each a line."""
    lines = [line for kind in _WORDS for line in _of_kind(report["problems"], kind)]
    lines += _row_counts(report) + _missing(report)
    for name, facts in report["tables"].items():
        lines += _notes(name, facts)
    return lines


def notes_of(report: Mapping[str, Any]) -> list[str]:
    """Return what is worth to say besides: several runs that became repeats, tasks that lack."""
    lines = []
    for name, facts in report["tables"].items():
        runs, tasks = facts["runs"], len(TABLES[name].tasks)
        if len(runs) > 1:
            named = ", ".join(runs[:_RUNS]) + (", ..." if len(runs) > _RUNS else "")
            lines.append(f"{name}: merged from {len(runs)} runs: {named}")
        absent = tasks - len(facts["tasks"])
        if absent and facts["counts"]["missing"] is not None:
            lines.append(f"{name}: {absent} of {tasks} tasks are not in the input")
    return lines
