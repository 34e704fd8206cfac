"""Score chunks in this process or in several."""

from __future__ import annotations

import signal
from collections import deque
from collections.abc import Iterable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from multiprocessing import get_context

from lm_eval_longbench.errors import LongBenchError, OptionError
from lm_eval_longbench.input_files import LONGEST, ByteChunk
from lm_eval_longbench.prompts.truncation import usable_cores
from lm_eval_longbench.scoring.files import PredictionSource
from lm_eval_longbench.scoring.score_chunk import Outcome, score_chunk

# Below this many bytes of text other processes cost more than they save: each loads the package and
# perhaps jieba's dictionary.
SMALL = 8 << 20
# Chunks under way for each process: enough that none waits, few enough to stay small; and bytes of
# all of them, where lines are as long as they may be.
_AHEAD = 3
_MOST_UNDER_WAY = 2 * LONGEST


def number_of_workers(asked: int | None, size: int) -> int:
    """Return how many processes score `size` bytes of text: 1 means this one.

    None asked for: as many as there are cores. Raises OptionError for fewer than one.
    """
    if asked is not None and asked < 1:
        raise OptionError(f"--workers must be 1 or more, not {asked}.")
    return 1 if size < SMALL else asked or usable_cores()


def _ignore_interrupts() -> None:
    # Ctrl-C reaches all processes; the first one stops the others.
    signal.signal(signal.SIGINT, signal.SIG_IGN)


def score_chunks(
    jobs: Iterable[tuple[PredictionSource, ByteChunk]], workers: int
) -> Iterator[Outcome]:
    """Yield the outcome of each chunk, in order; a few chunks are in memory at a time.

    One worker is this process. Raises LongBenchError if a process died.
    """
    if workers == 1:
        for source, chunk in jobs:
            yield score_chunk(source, chunk)
        return
    pool = ProcessPoolExecutor(workers, get_context("spawn"), _ignore_interrupts)
    under_way: deque[tuple[int, Future[Outcome]]] = deque()
    try:
        for source, chunk in jobs:
            size = len(chunk.data)
            while under_way and (
                len(under_way) >= workers * _AHEAD
                or size + sum(other for other, _ in under_way) > _MOST_UNDER_WAY
            ):
                yield under_way.popleft()[1].result()
            under_way.append((size, pool.submit(score_chunk, source, chunk)))
        while under_way:
            yield under_way.popleft()[1].result()
    except BrokenProcessPool as error:
        raise LongBenchError(
            "A scoring process ended before its work was done: memory ran out, it was killed, or "
            "the script that called `score_paths` does more than define things when it is "
            'imported (put its main part under `if __name__ == "__main__":`). Nothing was '
            "written; with --workers 1 everything runs in one process."
        ) from error
    finally:
        pool.shutdown(wait=True, cancel_futures=True)
