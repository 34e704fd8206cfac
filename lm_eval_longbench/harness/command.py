"""Run the harness's own command line with our task folder and model added."""

from __future__ import annotations

import contextlib
import io
import json
import logging
import os
import signal
from argparse import Namespace
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from lm_eval_longbench.answers.store import AnswerStore, cuts, file_stem, model_identity, model_name
from lm_eval_longbench.benchmarks.registry import (
    benchmark_of,
    expanded,
    find_task,
    presets_named,
    read_options,
    tags,
    task_folders,
    valid_names,
)
from lm_eval_longbench.check.lock import options_set, require_lock
from lm_eval_longbench.errors import Interrupted, OptionError, RunStopped
from lm_eval_longbench.files import our_cache
from lm_eval_longbench.harness import api_model, baseline
from lm_eval_longbench.harness.evaluate import (
    Captured,
    arguments_masked,
    evaluated,
    quick_index,
    second_passes,
    with_second_passes,
)
from lm_eval_longbench.harness.keeping import Keeping
from lm_eval_longbench.harness.mistakes import (
    check_arguments,
    explained,
    parsed_arguments,
    readable_arguments,
)
from lm_eval_longbench.harness.objects import IN_MEMORY, has_template
from lm_eval_longbench.harness.private_names import RUN, require
from lm_eval_longbench.harness.prompts import warn_without_chat
from lm_eval_longbench.harness.quiet import git_unheard, log_file, logged, one_bar
from lm_eval_longbench.harness.stopping import Stopped, Stopping
from lm_eval_longbench.harness.unloaded import without_model
from lm_eval_longbench.harness.written import taken_back, written
from lm_eval_longbench.options import FLAGS, KEY, with_flags
from lm_eval_longbench.result_files import output_folder
from lm_eval_longbench.secrets import hide_keys, masked, masked_command

logger = logging.getLogger(__name__)

# Importing the modules registers the models; the names keep that visible.
MODELS = (baseline.ExtractiveBaseline, api_model.LongBenchAPI)


def _config(path: str | None) -> dict[str, Any]:
    """Read the harness's --config file; {} without one (a missing file is the harness's to say)."""
    from lm_eval.config.evaluate_config import EvaluatorConfig

    return EvaluatorConfig.load_yaml_config(path) if path and Path(path).is_file() else {}


def _given(parsed: Namespace, name: str) -> Any:
    """Return an argument: of the command line, or else of its config file."""
    return getattr(parsed, name, None) or _config(parsed.config).get(name)


def joined_include_paths(given: str | Sequence[str] | None, config: str | None) -> list[str]:
    """Return the user's own include paths and the task folders that the harness does not have.

    Args:
        given: --include_path.
        config: --config; its include_path counts only if the command line has none, as in the
            harness.
    """
    if given is None:
        given = _config(config).get("include_path")
    own = [given] if isinstance(given, str) else list(given or ())
    # Twice the same task would be a warning a task.
    there = {Path(path).resolve() for path in own}
    more = [folder for folder in task_folders() if folder not in there]
    return own + [str(one) for one in more]


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
    names, foreign = expanded(_wanted(parsed))
    asked = [benchmark_of(find_task(own)).presets for own in names]
    others = [own for own in asked if own not in found]
    # A name that is not ours may be a user's group, with tasks of any benchmark.
    if len(others) == len(names) and not foreign:
        titles = " and ".join(own.title for own in found)
        raise OptionError(
            f"The preset {model} holds settings for {titles}, and this run asks for none of its "
            f"tasks: {', '.join(_wanted(parsed))}. Leave the preset out; the option truncate_to "
            "sets a limit by itself."
        )
    metadata = dict(_given(parsed, "metadata") or {})
    options = dict(metadata.get(KEY) or {})
    generation = dict(_given(parsed, "gen_kwargs") or {})
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


def with_name(parsed: Namespace) -> None:
    """Give runs of the baseline a name in their files, where the harness would make one up."""
    if _given(parsed, "model") == baseline.NAME:
        arguments = _given(parsed, "model_args") or {}
        if isinstance(arguments, dict):
            parsed.model_args = {"engine": baseline.NAME, **arguments}


