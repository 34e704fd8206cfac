"""Check a sample log: its rows and hashes, its answers and requests, and what was counted of it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from lm_eval_longbench.benchmarks.base import COUNTS, TRUNCATED, Benchmark
from lm_eval_longbench.benchmarks.registry import benchmark_of, find_task
from lm_eval_longbench.logs.results_file import TaskResult
from lm_eval_longbench.logs.sample_log import LogRow, at, rows_sha256
from lm_eval_longbench.options import REPEAT
from lm_eval_longbench.prompts.text_hash import text_sha256
from lm_eval_longbench.verify.check import (
    EDITED,
    NOT_CHECKABLE,
    Check,
    all_of,
    compared,
    some,
    those_that_tell,
)
from lm_eval_longbench.verify.figures import Figures, number_of

# Of a prompt around which nothing stands when it is sent.
PLAIN = text_sha256("?")
# In the order of a signature.
_COUNTED = sorted(metric.name for metric in COUNTS)
# What raw prompts of a chat run are sent with besides, so that they are batched apart.
_NEUTRAL = 1.0


def check_log(task: TaskResult, rows: Sequence[LogRow]) -> Iterator[Check]:
    """Yield the checks of a task's sample log that need nothing but it and the results file."""
    yield from _numbers(task, rows)
    yield from _places(task, rows)
    yield from _filters(task, rows)
    yield from _origin(task, rows)
    yield from _hashes(task, rows)


def _numbers(task: TaskResult, rows: Sequence[LogRow]) -> Iterator[Check]:
    kind = "log rows"
    meaning = f"Rows were lost or added. {EDITED}"
    filters = _by_filter(rows)
    numbers = sorted({len(own) for own in filters.values()})
    for name, stated in (
        ("n-samples", task.n_samples),
        ("sample_len", task.figures.get("sample_len")),
    ):
        if stated is None:
            said = "The results state no number."
            yield Check(kind, name, NOT_CHECKABLE, stated, numbers[-1], said)
        else:
            yield compared(kind, name, [stated], numbers, meaning)
    added = [at(row, f"has {row.extra[0]!r} beside what is known") for row in rows if row.extra]
    yield all_of("row fields", len(rows), added, "what the harness writes", EDITED)


def _by_filter(rows: Sequence[LogRow]) -> dict[str, list[LogRow]]:
    filters: dict[str, list[LogRow]] = defaultdict(list)
    for row in rows:
        filters[row.filter].append(row)
    return filters


def _places(task: TaskResult, rows: Sequence[LogRow]) -> Iterator[Check]:
    """Check that each row has a place of its own, the same ones under every filter."""
    seen: dict[Any, int] = {}
    twice = []
    for row in rows:
        first = seen.setdefault((row.filter, row.index), row.line)
        if first != row.line:
            twice.append(at(row, f"is the question of line {first}"))
    yield all_of(
        "duplicate rows", len(rows), twice, "each question once", f"It counts twice. {EDITED}"
    )
    filters = _by_filter(rows)
    indices = [{row.index for row in own} for own in filters.values()]
    # Under --samples the harness's own numbers may go to other rows, but they are the same ones.
    numbers = {row.doc_id for row in rows}
    most = task.original
    wrong = []
    if numbers not in ({None}, indices[0]):
        wrong.append(f"doc_id is {_few(numbers ^ indices[0])} where index is not, or the reverse")
    if any(own != indices[0] for own in indices):
        wrong.append(f"the filters {', '.join(filters)} are over other questions")
    if most is not None and max(indices[0]) >= most:
        wrong.append(f"there is a question {max(indices[0])}, but they are numbered below {most}")
    said = f"Rows are not where the run had them. {EDITED}"
    yield all_of("places", len(rows), wrong, "the numbers of the questions asked", said)


def _few(numbers: set[int | None]) -> str:
    return ", ".join(map(str, sorted(numbers, key=str)[:5]))


def _filters(task: TaskResult, rows: Sequence[LogRow]) -> Iterator[Check]:
    given = task.config.get("filter_list")
    names = sorted(str(own.get("name")) for own in given) if given else ["none"]
    said = "The log was made with other filters than the configuration has."
    yield compared("filters", "names", sorted({row.filter for row in rows}), names, said)


def _origin(task: TaskResult, rows: Sequence[LogRow]) -> Iterator[Check]:
    own, data = task.run.get("task"), task.run.get("data")
    foreign = [
        at(row, f"is of {row.doc.get('task')}, data {row.doc.get('data')}")
        for row in rows
        if (row.doc.get("task"), row.doc.get("data")) != (own, data)
    ]
    yield all_of(
        "foreign rows", len(rows), foreign, f"of {own}, data {data}", "These are of another run."
    )


