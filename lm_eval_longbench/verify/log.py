"""Check a sample log: its rows and hashes, its answers and requests, and what was counted of it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from typing import Any

from lm_eval_longbench.benchmarks.base import CAPPED, COUNTS, TRUNCATED, Benchmark
from lm_eval_longbench.logs.sample_log import LogRow, at, rows_sha256
from lm_eval_longbench.options import REPEAT
from lm_eval_longbench.prompts.render import text_sha256
from lm_eval_longbench.prompts.tokens.official import clean_up
from lm_eval_longbench.signature.signature import CLEANED_UP
from lm_eval_longbench.verify.check import EDITED, NOT_CHECKABLE, Check, all_of, compared, some
from lm_eval_longbench.verify.figures import Figures
from lm_eval_longbench.verify.subject import Subject

# Of a prompt around which nothing stands when it is sent.
PLAIN = text_sha256("?")
# In the order of a signature.
_COUNTED = sorted(metric.name for metric in COUNTS)
# What raw prompts of a chat run are sent with besides, so that they are batched apart.
_NEUTRAL = 1.0


def check_log(task: Subject) -> Iterator[Check]:
    """Yield the checks of a task's sample log that need nothing but it and the results file."""
    yield from _rows(task)
    yield from _hashes(task)
    yield from _answers(task)
    yield from _requests(task)


def _rows(task: Subject) -> Iterator[Check]:
    """Check how many rows there are, of what, and that each has a place of its own.

    Under every filter the places are the same ones.
    """
    rows, kind, config = task.rows, "log rows", task.config
    filters: dict[str, list[int]] = defaultdict(list)
    for row in rows:
        filters[row.filter].append(row.index)
    lengths = sorted({len(own) for own in filters.values()})
    for name, stated in (
        ("n-samples", task.n_samples),
        ("sample_len", task.figures.get("sample_len")),
    ):
        if stated is None:
            said = "The results state no number."
            yield Check(kind, name, NOT_CHECKABLE, stated, lengths[-1], said)
        else:
            yield compared(kind, name, [stated], lengths, f"Rows were lost or added. {EDITED}")
    added = [at(row, f"has {row.extra[0]!r} beside what is known") for row in rows if row.extra]
    yield from all_of("row fields", len(rows), added, "what the harness writes", EDITED)

    seen: dict[Any, int] = {}
    twice = []
    for row in rows:
        first = seen.setdefault((row.filter, row.index), row.line)
        if first != row.line:
            twice.append(at(row, f"is the question of line {first}"))
    said = f"It counts twice. {EDITED}"
    yield from all_of("duplicate rows", len(rows), twice, "each question once", said)
    places, *others = map(set, filters.values())
    # Under --samples the harness's own numbers may go to other rows, but they are the same ones.
    numbers = {row.doc_id for row in rows}
    wrong = []
    if numbers not in ({None}, places):
        few = ", ".join(map(str, sorted(numbers ^ places, key=str)[:5]))
        wrong.append(f"doc_id is {few} where index is not, or the reverse")
    if any(own != places for own in others):
        wrong.append(f"the filters {', '.join(filters)} are over other questions")
    if task.original is not None and max(places) >= task.original:
        wrong.append(
            f"there is a question {max(places)}, but they are numbered below {task.original}"
        )
    said = f"Rows are not where the run had them. {EDITED}"
    yield from all_of("places", len(rows), wrong, "the numbers of the questions asked", said)

    names = sorted(str(own.get("name")) for own in config.get("filter_list") or [{"name": "none"}])
    said = "The log was made with other filters than the configuration has."
    yield compared("filters", "names", sorted(filters), names, said)
    of = task.run.get("task"), task.run.get("data")
    foreign = [
        at(row, f"is of {row.doc.get('task')}, data {row.doc.get('data')}")
        for row in rows
        if (row.doc.get("task"), row.doc.get("data")) != of
    ]
    what, said = f"of {of[0]}, data {of[1]}", "These are of another run."
    yield from all_of("foreign rows", len(rows), foreign, what, said)


