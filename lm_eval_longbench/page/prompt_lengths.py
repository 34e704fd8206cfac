"""How long the prompts of a run are, as far as its sample logs tell."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from pathlib import Path

import numpy as np

from lm_eval_longbench.benchmarks.registry import benchmark_of_table, tables
from lm_eval_longbench.benchmarks.sample import Sample
from lm_eval_longbench.figures.answers import KEY_BYTES, question_key
from lm_eval_longbench.figures.by_tokens import ByTokens, by_tokens
from lm_eval_longbench.logs.sample_log import prompt_of
from lm_eval_longbench.page.samples import read_samples
from lm_eval_longbench.reports.scored_run import ScoredTable, is_scored

# Tokens of each question's whole prompt, by table and key; None: it was cut and not counted.
Lengths = Mapping[str, Mapping[bytes, int | None]]


def _count(value: object) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) and value > 0 else None


def _tokens(row: Mapping[str, object], sample: Sample) -> int | None:
    """Return the tokens of a whole prompt as the log has them; None: it does not tell.

    A prompt that was not cut went out whole: then what the model or the server counted holds, the
    chat template included.
    """
    counted = _count(prompt_of(row).get("tokens_before_cut"))
    if counted is None and sample.truncated is False and sample.reply is not None:
        counted = _count(sample.reply.get("prompt_tokens"))
    return counted


def lengths_of(paths: Sequence[Path], benchmark: str | None = None) -> Lengths:
    """Return how long the prompts are of benchmarks that show scores by measured length.

    Args:
        paths: of a run: sample logs; of anything else nothing is known.
        benchmark: short name of what prediction files are; None: found out.
    """
    wanted = {name for name in tables() if benchmark_of_table(name).look.tokens}
    found: dict[str, dict[bytes, int | None]] = {}
    logs = [path for path in paths if not is_scored(path)]
    for row, sample, _ in (one for path in logs for one in read_samples(path, benchmark)):
        if not row or sample.table not in wanted:
            continue
        own, table = benchmark_of_table(sample.table), tables()[sample.table]
        key = question_key(own, table, sample.task, sample.id, sample.shown.get("index"))
        of_table = found.setdefault(sample.table, {})
        tokens = _tokens(row, sample)
        if tokens is not None or (sample.truncated and key not in of_table):
            of_table[key] = tokens
    return found


def measured(table: ScoredTable, lengths: Lengths) -> ByTokens | None:
    """Return a table's score by measured length; None if a length or a limit is not known."""
    own = lengths.get(table.info.name, {})
    # As numpy keeps them: without zeros at their ends.
    known = dict(zip(_as_kept(own), own.values(), strict=True))
    keys = table.answers.keys.tolist()
    if not keys or any(key not in known for key in keys):
        return None
    limits = np.array([_limit(table, task) for task in table.info.tasks])[table.answers.tasks]
    tokens = np.array([np.nan if known[key] is None else known[key] for key in keys], np.float64)
    return by_tokens(table.answers, tokens, np.where(np.isnan(tokens), limits, np.nan))


def _as_kept(keys: Collection[bytes]) -> list[bytes]:
    found: list[bytes] = np.array(list(keys), f"S{KEY_BYTES}").tolist()
    return found


def _limit(table: ScoredTable, task: str) -> float:
    """Return the tokens at which prompts of a task were cut; NaN: it is not known."""
    return float(_count(table.facts.signature_of(task).get("limit")) or np.nan)
