"""Every name of the harness that this package relies on and that the harness may move.

What the harness calls public (`ConfigurableTask`, `TaskManager`, `simple_evaluate`) is not among
them, but for what this package patches or looks into.
"""

from __future__ import annotations

import functools
import importlib
import inspect
from collections.abc import Mapping
from importlib.metadata import PackageNotFoundError, version
from typing import Any

from lm_eval_longbench.errors import LongBenchError

# What is lost without a name: every task, `run` or `doctor`.
TASKS, RUN, DOCTOR = "tasks", "run", "doctor"
# "module:attribute", dotted; of a class also what its `__init__` sets; "function(name)" is a
# parameter.
NAMES: Mapping[str, tuple[str, ...]] = {
    TASKS: (
        "lm_eval.api.task:ConfigurableTask._metric_fn_list",
        "lm_eval.api.task:ConfigurableTask._filters",
        "lm_eval.api.task:ConfigurableTask._instances",
        "lm_eval.api.task:ConfigurableTask.doc_iterator",
        "lm_eval.api.task:ConfigurableTask.eval_docs",
        "lm_eval.filters:build_filter_ensemble",
        "lm_eval.api.instance:Instance.filtered_resps",
        "lm_eval.models.api_models:TemplateAPI._create_payload",
        "lm_eval.evaluator:evaluate(lm)",
    ),
    RUN: (
        "lm_eval._cli.harness:HarnessCLI._subparsers",
        "lm_eval._cli.harness:HarnessCLI.execute",
        "lm_eval.config.evaluate_config:EvaluatorConfig.load_yaml_config",
        "lm_eval.utils:setup_logging",
        "lm_eval.utils:simple_parse_args_string",
        "lm_eval.utils:sanitize_model_name",
        "lm_eval.api.model:LM.cache_hook",
        "lm_eval.models.api_models:TemplateAPI.model_call",
        "lm_eval.models.api_models:TemplateAPI.amodel_call(sem)",
        "lm_eval.models.api_models:JsonChatStr",
        "lm_eval.api.model:CacheHook.add_partial",
        "lm_eval.api.registry:get_model",
        "lm_eval.evaluator:evaluate(log_samples)",
        "lm_eval.loggers:EvaluationTracker.save_results_samples",
        "lm_eval.loggers:EvaluationTracker.save_results_aggregated",
        "lm_eval.tasks:TaskManager.__init__(include_defaults)",
        "lm_eval.evaluator:get_git_commit_hash",
        "lm_eval.api.task:tqdm",
    ),
    DOCTOR: (
        "lm_eval.config.evaluate_config:EvaluatorConfig.from_cli",
        "lm_eval.config.evaluate_config:EvaluatorConfig.process_tasks",
        "lm_eval.tasks:TaskManager._factory",
        "lm_eval.tasks._factory:TaskFactory._meta",
        "lm_eval.tasks._factory:TaskFactory._build_task",
        "lm_eval.tasks._factory:TaskFactory._load_full_config",
        "lm_eval.api.registry:model_registry",
        "lm_eval.api.registry:get_model",
        "lm_eval.models:MODEL_MAPPING",
        "lm_eval.models.api_models:TemplateAPI.header",
        "lm_eval.models.api_models:TemplateAPI.apply_chat_template",
        "lm_eval.models.api_models:TemplateAPI.tokenizer_backend",
        "lm_eval.models.api_models:TemplateAPI.tokenized_requests",
    ),
}


def is_there(name: str) -> bool:
    """Whether the installed harness has a name as NAMES writes it."""
    module, _, attribute = name.partition(":")
    path, _, parameter = attribute.removesuffix(")").partition("(")
    try:
        found: Any = importlib.import_module(module)
    except ImportError:
        return False
    for part in path.split("."):
        if not hasattr(found, part):
            return _is_set(found, part)
        found = getattr(found, part)
    return not parameter or parameter in inspect.signature(found).parameters


def _is_set(found: Any, name: str) -> bool:
    """Whether objects of a class have an attribute: a field, or one that an `__init__` sets."""
    return isinstance(found, type) and any(
        name in vars(base).get("__annotations__", ())
        or name in getattr(vars(base).get("__init__"), "__code__", _is_set.__code__).co_names
        for base in found.__mro__
    )


@functools.cache
def missing(needed_for: str) -> tuple[str, ...]:
    """Return the names for one purpose that the installed harness lacks."""
    return tuple(name for name in NAMES[needed_for] if not is_there(name))


def require(needed_for: str) -> None:
    """Make sure that the harness has all names that tasks, `run` or `doctor` need.

    Raises:
        LongBenchError: it lacks one.
    """
    names = missing(needed_for)
    if not names:
        return
    try:
        own = version("lm_eval")
    except PackageNotFoundError:
        own = "(not installed)"
    lacking = ", ".join(name.replace(":", ".") for name in names)
    raise LongBenchError(
        f"lm_eval {own} has no {lacking}, which {needed_for} of lm-eval-longbench need. Install "
        "the version of lm_eval that it is tested with: pip install 'lm-eval==0.4.13'."
    )
