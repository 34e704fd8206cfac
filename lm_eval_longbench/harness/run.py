"""Run the harness's own command line with our task folder, models and answer store.

On the screen is what its user must see: this package's warnings, everybody's errors, and the bars
of prompts and answers. All else goes into a log file.
"""

from __future__ import annotations

import contextlib
import functools
import io
import logging
import os
import re
import signal
import subprocess
import tempfile
import traceback
from argparse import Namespace
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

import lm_eval.evaluator
import lm_eval.tasks
from lm_eval._cli.harness import HarnessCLI
from lm_eval.loggers.utils import get_commit_from_path
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
    OptionError,
    RunStopped,
)
from lm_eval_longbench.harness import api_model, baseline
from lm_eval_longbench.harness.arguments import (
    NOTHING,
    Beside,
    complete,
    model_of,
    output_of,
    read,
    wanted,
)
from lm_eval_longbench.harness.backend import replaced
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

# Importing the modules registers the models; the names keep that visible.
MODELS = (baseline.ExtractiveBaseline, api_model.LongBenchAPI)
_PACKAGE = __name__.partition(".")[0]

# ---------------------------------------------------------------------- the run


def run_harness(
    arguments: Sequence[str],
    beside: Beside = NOTHING,
    *,
    quiet: bool = False,
    debug: bool = False,
) -> Captured:
    """Run `lm_eval run ARGUMENTS` in this process, see `run_parsed`.

    Args:
        arguments: the harness's own, and our flags.
        beside: as for `run_parsed`.
        quiet: whether the screen gets no more than a user must see, and a log file the rest.
        debug: whether the traceback of an error is printed.

    Raises:
        SystemExit: after the help.
        UnknownNameError: there is no such flag, task, model or preset.
        HarnessError: what the harness or a library raised, in a few lines.
        LongBenchError: as `run_parsed`.
    """
    setup_logging()
    parsed = read(arguments, beside)
    kept = Captured(log=log_file(output_of(parsed)) if quiet else None)
    log = kept.log
    with (
        logged(log) if log else contextlib.nullcontext(),
        explained(model_of(parsed)[0], kept, debug=debug),
    ):
        run_parsed(parsed, beside, kept)
    if log and kept.log is None:  # nothing was asked, nothing is new
        with contextlib.suppress(OSError):
            log.unlink()
    return kept


def run_parsed(
    parsed: Namespace, beside: Beside, kept: Captured | None = None, *, quiet: bool = False
) -> Captured:
    """Run what the harness parsed in this process, with a preset's settings if one is given.

    Args:
        parsed: the arguments; `model` may be a model in memory, whose `model_args` say what is
            known of it.
        beside: what is given beside them.
        kept: gets what is found. Where it has a log, that gets what its user need not see; the
            harness's tables are then printed only if our lines lack something: tasks and groups of
            others, or one task in two settings.
        quiet: whether the harness's own tables are not printed.

    Returns:
        What was found for our tasks.

    Raises:
        LockError: the run is not what the lock file froze.
        OptionError: the preset is for other tasks, or another run writes the file of answers.
        Interrupted: a signal stopped it; says how many answers are there.
        RunStopped: it cannot go on; says why and how many answers are there.
    """
    kept = kept or Captured()
    hide_keys()
    masked(vars(parsed))  # no log shows them from here
    complete(parsed, beside)
    if not parsed.apply_chat_template and has_template(parsed.model):
        # Tasks say it too, but after the model is loaded.
        warn_without_chat(find_task(name) for name in expanded(wanted(parsed))[0])
    model, model_args = model_of(parsed)
    with contextlib.ExitStack() as screen:
        answers = screen.enter_context(_stoppable(parsed, beside))
        screen.enter_context(evaluated(answers, kept))
        screen.enter_context(replaced(lm_eval.evaluator, get_git_commit_hash=_commit))
        tables = screen.enter_context(contextlib.ExitStack())

        def written(results: Mapping[str, Any]) -> None:
            """Print no more of the harness, whose tables come now, where our lines say it all."""
            if quiet or (kept.log and _is_all_ours(kept, results)):
                tables.enter_context(contextlib.redirect_stdout(io.StringIO()))

        screen.enter_context(results_written(kept, written))
        screen.enter_context(index_of(parsed))
        execute = HarnessCLI().execute
        if not without_model(execute, parsed, model, model_args, answers):
            kept.begun = False
            execute(parsed)
    if kept.folder is not None and not kept.unwritten:
        earlier = kept.writer.take_back_repeated() if kept.writer else None
        if earlier is not None:
            beside.say(f"Nothing new to write: the results are those of {earlier}.")
            kept.log = None
    kept.model = " ".join(dict.fromkeys((model, model_name(model, model_args))))
    kept.logged = bool(parsed.log_samples)
    return kept


def _commit() -> str | None:
    """Return the commit of the folder as the harness does, which lets git speak of it."""
    with contextlib.suppress(OSError):
        command = ["git", "describe", "--always"]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if not done.returncode:
            return done.stdout.strip()
    return get_commit_from_path(Path.cwd())


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
        if not isinstance(name, str) or name not in manager.task_index:  # defined where it stands
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
def _stoppable(parsed: Namespace, beside: Beside) -> Iterator[KeptAnswers | None]:
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
        answers = KeptAnswers(
            store,
            stopping,
            beside.say,
            cuts=cuts(arguments),
            keep_empty=beside.keep_empty,
            instead=beside.instead and functools.partial(beside.instead, parsed),
        )
    elif beside.instead is not None:
        raise OptionError("Without requests to send, --output_path says which answers are there.")
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
def explained(model: str, kept: Captured, *, debug: bool) -> Iterator[None]:
    """While open, what the harness raises becomes one short message.

    Args:
        model: the backend.
        kept: has the file that gets the traceback, and whether the run has begun.
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
            if kept.log is not None:
                _to_log.info(whole)
            if _is_our_fault(error):
                raise  # the command line prints it whole
            where = "--debug prints the traceback."
            if kept.log:
                where = f"The traceback is in {kept.log}; --debug prints it."
            if debug:
                fail(whole)
                where = ""
            said = without_keys(f"{type(error).__name__}: {_short(error)}")
            cause = without_keys(heard())
            parts = [said, cause and f"Its engine said: {cause}", advice(error, model), where]
            message = " ".join(filter(None, parts))
            raise HarnessError(message, STOPPED if kept.begun else WRONG_USAGE) from error
