"""The installed harness has all the names that this package relies on and that it may move.

What the harness calls public (`ConfigurableTask`, `TaskManager`, `simple_evaluate`) is not among
them, but for what this package patches or looks into.
"""

import importlib
import inspect

import pytest

# By module: dotted names; "function(name)" is a parameter.
NAMES = {
    "lm_eval.api.task": (
        *("ConfigurableTask._metric_fn_list", "ConfigurableTask._filters"),
        *("ConfigurableTask._instances", "ConfigurableTask.doc_iterator"),
        "ConfigurableTask.eval_docs",
    ),
    "lm_eval.filters": ("build_filter_ensemble",),
    "lm_eval.api.instance": ("Instance.filtered_resps",),
    "lm_eval.api.model": ("LM.cache_hook", "CacheHook.add_partial"),
    "lm_eval.api.registry": ("model_registry", "get_model"),
    "lm_eval.models": ("MODEL_MAPPING",),
    "lm_eval.models.api_models": (
        *("TemplateAPI._create_payload", "TemplateAPI.model_call", "TemplateAPI.amodel_call(sem)"),
        *("TemplateAPI.header", "TemplateAPI.apply_chat_template", "TemplateAPI.tokenizer_backend"),
        *("TemplateAPI.tokenized_requests", "JsonChatStr"),
    ),
    "lm_eval.evaluator": ("evaluate(lm)", "evaluate(task_dict)", "evaluate(log_samples)"),
    "lm_eval.loggers": (
        *("EvaluationTracker.save_results_samples", "EvaluationTracker.save_results_aggregated"),
        "EvaluationTracker.general_config_tracker",
    ),
    "lm_eval._cli.harness": ("HarnessCLI._subparsers", "HarnessCLI.execute"),
    "lm_eval.config.evaluate_config": (
        *("EvaluatorConfig.load_yaml_config", "EvaluatorConfig.from_cli"),
        "EvaluatorConfig.process_tasks",
    ),
    "lm_eval.utils": ("setup_logging", "simple_parse_args_string", "sanitize_model_name"),
    "lm_eval.tasks": ("TaskManager.__init__(include_defaults)", "TaskManager._factory"),
    "lm_eval.tasks._factory": (
        *("TaskFactory._meta", "TaskFactory._build_task", "TaskFactory._load_full_config"),
    ),
}


def is_there(module, name):
    """Whether a module has a dotted name; "function(name)" is a parameter.

    Of a class also what its `__init__` sets.
    """
    path, _, parameter = name.removesuffix(")").partition("(")
    try:
        found = importlib.import_module(module)
    except ImportError:
        return False
    for part in path.split("."):
        if not hasattr(found, part):
            return isinstance(found, type) and any(
                part in vars(base).get("__annotations__", ())
                or part
                in getattr(vars(base).get("__init__"), "__code__", is_there.__code__).co_names
                for base in found.__mro__
            )
        found = getattr(found, part)
    return not parameter or parameter in inspect.signature(found).parameters


@pytest.mark.parametrize(
    ("module", "name"), [(module, name) for module, names in NAMES.items() for name in names]
)
def test_the_installed_harness_has_the_name(module, name):
    assert is_there(module, name)


def test_what_it_does_not_have_is_seen():
    for module, name in (
        ("lm_eval.no_such_module", "anything"),
        ("lm_eval.evaluator", "no_such_function"),
        ("lm_eval.evaluator", "evaluate(no_such_parameter)"),
        ("lm_eval.api.task", "ConfigurableTask._no_such_attribute"),
        ("lm_eval.api.task", "NoSuchTask.download"),
    ):
        assert not is_there(module, name)
