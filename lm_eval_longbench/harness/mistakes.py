"""Say what is wrong with a run in a few lines, where the harness and its libraries would not.

What can be seen in the arguments is looked at before anything is loaded. What the harness raises
later is put into one message; the whole of it is in the log.
"""

from __future__ import annotations

import argparse
import contextlib
import difflib
import json
import logging
import re
import traceback
from argparse import Namespace
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any, NoReturn

from lm_eval_longbench.benchmarks.registry import (
    benchmark_of,
    benchmarks,
    expanded,
    find_task,
    unknown_task,
    valid_names,
)
from lm_eval_longbench.console import fail
from lm_eval_longbench.errors import (
    STOPPED,
    WRONG_USAGE,
    HarnessError,
    LongBenchError,
    OptionError,
    UnknownNameError,
)
from lm_eval_longbench.harness.engines import overheard
from lm_eval_longbench.harness.generation import SAMPLING, check_generation
from lm_eval_longbench.harness.models import check_model
from lm_eval_longbench.harness.stopping import Stopped
from lm_eval_longbench.options import FLAGS, KEY, flag
from lm_eval_longbench.secrets import without_keys

# For the log file alone: the screen shows no such record of another name than the package's.
_to_log = logging.getLogger("lm-eval-longbench.traceback")
_to_log.setLevel(logging.INFO)
_PACKAGE = Path(__file__).parents[1]
# Lines and characters of somebody else's message that are shown.
_LINES, _CHARACTERS = 2, 300
_DEBUG = "--debug prints the traceback."
# Quotes of word processors, and the full-width marks of Chinese keyboards.
_ODD_MARKS = "“”„‟‘’«»，：｛｝"
# Generation arguments that most backends know, and how like one of them a misspelt name is.
_GENERATION = (
    *(*SAMPLING, "do_sample", "until", "seed", "num_beams"),
    *("max_gen_toks", "max_new_tokens", "max_tokens", "max_completion_tokens"),
)
_MISSPELT = 0.9
# What parsers quote of an argument that they cannot read.
_QUOTED = re.compile(
    r"Invalid JSON: (.*)\. Hint|--metadata (.*) is no JSON|key=value`, got (.*)", re.S
)
# Modules of models that an extra installs.
_STACK = ("torch", "transformers", "accelerate", "vllm")
_JSON = '--metadata \'{"longbench": {"truncate_to": 31500}}\''


@contextlib.contextmanager
def readable_arguments(arguments: Sequence[str]) -> Iterator[None]:
    """While open, arguments that the harness cannot read are one message.

    Raises:
        OptionError: one cannot be read.
    """
    try:
        yield
    except ValueError as error:
        odd = " ".join(sorted({mark for mark in str(error) if mark in _ODD_MARKS}))
        if odd:
            raise OptionError(
                f"An argument cannot be read: it holds {odd} as another program or keyboard writes "
                f"them. Type plain quotes, commas, colons and braces: {_JSON}."
            ) from error
        # The error quotes what may hold a key.
        raise OptionError(_unreadable(str(error), arguments)) from None


def _refuse(message: str) -> NoReturn:
    raise ValueError(message)


def parsed_arguments(arguments: Sequence[str], more: Sequence[str]) -> Namespace:
    """Return what the harness's parser of `run` makes of arguments, our flags among them.

    Args:
        arguments: behind `run`.
        more: options that are read elsewhere, for the nearest name to a misspelt one.

    Raises:
        SystemExit: after the help.
        ValueError: an argument has no value, or one that cannot be read.
        UnknownNameError: there is no such option; names the nearest.
        OptionError: a word belongs to no option.
    """
    from lm_eval._cli.harness import HarnessCLI

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
            raise UnknownNameError("flag", word.partition("=")[0], [*known, *more])
    if unknown:
        raise OptionError(
            f"{without_keys(unknown[0])!r} stands alone: put the option that it belongs to before "
            "it, such as --tasks."
        )
    return parsed


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


def check_arguments(
    given: Namespace,
    tasks: Sequence[str],
    model: str | None,
    model_args: Mapping[str, Any],
    config: dict[str, Any],
) -> None:
    """Refuse what cannot work, before anything is loaded.

    Args:
        given: the arguments of the harness's command line.
        tasks: that are asked for.
        model: the backend; None: a model in memory.
        model_args: its arguments.
        config: of --config.

    Raises:
        OptionError: an argument cannot be used.
        UnknownNameError: there is no such task or model.
    """

    def value(name: str) -> Any:
        own = getattr(given, name, None)
        return config.get(name) if own is None else own

    if given.config and not Path(given.config).is_file():
        raise OptionError(f"--config {given.config} is no file.")
    if not any(tasks):
        raise OptionError(
            "Say what to run: --tasks NAMES, such as longbench_v1. `lm-eval-longbench tasks` lists "
            "them."
        )
    if model is not None:
        check_model(model)
        _check_folders(model_args)
    for path in _listed(value("include_path")):
        if not Path(path).is_dir():
            raise OptionError(f"include_path {path} is no folder.")
    _check_tasks(tasks, own_folders=bool(value("include_path")))
    if value("use_cache"):
        raise OptionError(
            "use_cache is not for this command: answers are kept in the output_path as they come. "
            "The harness's response cache knows no model, and makes all repeats one text."
        )
    if (value("log_samples") or value("predict_only")) and not value("output_path"):
        raise OptionError(
            "log_samples needs a place for the logs: give output_path, such as results."
        )
    limit = value("limit")
    if limit is not None and value("samples"):
        raise OptionError("samples and limit both choose questions: give one of them.")
    if limit is not None and not float(limit) > 0:
        raise OptionError(
            f"limit must be above 0, not {limit:g}: a number of questions of each task, or below "
            "1 a share of them."
        )
    _check_samples(value("samples"), tasks)
    _check_generation(value("gen_kwargs"), tasks)
    if value("num_fewshot") and not expanded(tasks)[1]:
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


