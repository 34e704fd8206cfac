"""Check the answers of a sample log and the requests that they answer."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from lm_eval_longbench.options import REPEAT
from lm_eval_longbench.provenance.check import (
    EDITED,
    NOT_CHECKABLE,
    Check,
    all_of,
    some,
    those_that_tell,
)
from lm_eval_longbench.provenance.read_log import LogRow, at
from lm_eval_longbench.provenance.read_results import TaskResult

# What raw prompts of a chat run are sent with besides, so that they are batched apart.
_NEUTRAL = 1.0


def check_answers(task: TaskResult, rows: Sequence[LogRow]) -> Iterator[Check]:
    """Yield the checks of number and origin of the answers, and of the requests' arguments."""
    yield from _answers(task, rows)
    yield from _requests(task, rows)


def _answers(task: TaskResult, rows: Sequence[LogRow]) -> Iterator[Check]:
    repeats = task.run.get("repeats") or 1
    own_filters = bool(task.config.get("filter_list"))
    wrong, surplus = [], []
    for row in rows:
        generated = sum(map(len, row.generated))
        # A user's own filters may make more or fewer of them.
        given = generated if own_filters else len(row.responses)
        if given < repeats or (given > repeats and not own_filters):
            wrong.append(at(row, f"has {given} answers"))
        elif generated > repeats:
            surplus.append(at(row, f"has {generated} texts"))
    said = f"Answers were lost or added. {EDITED}"
    yield all_of("repeats", len(rows), wrong, f"{repeats} answers to each question", said)
    if surplus:
        said = (
            "More texts than answers: of several ranks the one with fewer questions asks its last "
            "one again. Nothing else tells where they come from; they are not scored."
        )
        yield Check("answers", "surplus", NOT_CHECKABLE, some(surplus), None, said)
    if own_filters:
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
    if stated is None:
        said = "The signature does not state with which arguments answers were asked for."
        yield Check("requests", "requests", NOT_CHECKABLE, meaning=said)
        return
    telling = [row for row in rows if row.generation and all(row.generation)]
    met = {name for row in telling for own in row.generation for name in own}
    wrong = []
    for row in telling:
        other = next((text for own in row.generation if (text := _other(task, own, met))), None)
        if other:
            wrong.append(at(row, f"was asked with {other}"))
    said = f"Other arguments. {EDITED}"
    yield from those_that_tell(
        "requests", len(telling), len(rows) - len(telling), wrong, f"asked with {stated}", said
    )
    # A seed of null is that none is sent.
    unmet = [
        name
        for name in stated
        if name not in met and name != "do_sample" and (name, stated[name]) != ("seed", None)
    ]
    if telling and unmet:
        said = "No request of the log has it: a backend took it out, or it was edited out."
        yield Check("requests", ", ".join(unmet), NOT_CHECKABLE, meaning=said)
    seeds = task.run.get("seeds")
    if seeds is not None:
        # Requests without a seed are told apart by the number of the repeat.
        wanted = [(seed, number if seed is None else None) for number, seed in enumerate(seeds)]
        yield from those_that_tell(
            "seeds",
            len(telling),
            len(rows) - len(telling),
            [
                at(row, "was asked with other seeds")
                for row in telling
                if [(own.get("seed"), own.get(REPEAT)) for own in row.generation] != wanted
            ],
            f"seeds {seeds}",
            f"The signature names other seeds than the requests have. {EDITED}",
        )


def _other(task: TaskResult, own: Mapping[str, Any], met: set[str]) -> str:
    """Return where a request's arguments are not those of the signature; "": nowhere.

    Args:
        task: with the signature.
        own: arguments of one request.
        met: names in any request of the log; a backend may take one out of all of them.
    """
    stated = task.run["generation"]
    for name in sorted({*own, *(met & stated.keys())}):
        if name == "do_sample" and (task.run.get("repeats") or 1) > 1:
            # Repeats in this process force sampling, a server's repeats leave it out.
            if own.get(name) is True or name not in met:
                continue
            return f"do_sample={own.get(name)!r}"
        if name in ("seed", REPEAT) and task.run.get("seeds") is not None:
            continue
        if name not in stated and task.run.get("chat") == "raw" and own[name] == _NEUTRAL:
            continue
        if name not in own or name not in stated or own[name] != stated[name]:
            return f"{name}={own.get(name)!r}"
    return ""
