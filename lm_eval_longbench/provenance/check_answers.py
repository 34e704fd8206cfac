"""Check the answers of a sample log and the requests that they answer."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from lm_eval_longbench.provenance.check import EDITED, NOT_CHECKABLE, Check, all_of, compared
from lm_eval_longbench.provenance.read_log import LogRow, at
from lm_eval_longbench.provenance.read_results import TaskResult


def check_answers(task: TaskResult, rows: Sequence[LogRow]) -> Iterator[Check]:
    """Yield the checks of number and origin of the answers, and of the requests' arguments."""
    yield from _answers(task, rows)
    yield from _requests(task, rows)


def _answers(task: TaskResult, rows: Sequence[LogRow]) -> Iterator[Check]:
    repeats = task.run.get("repeats")
    yield all_of(
        "repeats",
        len(rows),
        [
            at(row, f"has {len(row.responses)} answers")
            for row in rows
            if len(row.responses) != repeats
        ],
        f"{repeats} answers to each question",
        f"Answers were lost or added. {EDITED}",
    )
    if task.config.get("filter_list"):
        said = "A filter of the user's own stands between what the model wrote and what was scored."
        yield Check("answers", "answers", NOT_CHECKABLE, meaning=said)
        return
    yield all_of(
        "answers",
        len(rows),
        [at(row, "scored another text than was generated") for row in rows if not _as_given(row)],
        "what the model gave is what was scored",
        f"A response was edited. {EDITED}",
    )


def _as_given(row: LogRow) -> bool:
    """Whether a row's scored texts are the first that each request got."""
    if len(row.filtered) != len(row.generated):
        return False
    for scored, texts in zip(row.filtered, row.generated, strict=True):
        kept = scored if isinstance(scored, list) else [scored]
        if list(texts[: len(kept)]) != kept:
            return False
    return True


def _requests(task: TaskResult, rows: Sequence[LogRow]) -> Iterator[Check]:
    stated = task.run.get("generation")
    yield compared(
        "generation",
        "configuration",
        task.config.get("generation_kwargs"),
        stated,
        "The signature and the task's configuration name other generation arguments.",
    )
    if not isinstance(stated, dict):
        return
    wrong = []
    for row in rows:
        for own in row.generation:
            # Repeats in this process force sampling, a server's repeats leave it out.
            other = [
                name
                for name, value in stated.items()
                if name != "do_sample" and name in own and own[name] != value
            ]
            if other:
                wrong.append(at(row, f"was asked with {other[0]}={own[other[0]]!r}"))
                break
    yield all_of("requests", len(rows), wrong, f"asked with {stated}", f"Other arguments. {EDITED}")
    seeds = task.run.get("seeds")
    if seeds is not None:
        yield all_of(
            "seeds",
            len(rows),
            [
                at(row, "was asked with other seeds")
                for row in rows
                if [own.get("seed") for own in row.generation] != list(seeds)
            ],
            f"seeds {seeds}",
            f"The signature names other seeds than the requests have. {EDITED}",
        )
