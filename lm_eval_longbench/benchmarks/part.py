"""Which questions a run asks: the options `only` and `shard`, alike for every benchmark.

Both look at the questions of a whole table, whichever of its tasks a run asks, so that all machines
agree: `sample` is drawn from all of them, and a document stays in one shard with all its questions.
"""

from __future__ import annotations

import hashlib
import json
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from lm_eval_longbench.errors import DataError, OptionError, UnknownNameError, few
from lm_eval_longbench.options import IDS, LENGTH, SAMPLE, SELECTIONS, TOKENS, shard_of
from lm_eval_longbench.prompts.tokens.fast import tokenizer_sha256
from lm_eval_longbench.prompts.truncation import count_many

if TYPE_CHECKING:
    from lm_eval_longbench.benchmarks.base import Benchmark
    from lm_eval_longbench.catalog.model import Task
    from lm_eval_longbench.data.open import Documents

Tokenizer = Callable[[], Any]
# Part of what `sample` draws by.
SEED = 1234


class NothingAsked(OptionError):
    """The options leave no question of a task."""


def check_only(benchmark: Benchmark, only: Mapping[str, Any]) -> None:
    """Refuse to select by a dimension or value that a benchmark does not have.

    Raises:
        UnknownNameError: names the nearest that it has.
        OptionError: its official lengths are not of this kind.
    """
    languages = dict.fromkeys(task.language for task in benchmark.tasks.values() if task.language)
    own: dict[str, Iterable[str]] = {"language": languages} if languages else {}
    own |= benchmark.dimensions
    numbers = benchmark.kinds.get(LENGTH) == "int64"
    for name, values in only.items():
        if name in (TOKENS, IDS, SAMPLE) or (numbers and isinstance(values[0], int)):
            continue
        field = benchmark.length_field if name == LENGTH else name
        if field not in own and not (numbers and name == LENGTH):
            valid = {*own, *SELECTIONS} - {name}
            raise UnknownNameError(f"{benchmark.title} dimension of 'only'", name, valid)
        if name == LENGTH and (numbers or isinstance(values[0], int)):
            which = '{"length": [0, 8000]}' if numbers else f"one of {', '.join(own[field])}"
            raise OptionError(
                f"Option 'only': {benchmark.title} states its lengths "
                f"{'as numbers' if numbers else 'by name'}: give {which}, not {list(values)}."
            )
        for value in values:
            if value not in own[field]:
                kind = f"{benchmark.title} {name} of 'only'"
                raise UnknownNameError(kind, value, own[field])


def _value(benchmark: Benchmark, task: Task, row: Mapping[str, Any], name: str) -> Any:
    if name == "language" and task.language:  # rows of code have that of the code
        return task.language
    if name in benchmark.dimensions:
        return benchmark.dimension_of({**row, "task": task.counted}, name)
    return row[name]


def _matching(asking: Any, documents: Documents, tokenizer: Tokenizer) -> list[int]:
    """Return the row numbers that all selections but `sample` keep."""
    benchmark, task, only = asking.benchmark, asking.task, asking.options.only
    light = documents.rows.without("context")

    def keeps(number: int, name: str, values: Sequence[Any]) -> bool:
        if name == IDS:
            return documents.ids[number] in values
        if name == LENGTH and isinstance(values[0], int):
            return bool(values[0] <= light[number][LENGTH] <= values[1])
        field = benchmark.length_field if name == LENGTH else name
        return _value(benchmark, task, light[number], field) in values

    tests = [one for one in only.items() if one[0] not in (TOKENS, SAMPLE)]
    kept = [n for n in range(len(light)) if all(keeps(n, *test) for test in tests)]
    if TOKENS not in only:
        return kept
    least, most = only[TOKENS]
    numbers = count_many(tokenizer(), ((asking.measured(documents.rows[n]), True) for n in kept))
    return [n for n, own in zip(kept, numbers, strict=True) if least <= own <= most]


# ---------------------------------------------------------------------- all questions of a table

# A question of a table: the task that counts it, its id and its document; and bytes to read.
_Name = tuple[str, str, str]
_Question = tuple[str, str, str, int]


def _name(task: str, documents: Documents, number: int) -> _Name:
    """Return what a question of a table is known by; without a document it is one by itself."""
    own = documents.ids[number]
    return task, own, documents.context_sha256[number] or f"{task} {own}"