def as_mapping(arguments: str | Mapping[str, Any] | None) -> dict[str, Any]:
    """Return arguments of a model or of its generation, which may be given as one text."""
    if isinstance(arguments, str):
        from lm_eval.utils import simple_parse_args_string

        return dict(simple_parse_args_string(arguments))
    return dict(arguments or {})


def _model(parsed: Namespace) -> tuple[str, dict[str, Any]]:
    """Return the harness's name of the backend, and the model arguments.

    A model in memory is of the backend `objects.IN_MEMORY`.
    """
    if parsed.model is not None and not isinstance(parsed.model, str):
        return IN_MEMORY, dict(parsed.model_args)
    return str(_given(parsed, "model") or "hf"), as_mapping(_given(parsed, "model_args"))


def _metadata(parsed: Namespace) -> dict[str, Any]:
    """Return --metadata; OptionError if what is ours in it is misspelt or misshapen."""
    metadata = dict(_given(parsed, "metadata") or {})
    read_options(metadata)
    return metadata


def _output(parsed: Namespace) -> Path | None:
    """Return the folder of the output; None: the run has none."""
    output = _given(parsed, "output_path")
    return output_folder(output) if output else None


def open_keeping(
    parsed: Namespace, stopping: Stopping, say: Callable[[str], None], *, keep_empty: bool
) -> Keeping | None:
    """Open the file of answers in the output folder; None: the run has none, nothing is kept.

    Raises:
        OptionError: another run writes it, or it cannot be used.
    """
    folder = _output(parsed)
    if folder is None:
        return None
    from lm_eval.utils import sanitize_model_name

    model, arguments = _model(parsed)
    identity = model_identity(model, arguments)
    stem = file_stem(sanitize_model_name(model_name(model, arguments)), identity)
    rank = int(os.environ.get("RANK") or os.environ.get("LOCAL_RANK") or 0)
    store = AnswerStore(folder, stem, identity, rank)
    return Keeping(store, stopping, say, cuts=cuts(arguments), keep_empty=keep_empty)


def _wanted(parsed: Namespace) -> list[str]:
    """Return the tasks that the command line, or else the config file, asks for."""
    given = _given(parsed, "tasks") or []
    parts = [given] if isinstance(given, str) else given
    return [name.strip() for part in parts for name in str(part).split(",")]


def with_lock(parsed: Namespace, lock: Path) -> str:
    """Hold a run to a lock file; where the user gives no options, fill in the locked ones.

    Returns:
        What was filled in, in one line.

    Raises:
        LockError: the run is not what was frozen.
    """
    metadata = dict(_given(parsed, "metadata") or {})
    own = read_options(metadata)
    given = own if metadata.get(KEY) else None
    options = options_set(require_lock(lock, _wanted(parsed), given))
    parsed.metadata = {**metadata, KEY: options}
    return f"locked by {lock}, options {json.dumps(options, ensure_ascii=False)}"


def with_tags(parsed: Namespace) -> None:
    """Put its tasks in the place of each tag of ours, in place.

    The harness's index has the tasks of one folder under a tag: those of a user's, if that has one.
    """
    given = parsed.tasks or _config(parsed.config).get("tasks")
    if given and all(isinstance(name, str) for name in given):
        names = (own for name in _wanted(parsed) for own in tags().get(name, (name,)))
        parsed.tasks = ",".join(dict.fromkeys(names))


def with_both_passes(parsed: Namespace) -> None:
    """Add pass two of chain of thought to the wanted tasks, in place, where pass one is wanted.

    Raises:
        OptionError: pass one is wanted, and its finished log is given too.
    """
    given = _given(parsed, "tasks")
    if not given or any(not isinstance(name, str) for name in given):
        return
    tasks = with_second_passes(given)
    options = _metadata(parsed).get(KEY) or {}
    for one, two in second_passes().items():
        if one in tasks and options.get("cot_samples"):
            raise OptionError(
                f"The option cot_samples names a finished pass one, and {one} would do it again. "
                f"Ask for {two} alone."
            )
    parsed.tasks = ",".join(tasks)


def reasoning_folder(parsed: Namespace) -> Path:
    """Return the folder where the reasoning of pass one is kept before pass two begins."""
    return _output(parsed) or our_cache() / "reasoning"


