"""The arguments of a run: read, checked before anything is loaded, and completed."""

from __future__ import annotations

import argparse
import contextlib
import dataclasses
import difflib
import json
import logging
import re
from argparse import Namespace
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any, NoReturn

from lm_eval._cli.harness import HarnessCLI
from lm_eval.config.evaluate_config import EvaluatorConfig
from lm_eval.utils import simple_parse_args_string

from lm_eval_longbench.benchmarks.registry import (
    benchmark_of,
    benchmarks,
    expanded,
    find_task,
    presets_named,
    read_options,
    second_passes,
    tags,
    task_folders,
    unknown_task,
    valid_names,
)
from lm_eval_longbench.check.lock import options_set, require_lock
from lm_eval_longbench.errors import OptionError, UnknownNameError
from lm_eval_longbench.harness import baseline
from lm_eval_longbench.harness.definitions import with_questions
from lm_eval_longbench.harness.generation import BUDGETS, SAMPLING, check_generation
from lm_eval_longbench.harness.in_memory import IN_MEMORY
from lm_eval_longbench.harness.kept_answers import Instead
from lm_eval_longbench.harness.models import check_model
from lm_eval_longbench.options import FLAGS, KEY, SHARD, flag, with_flags
from lm_eval_longbench.result_files import output_folder
from lm_eval_longbench.secrets import hide_keys, masked_command, without_keys


@dataclasses.dataclass(frozen=True)
class Beside:
    """What `run` takes beside the arguments of the harness.

    Attributes:
        preset: published model whose settings are used where the arguments leave them open.
        thinking: the preset's settings for thinking scores.
        lock: lock file that the run must be in keeping with.
        keep_empty: whether questions that got no answer in an earlier run are left alone.
        instead: called in place of the model.
        say: gets lines on the preset, the lock and the answers that are there.
    """

    preset: str | None = None
    thinking: bool = False
    lock: Path | None = None
    keep_empty: bool = False
    instead: Instead | None = None
    say: Callable[[str], None] = logging.getLogger(__name__).info


NOTHING = Beside()

# ---------------------------------------------------------------------- reading

# Flags of `run` that the harness's parser does not get.
BESIDE = (
    *("--preset", "--thinking", "--locked", "--keep-empty", "--verbose", "--debug"),
    *("--write-requests", "--format", "--submit", "--dry-run", "--price"),
)
_FIELDS = tuple(field.name for field in dataclasses.fields(EvaluatorConfig))
# Quotes of word processors, and the full-width marks of Chinese keyboards.
_ODD_MARKS = "“”„‟‘’«»，：｛｝"
# What parsers quote of an argument that they cannot read.
_QUOTED = re.compile(
    r"Invalid JSON: (.*)\. Hint|--metadata (.*) is no JSON|key=value`, got (.*)", re.S
)
_JSON = '--metadata \'{"longbench": {"truncate_to": 31500}}\''


def parse(arguments: Sequence[str]) -> Namespace:
    """Return what the harness makes of the arguments of its `run`; our flags are in `metadata`.

    The content of a config file is among them, where the command line says nothing else.

    Raises:
        SystemExit: after the help.
        OptionError: an argument or the config file cannot be read, or a flag and the metadata
            contradict each other.
        UnknownNameError: there is no such flag.
    """
    hide_keys()
    masked_command(arguments)  # for what it remembers: no message shows them from here
    with _readable(arguments):
        parsed = _parsed(arguments)
        config = EvaluatorConfig.load_yaml_config(parsed.config) if parsed.config else {}
    for name in _FIELDS:
        if getattr(parsed, name, None) is None:
            setattr(parsed, name, config.get(name))
    for name in ("metadata", "model_args", "gen_kwargs"):
        setattr(parsed, name, as_mapping(getattr(parsed, name)) or None)
    given = {name: vars(parsed).pop(name) for name in FLAGS}
    if any(value is not None for value in given.values()):
        parsed.metadata = with_flags(parsed.metadata or {}, given)
    return parsed


def as_mapping(arguments: str | Mapping[str, Any] | None) -> dict[str, Any]:
    """Return arguments of a model or of its generation, which may be given as one text."""
    if isinstance(arguments, str):
        return dict(simple_parse_args_string(arguments))
    return dict(arguments or {})


def _refuse(message: str) -> NoReturn:
    raise ValueError(message)


