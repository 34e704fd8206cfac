"""What a preflight finds out about a run and this machine; no module of the harness is needed."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lm_eval_longbench.errors import TokenizerError
from lm_eval_longbench.harness.prompts import Limit
from lm_eval_longbench.prompts.tokenizer import is_encoding, load_tokenizer

if TYPE_CHECKING:
    from transformers import PreTrainedTokenizerBase

# How a backend takes its prompts.
LOCAL = "local"  # runs the model in this process
TEXT = "text"  # a server that gets text or tokens; templates are applied here
MESSAGES = "messages"  # a server that gets chat messages and applies its own template
OTHER = "other"  # none of these: nothing is known of tokenizer and template
# Any of these tells that a tokenizer is there.
_TOKENIZER_FILES = ("tokenizer_config.json", "tokenizer.json", "tokenizer.model", "vocab.json")


@dataclass(frozen=True)
class PlannedRun:
    """What the arguments of a run ask for, config file and preset included.

    Attributes:
        model: the harness's name of the backend.
        model_args: arguments of the backend.
        tasks: names, patterns and YAML files, or inline definitions.
        metadata: what tasks get: the model arguments, --metadata over them.
        gen_kwargs: changes of the tasks' generation arguments.
        chat: whether a chat template is asked for, or its name.
        system_instruction: text of the system message; None: none.
        limit: questions a task, or a share below 1; None: all.
        samples: chosen questions by task; None: all.
        use_cache: path of the response cache; None: no cache.
        output_path: folder or file of the results; None: only printed.
        log_samples: whether every answer is kept in a sample log.
        include_path: folders with tasks besides the harness's own.
        said: what a preset has set, in one line; "": no preset.
    """

    model: str
    model_args: Mapping[str, Any]
    tasks: tuple[str | Mapping[str, Any], ...]
    metadata: Mapping[str, Any]
    gen_kwargs: Mapping[str, Any]
    chat: bool | str
    system_instruction: str | None
    limit: float | None
    samples: Mapping[str, list[int]] | None
    use_cache: str | None
    output_path: str | None
    log_samples: bool
    include_path: tuple[str, ...]
    said: str = ""


@dataclass(frozen=True)
class PlannedTask:
    """One task that a run evaluates, before it is built.

    Attributes:
        name: its name.
        task: name of the `base.Task` that it is; None: the task is not of this package.
        metadata: what the task will get.
        repeats: answers to each question, unless the option `repeats` says otherwise.
        spec: what the harness loads to get exactly this task.
    """

    name: str
    task: str | None
    metadata: Mapping[str, Any]
    repeats: int
    spec: str | Mapping[str, Any]


@dataclass(frozen=True)
class FoundTokenizer:
    """A tokenizer, if it can be had on this machine.

    Attributes:
        name: its name or folder; None: nobody names one.
        tokenizer: the tokenizer; None: it cannot be had.
        problem: why it cannot; "": it can, or none is needed.
        absent: whether it would only have to be downloaded.
    """

    name: str | None = None
    tokenizer: PreTrainedTokenizerBase | None = field(default=None, repr=False)
    problem: str = ""
    absent: bool = False


@dataclass(frozen=True)
class Backend:
    """The backend of a run, without its model.

    Attributes:
        name: the harness's name of it.
        kind: LOCAL, TEXT, MESSAGES or OTHER.
        base_url: what requests are posted to; None: it is no server, or its library knows.
        headers: sent with requests; they may hold the key.
        verify: whether, or with which file, a server's certificate is checked.
        key_variable: environment variable of the key; None: no key is used.
        key_problem: why there is no header; "": there is one.
        tokenizer: the one that applies the chat template.
        guessed: whether the harness would ask the server for its tokenizer first.
        chat_template: what the harness hands to tasks in a chat run; None: it cannot be had.
        template_problem: why applying it fails; "": it works, or there is none.
        model: the model itself, where it could be built; None: it could not.
    """

    name: str
    kind: str
    base_url: str | None = None
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    verify: bool | str = True
    key_variable: str | None = None
    key_problem: str = ""
    tokenizer: FoundTokenizer = FoundTokenizer()
    guessed: bool = False
    chat_template: Callable[..., Any] | None = field(default=None, repr=False)
    template_problem: str = ""
    model: Any = field(default=None, repr=False)


@dataclass(frozen=True)
class TaskFacts:
    """One task as a run would build it, and its first request.

    Attributes:
        name: of the task.
        task: name of the `base.Task` that it is.
        problem: what a run would stop with; "": nothing seen.
        title: the benchmark's name in sentences.
        questions: documents of the task.
        asked: documents that the run asks for.
        repeats: answers to each.
        official_repeats: the official number of them.
        generation: the task's generation arguments, the user's included.
        official_generation: the official ones.
        sent_generation: those of the first request; None: there is no request.
        one_message: whether each prompt is officially one user message.
        sends_raw: whether prompts officially go out without a template even in chat runs.
        chat: "on", "off" or "raw"; None: there is no request.
        limit: of prompts; None: it cannot be told.
        overlength: what happens to longer prompts.
        log_prompts: how much of prompts is logged.
        whole: the first prompt before it is cut; None: it could not be rendered.
        sent: the first prompt as the backend gets it, messages as JSON; None: there is none.
        as_messages: whether that is chat messages.
        probe: the prompt "?" as the backend gets it, which shows what a template adds.
        tokenizer: the one that cuts.
    """

    name: str
    task: str
    problem: str = ""
    title: str = ""
    questions: int = 0
    asked: int = 0
    repeats: int = 1
    official_repeats: int = 1
    generation: Mapping[str, Any] = field(default_factory=dict)
    official_generation: Mapping[str, Any] = field(default_factory=dict)
    sent_generation: Mapping[str, Any] | None = None
    one_message: bool = False
    sends_raw: bool = False
    chat: str | None = None
    limit: Limit | None = None
    overlength: str = "truncate"
    log_prompts: str = "excerpt"
    whole: str | None = field(default=None, repr=False)
    sent: str | None = field(default=None, repr=False)
    as_messages: bool = False
    probe: str | None = field(default=None, repr=False)
    tokenizer: FoundTokenizer = FoundTokenizer()


# ---------------------------------------------------------------------- what this machine has


def cached_file(
    repo: str, file: str, revision: str = "main", *, dataset: bool = False
) -> Path | None:
    """Return the path of a repository's file in the hub's cache; None if it is not there.

    Args:
        repo: repository; a text that cannot be one is in no cache.
        file: file in the repository.
        revision: branch, tag or commit.
        dataset: whether it is a dataset's repository, not a model's.
    """
    from huggingface_hub import try_to_load_from_cache

    try:
        found = try_to_load_from_cache(
            repo, file, revision=revision, repo_type="dataset" if dataset else "model"
        )
    except ValueError:  # no name of a repository, such as a path that does not exist
        return None
    return Path(found) if isinstance(found, str) else None


def any_cached(repo: str, files: Iterable[str], revision: str = "main") -> bool:
    """Whether the cache has at least one of these files of a model's repository."""
    return any(cached_file(repo, file, revision) is not None for file in files)


def is_offline() -> bool:
    """Whether the hub may not be asked (HF_HUB_OFFLINE)."""
    from huggingface_hub import constants

    return bool(constants.HF_HUB_OFFLINE)


def find_tokenizer(name: str | None, model_args: Mapping[str, Any]) -> FoundTokenizer:
    """Return a tokenizer of this machine, or why there is none.

    Args:
        name: name or folder; None: nobody names one.
        model_args: the harness's model arguments.
    """
    if name is None:
        return FoundTokenizer(None, problem="no tokenizer is named")
    revision = str(model_args.get("revision") or "main")
    is_file = not is_encoding(name) and not Path(name).is_dir()
    if is_file and not any_cached(name, _TOKENIZER_FILES, revision):
        problem = f"the tokenizer {name!r} is not on this machine"
        return FoundTokenizer(name, problem=problem, absent=True)
    try:
        return FoundTokenizer(name, load_tokenizer(name, model_args))
    except TokenizerError as error:
        return FoundTokenizer(name, problem=str(error))
