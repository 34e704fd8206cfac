"""Read the arguments of a run as the harness itself reads them, and run nothing."""

from __future__ import annotations

import contextlib
import io
import sys
from collections.abc import Sequence
from typing import Any

from lm_eval._cli.harness import HarnessCLI
from lm_eval.config.evaluate_config import EvaluatorConfig

from lm_eval_longbench.errors import OptionError
from lm_eval_longbench.harness.command import (
    joined_include_paths,
    with_both_passes,
    with_name,
    with_preset,
)
from lm_eval_longbench.harness.preflight_facts import Run
from lm_eval_longbench.presets.longbench_pro import find_preset


def read_run(arguments: Sequence[str], preset: str | None = None, *, thinking: bool = False) -> Run:
    """Return what `lm-eval-longbench run ARGUMENTS` would do.

    Args:
        arguments: the harness's own.
        preset: published model whose settings are used where the arguments leave them open.
        thinking: its settings for thinking scores.

    Raises:
        SystemExit: the harness's own, on arguments it does not take.
        OptionError: a value cannot be read, or the harness refuses the arguments together.
    """
    if preset is not None:
        find_preset(preset, thinking=thinking)  # a misspelt one is said before all else
    before = sys.argv
    try:
        sys.argv = ["lm-eval", "run", *arguments]  # the harness's parser reads nothing else
        try:
            parsed = HarnessCLI().parse_args()
        finally:
            sys.argv = before
        said = with_preset(parsed, preset, thinking=thinking) if preset is not None else ""
        parsed.include_path = joined_include_paths(parsed.include_path, parsed.config) or None
        with_both_passes(parsed)
        with_name(parsed)
        with contextlib.redirect_stdout(io.StringIO()):  # it prints a config file's content
            config = EvaluatorConfig.from_cli(parsed)
    except (ValueError, TypeError, OSError) as error:
        raise OptionError(f"The harness refuses these arguments: {error}") from error
    if not isinstance(config.samples, dict | None):
        raise OptionError(f"--samples is neither JSON nor a file with JSON: {config.samples!r}.")
    for task, chosen in (config.samples or {}).items():
        if (
            not isinstance(chosen, list)
            or not chosen
            or not all(type(own) is int for own in chosen)
        ):
            raise OptionError(
                f"--samples: {task} needs a list of one or more whole numbers, not {chosen!r}."
            )
    return Run(
        model=config.model,
        model_args=dict(config.model_args),
        tasks=tuple(_names(config.tasks)),
        metadata=dict(config.metadata),
        gen_kwargs=dict(config.gen_kwargs or {}),
        chat=config.apply_chat_template,
        system_instruction=config.system_instruction,
        limit=config.limit,
        samples=config.samples,
        use_cache=config.use_cache,
        output_path=config.output_path,
        log_samples=config.log_samples,
        include_path=_paths(config.include_path),
        said=said,
    )


def _paths(given: str | Sequence[str] | None) -> tuple[str, ...]:
    return (given,) if isinstance(given, str) else tuple(given or ())


def _names(tasks: Any) -> list[Any]:
    """Return the wanted tasks one by one; a text may name several."""
    given = [tasks] if isinstance(tasks, str) else list(tasks or ())
    parts = [part.split(",") if isinstance(part, str) else [part] for part in given]
    return [name.strip() if isinstance(name, str) else name for part in parts for name in part]