def _parsed(arguments: Sequence[str]) -> Namespace:
    """Return what the harness's parser of `run` makes of arguments, our flags among them.

    Raises:
        SystemExit: after the help.
        ValueError: an argument has no value, or one that cannot be read.
        UnknownNameError: there is no such option; names the nearest.
        OptionError: a word belongs to no option.
    """
    run = HarnessCLI()._subparsers.choices["run"]
    run.prog, run.usage = "lm-eval-longbench run", "%(prog)s --model MODEL --tasks TASKS [options]"
    run.epilog = None  # examples of the harness's own tasks
    run.error = _refuse
    for name, kind in FLAGS.items():
        run.add_argument(flag(name), type=kind, dest=name, help=argparse.SUPPRESS)
    parsed, unknown = run.parse_known_args(arguments)
    for word in unknown:
        if word.startswith("-"):
            known = (one for one in run._option_string_actions if one.startswith("--"))
            raise UnknownNameError("flag", word.partition("=")[0], [*known, *BESIDE])
    if unknown:
        raise OptionError(
            f"{without_keys(unknown[0])!r} stands alone: put the option that it belongs to before "
            "it, such as --tasks."
        )
    if parsed.config and not Path(parsed.config).is_file():
        raise OptionError(f"--config {parsed.config} is no file.")
    return parsed


@contextlib.contextmanager
def _readable(arguments: Sequence[str]) -> Iterator[None]:
    """While open, arguments that the harness cannot read are one message.

    Raises:
        OptionError: one cannot be read.
    """
    try:
        yield
    except (ValueError, TypeError) as error:
        odd = " ".join(sorted({mark for mark in str(error) if mark in _ODD_MARKS}))
        if odd:
            raise OptionError(
                f"An argument cannot be read: it holds {odd} as another program or keyboard writes "
                f"them. Type plain quotes, commas, colons and braces: {_JSON}."
            ) from error
        # The error quotes what may hold a key.
        raise OptionError(_unreadable(str(error), arguments)) from None


def _unreadable(message: str, arguments: Sequence[str]) -> str:
    """Return what a parser says of an argument, without the argument: it may hold a key."""
    quoted = _QUOTED.search(message)
    if quoted is None:
        told = without_keys(message)
        return f"{told[:1].upper()}{told[1:]}."
    (text,) = filter(None, quoted.groups())
    if "key=value" in quoted[0]:
        return "A piece of --model_args, --gen_kwargs or another list is no key=value."
    words = pairwise(arguments)
    where = next((option for option, word in words if word == text), "An argument")
    try:
        json.loads(text)
        why = ""
    except ValueError as error:
        why = f": {error}"
    return (
        f"{where} cannot be read as JSON{why}. In a shell, single quotes go round the whole and "
        f"double quotes inside: {_JSON}."
    )


def model_of(parsed: Namespace) -> tuple[str, dict[str, Any]]:
    """Return the harness's name of the backend, and the model arguments.

    A model in memory is of the backend `in_memory.IN_MEMORY`.
    """
    in_memory = parsed.model is not None and not isinstance(parsed.model, str)
    return IN_MEMORY if in_memory else parsed.model or "hf", dict(parsed.model_args or {})


def wanted(parsed: Namespace) -> list[str]:
    """Return the tasks that a run asks for."""
    parts = [parsed.tasks] if isinstance(parsed.tasks, str) else parsed.tasks or []
    return [name.strip() for part in parts for name in str(part).split(",")]


def output_of(parsed: Namespace) -> Path | None:
    """Return the folder of the output; None: the run has none."""
    return output_folder(parsed.output_path) if parsed.output_path else None


# ---------------------------------------------------------------------- checks

# Generation arguments that most backends know, and how like one of them a misspelt name is.
_GENERATION = (*(*SAMPLING, *BUDGETS, "do_sample", "until", "seed", "num_beams"),)
_MISSPELT = 0.9


def check_arguments(given: Namespace) -> None:
    """Refuse what cannot work, before anything is loaded.

    Raises:
        OptionError: an argument cannot be used.
        UnknownNameError: there is no such task or model.
    """
    tasks = wanted(given)
    if not any(tasks):
        raise OptionError(
            "Say what to run: --tasks NAMES, such as longbench_v1. `lm-eval-longbench tasks` lists "
            "them."
        )
    model, model_args = model_of(given)
    if model != IN_MEMORY:
        check_model(model)
        _check_folders(model_args)
    for path in _listed(given.include_path):
        if not Path(path).is_dir():
            raise OptionError(f"include_path {path} is no folder.")
    _check_tasks(tasks, own_folders=bool(given.include_path))
    if given.use_cache:
        raise OptionError(
            "use_cache is not for this command: answers are kept in the output_path as they come. "
            "The harness's response cache knows no model, and makes all repeats one text."
        )
    if (given.log_samples or given.predict_only) and not given.output_path:
        raise OptionError(
            "log_samples needs a place for the logs: give output_path, such as results."
        )
    limit = given.limit
    if limit is not None and given.samples:
        raise OptionError("samples and limit both choose questions: give one of them.")
    if limit is not None and not float(limit) > 0:
        raise OptionError(
            f"limit must be above 0, not {limit:g}: a number of questions of each task, or below "
            "1 a share of them."
        )
    _check_samples(given.samples, tasks)
    _check_generation(given.gen_kwargs or {}, tasks)
    if given.num_fewshot and not expanded(tasks)[1]:
        raise OptionError(
            "LongBench has no few-shot examples to add: its prompts are as they are. Leave "
            "num_fewshot out."
        )


