"""Run the harness's own command line with our task folder and model added."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

from lm_eval._cli.harness import HarnessCLI
from lm_eval.config.evaluate_config import EvaluatorConfig
from lm_eval.utils import setup_logging

from lm_eval_longbench.harness import baseline
from lm_eval_longbench.task_folder import task_folder
from lm_eval_longbench.task_links import are_linked, harness_tasks

# Importing the module registers the model; the name keeps that visible.
MODEL = baseline.ExtractiveBaseline


def joined_include_paths(given: str | Sequence[str] | None, config: str | None) -> list[str]:
    """Return the user's own include paths and our task folder, unless the harness has it already.

    Args:
        given: --include_path.
        config: --config; its include_path counts only if the command line has none, as in the
            harness.
    """
    if given is None and config is not None and Path(config).is_file():
        given = EvaluatorConfig.load_yaml_config(config).get("include_path")
    own = [given] if isinstance(given, str) else list(given or ())
    folder = task_folder()
    # Twice the same task would be a warning a task.
    if any(Path(path).resolve() == folder for path in own) or are_linked(folder, harness_tasks()):
        return own
    return [*own, str(folder)]


def run_harness(arguments: Sequence[str]) -> None:
    """Run `lm_eval run ARGUMENTS` in this process.

    Raises:
        SystemExit: the harness's own, on arguments it does not take.
    """
    setup_logging()
    before = sys.argv
    sys.argv = ["lm-eval", "run", *arguments]  # the harness's parser reads nothing else
    try:
        command = HarnessCLI()
        parsed = command.parse_args()
        parsed.include_path = joined_include_paths(parsed.include_path, parsed.config) or None
        command.execute(parsed)
    finally:
        sys.argv = before
