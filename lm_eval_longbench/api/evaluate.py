"""Evaluate a model from Python: by the same path as `lm-eval-longbench run`."""

from __future__ import annotations

import contextlib
from argparse import Namespace
from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lm_eval_longbench.api.run import THIS, Run
from lm_eval_longbench.benchmarks.registry import expanded, read_options, valid_names
from lm_eval_longbench.errors import OptionError, UnknownNameError
from lm_eval_longbench.harness.arguments import Beside, as_mapping, check_arguments, parse
from lm_eval_longbench.harness.in_memory import LM, as_model, known_of, lent_tokenizer, tokenizer_of
from lm_eval_longbench.harness.run import run_parsed
from lm_eval_longbench.options import KEY, Options
from lm_eval_longbench.prompts.tokenizer import load_tokenizer
from lm_eval_longbench.records.identity import model_name

if TYPE_CHECKING:
    from transformers import PreTrainedModel, PreTrainedTokenizerBase

# Options of the harness's `run` that `evaluate` takes, too.
_HARNESS = (
    *("limit", "samples", "batch_size", "max_batch_size", "device", "gen_kwargs"),
    *("apply_chat_template", "system_instruction", "output_path", "log_samples", "predict_only"),
    *("include_path", "seed", "trust_remote_code", "hf_hub_log_args"),
    *("wandb_args", "wandb_config_args", "trackio_args"),
)
_OURS = tuple(option.name for option in fields(Options))
# What the command line has options of its own for.
_PRESET = ("preset", "thinking")


def evaluate(
    model: str
    | LM
    | tuple[PreTrainedModel, PreTrainedTokenizerBase]
    | Callable[..., Sequence[str]],
    tasks: str | Sequence[str],
    *,
    model_args: str | Mapping[str, Any] | None = None,
    name: str | None = None,
    lock: Path | str | None = None,
    keep_empty: bool = False,
    **options: Any,
) -> Run:
    """Evaluate a model, as `lm-eval-longbench run` does with the same options.

    Args:
        model: one of
            the name of a backend of the harness, such as "hf" or "longbench-api", with
            `model_args`;
            a model object of the harness;
            (model, tokenizer): a transformers model and its tokenizer;
            a function from a list of prompts to a list of answers. `batch_size` prompts come in
            a call at most. If it has a parameter `generation` it gets a list with the generation
            arguments of each prompt (`max_gen_toks`, `until`, ...), and with one called
            `question_at` the characters at which the questions begin. Answers end at the stop
            strings of the task.
        tasks: tasks and groups, such as "longbench_v1_qasper"; commas and wildcards work.
        model_args: of a model given by its name: a mapping, or "key=value,key=value".
        name: of a model in memory: in its tables and files, and what its kept answers are known
            by. Needed with `output_path`: the answers kept under a name are not
            asked for again, so that another model must have another name.
        lock: lock file that the run must be in keeping with.
        keep_empty: whether questions that got no answer in an earlier run are left alone.
        options: the keys of the `longbench` metadata (`truncate_to`, `data_dir`, `repeats`, ...;
            `tokenizer` may be an object), and those of the harness's `run` (`limit`,
            `apply_chat_template`, `gen_kwargs`, `output_path`, ...). With `output_path` sample
            logs are written, unless `log_samples=False`.

    Returns:
        The run. On several ranks the first one's has the results, the others' are empty.

    Raises:
        UnknownNameError: an option or a task does not exist; names the nearest.
        OptionError: an option or the model is impossible.
        LockError: the run is not what the lock file froze.
        Interrupted: it was stopped; says how many answers are there.
        RunStopped: it cannot go on; says why and how many answers are there.
        LongBenchError: data, a tokenizer or a prompt is not as it must be.
    """
    for option in options:
        if option not in (*_HARNESS, *_OURS):
            raise UnknownNameError("option", option, [*_HARNESS, *_OURS])
    given = {own: value for own, value in options.items() if own in _HARNESS}
    ours = {own: options[own] for own in _OURS if options.get(own) is not None}
    with contextlib.ExitStack() as stack:
        if not isinstance(model, str):
            if model_args is not None:
                raise OptionError(
                    "model_args are for a model given by its name; a model in memory has its own."
                )
            model, model_args = _in_memory(model, name, given, ours, stack)
        elif not isinstance(ours.get("tokenizer", ""), str):
            ours["tokenizer"] = stack.enter_context(lent_tokenizer(ours["tokenizer"]))
        read_options({KEY: ours})  # what is wrong with them is said before all else
        parsed = _parsed(model, model_args, tasks, given, ours)
        kept = _run(parsed, lock, ours, keep_empty=keep_empty)
    known = name or (model_name(model, parsed.model_args) if isinstance(model, str) else THIS)
    return Run(kept, known)


def _in_memory(
    model: Any,
    name: str | None,
    given: Mapping[str, Any],
    ours: dict[str, Any],
    stack: contextlib.ExitStack,
) -> tuple[LM, dict[str, Any]]:
    """Return a model in memory as the harness's, and what is known of it as model arguments."""
    if name is None and given.get("output_path"):
        raise OptionError(
            "output_path of a model in memory needs its name: name=... Answers are kept "
            "under it and not asked for again; give each model, and each state of its weights, a "
            "name of its own."
        )
    wanted = ours.get("tokenizer")
    if wanted is not None:
        ours["tokenizer"] = stack.enter_context(lent_tokenizer(wanted))
        wanted = load_tokenizer(ours["tokenizer"], {})
    own = as_model(model, wanted, given.get("batch_size"), given.get("max_batch_size"))
    known = {"engine": name or type(own).__name__, **known_of(own)}
    tokenizer = tokenizer_of(own)
    if tokenizer is not None and wanted is None:
        known["tokenizer"] = stack.enter_context(lent_tokenizer(tokenizer))
    return own, known


def _parsed(
    model: str | LM,
    model_args: str | Mapping[str, Any] | None,
    tasks: str | Sequence[str],
    given: Mapping[str, Any],
    ours: Mapping[str, Any],
) -> Namespace:
    """Return the run as the harness's command line would have parsed it."""
    names = [tasks] if isinstance(tasks, str) else list(tasks)
    names = [part.strip() for name in names for part in name.split(",") if part.strip()]
    if not names:
        raise OptionError("No task is given. Name tasks or groups, such as longbench_v1_qasper.")
    parsed = parse(["--tasks", *names])
    parsed.model, parsed.model_args = model, as_mapping(model_args)
    for name, value in given.items():
        setattr(parsed, name, value)
    if parsed.output_path is not None:
        parsed.output_path = str(parsed.output_path)
        if given.get("log_samples") is None:
            parsed.log_samples = True
    if parsed.limit is not None:
        parsed.limit = float(parsed.limit)
    parsed.gen_kwargs = as_mapping(parsed.gen_kwargs)
    check_arguments(parsed)
    parsed.metadata = {KEY: {own: value for own, value in ours.items() if own not in _PRESET}}
    return parsed


def _run(
    parsed: Namespace, lock: Path | str | None, ours: Mapping[str, Any], *, keep_empty: bool
) -> Any:
    """Run, and say our way that a task does not exist."""
    _, foreign = expanded(parsed.tasks)
    frozen = None if lock is None else Path(lock)
    beside = Beside(ours.get("preset"), bool(ours.get("thinking")), frozen, keep_empty)
    try:
        return run_parsed(parsed, beside, quiet=True)
    except ValueError as error:
        lacking = [name for name in foreign if name in str(error)]
        if not lacking:
            raise
        raise UnknownNameError("task", lacking[0], valid_names()) from error
