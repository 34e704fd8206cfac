"""What official runs are set to, where the tasks themselves do not say it.

Source: the benchmarks' own settings, for v1 and v2 those of their code (3500, 7500, 15500 and
31500 tokens for models of 4k, 8k, 16k and 32k; 120000, and 200000 for Claude), for Pro the
inference settings published with it, which are in `presets`.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator

from lm_eval_longbench.errors import OptionError
from lm_eval_longbench.presets.longbench_pro import Preset, find_preset, names

_LIMITS = {"v1": (3500, 7500, 15500, 31500), "v2": (120_000, 200_000)}


@functools.cache
def _presets() -> tuple[Preset, ...]:
    def each() -> Iterator[Preset]:
        for name in names():
            for thinking in (False, True):
                try:
                    yield find_preset(name, thinking=thinking)
                except OptionError:  # this model was run in the other mode alone
                    continue

    return tuple(each())


def limits(benchmark: str) -> tuple[int, ...]:
    """Return the limits of prompts in tokens that official runs of a benchmark have."""
    if benchmark == "pro":
        return tuple(sorted({preset.truncate_to for preset in _presets()}))
    return _LIMITS[benchmark]


def budgets(benchmark: str, own: int) -> tuple[int, ...]:
    """Return the output budgets in tokens that official runs of a task have.

    Args:
        benchmark: "v1", "v2" or "pro".
        own: the budget that the task itself is set to.
    """
    if benchmark == "pro":
        return tuple(sorted({own} | {preset.max_gen_toks for preset in _presets()}))
    return (own,)
