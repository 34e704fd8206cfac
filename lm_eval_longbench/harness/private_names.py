"""Every name of the harness that this package relies on and that the harness may move.

One table: what the harness calls public (`ConfigurableTask`, `TaskManager`, `simple_evaluate`) is
not in it, but for what this package patches or looks into. docs/harness-names.md shows it.
"""

from __future__ import annotations

import functools
import importlib
import inspect
import logging
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from typing import Any

from lm_eval_longbench.errors import LongBenchError
from lm_eval_longbench.once import warn_once

logger = logging.getLogger(__name__)

# What is lost without a name: every task; `run`; `doctor`; or a comfort of `run`, without which it
# goes on.
TASKS, RUN, DOCTOR = "tasks", "run", "doctor"
CAPTURE, WRITTEN, MASKING, QUICK_INDEX, QUIET = (
    "the table at the end of a run, both passes of chain of thought in one run, and the file of "
    "answers",
    "the check of the files that were written",
    "the masking of keys among model arguments in results files",
    "the quick start of runs of LongBench tasks alone",
    "a short screen",
)
COMFORTS = (CAPTURE, WRITTEN, MASKING, QUICK_INDEX, QUIET)


@dataclass(frozen=True)
class Name:
    """One name of the harness.

    Attributes:
        module: that has it.
        attribute: in the module, dotted; of a class also what its `__init__` sets, and
            "function(name)" for a parameter; "one or other" where 0.5 has another.
        why: what this package does with it.
        needed_for: TASKS, RUN, DOCTOR or one of COMFORTS.
    """

    module: str
    attribute: str
    why: str
    needed_for: str

    @property
    def is_there(self) -> bool:
        """Whether the installed harness has it."""
        try:
            found: Any = importlib.import_module(self.module)
        except ImportError:
            return False
        return any(_has(found, one) for one in self.attribute.split(" or "))


def _has(found: Any, attribute: str) -> bool:
    """Whether a module has an attribute as `Name` writes it."""
    path, _, parameter = attribute.removesuffix(")").partition("(")
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