def _check_samples(samples: Any, tasks: Sequence[str]) -> None:
    """Refuse a choice of questions that is none, or of a task that is not asked."""
    if samples is None:
        return
    if not isinstance(samples, Mapping):
        raise OptionError(
            f"samples must name questions by task, not {samples!r}: such as "
            '{"longbench_v1_qasper": [0, 1]}.'
        )
    asked, foreign = expanded(tasks)
    for name, chosen in samples.items():
        if name not in asked and not foreign:
            raise UnknownNameError("task of this run in samples", name, asked)
        if not isinstance(chosen, list) or not chosen or not {int}.issuperset(map(type, chosen)):
            raise OptionError(
                f"samples: {name} needs a list of one or more whole numbers, not {chosen!r}."
            )


def _check_generation(given: Mapping[str, Any], tasks: Sequence[str]) -> None:
    """Refuse what no backend, or no task, would take as it was meant, before a model is loaded.

    A misspelt name is one near to a common one; others may be a backend's own.
    """
    for name in given:
        near = difflib.get_close_matches(name, _GENERATION, n=1, cutoff=_MISSPELT)
        if near and name not in _GENERATION:
            raise OptionError(f"gen_kwargs {name}: did you mean {near[0]!r}?")
    for name in expanded(tasks)[0]:
        task = find_task(name)
        check_generation(name, benchmark_of(task).generation(task) | dict(given))


def _check_folders(model_args: Mapping[str, Any]) -> None:
    """Refuse a path that leads nowhere: the hub's library calls it a misspelt name."""
    for name in ("pretrained", "tokenizer", "peft"):
        path = model_args.get(name)
        if isinstance(path, str) and path[:1] in "/.~" and path and not Path(path).exists():
            why = " `~` is not read here: write the whole path." if path[0] == "~" else ""
            raise OptionError(f"model_args {name}={path}: there is no such folder.{why}")


def _listed(given: Any) -> list[str]:
    return [given] if isinstance(given, str) else list(given or ())


def _check_tasks(tasks: Sequence[str], *, own_folders: bool) -> None:
    """Refuse a name that looks like ours and is none; others the harness looks up."""
    starts = tuple(name.rstrip("0123456789") for name in benchmarks())
    for name in expanded(tasks)[1]:
        looks = name.lower().replace("-", "_")
        if own_folders or name.endswith(".yaml"):
            continue
        if looks.startswith(starts):
            raise unknown_task(name)
        if looks.startswith(KEY):
            parts = set(looks.split("_"))
            near = [own for own in valid_names() if parts <= set(own.split("_"))]
            near = sorted(near, key=len) or difflib.get_close_matches(
                looks, valid_names(), cutoff=0
            )
            own = ", ".join(one.name for one in benchmarks().values() if not one.variant)
            raise OptionError(
                f"{name} is a group or a task of the harness itself, with prompts, cuts and scores "
                f"of its own: `lm_eval run` runs it. Of this package you mean {near[0]}; its "
                f"benchmarks are {own}."
            )
    met: dict[str, str] = {}
    for name in dict.fromkeys(tasks):
        for task in expanded([name])[0]:
            if met.setdefault(task, name) != name and "*" not in name + met[task]:
                raise OptionError(
                    f"{task} is asked for twice, in {met[task]} and in {name}. Ask for one of "
                    "them, or run them one after the other."
                )


# ---------------------------------------------------------------------- what is added to them


def read(arguments: Sequence[str], beside: Beside) -> Namespace:
    """Return the arguments of a run, after all that can be said of them before a model is loaded.

    Args:
        arguments: the harness's own, and our flags.
        beside: whether there is such a preset is looked at, too.

    Raises:
        SystemExit: after the help.
        OptionError: an argument cannot be read or used.
        UnknownNameError: there is no such flag, task, model or preset.
    """
    if beside.preset is not None:
        presets_named(beside.preset, thinking=beside.thinking)  # a misspelt one is said first
    parsed = parse(arguments)
    check_arguments(parsed)
    return parsed


