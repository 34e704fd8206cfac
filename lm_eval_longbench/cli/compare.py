"""`lm-eval-longbench compare`: whether two results can be compared, how they differ, and why."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.table import Table

from lm_eval_longbench.check.compare import Compared, Headline, compare_results, margin_verdict
from lm_eval_longbench.check.explain import Explanation
from lm_eval_longbench.console import say_json, say_line, say_table, table_of
from lm_eval_longbench.errors import WRONG_USAGE, OptionError, few
from lm_eval_longbench.reporting.formats import joined
from lm_eval_longbench.reporting.render import difference_parts, figure_parts
from lm_eval_longbench.signature.ingredients import CARE, COMPARABLE, NOT
from lm_eval_longbench.statistics.margin import NOT_WORSE, UNDECIDED, WORSE, Margin

# Tasks, headlines and ingredients that are named where there are more: ten lines in all.
_TASKS, _HEADLINES, _DIFFERENCES = 3, 2, 2
_STATUSES = {COMPARABLE: 0, CARE: 0, NOT_WORSE: 0, WORSE: 1, UNDECIDED: 3, NOT: WRONG_USAGE}
_MORE = "more: --verbose (every ingredient, figure and cause), --json"


def _tasks(names: Sequence[str]) -> str:
    """Return a few names, or how many there are."""
    return ", ".join(names) if len(names) <= _TASKS else f"{len(names)} tasks"


def _grouped(compared: Compared) -> dict[tuple[str, str, str, str, str], list[str]]:
    """Return weight, ingredient, both values and reason, the heaviest first, with their tasks."""
    groups: dict[tuple[str, str, str, str, str], list[str]] = defaultdict(list)
    for task in compared.tasks:
        for own in task.comparison.differences:
            left, right = own.shown()
            groups[own.weight, own.ingredient, left, right, own.reason].append(task.task)
    return {key: groups[key] for key in sorted(groups, key=lambda key: key[0] != NOT)}


# ---------------------------------------------------------------------- in short


def _side(name: str, path: Path, models: Sequence[str]) -> str:
    return f"{name}: {path}{f' ({few(models, 1)})' if models else ''}"


def _headline(own: Headline) -> str:
    unit = own.row.unit
    texts = [
        f"{name} {joined(figure_parts(cell, unit)[:2]) or '-'}"
        for name, cell in (("A", own.a), ("B", own.b))
    ]
    difference = joined(difference_parts(own.difference, unit))
    if not difference and own.a.value is not None and own.b.value is not None:
        difference = f"{unit.shown(own.b.value - own.a.value, signed=True)} (not paired)"
    return f"{own.title} {own.row.name}: {', '.join(texts)}; B - A {difference}"


def _headlines(compared: Compared) -> Iterator[str]:
    """Yield the headlines; without scores the first figure of tasks."""
    lines = [_headline(own) for own in compared.headlines] or [
        f"{task.task} {name}: A {_cell(left)}, B {_cell(right)}"
        for task in compared.tasks
        for name, left, right in task.figures[:1]
    ]
    more = len(lines) - _HEADLINES
    if more > 0:
        lines[_HEADLINES - 1] += f" (and {more} more such figures)"
    yield from lines[:_HEADLINES]


def verdict_line(compared: Compared) -> str:
    """Return the verdict in one line."""
    if not compared.tasks:
        return f"{NOT}: the two results have no task in common"
    number = len(compared.tasks)
    only = [
        f"only in {side}: {_tasks(list(names))}"
        for side, names in (("A", compared.only_left), ("B", compared.only_right))
        if names
    ]
    told = "; ".join([f"{number} shared {'task' if number == 1 else 'tasks'}", *only])
    return f"{compared.verdict} ({told})"


def _differences(compared: Compared) -> Iterator[str]:
    names = {own.ingredient for task in compared.tasks for own in task.comparison.differences}
    # What follows from another difference says nothing new.
    less = {"tokenizer_sha256"} if "tokenizer" in names else set()
    if names & {"questions", "runs"}:
        less |= {"questions_sha256", "asked", "kept", "answered"}
    groups = [(key, tasks) for key, tasks in _grouped(compared).items() if key[1] not in less]
    for (weight, name, left, right, reason), tasks in groups[:_DIFFERENCES]:
        where = "" if len(tasks) == len(compared.tasks) else f" in {_tasks(tasks)}"
        mark = "" if weight == NOT else ", care"
        yield f"  {name}{where}: {left} | {right}{mark}: {reason}"
    more = len(groups) - _DIFFERENCES
    unstated = {name for task in compared.tasks for name in task.comparison.unstated}
    told = [f"{more} more"] if more > 0 else []
    told += [f"{len(unstated)} not stated on one side or both"] if unstated else []
    if told:
        yield f"  ingredients: {', '.join(told)}"


def why_line(compared: Compared) -> str:
    """Return in one line why the numbers differ, in points that add up."""
    found = compared.why
    if found is None:
        return f"why: cannot be told: {compared.untold}"
    moved = [share for share in found.shares if share.questions or abs(share.points) > 0]
    moved.sort(key=lambda share: -abs(share.points))
    parts = ", ".join(f"{share.cause} {share.points:+.2f}" for share in moved)
    return (
        f"why: {found.gap:+.2f} points of the mean over questions (A {found.theirs:.2f}, B "
        f"{found.ours:.2f}; {found.counts[2]} shared): {parts or 'no answer differs'}"
    )


# ---------------------------------------------------------------------- a margin


def _points(text: str | None, figure: str | None) -> float | None:
    """Return the margin that was asked for."""
    if text is None:
        if figure is not None:
            raise OptionError("--figure says what --margin judges: give --margin, too.")
        return None
    try:
        points = float(text)
    except ValueError:
        points = -1.0
    if not 0 < points <= 100:
        raise OptionError(f"--margin must be points above 0 and at most 100, not {text!r}.")
    return points


def margin_lines(figures: Sequence[tuple[Headline, Margin | None]]) -> Iterator[str]:
    """Yield what was found of each figure."""
    for own, found in figures:
        name = f"{own.title} {own.place}"
        if found is None:
            yield f"margin: {name}: no questions that both have, or one of them is unscored"
            continue
        unit = own.row.unit
        value, low, high = (
            unit.shown(number, signed=True) for number in (found.value, found.low, found.high)
        )
        text = f"margin: {name}: B - A {value} [{low}, {high}] n={found.n}: {found.verdict}"
        if found.verdict == UNDECIDED:
            about = "no number of"
            if found.more is not None:  # two digits count
                digit = 10 ** max(0, len(str(found.more)) - 2)
                about = f"about {-(-found.more // digit) * digit:,}"
            text += f"; {about} more questions would decide"
        yield text
        if found.sampling is not None:
            share = round(100 * found.sampling)
            yield f"  noise: {share}% from sampling, {100 - share}% from question to question"


# ---------------------------------------------------------------------- all of it


def differences_table(compared: Compared) -> Table | None:
    """Return every differing ingredient with both values, the heaviest first; None without any."""
    groups = _grouped(compared)
    if not groups:
        return None
    titles = ("ingredient", "A", "B", "so", "because", "in")
    rows = [
        dict(zip(titles, (name, left, right, weight, reason, _tasks(tasks)), strict=True))
        for (weight, name, left, right, reason), tasks in groups.items()
    ]
    return table_of(rows, len(titles))


def notes(compared: Compared) -> Iterator[str]:
    """Yield what else must be known before figures are compared."""
    unstated: dict[tuple[str, ...], list[str]] = defaultdict(list)
    for task in compared.tasks:
        if task.comparison.unstated:
            unstated[tuple(task.comparison.unstated)].append(task.task)
    for names, tasks in unstated.items():
        what = f"{', '.join(names)} ({_tasks(tasks)})"
        yield f"not stated on one side or both, so not compared: {what}"
    yield from compared.why.notes if compared.why else ()


def _cell(value: Any) -> str:
    return f"{value:.4f}" if isinstance(value, float) else str(value)


def figures_table(compared: Compared) -> Table:
    """Return the figures of shared tasks side by side with the difference B - A."""
    rows = []
    for task in compared.tasks:
        mark = NOT if task.comparison.verdict == NOT else ""
        for name, left, right in task.figures:
            both = {type(left), type(right)} <= {int, float}
            change = f"{right - left:+.4f}" if both else "-"
            cells = {"A": _cell(left), "B": _cell(right), "B - A": change, "": mark}
            rows.append({"task": task.task, "figure": name, **cells})
    return table_of(rows, 2)


def parts_table(found: Explanation) -> Table:
    """Return a line a cause, and one for all."""
    rows = [
        {
            "cause": one.cause,
            "points": f"{one.points:+.2f}",
            "95% interval": "-" if one.low is None else f"{one.low:+.2f} to {one.high:+.2f}",
            "questions": str(one.questions),
        }
        for one in found.shares
    ]
    rows.append({"cause": "all", "points": f"{found.gap:+.2f}", "questions": str(found.counts[2])})
    return table_of(rows, total=True)


def _say_all(compared: Compared) -> None:
    table = differences_table(compared)
    if table is not None:
        say_table(table)
    say_table(figures_table(compared))
    if compared.why is not None:
        say_line("B - A in points of the mean over questions, by cause:")
        say_table(parts_table(compared.why))
    for line in notes(compared):
        say_line(f"note: {line}")


def compare(
    a: Annotated[
        Path,
        typer.Argument(
            help="Results file, run folder, scored folder, official files, or files of other "
            "programs."
        ),
    ],
    b: Annotated[Path, typer.Argument(help="The other one.")],
    verbose: Annotated[
        bool, typer.Option("--verbose", help="Every ingredient, figure and cause.")
    ] = False,
    in_json: Annotated[bool, typer.Option("--json", help="Print JSON, with all of it.")] = False,
    margin: Annotated[
        str | None,
        typer.Option(help="Judge whether B is worse than A by more than so many points."),
    ] = None,
    figure: Annotated[
        str | None,
        typer.Option(help="Name of the figure that --margin judges; else the headline."),
    ] = None,
) -> None:
    """Say whether two results can be compared, how they differ, and why, in points.

    Exit status: 0 comparable, with or without care; 2 not comparable, a file cannot be read,
    nothing was found, or the command was used wrongly. With --margin: 0 B is not worse by more than
    that; 1 it is; 3 not decided; 2 as without it.
    """
    points = _points(margin, figure)
    compared = compare_results(a, b)
    answer = compared.verdict
    figures: list[tuple[Headline, Margin | None]] = []
    if points is not None:
        answer, figures = margin_verdict(compared, points, figure)
    if in_json:
        told = {"a": str(a), "b": str(b), **compared.as_json()}
        if points is not None:
            judged = [
                {"title": own.title, "figure": own.place, **(asdict(found) if found else {})}
                for own, found in figures
            ]
            told["margin"] = {"points": points, "verdict": answer, "figures": judged}
        say_json(json.dumps(told, indent=1))
        raise typer.Exit(_STATUSES[answer])
    lines = [_side("A", a, compared.models[0]), _side("B", b, compared.models[1])]
    lines += [*_headlines(compared), verdict_line(compared)]
    lines += () if verbose else _differences(compared)
    lines += [why_line(compared), *margin_lines(figures)]
    if points is not None:
        lines.append(f"margin of {points:g}: {answer}")
    for line in lines:
        say_line(line)
    if verbose:
        _say_all(compared)
    else:
        say_line(_MORE)
    raise typer.Exit(_STATUSES[answer])
