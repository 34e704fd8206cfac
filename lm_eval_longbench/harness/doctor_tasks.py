"""The tasks of a run, built as the run would build them, and their first requests; none is sent."""

from __future__ import annotations

import contextlib
import dataclasses
import io
import math
from argparse import Namespace
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any

from lm_eval.config.evaluate_config import EvaluatorConfig
from lm_eval.tasks._factory import TaskFactory

from lm_eval_longbench.benchmarks.registry import benchmark_of, families, read_options
from lm_eval_longbench.data.open import DAMAGED, MISSING, SAMPLE, Stored, stored
from lm_eval_longbench.errors import LongBenchError
from lm_eval_longbench.harness.arguments import Beside, complete, read
from lm_eval_longbench.harness.backend import called, has_own_client, only_messages
from lm_eval_longbench.harness.definitions import asked_task
from lm_eval_longbench.harness.generation import fold_budget
from lm_eval_longbench.harness.models import (
    LOCAL,
    NO_TOKENIZER,
    Backend,
    FoundTokenizer,
    find_tokenizer,
)
from lm_eval_longbench.harness.prompts import Limit, resolve_limit, sender, sent_lengths
from lm_eval_longbench.harness.record import question_id
from lm_eval_longbench.harness.run import index_of
from lm_eval_longbench.harness.task import LongBenchTask
from lm_eval_longbench.options import KEY
from lm_eval_longbench.prompts.tokenizer import tokenizer_name
from lm_eval_longbench.prompts.truncation import count_tokens
from lm_eval_longbench.signature.protocol import departures

# What stands in the first prompt of pass two for what pass one will have reasoned.
REASONING = "(the reasoning of pass one)"
_EMBEDDING = ("embedding_model", "embedding_url")


@dataclass
class Built:
    """One task of a run, as the run would build it, and its first request.

    Attributes:
        name: of the task.
        official: the `base.Task` that it is; None: it is another package's.
        data_dir: the option.
        absent: what is wrong with its pinned data, for which a sample stands if there is one; None:
            nothing.
        task: the LongBenchTask; None: it could not be built.
        problem: what the run would stop with; None: nothing is seen.
        generation: its generation arguments, the user's included.
        limit: of prompts; None: it cannot be told.
        questions, asked: documents of the task, and those that the run asks for.
        tokenizer: the one that cuts.
        whole: the first prompt before it is cut; None: it was not looked at.
        sent: the first prompt as the model gets it; None: it could not be built.
        signature: of the task with its first request.
        tokens: of the first prompt before it is cut, and of its request; None: not counted.
        template: tokens that a chat template adds.
    """

    name: str
    official: Any = None
    data_dir: str | None = None
    absent: Stored | None = None
    task: Any = None
    problem: Exception | None = None
    generation: dict[str, Any] = field(default_factory=dict)
    limit: Limit | None = None
    questions: int = 0
    asked: int = 0
    tokenizer: FoundTokenizer = NO_TOKENIZER
    whole: str | None = None
    sent: Any = None
    signature: Mapping[str, Any] = field(default_factory=dict)
    tokens: tuple[int | None, int | None] = (None, None)
    template: int = 0

    def departs(self, repeats: int | None = None, **ingredients: Any) -> str:
        """Return how ingredients of a signature depart from the official protocol; "": not."""
        task, benchmark = self.official, benchmark_of(self.official)
        asked = repeats or benchmark.protocol(task).repeats
        found = [
            departures(benchmark, task, ingredients, asked, thinking=thinking).found
            for thinking in (False, True)
        ]
        return ", ".join(sorted(found, key=len)[0])


class BuiltTasks(TaskFactory):
    """Builds tasks of ours as a run does, on the sample where data is missing.

    Attributes:
        found: all tasks by name, those of other packages unbuilt.
    """

    _meta: dict[str, Any]

    def __init__(self, metadata: Mapping[str, Any]) -> None:
        options = dict(metadata.get(KEY) or {})
        if "retriever" not in options:  # of summaries: the report asks once, and waits less long
            options = {key: own for key, own in options.items() if key not in _EMBEDDING}
        super().__init__(meta={**metadata, **({KEY: options} if KEY in metadata else {})})
        self.found: dict[str, Built] = {}

    def _build_task(self, entry: Any, overrides: dict[str, Any] | None) -> Any:
        config = self._load_full_config(entry, overrides)
        one = self.found.setdefault(config["task"], Built(config["task"]))
        cls: Any = config.get("class")
        meta = self._meta
        if isinstance(cls, type) and issubclass(cls, LongBenchTask) and one.task is None:
            try:
                one.official = asked_task(config)
                options = config["metadata"].get(KEY) or {}
                one.data_dir = read_options(config["metadata"]).data_dir
                benchmark = benchmark_of(one.official)
                if one.data_dir is None and benchmark.source.sha256:
                    members = families()[benchmark.prepared_as]
                    state = stored(members, [one.official.dataset])
                    if state.state in (DAMAGED, MISSING):
                        one.absent = state
                        self._meta = {**meta, KEY: {**options, "data_dir": SAMPLE}}
                if one.absent is None or benchmark.samples.is_dir():
                    one.task = super()._build_task(entry, overrides)
            except Exception as error:  # the run would end with it, whoever raises it
                one.problem = error
            finally:
                self._meta = meta
        return SimpleNamespace(task_name=one.name)


