"""Complete the scores of summaries (LongBench Pro, T4) with their semantic similarity."""

from __future__ import annotations

import json

from lm_eval_longbench.metrics.longbench_pro import SummaryParts
from lm_eval_longbench.offline.scored import Row, shown_json
from lm_eval_longbench.offline.store import Store
from lm_eval_longbench.semantic.cache import VectorCache
from lm_eval_longbench.semantic.embedder import Embedder
from lm_eval_longbench.semantic.similarity import summary_similarities

# Summaries embedded at once: few enough that their vectors stay small.
BATCH = 512


def completed(row: Row, similarity: float | None, *, official: bool) -> Row:
    """Return a summary's row with its similarity, and with its score if the model is official.

    Args:
        row: of a summary.
        similarity: its highest cosine with a reference; None: it is empty.
        official: whether the official model gave it. Another one's is shown, but makes no score.
    """
    shown = json.loads(row.shown)
    parts = SummaryParts(shown["rouge_l"], empty=similarity is None)
    counted = similarity if official else None
    shown["semantic_similarity"] = 0.0 if similarity is None else similarity
    return row._replace(
        score=parts.score(counted), failed=int(parts.failed(counted)), shown=shown_json(shown)
    )


def embed_summaries(store: Store, embedder: Embedder) -> None:
    """Give every stored summary its similarity.

    Args:
        store: with the summaries' texts.
        embedder: the model.

    Raises:
        EmbeddingError: the embedder fails; what it had done is in the cache of vectors.
    """
    cache = None
    for batch in store.summaries(BATCH):
        cache = cache or VectorCache()
        pairs = [(text, references) for _, text, references in batch]
        similarities = summary_similarities(pairs, embedder, cache)
        store.change(
            [
                completed(row, similarity, official=embedder.official)
                for (row, _, _), similarity in zip(batch, similarities, strict=True)
            ]
        )