def complete(parsed: Namespace, beside: Beside) -> None:
    """Put into the arguments, in place, what the harness gets beyond them.

    Raises:
        LockError: the run is not what the lock file froze.
        OptionError: the preset is for other tasks, or an option of ours is misspelt or misshapen.
    """
    # Twice the same task would be a warning a task.
    own = _listed(parsed.include_path)
    there = {Path(path).resolve() for path in own}
    more = (folder for folder in task_folders() if folder not in there)
    own += [str(one) for one in more]
    parsed.include_path = own or None
    if beside.preset is not None:
        beside.say(with_preset(parsed, beside.preset, thinking=beside.thinking))
    if beside.lock is not None:
        beside.say(_with_lock(parsed, beside.lock))
    if parsed.tasks and all(isinstance(name, str) for name in parsed.tasks):
        names = _with_second_passes(parsed)
        arguments = model_of(parsed)[1]
        parsed.tasks = ",".join(with_questions(names, parsed.metadata, arguments, beside.say))
    if parsed.model == baseline.NAME:
        # A name for its files, where the harness would make one up.
        parsed.model_args = {"engine": baseline.NAME, **(parsed.model_args or {})}


def with_preset(parsed: Namespace, name: str, *, thinking: bool) -> str:
    """Name a preset in the options, from which the tasks of its benchmark take their settings.

    Returns:
        What the preset sets and what the user's own arguments overrode, in one line.

    Raises:
        UnknownNameError: there is no such preset.
        OptionError: it has no such mode, or the run asks for no task of its benchmark.
    """
    found = presets_named(name, thinking=thinking)
    model = next(iter(found.values())).model
    names, foreign = expanded(wanted(parsed))
    asked = [benchmark_of(find_task(own)).presets for own in names]
    others = [own for own in asked if own not in found]
    # A name that is not ours may be a user's group, with tasks of any benchmark.
    if len(others) == len(names) and not foreign:
        titles = " and ".join(own.title for own in found)
        raise OptionError(
            f"The preset {model} holds settings for {titles}, and this run asks for none of its "
            f"tasks: {', '.join(wanted(parsed))}. Leave the preset out; the option truncate_to "
            "sets a limit by itself."
        )
    metadata = dict(parsed.metadata or {})
    options = dict(metadata.get(KEY) or {})
    generation = parsed.gen_kwargs or {}
    parsed.metadata = {
        **metadata,
        KEY: {**options, "preset": model, **({"thinking": True} if thinking else {})},
    }
    lines = []
    for table, preset in found.items():
        if table not in asked and not foreign:
            continue
        said = []
        for setting, value in {"truncate_to": preset.truncate_to, **preset.generation}.items():
            own = (options if setting == "truncate_to" else generation).get(setting, value)
            yours = "" if own == value else f" (yours; published: {value})"
            said.append(f"{setting}={own}{yours}")
        mode = f", {table.mode_of(preset)}" if table.mode_of(preset) else ""
        note = f" Note: {preset.note}." if preset.note else ""
        lines.append(
            f"preset {preset.model} of {table.title}{mode}: {', '.join(said)}. Source: "
            f"{preset.source}.{note}"
        )
    if others:
        lines.append(f"{len(others)} tasks of other benchmarks keep their official settings.")
    return " ".join(lines)


def _with_lock(parsed: Namespace, lock: Path) -> str:
    """Hold a run to a lock file; where the user gives no options, fill in the locked ones.

    Returns:
        What was filled in, in one line.

    Raises:
        LockError: the run is not what was frozen.
    """
    metadata = dict(parsed.metadata or {})
    own = dataclasses.replace(read_options(metadata), shard=None)
    given = own if metadata.get(KEY, {}).keys() - {SHARD} else None
    options = options_set(require_lock(lock, wanted(parsed), given))
    # A lock is of all shards.
    shard = {name: value for name, value in metadata.get(KEY, {}).items() if name == SHARD}
    parsed.metadata = {**metadata, KEY: options | shard}
    return f"locked by {lock}, options {json.dumps(options, ensure_ascii=False)}"


def _with_second_passes(parsed: Namespace) -> list[str]:
    """Return the wanted tasks, each second pass of chain of thought after its first.

    In the place of a tag of ours are its tasks: the harness's index has the tasks of one folder
    under a tag, those of a user's, if that has one.

    Raises:
        OptionError: pass one is wanted, and its finished log is given too.
    """
    names = [own for name in wanted(parsed) for own in tags().get(name, (name,))]
    metadata = dict(parsed.metadata or {})
    read_options(metadata)
    for one, two in second_passes().items():
        if one not in names:
            continue
        if (metadata.get(KEY) or {}).get("cot_samples"):
            raise OptionError(
                f"The option cot_samples names a finished pass one, and {one} would do it again. "
                f"Ask for {two} alone."
            )
        if two not in names:
            names.insert(names.index(one) + 1, two)
    return list(dict.fromkeys(names))