def _hashes(task: Subject) -> Iterator[Check]:
    rows, number = task.rows, len(task.rows)
    meaning = f"What the harness hashed is not what stands there now. {EDITED}"
    said = f"A gold answer or another field was edited. {meaning}"
    other = [row for row in rows if row.hashes["doc"] != row.doc_sha256]
    wrong = [at(row, "has another document than was hashed") for row in other]
    yield from all_of("document hashes", number, wrong, "doc_hash of the document", said)
    wrong = []
    for row in rows:
        if row.hashes["target"] != text_sha256(row.target):
            wrong.append(at(row, "has another target than was hashed"))
        elif row.target != _target(task.benchmark, row):
            wrong.append(at(row, "has another target than its document"))
    what = "target and target_hash of the document"
    yield from all_of("gold answers", number, wrong, what, meaning)
    telling = [row for row in rows if row.excerpts]
    wrong = [
        at(row, "has another prompt than was hashed")
        for row in telling
        if row.excerpts[0].get("sha256") != row.hashes["prompt"]
        or any(own != row.excerpts[0] for own in row.excerpts)
    ]
    what, silent = "prompt_hash of each request", number - len(telling)
    yield from all_of("sent prompts", len(telling), wrong, what, meaning, silent)
    plain = task.run.get("chat_sha256") == PLAIN
    around = "nothing" if plain else "a chat template or a system instruction"
    sent = "sent another prompt than its document has" if plain else "sent it bare"
    bare = (row for row in rows if (row.hashes["prompt"] == row.prompt["sha256"]) is not plain)
    wrong = [at(row, sent) for row in bare]
    what = f"prompt_hash is that of the prompt, with {around} around it"
    said = f"What stood around the prompts is not what the signature says. {EDITED}"
    yield from all_of("prompts in requests", number, wrong, what, said)
    found, stated = rows_sha256(rows), task.log_hash
    if stated is None:
        said = "The results file has no hash of this log, which the harness writes beside it."
        yield compared("log hash", "log hash", None, found, said)
    else:
        said = f"The log's rows are not those the results were made from. {EDITED}"
        yield compared("log hash", "log hash", found, stated, said)


def _target(benchmark: Benchmark, row: LogRow) -> str | None:
    """Return the gold answers of a row's document as the harness prints them; None: it has none."""
    try:
        return str(benchmark.golds(row.doc))
    except (KeyError, TypeError):
        return None


def _answers(task: Subject) -> Iterator[Check]:
    """Check the number and the origin of the answers."""
    rows, repeats = task.rows, task.run.get("repeats") or 1
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
    yield from all_of("repeats", len(rows), wrong, f"{repeats} answers to each question", said)
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
    decoding = task.run.get("decoding")
    other = (row for row in rows if not _as_given(row, cleaned=decoding is not None))
    wrong = [at(row, "scored another text than was generated") for row in other]
    what, said = "what the model gave is what was scored", f"A response was edited. {EDITED}"
    yield from all_of("answers", len(rows), wrong, what, said)
    if not all(_as_given(row) for row in rows) and not wrong:
        said = "Spaces before punctuation were taken out of answers."
        yield compared("decoding", "decoding", decoding, CLEANED_UP, said)


def _as_given(row: LogRow, *, cleaned: bool = False) -> bool:
    """Whether a row's scored texts are the first that each request got, or those cleaned up."""
    if len(row.filtered) != len(row.generated):
        return False
    for texts, scored in zip(row.generated, row.filtered, strict=True):
        kept = scored if isinstance(scored, list) else [scored]
        given = list(texts[: len(kept)])
        if kept != given and not (cleaned and kept == list(map(clean_up, given))):
            return False
    return True