def _hashes(task: TaskResult, rows: Sequence[LogRow]) -> Iterator[Check]:
    meaning = f"What the harness hashed is not what stands there now. {EDITED}"
    yield all_of(
        "document hashes",
        len(rows),
        [
            at(row, "has another document than was hashed")
            for row in rows
            if row.hashes["doc"] != row.doc_sha256
        ],
        "doc_hash of the document",
        f"A gold answer or another field was edited. {meaning}",
    )
    wrong, benchmark = [], benchmark_of(find_task(str(task.run.get("task"))))
    for row in rows:
        if row.hashes["target"] != text_sha256(row.target):
            wrong.append(at(row, "has another target than was hashed"))
        elif row.target != _target(benchmark, row):
            wrong.append(at(row, "has another target than its document"))
    yield all_of(
        "gold answers", len(rows), wrong, "target and target_hash of the document", meaning
    )
    telling = [row for row in rows if row.excerpts]
    yield from those_that_tell(
        "sent prompts",
        len(telling),
        len(rows) - len(telling),
        [
            at(row, "has another prompt than was hashed")
            for row in telling
            if row.excerpts[0].get("sha256") != row.hashes["prompt"]
            or any(own != row.excerpts[0] for own in row.excerpts)
        ],
        "prompt_hash of each request",
        meaning,
    )
    plain = task.run.get("chat_sha256") == PLAIN
    said = "a chat template or a system instruction" if not plain else "nothing"
    yield all_of(
        "prompts in requests",
        len(rows),
        [
            at(row, "sent another prompt than its document has" if plain else "sent it bare")
            for row in rows
            if (row.hashes["prompt"] == row.prompt["sha256"]) is not plain
        ],
        f"prompt_hash is that of the prompt, with {said} around it",
        f"What stood around the prompts is not what the signature says. {EDITED}",
    )
    if task.log_hash is None:
        said = "The results file has no hash of this log, which the harness writes beside it."
        yield compared("log hash", "log hash", None, rows_sha256(rows), said)
    else:
        said = f"The log's rows are not those the results were made from. {EDITED}"
        yield compared("log hash", "log hash", rows_sha256(rows), task.log_hash, said)


def _target(benchmark: Benchmark, row: LogRow) -> str | None:
    """Return the gold answers of a row's document as the harness prints them; None: it has none."""
    try:
        return str(benchmark.golds(row.doc))
    except (KeyError, TypeError):
        return None


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
    if "seed" in (task.run.get("left_out") or ()):
        said = "The server refused seeds: they were left out of requests that the log has them in."
        yield Check("seeds", "seeds", NOT_CHECKABLE, meaning=said)
    elif seeds is not None:
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


def check_counts(task: TaskResult, rows: Sequence[LogRow], figures: Figures) -> Iterator[Check]:
    """Yield the checks of kept, answered, failed and truncated; for asked see `check_data`."""
    kind, run = "counts", task.run
    lost = "The signature counts other questions than the log has."
    last = rows[-1].filter if rows else ""  # counts are those of the last filter
    number = sum(row.filter == last for row in rows)
    yield compared(kind, "kept", run.get("kept"), number, lost)
    cut = [row for row in rows if row.prompt["truncated"]]
    if run.get("overlength") != "truncate":
        said = "Prompts were cut, though the signature says that none was."
        yield compared(kind, "cut", len(cut), 0, said)
    if run.get("overlength") == "skip":
        fewer = isinstance(run.get("asked"), int) and number <= run["asked"]
        yield compared(kind, "kept of asked", fewer, True, lost)
    if not figures.columns:
        for name in ("answered", *_COUNTED):
            said = "Nothing was scored, so nothing was counted."
            yield Check(kind, name, NOT_CHECKABLE, run.get(name), None, said)
        return
    yield compared(kind, "answered", run.get("answered"), number, lost)
    repeats = run.get("repeats")
    for name in _COUNTED:
        times = 1 if name == TRUNCATED.name else repeats
        total = number_of(figures.columns.get(f"{name},{last}"))
        if run.get(name) is None:
            said = f"The task's metric_list has no {name}, so that nobody counted."
            yield Check(kind, name, NOT_CHECKABLE, None, None, said)
        elif total is None or not figures.complete or not isinstance(times, int):
            said = "It does not follow from the log alone."
            yield Check(kind, name, NOT_CHECKABLE, run.get(name), None, said)
        else:
            said = f"The signature counts other {name} answers than the log has."
            yield compared(kind, name, run.get(name), round(total * times), said)