# Flags of `run` that the harness's parser does not get.
BESIDE = ("--preset", "--thinking", "--locked", "--keep-empty", "--verbose", "--debug")


def parse(arguments: Sequence[str]) -> Namespace:
    """Return what the harness makes of the arguments of its `run`; our flags are in `metadata`.

    Raises:
        SystemExit: after the help.
        OptionError: it cannot read one, or a flag and the metadata contradict each other.
        UnknownNameError: there is no such flag.
    """
    require(RUN)
    hide_keys()
    masked_command(arguments)  # for what it remembers: no message shows them from here
    with readable_arguments(arguments):
        parsed = parsed_arguments(arguments, BESIDE)
    given = {name: vars(parsed).pop(name) for name in FLAGS}
    if any(value is not None for value in given.values()):
        parsed.metadata = with_flags(_given(parsed, "metadata") or {}, given)
    return parsed


def read(
    arguments: Sequence[str], preset: str | None = None, *, thinking: bool = False
) -> Namespace:
    """Return the arguments of a run, after all that can be said of them before a model is loaded.

    Args:
        arguments: the harness's own, and our flags.
        preset, thinking: as for `run_parsed`; whether there is such a preset is looked at, too.

    Raises:
        SystemExit: after the help.
        OptionError: an argument cannot be read or used.
        UnknownNameError: there is no such flag, task, model or preset.
    """
    if preset is not None:
        presets_named(preset, thinking=thinking)  # a misspelt one is said before all else
    parsed = parse(arguments)
    check_arguments(parsed, _wanted(parsed), *_model(parsed), _config(parsed.config))
    return parsed


def settle(
    parsed: Namespace,
    preset: str | None,
    say: Callable[[str], None],
    lock: Path | None = None,
    *,
    thinking: bool = False,
) -> None:
    """Put into the arguments what the harness gets beyond them, in place; see `run_parsed`."""
    parsed.include_path = joined_include_paths(parsed.include_path, parsed.config) or None
    if preset is not None:
        say(with_preset(parsed, preset, thinking=thinking))
    if lock is not None:
        say(with_lock(parsed, lock))
    with_tags(parsed)
    with_both_passes(parsed)
    with_name(parsed)


def our_index(parsed: Namespace) -> contextlib.AbstractContextManager[None]:
    """While open, the harness reads none of its own tasks where ours alone are asked for."""
    folders = [str(folder) for folder in task_folders()]
    return quick_index(_wanted(parsed), parsed.include_path or [], folders, valid_names())


def run_harness(
    arguments: Sequence[str],
    preset: str | None = None,
    say: Callable[[str], None] = logger.info,
    lock: Path | None = None,
    *,
    thinking: bool = False,
    keep_empty: bool = False,
    quiet: bool = False,
    debug: bool = False,
) -> Captured:
    """Run `lm_eval run ARGUMENTS` in this process, see `run_parsed`.

    Args:
        arguments: the harness's own, and our flags.
        preset, say, lock, thinking, keep_empty: as for `run_parsed`.
        quiet: whether the screen gets no more than a user must see, and a log file the rest.
        debug: whether the traceback of an error is printed.

    Raises:
        SystemExit: after the help.
        UnknownNameError: there is no such flag, task, model or preset.
        HarnessError: what the harness or a library raised, in a few lines.
        LongBenchError: as `run_parsed`.
    """
    from lm_eval.utils import setup_logging

    setup_logging()
    parsed = read(arguments, preset, thinking=thinking)
    log = log_file(_output(parsed)) if quiet else None
    with (
        logged(log) if log else contextlib.nullcontext(),
        explained(_model(parsed)[0], log, debug=debug) as begun,
    ):
        kept = run_parsed(
            parsed,
            preset,
            say,
            lock,
            thinking=thinking,
            keep_empty=keep_empty,
            log=log,
            begun=begun,
        )
    if log and kept.log is None:  # nothing was asked, nothing is new
        with contextlib.suppress(OSError):
            log.unlink()
    return kept