def _requests(task: Subject) -> Iterator[Check]:
    """Check the arguments of the requests."""
    stated = task.generation
    if stated is None:
        said = "The signature does not state with which arguments answers were asked for."
        yield Check("requests", "requests", NOT_CHECKABLE, meaning=said)
        return
    telling = [row for row in task.rows if row.generation and all(row.generation)]
    silent = len(task.rows) - len(telling)
    met = {name for row in telling for own in row.generation for name in own}
    wrong = []
    for row in telling:
        other = next((text for own in row.generation if (text := _other(task, own, met))), None)
        if other:
            wrong.append(at(row, f"was asked with {other}"))
    what, said = f"asked with {stated}", f"Other arguments. {EDITED}"
    yield from all_of("requests", len(telling), wrong, what, said, silent)
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
    if task.refused("temperature"):
        said = "The server refused it: it was left out of requests that the log has it in."
        yield Check("requests", "temperature", NOT_CHECKABLE, meaning=said)
    if task.refused("seed"):
        said = "The server refused seeds: they were left out of requests that the log has them in."
        yield Check("seeds", "seeds", NOT_CHECKABLE, meaning=said)
    elif seeds is not None:
        # Requests without a seed are told apart by the number of the repeat.
        wanted = [(seed, number if seed is None else None) for number, seed in enumerate(seeds)]
        wrong = [
            at(row, "was asked with other seeds")
            for row in telling
            if [(own.get("seed"), own.get(REPEAT)) for own in row.generation] != wanted
        ]
        said = f"The signature names other seeds than the requests have. {EDITED}"
        yield from all_of("seeds", len(telling), wrong, f"seeds {seeds}", said, silent)


def _other(task: Subject, own: Mapping[str, Any], met: set[str]) -> str:
    """Return where one request's arguments are not those of the signature; "": nowhere.

    `met` are the names in any request of the log: a backend may take one out of all of them.
    """
    stated = task.generation
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


def check_counts(task: Subject, figures: Figures) -> Iterator[Check]:
    """Yield the checks of kept, answered and COUNTS; for asked see `check_asked`."""
    kind, run, rows = "counts", task.run, task.rows
    lost = "The signature counts other questions than the log has."
    last = rows[-1].filter  # counts are those of the last filter
    number = sum(row.filter == last for row in rows)
    yield compared(kind, "kept", run.get("kept"), number, lost)
    if run.get("overlength") != "truncate":
        said = "Prompts were cut, though the signature says that none was."
        cut = sum(row.prompt["truncated"] for row in rows)
        yield compared(kind, "cut", cut, 0, said)
    if run.get("overlength") == "skip":
        asked = run.get("asked")
        fewer = isinstance(asked, int) and number <= asked
        yield compared(kind, "kept of asked", fewer, True, lost)
    if not figures.columns:
        for name in ("answered", *_COUNTED):
            said = "Nothing was scored, so nothing was counted."
            yield Check(kind, name, NOT_CHECKABLE, run.get(name), None, said)
        return
    yield compared(kind, "answered", run.get("answered"), number, lost)
    for name in _COUNTED:
        times = 1 if name == TRUNCATED.name else run.get("repeats")
        key, is_capped = f"{name},{last}", name == CAPPED.name
        total, column = figures.sum_of(key, partly=is_capped), figures.columns.get(key)
        if is_capped and (column is None or set(column.values) <= {None}):
            if column is not None or run.get(name) is not None:
                said = "The signature counts capped answers, and nothing tells how answers ended."
                yield compared(kind, name, run.get(name), None, said)
        elif run.get(name) is None and not is_capped:
            said = f"The task's metric_list has no {name}, so that nobody counted."
            yield Check(kind, name, NOT_CHECKABLE, None, None, said)
        elif total is None or times is None:
            said = "It does not follow from the log alone."
            yield Check(kind, name, NOT_CHECKABLE, run.get(name), None, said)
        else:
            said = f"The signature counts other {name} answers than the log has."
            yield compared(kind, name, run.get(name), round(total * times), said)