_TASK, _API, _FACTORY = "lm_eval.api.task", "lm_eval.models.api_models", "lm_eval.tasks._factory"
_CONFIG, _TASKS = "lm_eval.config.evaluate_config", "lm_eval.tasks"
NAMES = (
    Name(
        _TASK,
        "ConfigurableTask._metric_fn_list or ConfigurableTask._has_metric",
        "whether nothing is to be scored",
        TASKS,
    ),
    Name(
        _TASK,
        "ConfigurableTask._filters or ConfigurableTask._scorers",
        "the filter that keeps all repeats",
        TASKS,
    ),
    Name(_TASK, "ConfigurableTask._instances", "the answers of this rank", TASKS),
    Name(_TASK, "ConfigurableTask.doc_iterator", "which questions a rank asks", TASKS),
    Name(_TASK, "ConfigurableTask.eval_docs", "the documents, read once", TASKS),
    Name("lm_eval.filters", "build_filter_ensemble", "the filter that keeps all repeats", TASKS),
    Name("lm_eval.api.instance", "Instance.filtered_resps", "filtered answers", TASKS),
    Name(_API, "TemplateAPI._create_payload", "requests that servers take (patched)", TASKS),
    Name("lm_eval.evaluator", "evaluate(lm)", "length and tokenizer of its model (patched)", TASKS),
    Name("lm_eval._cli.harness", "HarnessCLI._subparsers", "the arguments of a run", RUN),
    Name("lm_eval._cli.harness", "HarnessCLI.execute", "the run itself", RUN),
    Name(
        _CONFIG,
        "EvaluatorConfig.load_yaml_config",
        "the file of --config",
        RUN,
    ),
    Name("lm_eval.utils", "setup_logging", "handlers that hide keys", RUN),
    Name("lm_eval.utils", "simple_parse_args_string", "model arguments given as a text", RUN),
    Name("lm_eval.utils", "sanitize_model_name", "the name of the file of answers", RUN),
    Name("lm_eval.api.model", "LM.cache_hook", "answers as they arrive (replaced)", RUN),
    Name(_API, "TemplateAPI.model_call", "nothing new is asked in a run that stops (patched)", RUN),
    Name(_API, "TemplateAPI.amodel_call(sem)", "the same, for several requests at a time", RUN),
    Name(_API, "JsonChatStr", "chat messages of longbench-api", RUN),
    Name(
        "lm_eval.api.model",
        "CacheHook.add_partial",
        "answers of longbench-api for the response cache",
        RUN,
    ),
    Name(
        "lm_eval.api.registry",
        "get_model",
        "no model is loaded where nothing is asked (patched)",
        RUN,
    ),
    Name("lm_eval.evaluator", "evaluate(log_samples)", "what a run found (patched)", CAPTURE),
    Name(
        "lm_eval.loggers",
        "EvaluationTracker.save_results_samples",
        "the check of what was written (patched)",
        WRITTEN,
    ),
    Name(
        "lm_eval.loggers",
        "EvaluationTracker.save_results_aggregated",
        "model arguments in results files (patched)",
        MASKING,
    ),
    Name(
        _TASKS,
        "TaskManager.__init__(include_defaults)",
        "the index (patched)",
        QUICK_INDEX,
    ),
    Name(
        "lm_eval.evaluator",
        "get_git_commit_hash",
        "what git says of a folder (patched, unheard)",
        QUIET,
    ),
    Name(_TASK, "tqdm or _task.tqdm", "one bar for the prompts of all tasks (patched)", QUIET),
    Name(
        _CONFIG,
        "EvaluatorConfig.from_cli",
        "the arguments of a run",
        DOCTOR,
    ),
    Name(_CONFIG, "EvaluatorConfig.process_tasks", "which tasks names stand for", DOCTOR),
    Name(_TASKS, "TaskManager._factory", "the builder of tasks (replaced)", DOCTOR),
    Name(_FACTORY, "TaskFactory._meta", "options of the tasks", DOCTOR),
    Name(_FACTORY, "TaskFactory._build_task", "one task of a run, built by itself", DOCTOR),
    Name(_FACTORY, "TaskFactory._load_full_config", "what a task's file says", DOCTOR),
    Name("lm_eval.api.registry", "model_registry", "which backends there are", DOCTOR),
    Name("lm_eval.api.registry", "get_model", "the class of a backend", DOCTOR),
    Name("lm_eval.models", "MODEL_MAPPING", "which backends need torch", DOCTOR),
    Name(_API, "TemplateAPI.header", "the headers of a server's requests", DOCTOR),
    Name(_API, "TemplateAPI.apply_chat_template", "the chat template of a server's model", DOCTOR),
    Name(_API, "TemplateAPI.tokenizer_backend", "whether the harness tokenizes", DOCTOR),
    Name(_API, "TemplateAPI.tokenized_requests", "whether the harness tokenizes", DOCTOR),
)


@functools.cache
def missing(needed_for: str) -> tuple[Name, ...]:
    """Return the names for one purpose that the installed harness lacks."""
    return tuple(name for name in NAMES if name.needed_for == needed_for and not name.is_there)


def _lacking(names: tuple[Name, ...]) -> str:
    try:
        own = version("lm_eval")
    except PackageNotFoundError:
        own = "(not installed)"
    return f"lm_eval {own} has no " + ", ".join(f"{one.module}.{one.attribute}" for one in names)


def require(needed_for: str) -> None:
    """Make sure that the harness has all names that tasks, `run` or `doctor` cannot do without.

    Raises:
        LongBenchError: it lacks one.
    """
    names = missing(needed_for)
    if names:
        raise LongBenchError(
            f"{_lacking(names)}, which {needed_for} of lm-eval-longbench need. Install the version "
            "of lm_eval that it is tested with: pip install 'lm-eval==0.4.13'."
        )


def can_have(comfort: str) -> bool:
    """Whether the harness has the names for a comfort of `run`; says once what is lost if not."""
    names = missing(comfort)
    if names:
        warn_once(
            logger, f"no {comfort}", f"{_lacking(names)}: this run goes on without {comfort}."
        )
    return not names
