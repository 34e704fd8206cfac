"""Complete the scores of summaries (LongBench Pro, T4) with their semantic similarity."""

from __future__ import annotations

import json
from typing import Any

from lm_eval_longbench.benchmarks.registry import benchmark_of_table, tables
from lm_eval_longbench.metrics.reasoning import OTHERWISE
from lm_eval_longbench.scoring.store import Row, Store
from lm_eval_longbench.semantic.cache import VectorCache
from lm_eval_longbench.semantic.embedder import Embedder
from lm_eval_longbench.semantic.similarity import summary_similarities

# Summaries embedded at once: few enough that their vectors stay small.
BATCH = 512


def completed(row: Row, similarity: float | None, *, official: bool, other: bool = False) -> Row:
    """Return a summary's row with its similarity, and with its score if the model is official.

    Args:
        row: of a summary.
        similarity: its highest cosine with a reference; None: it is empty.
        official: whether the official model gave it. Another one's is shown, but makes no score.
        other: whether it is of the text that the other policy for reasoning leaves.
    """
    benchmark = benchmark_of_table(tuple(tables())[row.table])
    shown = json.loads(row.shown)
    if other:
        (name,) = shown.keys() & set(OTHERWISE.values())
        score, failed, own = benchmark.with_similarity(shown[name], similarity, official=official)
        shown[name] = {**own, "score": score, "failed": failed}
        return row._replace(shown=json.dumps(shown))
    score, failed, own = benchmark.with_similarity(shown, similarity, official=official)
    return row._replace(score=score, failed=int(failed), shown=json.dumps(own))


def embed_summaries(store: Store, embedder: Embedder) -> None:
    """Give every stored summary its similarity; EmbeddingError if the embedder fails."""
    cache = None
    # A row may come twice, for either policy for reasoning: the second change builds on the first.
    changed: dict[tuple[Any, ...], Row] = {}
    for batch in store.summaries(BATCH):
        cache = cache or VectorCache()
        pairs = [(text, references) for _, _, text, references in batch]
        similarities = summary_similarities(pairs, embedder, cache)
        changed = dict(list(changed.items())[-1:])
        for (row, other, _, _), similarity in zip(batch, similarities, strict=True):
            key = row[:8]
            changed[key] = completed(
                changed.get(key, row), similarity, official=embedder.official, other=other
            )
        store.change(list(changed.values()))