def _questions(
    asking: Any, documents: Documents, tokenizer: Tokenizer
) -> Iterator[tuple[_Question, tuple[Any, ...]]]:
    """Yield the questions of a table that match, each with what sorts alike ones together."""
    benchmark, table = asking.benchmark, asking.benchmark.tables[asking.task.table]
    for task in table.tasks.values():
        one, own = asking, documents
        # A domain's task has a part of the data; a user's is ours with changes.
        if (task.counted, task.dataset) != (asking.task.counted, asking.task.dataset):
            one = asking.sibling(task)
            try:
                own = benchmark.load(task, asking.options.data_dir)
            except DataError:  # a user's own folder need not have all tasks
                continue
        sizes, light = own.rows.lengths("context"), own.rows.without("context")
        label = benchmark.pairing_label(task)  # modes draw the same questions
        for number in _matching(one, own, tokenizer):
            row = light[number]
            groups = [str(_value(benchmark, task, row, name)) for name in table.dimensions]
            draw = hashlib.sha256(f"{SEED} {label} {own.ids[number]}".encode()).hexdigest()
            question = (*_name(task.name, own, number), sizes[number] + 1)
            yield question, (task.name, *groups, draw)


def sampled(questions: Sequence[tuple[_Question, tuple[Any, ...]]], size: int) -> list[_Question]:
    """Return so many questions: every n-th of them in the order of their groups.

    Each group gets its share to within one question. In a group a hash decides.
    """
    ordered = [own for own, _ in sorted(questions, key=lambda one: one[1])]
    if size >= len(ordered):
        return ordered
    return [ordered[(2 * n + 1) * len(ordered) // (2 * size)] for n in range(size)]


def shards(questions: Sequence[_Question], number: int) -> dict[str, int]:
    """Return the shard of each document, from 1: the heaviest first, to the lightest shard."""
    weights: dict[str, int] = defaultdict(int)
    for _, _, document, size in questions:
        weights[document] += size
    loads = [0] * number
    found = {}
    for document, weight in sorted(weights.items(), key=lambda one: (-one[1], one[0])):
        lightest = loads.index(min(loads))
        loads[lightest] += weight
        found[document] = lightest + 1
    return found


# The shard of each question of a table. To read a table for each of its tasks takes long.
_known: dict[str, dict[_Name, int]] = {}


def _of_table(asking: Any, documents: Documents, tokenizer: Tokenizer) -> dict[_Name, int]:
    """Return the shard of each chosen question of a table, by its `_name`."""
    options, (_, number) = asking.options, shard_of(asking.options.shard)
    counted = tokenizer_sha256(tokenizer()) if TOKENS in options.only else None
    parts = asking.task.table, documents.sha256, number, counted, replace(options, shard=None)
    key = repr(parts)
    if key not in _known:
        found = list(_questions(asking, documents, tokenizer))
        own = sampled(found, options.only.get(SAMPLE, len(found)))
        pieces = shards(own, number)
        _known[key] = {one[:3]: pieces[one[2]] for one in own}
    return _known[key]


# ---------------------------------------------------------------------- what is asked


def asked_part(asking: Any, documents: Documents, tokenizer: Tokenizer) -> Documents:
    """Return the documents of a task with the rows that the options choose.

    Args:
        asking: of the task.
        documents: all of the task.
        tokenizer: gives the run's; called only for a window of tokens.

    Raises:
        NothingAsked: no question is left.
    """
    options, task = asking.options, asking.task
    if not options.only and options.shard is None:
        return documents
    whole = dict.fromkeys(_matching(asking, documents, tokenizer), 1)
    if SAMPLE in options.only or options.shard is not None:
        chosen = _of_table(asking, documents, tokenizer)
        names = ((n, _name(task.counted, documents, n)) for n in whole)
        whole = {n: chosen[name] for n, name in names if name in chosen}
    piece, _ = shard_of(options.shard)
    asked = [n for n, own in whole.items() if own == piece]
    told = _told(options.only)
    if not asked:
        why = f"shard {options.shard}" if whole else f"only {told}"
        raise NothingAsked(
            f"{task.label}: no question is left by {why}. Widen the option, or ask the tasks that "
            "have such questions: `lm-eval-longbench run` leaves the others out."
        )
    return replace(
        documents,
        given=asked,
        whole=list(whole),
        shard=options.shard and f"{options.shard} of {len(whole)}",
        label=f"{documents.label} (only {told})" if told else documents.label,
        official=documents.official and not told,
    )


def _told(only: Mapping[str, Any]) -> str:
    """Return a selection in words, which tells it from any other."""
    texts = []
    for name, values in only.items():
        if name == SAMPLE:
            text = str(values)
        elif name == IDS:
            digest = hashlib.sha256(json.dumps(values).encode()).hexdigest()[:8]
            text = f"{few(values, 3)} ({digest})"
        else:
            text = (" to " if isinstance(values[0], int) else ", ").join(map(str, values))
        texts.append(f"{name}: {text}")
    return "; ".join(texts)
