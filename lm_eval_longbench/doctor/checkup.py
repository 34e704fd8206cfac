"""The whole preflight: every check, in the order of the report."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from lm_eval_longbench.doctor import data, disk
from lm_eval_longbench.doctor.line import ERROR, Line, merged
from lm_eval_longbench.doctor.requirements import installed
from lm_eval_longbench.doctor.versions import version_lines
from lm_eval_longbench.errors import LongBenchError

# Tasks whose first prompt is built unless all are asked for.
FIRST = 5


def examine(
    arguments: Sequence[str],
    preset: str | None = None,
    *,
    first: int | None = FIRST,
    include_defaults: bool | None = None,
    thinking: bool = False,
) -> list[Line]:
    """Return the report on a run; nothing is generated, and nothing is downloaded.

    Args:
        arguments: those of `lm-eval-longbench run`; none: what does not depend on a run.
        preset: published model whose settings are used where the arguments leave them open.
        first: tasks that are looked at closely; None: all.
        include_defaults: whether the harness's own tasks are indexed; None: if they are needed.
        thinking: the preset's settings for thinking scores.

    Raises:
        SystemExit: the harness's own, on arguments it does not take.
    """
    return merged(_lines(arguments, preset, first, include_defaults, thinking=thinking))


def _lines(
    arguments: Sequence[str],
    preset: str | None,
    first: int | None,
    defaults: bool | None,
    *,
    thinking: bool,
) -> Iterator[Line]:
    yield from version_lines()
    if not arguments and preset is None:
        yield from data.general_lines()
        yield from disk.cache_lines(data.SOURCES)
        return
    if installed("lm_eval") is None:  # said already
        return
    from lm_eval_longbench.doctor.checkup_run import run_lines  # slow to import
    from lm_eval_longbench.harness.preflight_run import read_run

    try:
        run = read_run(arguments, preset, thinking=thinking)
    except LongBenchError as error:
        yield Line(ERROR, "arguments", str(error), "Correct the arguments.")
        return
    yield from run_lines(run, first, defaults)
