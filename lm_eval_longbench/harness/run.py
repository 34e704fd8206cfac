"""Run the harness's own command line with our task folder, models and answer store.

On the screen is what its user must see: this package's warnings, everybody's errors, and the bars
of prompts and answers. All else goes into a log file.
"""

from __future__ import annotations

import contextlib
import io
import logging
import os
import re
import signal
import sys
import tempfile
import traceback
from argparse import Namespace
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import Any

import lm_eval.tasks
from lm_eval._cli.harness import HarnessCLI
from lm_eval.utils import sanitize_model_name, setup_logging

from lm_eval_longbench.benchmarks.registry import (
    expanded,
    find_task,
    unknown_task,
    valid_names,
)
from lm_eval_longbench.console import LogFormatter, fail
from lm_eval_longbench.errors import (
    STOPPED,
    WRONG_USAGE,
    HarnessError,
    Interrupted,
    LongBenchError,
    RunStopped,
)
from lm_eval_longbench.files import our_cache
from lm_eval_longbench.harness import api_model, baseline
from lm_eval_longbench.harness.arguments import complete, model_of, output_of, read, wanted
from lm_eval_longbench.harness.engines import overheard
from lm_eval_longbench.harness.evaluate import Captured, evaluated, results_written
from lm_eval_longbench.harness.in_memory import has_template
from lm_eval_longbench.harness.interrupt import Stopped, Stopping
from lm_eval_longbench.harness.kept_answers import KeptAnswers
from lm_eval_longbench.harness.models import without_model
from lm_eval_longbench.harness.prompts import warn_without_chat
from lm_eval_longbench.records.identity import cuts, file_stem, model_identity, model_name
from lm_eval_longbench.records.store import AnswerStore
from lm_eval_longbench.secrets import hide_keys, masked, without_keys

logger = logging.getLogger(__name__)

# Importing the modules registers the models; the names keep that visible.
MODELS = (baseline.ExtractiveBaseline, api_model.LongBenchAPI)
_PACKAGE = __name__.partition(".")[0]

