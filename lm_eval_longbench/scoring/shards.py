"""Whether the logs of shards are all of a run: which are missing, and which are there twice."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from typing import Any

from lm_eval_longbench.errors import PredictionError
from lm_eval_longbench.prompts.render import joined_sha256
from lm_eval_longbench.signature.signature import combined

# What a table of shards says of a task, in JSON.
ShardGap = dict[str, Any]


def _pieces(signatures: Sequence[Mapping[str, Any]]) -> tuple[Counter[int], int, int, int]:
    """Return how often each piece is there, the number of pieces, of questions, and those asked."""
    found: Counter[int] = Counter()
    asked: dict[int, int] = {}
    divisions = set()
    for own in signatures:
        piece, _, rest = str(own["shard"]).partition("/")
        divisions.add(rest)
        found[int(piece)] += 1
        asked[int(piece)] = own.get("asked") or 0
    if len(divisions) > 1:
        raise PredictionError(
            f"{signatures[0]['task']}: shards of several divisions are no parts of one run: "
            f"{'; '.join(sorted(divisions))} questions. Score each division apart."
        )
    number, _, of = divisions.pop().partition(" of ")
    return found, int(number), int(of), sum(asked.values())


def joined(signatures: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Return the signature of the runs of a task; all shards together are one run."""
    whole = combined(signatures)
    if all(own.get("shard") for own in signatures):
        found, _, of, asked = _pieces(signatures)
        if asked == of and len(set(found.values())) == 1:
            whole["shard"] = None
            if isinstance(whole["reasoning_sha256"], list):
                whole["reasoning_sha256"] = joined_sha256(whole["reasoning_sha256"])
    return whole


def gaps(recorded: Sequence[Mapping[str, Any] | None]) -> list[ShardGap]:
    """Return the tasks whose shards are not all there once, with the numbers of the shards.

    A shard without a question of a task is not missing where another task has it.

    Args:
        recorded: signatures of the logs; None: it has none.

    Raises:
        PredictionError: shards of several divisions.
    """
    tasks: dict[str, list[Mapping[str, Any]]] = defaultdict(list)
    for own in recorded:
        if own is not None and own.get("shard"):
            tasks[str(own["task"])].append(own)
    read = {task: _pieces(own) for task, own in sorted(tasks.items())}
    seen: dict[int, set[int]] = defaultdict(set)
    for found, number, *_ in read.values():
        seen[number] |= set(found)
    rows = []
    for task, (found, number, of, asked) in read.items():
        every = set(range(1, number + 1))
        missing = (every - seen[number]) or (every - set(found)) if asked < of else set()
        usual = min(found.values())
        double = {piece for piece, times in found.items() if times > usual}
        if missing or double or asked < of:
            told = {name: sorted(own) for name, own in (("missing", missing), ("double", double))}
            rows.append({"task": task, "shards": number, "asked": asked, "of": of, **told})
    return rows
