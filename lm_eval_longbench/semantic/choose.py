"""Which embedder the options ask for."""

from __future__ import annotations

from lm_eval_longbench.errors import OptionError
from lm_eval_longbench.semantic.embedder import Embedder
from lm_eval_longbench.semantic.local import LocalEmbedder
from lm_eval_longbench.semantic.remote import RemoteEmbedder


def choose_embedder(model: str | None, url: str | None) -> Embedder | None:
    """Return the embedder for the options 'embedding_model' and 'embedding_url', or None.

    With a URL the model is the name to ask the server for; without one it is loaded here.

    Raises:
        OptionError: a URL without a model: whether a score is official depends on the model.
        EmbeddingError: the URL is unusable.
    """
    if url is None:
        return None if model is None else LocalEmbedder(model)
    if model is None:
        raise OptionError(
            "'embedding_url' needs 'embedding_model': the name the server knows its model by, "
            'such as "Qwen/Qwen3-Embedding-8B".'
        )
    return RemoteEmbedder(url, model)