# ---------------------------------------------------------------------- the run


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
    setup_logging()
    parsed = read(arguments, preset, thinking=thinking)
    log = log_file(output_of(parsed)) if quiet else None
    begun: list[bool] = []
    with (
        logged(log) if log else contextlib.nullcontext(),
        explained(model_of(parsed)[0], log, begun, debug=debug),
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
        preset, say, lock, thinking: as for `arguments.complete`.
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
    begun = [] if begun is None else begun
    hide_keys()
    masked(vars(parsed))  # no log shows them from here
    complete(parsed, preset, say, lock, thinking=thinking)
    if not parsed.apply_chat_template and has_template(parsed.model):
        # Tasks say it too, but after the model is loaded.
        warn_without_chat(find_task(name) for name in expanded(wanted(parsed))[0])
    model, model_args = model_of(parsed)
    with contextlib.ExitStack() as screen:
        answers = screen.enter_context(_stoppable(parsed, say, keep_empty=keep_empty))
        # The harness now asks git for the commit of the folder, which says if it is none.
        git = screen.enter_context(contextlib.ExitStack())
        kept = screen.enter_context(
            evaluated(
                output_of(parsed) or our_cache() / "reasoning",
                answers,
                partial(begun.append, True),
                lambda: git.enter_context(_stderr_into(log or Path(os.devnull))),
            )
        )
        tables = screen.enter_context(contextlib.ExitStack())

        def written(results: Mapping[str, Any]) -> None:
            """Print no more of the harness, whose tables come now, where our lines say it all."""
            if quiet or (log and _is_all_ours(kept, results)):
                tables.enter_context(contextlib.redirect_stdout(io.StringIO()))

        screen.enter_context(results_written(kept, git.close, written))
        screen.enter_context(index_of(parsed))
        execute = HarnessCLI().execute
        if not without_model(execute, parsed, model, model_args, answers):
            begun.clear()
            execute(parsed)
    earlier = None
    if kept.folder is not None and not kept.unwritten:
        earlier = kept.writer.take_back_repeated() if kept.writer else None
    if earlier is not None:
        say(f"Nothing new to write: the results are those of {earlier}.")
    kept.log = None if earlier else log
    kept.model = " ".join(dict.fromkeys((model, model_name(model, model_args))))
    kept.logged = bool(parsed.log_samples)
    return kept


def _is_all_ours(kept: Captured, results: Mapping[str, Any]) -> bool:
    """Whether our own lines at the end say all that the harness's tables would."""
    names = set(valid_names())
    tasks, groups = results.get("configs", {}).keys(), results.get("groups", {}).keys()
    ours = tasks <= names  # a domain's task is a part of its table
    alone = len({own["task"] for own in kept.signatures.values()}) == len(kept.signatures)
    known = tasks <= kept.rows.keys() | kept.predicted.keys()
    return known and groups <= names and (ours or alone)


@contextlib.contextmanager
def index_of(parsed: Namespace) -> Iterator[None]:
    """While open, the harness reads its own tasks only where they may be asked for.

    To read them all takes it ten seconds, in each run.
    """
    manager = lm_eval.tasks.TaskManager

    def indexed(*args: Any, **given: Any) -> lm_eval.tasks.TaskManager:
        included = manager(*args, **given, include_defaults=False)
        return included if _holds(included, wanted(parsed)) else manager(*args, **given)

    lm_eval.tasks.TaskManager = indexed  # type: ignore[misc,assignment]
    try:
        yield
    finally:
        lm_eval.tasks.TaskManager = manager  # type: ignore[misc]


def _holds(manager: lm_eval.tasks.TaskManager, names: Sequence[str]) -> bool:
    """Whether an index knows all names, and all that the groups among them name."""
    found, left = set(), list(names)
    while left:
        name = left.pop()
        if not isinstance(name, str) or name not in manager.task_index:  # such as a group in a group
            return False
        members = (manager.task_index[name].cfg or {}).get("task")
        if isinstance(members, list) and name not in found:
            found.add(name)
            left += [
                one if isinstance(one, str) else one.get("task", one.get("group"))
                for one in members
            ]
    return True


@contextlib.contextmanager
def _stoppable(
    parsed: Namespace, say: Callable[[str], None], *, keep_empty: bool
) -> Iterator[KeptAnswers | None]:
    """While open, all answers are kept, and a signal stops the run in good order.

    Yields:
        The answers in the output folder; None: the run has none, nothing is kept.

    Raises:
        OptionError: another run writes the file of answers, or it cannot be used.
        Interrupted: a signal came.
        RunStopped: the run cannot go on.
    """
    stopping, folder, answers = Stopping(), output_of(parsed), None
    if folder is not None:
        model, arguments = model_of(parsed)
        identity = model_identity(model, arguments)
        stem = file_stem(sanitize_model_name(model_name(model, arguments)), identity)
        rank = int(os.environ.get("RANK") or os.environ.get("LOCAL_RANK") or 0)
        store = AnswerStore(folder, stem, identity, rank)
        answers = KeptAnswers(store, stopping, say, cuts=cuts(arguments), keep_empty=keep_empty)
    count = answers.count if answers else lambda: "Nothing is kept without output_path."
    try:
        with stopping.watched():
            yield answers
    except Stopped as error:
        name = signal.Signals(stopping.signal or signal.SIGINT).name
        raise Interrupted(f"Stopped by {name}. {count()}", stopping.signal) from error
    except RunStopped as error:
        raise RunStopped(f"{error} {count()}") from error
    finally:
        if answers is not None:
            answers.store.close()


# ---------------------------------------------------------------------- the screen

# Libraries with handlers of their own, which keep their records from the root logger.
_LIBRARIES = ("lm_eval", "transformers", "datasets", "huggingface_hub", "sentence_transformers")


def log_file(folder: Path | None) -> Path:
    """Return a new file for a run's log: in the folder of its output, or else a temporary one."""
    moment = datetime.now().strftime("%Y-%m-%dT%H-%M-%S.%f")
    if folder is not None:
        with contextlib.suppress(OSError):
            folder.mkdir(parents=True, exist_ok=True)
            file = folder / f"run_{moment}.log"
            file.touch()
            return file
    return Path(tempfile.gettempdir()) / f"lm-eval-longbench_{moment}.log"


def _is_for_the_screen(record: logging.LogRecord) -> bool:
    ours = record.name.partition(".")[0] == _PACKAGE
    return record.levelno >= (logging.WARNING if ours else logging.ERROR)


@contextlib.contextmanager
def logged(file: Path) -> Iterator[None]:
    """While open, log records go to a file; those that a user must see to the screen, too."""
    to_file = logging.FileHandler(file, encoding="utf-8", errors="backslashreplace")
    to_file.setFormatter(LogFormatter("%(asctime)s %(levelname)s %(name)s: %(message)s"))
    screen = logging.StreamHandler()
    screen.setFormatter(LogFormatter("%(levelname)s %(name)s: %(message)s"))
    screen.addFilter(_is_for_the_screen)
    loggers = [logging.getLogger(), *map(logging.getLogger, _LIBRARIES)]
    before = [(own, own.handlers[:], own.propagate) for own in loggers]
    loggers[0].handlers[:] = [to_file, screen]
    logging.captureWarnings(True)
    for own in loggers[1:]:
        own.handlers.clear()
        own.propagate = True
    hide_keys()
    # Models that need torch say that it is missing; to all others it does not matter.
    os.environ.setdefault("TRANSFORMERS_NO_ADVISORY_WARNINGS", "1")
    try:
        yield
    finally:
        logging.captureWarnings(False)
        for own, handlers, propagate in before:
            own.handlers[:], own.propagate = handlers, propagate
        to_file.close()


@contextlib.contextmanager
def _stderr_into(file: Path) -> Iterator[None]:
    """While open, what this process and its children write to standard error goes into a file."""
    if sys.stderr is None:  # closed by whoever started the run
        yield
        return
    sys.stderr.flush()
    screen = os.dup(2)
    taken = os.open(file, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
    os.dup2(taken, 2)
    os.close(taken)
    try:
        yield
    finally:
        os.dup2(screen, 2)
        os.close(screen)


# ---------------------------------------------------------------------- what is raised

# For the log file alone: the screen shows no such record of another name than the package's.
_to_log = logging.getLogger("lm-eval-longbench.traceback")
_to_log.setLevel(logging.INFO)
# Lines and characters of somebody else's message that are shown.
_LINES, _CHARACTERS = 2, 300
# Modules of models that an extra installs.
_STACK = ("torch", "transformers", "accelerate", "vllm")


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
    return bool(frames) and Path(__file__).parents[1] in Path(frames[-1].filename).parents


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
def explained(
    model: str, log: Path | None, begun: Sequence[bool] = (), *, debug: bool
) -> Iterator[None]:
    """While open, what the harness raises becomes one short message.

    Args:
        model: the backend.
        log: file that gets the traceback; None: it is not written.
        begun: holds something once the model is loaded and the tasks are there.
        debug: whether the traceback is printed.

    Raises:
        HarnessError: in place of what was raised.
        Exception: a fault of this package, as it is.
    """
    with overheard(model) as heard:
        try:
            yield
        except (LongBenchError, Stopped):
            raise
        except Exception as error:
            whole = "".join(traceback.format_exception(error))
            if log is not None:
                _to_log.info(whole)
            if _is_our_fault(error):
                raise  # the command line prints it whole
            where = "--debug prints the traceback."
            if log:
                where = f"The traceback is in {log}; --debug prints it."
            if debug:
                fail(whole)
                where = ""
            said = without_keys(f"{type(error).__name__}: {_short(error)}")
            cause = without_keys(heard())
            parts = [said, cause and f"Its engine said: {cause}", advice(error, model), where]
            message = " ".join(filter(None, parts))
            raise HarnessError(message, STOPPED if begun else WRONG_USAGE) from error
