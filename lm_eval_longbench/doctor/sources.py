"""Where the official data of each benchmark is on this machine, if it is; nothing is downloaded."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from lm_eval_longbench.catalog import SPLITS
from lm_eval_longbench.data.sources import LONGBENCH_PRO, LONGBENCH_V1, LONGBENCH_V2, Source
from lm_eval_longbench.harness.preflight_cache import cached_file

# By the names that `lm-eval-longbench prepare` takes.
SOURCES: dict[str, Source] = {"v1": LONGBENCH_V1, "v2": LONGBENCH_V2, "pro": LONGBENCH_PRO}
TITLES = {"v1": "LongBench v1 and LongBench-E", "v2": "LongBench v2", "pro": "LongBench Pro"}
_FOLDERS = {"v1": "longbench_v1", "v2": "longbench_v2", "pro": "longbench_pro"}

CONVERTED = "converted"
DOWNLOADED = "downloaded"
DAMAGED = "damaged"
MISSING = "missing"


@dataclass(frozen=True)
class Stored:
    """How a benchmark's pinned file is kept here.

    Attributes:
        state: CONVERTED, DOWNLOADED (converted by the first run), DAMAGED or MISSING.
        place: its folder or file; None if it is missing.
        sha256: of a damaged file; else the pinned one.
    """

    state: str
    place: Path | None
    sha256: str


def stored(benchmark: str, names: Sequence[str] | None = None) -> Stored:
    """Find the pinned file of a benchmark.

    Args:
        benchmark: "v1", "v2" or "pro".
        names: datasets of v1, each of which is converted by itself; None: all of them.
    """
    from lm_eval_longbench.data.arrow import cache_folder, is_sound  # slow to import
    from lm_eval_longbench.data.hashing import sha256_of

    source = SOURCES[benchmark]
    folder = cache_folder(_FOLDERS[benchmark], source.sha256)
    parts = [folder]
    if benchmark == "v1":
        stems = [split.file_stem for split in SPLITS] if names is None else names
        parts = [folder / name for name in stems]
    if all(is_sound(part, source.sha256) for part in parts):
        return Stored(CONVERTED, folder, source.sha256)
    file = cached_file(source.repo, source.file, source.revision, dataset=True)
    if file is None:
        return Stored(MISSING, None, source.sha256)
    found = sha256_of(file)
    return Stored(DOWNLOADED if found == source.sha256 else DAMAGED, file, found)