def _check_generation(given: Any, tasks: Sequence[str]) -> None:
    """Refuse what no backend, or no task, would take as it was meant, before a model is loaded.

    A misspelt name is one near to a common one; others may be a backend's own.
    """
    if not isinstance(given, Mapping):
        return
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
    unknown = expanded(tasks)[1]
    starts = tuple(name.rstrip("0123456789") for name in benchmarks())
    for name in unknown:
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


# ---------------------------------------------------------------------- what is raised later


def _short(error: BaseException) -> str:
    """Return the first lines of an error's message."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    text = " ".join(lines[:_LINES])
    if len(text) > _CHARACTERS:
        text = f"{text[:_CHARACTERS]} ..."
    return text if text.endswith((".", "!", "?", "...")) else f"{text}."


def _is_our_fault(error: BaseException) -> bool:
    """Whether the last frame of an error is in this package."""
    frames = traceback.extract_tb(error.__traceback__)
    return bool(frames) and _PACKAGE in Path(frames[-1].filename).parents


def advice(error: BaseException, model: str) -> str:
    """Return what to do about an error, where it is known."""
    text = f"{type(error).__name__} {error}"
    if isinstance(error, ImportError) and (error.name or _STACK[0]).partition(".")[0] not in _STACK:
        return f"The Python module {error.name} is missing: install the package that has it."
    if isinstance(error, ImportError):
        extra = "vllm" if "vllm" in text else "hf"
        own = f'"lm-eval[{extra}]"' if extra == "vllm" else f'"lm-eval-longbench[{extra}]"'
        return f"--model {model} needs more packages: pip install {own}."
    if "missing" in text and "pretrained" in text:
        return f"--model {model} needs --model_args pretrained=NAME or pretrained=FOLDER."
    if isinstance(error, OSError) and ("Repo id" in text or "huggingface.co" in text):
        return (
            "The model is no folder here, is not in the cache, and could not be fetched: check its "
            "name, HF_HUB_OFFLINE, and the network."
        )
    if isinstance(error, OSError) and "on the Hub" in text:
        return (
            "Data of a task of the harness itself could not be fetched: check HF_HUB_OFFLINE and "
            "the network. `lm-eval-longbench tasks` lists the tasks of this package."
        )
    if isinstance(error, OSError) and ("Connection" in text or "Max retries" in text):
        return (
            "No server answers there: start it, or correct base_url. With --output_path nothing "
            "that was answered is asked again."
        )
    missing = re.search(r"Tasks not found: ([^\s,]+?)\.?(?:,|\s|$)", text)
    if missing:
        return f"{unknown_task(missing[1])} `lm_eval ls tasks` lists the harness's."
    if "out of memory" in text.lower():
        return "Take a smaller --batch_size, or a smaller truncate_to."
    return ""


@contextlib.contextmanager
def explained(model: str, log: Path | None, *, debug: bool) -> Iterator[list[bool]]:
    """While open, what the harness raises becomes one short message.

    Args:
        model: the backend.
        log: file that gets the traceback; None: it is not written.
        debug: whether the traceback is printed.

    Yields:
        A list that holds something once the model was asked.

    Raises:
        HarnessError: in place of what was raised.
        Exception: a fault of this package, as it is.
    """
    begun: list[bool] = []
    with overheard(model) as heard:
        try:
            yield begun
        except (LongBenchError, Stopped):
            raise
        except Exception as error:
            whole = "".join(traceback.format_exception(error))
            if log is not None:
                _to_log.info(whole)
            if _is_our_fault(error):
                raise  # the command line prints it whole
            where = f"The traceback is in {log}; --debug prints it." if log else _DEBUG
            if debug:
                fail(whole)
                where = ""
            said = without_keys(f"{type(error).__name__}: {_short(error)}")
            cause = without_keys(heard())
            parts = [said, cause and f"Its engine said: {cause}", advice(error, model), where]
            message = " ".join(filter(None, parts))
            raise HarnessError(message, STOPPED if begun else WRONG_USAGE) from error
