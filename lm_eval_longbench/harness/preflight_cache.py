"""What the hub's cache on this machine holds; nothing is downloaded."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path


def cached_file(
    repo: str, file: str, revision: str = "main", *, dataset: bool = False
) -> Path | None:
    """Return the path of a repository's file in the hub's cache; None if it is not there.

    Args:
        repo: repository; a text that cannot be one is in no cache.
        file: file in the repository.
        revision: branch, tag or commit.
        dataset: whether it is a dataset's repository, not a model's.
    """
    from huggingface_hub import try_to_load_from_cache

    try:
        found = try_to_load_from_cache(
            repo, file, revision=revision, repo_type="dataset" if dataset else "model"
        )
    except ValueError:  # no name of a repository, such as a path that does not exist
        return None
    return Path(found) if isinstance(found, str) else None


def any_cached(repo: str, files: Iterable[str], revision: str = "main") -> bool:
    """Whether the cache has at least one of these files of a model's repository."""
    return any(cached_file(repo, file, revision) is not None for file in files)


def is_offline() -> bool:
    """Whether the hub may not be asked (HF_HUB_OFFLINE)."""
    from huggingface_hub import constants

    return bool(constants.HF_HUB_OFFLINE)
