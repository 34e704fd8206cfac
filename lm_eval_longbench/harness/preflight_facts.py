"""What a preflight finds out about a run, as plain data: no module of the harness is needed."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from lm_eval_longbench.harness.limit import Limit

if TYPE_CHECKING:
    from transformers import PreTrainedTokenizerBase

# How a backend takes its prompts.
LOCAL = "local"  # runs the model in this process
TEXT = "text"  # a server that gets text or tokens; templates are applied here
MESSAGES = "messages"  # a server that gets chat messages and applies its own template
OTHER = "other"  # none of these: nothing is known of tokenizer and template


@dataclass(frozen=True)
class Run:
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
class Leaf:
    """One task that a run evaluates, before it is built.

    Attributes:
        name: its name.
        benchmark: "v1", "v2" or "pro", as `lm-eval-longbench prepare` calls them; None: the task
            is not of this package.
        dataset: the YAML's `dataset_name`.
        metadata: what the task will get.
        repeats: answers to each question, unless the option `repeats` says otherwise.
        spec: what the harness loads to get exactly this task.
    """

    name: str
    benchmark: str | None
    dataset: str
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


@dataclass(frozen=True)
class TaskFacts:
    """One task as a run would build it, and its first request.

    Attributes:
        name: of the task.
        benchmark: "v1", "v2" or "pro".
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
    benchmark: str
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