def read_run(
    arguments: Sequence[str], beside: Beside
) -> tuple[EvaluatorConfig, Namespace, list[str]]:
    """Return what `run ARGUMENTS` hands to the harness, and what a preset sets.

    Raises:
        LongBenchError: `run` would refuse the arguments.
        ValueError, TypeError, OSError: the harness would.
    """
    said: list[str] = []
    parsed = read(arguments, beside)
    complete(parsed, dataclasses.replace(beside, say=said.append))
    with contextlib.redirect_stdout(io.StringIO()):  # it prints a config file's content
        return EvaluatorConfig.from_cli(parsed), parsed, said


def build_tasks(run: EvaluatorConfig, parsed: Namespace) -> list[Built]:
    """Return the tasks of a run, each once, in the order of the run.

    Raises:
        Exception: the harness's own, of names that it does not find.
    """
    with index_of(parsed):
        manager = run.process_tasks(run.metadata)
    manager._factory = factory = BuiltTasks(run.metadata or {})
    manager.load(run.tasks)
    return list(factory.found.values())


def measure(run: EvaluatorConfig, backend: Backend, one: Built) -> None:
    """Find out what a built task asks, and how long its prompts may be."""
    task = one.task
    if run.gen_kwargs:
        task.set_config("generation_kwargs", dict(run.gen_kwargs), update=True)
    one.generation = dict(task.config.generation_kwargs)
    one.asked = one.questions = one.official.questions if one.absent else len(task.eval_docs)
    if run.limit is not None:
        most = math.ceil(one.asked * run.limit) if run.limit < 1 else int(run.limit)
        one.asked = min(one.asked, most)
    one.asked = len((run.samples or {}).get(one.name, ())) or one.asked
    options, metadata = task.asking.options, task.config.metadata
    template = backend.chat_template if run.apply_chat_template else None
    try:
        fold_budget(one.name, one.generation)
        one.limit = resolve_limit(
            options.truncate_to,
            metadata,
            one.generation["max_gen_toks"],
            uncut=has_own_client(backend.model)
            or (template is not None and only_messages(template)),
        )
    except LongBenchError as error:
        one.problem = error
    one.tokenizer = find_tokenizer(tokenizer_name(options.tokenizer, metadata), metadata)


def ask(run: EvaluatorConfig, backend: Backend, one: Built, names: Collection[str]) -> None:
    """Build the first request of a task: as the model would get it, where that can be had.

    Args:
        run: its arguments.
        backend: the model.
        one: the task, measured.
        names: of all tasks of the run.
    """
    task, chosen = one.task, (run.samples or {}).get(one.name)
    share: dict[str, Any] = {"samples": chosen[:1]} if chosen else {"limit": 1}
    _, doc = next(iter(task.doc_iterator(**share)))
    if task.asking.first_pass and task.asking.first_pass in names:
        task.asking.embed({question_id(doc): REASONING})
    one.whole = task.doc_to_text(doc)
    template = backend.chat_template if run.apply_chat_template else None
    if run.apply_chat_template and template is None and one.official.chat:
        return  # why there is no template is said of the model
    cuts = backend.kind == LOCAL or (one.limit is not None and one.limit.tokens is not None)
    tokenizer = one.tokenizer.tokenizer
    if cuts and tokenizer is None:
        return  # the same of the tokenizer
    with called(backend.model, [task]):
        task.build_all_requests(
            **share,
            system_instruction=run.system_instruction,
            apply_chat_template=bool(run.apply_chat_template),
            chat_template=template,
        )
    one.sent, one.signature = task.instances[0].args[0], task.config.metadata["longbench_run"]
    if tokenizer is not None:
        whole = count_tokens(tokenizer, one.whole)
        one.tokens = whole, None
        if isinstance(one.sent, str):
            raw = one.signature["chat"] == "raw"
            wrapped = "?" if raw else sender(template, run.system_instruction)("?")
            sent, probe, bare = sent_lengths((one.sent, wrapped, "?"), tokenizer)
            one.tokens, one.template = (whole, sent), probe - bare