def run_parsed(
    parsed: Namespace,
    preset: str | None = None,
    say: Callable[[str], None] = logger.info,
    lock: Path | None = None,
    *,
    thinking: bool = False,
    keep_empty: bool = False,
    quiet: bool = False,
    log: Path | None = None,
    begun: list[bool] | None = None,
) -> Captured:
    """Run what the harness parsed in this process, with a preset's settings if one is given.

    Args:
        parsed: the arguments; `model` may be a model in memory, whose `model_args` say what is
            known of it.
        preset: published model whose settings are used where the arguments leave them open.
        say: gets the lines that tell what the preset and the lock did.
        lock: lock file that the run must be in keeping with; None: none.
        thinking: the preset's settings for thinking scores.
        keep_empty: whether questions that got no answer in an earlier run are left alone.
        quiet: whether the harness's own tables are not printed.
        log: gets what of the log its user need not see; the harness's tables are then printed only
            if our lines lack something: tasks and groups of others, or one task in two settings.
        begun: gets an element once the model is loaded and the tasks are there.

    Returns:
        What was found for our tasks.

    Raises:
        LockError: the run is not what the lock file froze.
        OptionError: the preset is for other tasks, or another run writes the file of answers.
        Interrupted: a signal stopped it; says how many answers are there.
        RunStopped: it cannot go on; says why and how many answers are there.
    """
    require(RUN)
    from lm_eval._cli.harness import HarnessCLI

    hide_keys()
    masked([_model(parsed)[1], vars(parsed), _config(parsed.config)])  # no log shows them from here
    settle(parsed, preset, say, lock, thinking=thinking)
    if not _given(parsed, "apply_chat_template") and has_template(
        _given(parsed, "model")
    ):  # tasks say it too, but after the model is loaded
        warn_without_chat(find_task(name) for name in expanded(_wanted(parsed))[0])
    with (
        contextlib.ExitStack() as screen,
        stoppable(parsed, say, keep_empty=keep_empty) as keeping,
        evaluated(reasoning_folder(parsed), keeping, begun) as kept,
        written() as kept.unwritten,
        arguments_masked(kept, partial(_end_screen, screen, kept, quiet, log)),
        our_index(parsed),
        git_unheard(),
        one_bar() if log else contextlib.nullcontext(),
    ):
        execute = HarnessCLI().execute
        if not without_model(execute, parsed, _model(parsed), keeping):
            if begun is not None:
                begun.clear()
            execute(parsed)
    earlier = taken_back(kept.saved.tracker) if kept.saved and not kept.unwritten.files else None
    if earlier is not None:
        say(f"Nothing new to write: the results are those of {earlier}.")
    kept.log = None if earlier else log
    model, model_args = _model(parsed)
    kept.model = " ".join(dict.fromkeys((model, model_name(model, model_args))))
    kept.folder = kept.unwritten.belongs
    kept.logged = bool(_given(parsed, "log_samples"))
    return kept


def _end_screen(
    screen: contextlib.ExitStack, kept: Captured, quiet: bool, log: Path | None
) -> None:
    """Print no more of the harness, whose tables come now, where our own lines say it all."""
    found = kept.saved.results if kept.saved else {}
    names = set(valid_names())
    ours = found.get("configs", {}).keys() <= names  # a domain's task is a part of its table
    alone = len({own["task"] for own in kept.signatures.values()}) == len(kept.signatures)
    known = (
        found.get("configs", {}).keys() <= kept.rows.keys() | kept.predicted.keys()
        and found.get("groups", {}).keys() <= names
        and (ours or alone)
    )
    if quiet or (log and known):
        screen.enter_context(contextlib.redirect_stdout(io.StringIO()))


@contextlib.contextmanager
def stoppable(
    parsed: Namespace, say: Callable[[str], None], *, keep_empty: bool
) -> Iterator[Keeping | None]:
    """While open, all answers are kept, and a signal stops the run in good order.

    Raises:
        Interrupted: a signal came.
        RunStopped: the run cannot go on.
    """
    stopping = Stopping()
    keeping = open_keeping(parsed, stopping, say, keep_empty=keep_empty)
    told = keeping.told if keeping else lambda: "Nothing is kept without output_path."
    try:
        with stopping.watched():
            yield keeping
    except Stopped as error:
        name = signal.Signals(stopping.signal or signal.SIGINT).name
        raise Interrupted(f"Stopped by {name}. {told()}", stopping.signal) from error
    except RunStopped as error:
        raise RunStopped(f"{error} {told()}") from error
    finally:
        if keeping is not None:
            keeping.store.close()
