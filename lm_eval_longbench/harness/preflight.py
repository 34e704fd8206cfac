"""Find out what a run would do: its arguments, its tasks, the first request of each.

Nothing is sent, and no model is loaded.
"""

from __future__ import annotations

import contextlib
import glob
import io
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from lm_eval.tasks import TaskManager

from lm_eval_longbench.benchmarks.registry import benchmark_of, presets_named
from lm_eval_longbench.errors import OptionError, UnknownNameError
from lm_eval_longbench.harness.backend import only_messages
from lm_eval_longbench.harness.command import (
    joined_include_paths,
    parse,
    with_both_passes,
    with_name,
    with_preset,
)
from lm_eval_longbench.harness.definitions import asked_task
from lm_eval_longbench.harness.generation import fold_budget
from lm_eval_longbench.harness.preflight_facts import (
    LOCAL,
    Backend,
    PlannedRun,
    PlannedTask,
    TaskFacts,
    find_tokenizer,
)
from lm_eval_longbench.harness.private_names import DOCTOR, RUN, require
from lm_eval_longbench.harness.prompts import resolve_limit, sender
from lm_eval_longbench.harness.record import question_id
from lm_eval_longbench.harness.releases import (
    defaults_of_members,
    sample_size,
    task_index,
)
from lm_eval_longbench.harness.task import LongBenchTask
from lm_eval_longbench.options import KEY
from lm_eval_longbench.prompts.tokenizer import tokenizer_name

# What stands in the first prompt of pass two for what pass one will have reasoned.
REASONING = "(the reasoning of pass one)"
# Name of the group that a task with overrides is loaded through.
_WRAPPER = "lm_eval_longbench_preflight"
# The preflight asks for embeddings itself, once, and waits less long.
_EMBEDDING = ("embedding_model", "embedding_url")


# ---------------------------------------------------------------------- the arguments


def read_run(
    arguments: Sequence[str], preset: str | None = None, *, thinking: bool = False
) -> PlannedRun:
    """Return what `lm-eval-longbench run ARGUMENTS` would do.

    Args:
        arguments: the harness's own, and our flags.
        preset: published model whose settings are used where the arguments leave them open.
        thinking: its settings for thinking scores.

    Raises:
        SystemExit: after the help.
        UnknownNameError: there is no such flag, preset or task.
        OptionError: a value cannot be read, or the harness refuses the arguments together.
    """
    require(RUN)
    require(DOCTOR)
    from lm_eval.config.evaluate_config import EvaluatorConfig

    if preset is not None:
        presets_named(preset, thinking=thinking)  # a misspelt one is said before all else
    parsed = parse(arguments)
    try:
        said = with_preset(parsed, preset, thinking=thinking) if preset is not None else ""
        parsed.include_path = joined_include_paths(parsed.include_path, parsed.config) or None
        with_both_passes(parsed)
        with_name(parsed)
        with contextlib.redirect_stdout(io.StringIO()):  # it prints a config file's content
            config = EvaluatorConfig.from_cli(parsed)
    except (ValueError, TypeError, OSError) as error:
        raise OptionError(f"The harness refuses these arguments: {error}") from error
    if not isinstance(config.samples, dict | None):
        raise OptionError(f"--samples is neither JSON nor a file with JSON: {config.samples!r}.")
    for task, chosen in (config.samples or {}).items():
        if (
            not isinstance(chosen, list)
            or not chosen
            or not all(type(own) is int for own in chosen)
        ):
            raise OptionError(
                f"--samples: {task} needs a list of one or more whole numbers, not {chosen!r}."
            )
    return PlannedRun(
        model=config.model,
        model_args=dict(config.model_args),
        tasks=tuple(_names(config.tasks)),
        metadata=dict(config.metadata),
        gen_kwargs=dict(config.gen_kwargs or {}),
        chat=config.apply_chat_template,
        system_instruction=config.system_instruction,
        limit=config.limit,
        samples=config.samples,
        use_cache=config.use_cache,
        output_path=config.output_path,
        log_samples=config.log_samples,
        include_path=_paths(config.include_path),
        said=said,
    )


def _paths(given: str | Sequence[str] | None) -> tuple[str, ...]:
    return (given,) if isinstance(given, str) else tuple(given or ())


def _names(tasks: Any) -> list[Any]:
    """Return the wanted tasks one by one; a text may name several."""
    given = [tasks] if isinstance(tasks, str) else list(tasks or ())
    parts = [part.split(",") if isinstance(part, str) else [part] for part in given]
    return [name.strip() if isinstance(name, str) else name for part in parts for name in part]


# ---------------------------------------------------------------------- the tasks


def open_tasks(
    run: PlannedRun, *, include_defaults: bool | None = None
) -> tuple[TaskManager, list[PlannedTask]]:
    """Return the harness's manager of tasks, and each task that a run evaluates, once.

    Args:
        run: its arguments.
        include_defaults: whether the harness's own tasks are indexed, which takes ten seconds;
            None: only if the wanted ones are not all found without them.

    Raises:
        UnknownNameError: a wanted task does not exist; names the nearest.
    """
    require(DOCTOR)
    exact = not any(isinstance(name, str) and _is_pattern(name) for name in run.tasks)
    if include_defaults is None and exact:
        try:
            return open_tasks(run, include_defaults=False)
        except UnknownNameError:
            include_defaults = True
    manager = TaskManager(
        include_path=list(run.include_path) or None,
        include_defaults=include_defaults is not False,
        metadata=_without_embedding(run.metadata),
    )
    leaves: dict[str, PlannedTask] = {}
    for wanted in run.tasks:
        for item in _matches(wanted, manager):
            for leaf in _expand(item, {}, task_index(manager), run.metadata):
                leaves.setdefault(leaf.name, leaf)
    return manager, list(leaves.values())


def _without_embedding(metadata: Mapping[str, Any]) -> dict[str, Any]:
    options = metadata.get(KEY)
    if not isinstance(options, Mapping):
        return dict(metadata)
    kept = {name: value for name, value in options.items() if name not in _EMBEDDING}
    return {**metadata, KEY: kept}


def _is_pattern(name: str) -> bool:
    return glob.has_magic(name) and not name.endswith(".yaml")


def _matches(
    wanted: str | Mapping[str, Any], manager: TaskManager
) -> Sequence[str | Mapping[str, Any]]:
    """Return the names or definitions that one wanted task stands for, as the harness does."""
    if not isinstance(wanted, str):
        return [wanted]
    from lm_eval.tasks._yaml_loader import load_yaml

    if wanted.endswith(".yaml"):
        found: Sequence[Any] = [load_yaml(Path(file).absolute()) for file in glob.glob(wanted)]
    else:
        found = manager.match_tasks([wanted])
        if not found and Path(wanted).is_dir():
            found = [load_yaml(file) for file in sorted(Path(wanted).absolute().glob("*.yaml"))]
    if not found:
        raise UnknownNameError("task", wanted, manager.all_tasks)
    return found


def _expand(
    item: str | Mapping[str, Any],
    overrides: Mapping[str, Any],
    index: Mapping[str, Any],
    metadata: Mapping[str, Any],
) -> Iterator[PlannedTask]:
    """Yield the tasks of a name or a group's member, with what groups around it override."""
    if isinstance(item, Mapping):
        name = item.get("group") or item.get("task")
        # A list of tasks belongs to an inline group; a name only says which one is meant.
        more = {key: value for key, value in item.items() if key not in ("group", "task")}
        if not isinstance(name, str) or name not in index:
            yield from _inline(item, overrides, index, metadata)
            return
        overrides = {**overrides, **more}
        item = name
    entry = index.get(item)
    if entry is None:
        raise UnknownNameError("task", item, index)
    if entry.kind.name == "GROUP":
        yield from _members(entry.cfg or {}, overrides, index, metadata, entry.yaml_path)
    elif entry.kind.name == "TAG":
        for name in sorted(entry.tags):
            yield from _expand(name, overrides, index, metadata)
    else:
        from lm_eval.tasks._yaml_loader import load_yaml

        python = entry.kind.name == "PY_TASK" and entry.yaml_path is not None
        config = load_yaml(entry.yaml_path) if python else entry.cfg or {}
        spec = {"group": _WRAPPER, "task": [{**overrides, "task": item}]} if overrides else item
        yield _leaf(item, {**config, **overrides}, metadata, spec)


def _members(
    group: Mapping[str, Any],
    overrides: Mapping[str, Any],
    index: Mapping[str, Any],
    metadata: Mapping[str, Any],
    file: Path | None = None,
) -> Iterator[PlannedTask]:
    own = defaults_of_members(group, file)
    members = group.get("task") or ()
    for member in [members] if isinstance(members, str) else members:
        yield from _expand(member, {**own, **overrides}, index, metadata)


def _inline(
    item: Mapping[str, Any],
    overrides: Mapping[str, Any],
    index: Mapping[str, Any],
    metadata: Mapping[str, Any],
) -> Iterator[PlannedTask]:
    """Yield the tasks of a definition that stands where a name could."""
    if "group" in item:
        yield from _members(item, overrides, index, metadata)
    elif "class" in item or "dataset_path" in item:
        yield _leaf(str(item["task"]), {**item, **overrides}, metadata, {**item, **overrides})
    else:
        raise UnknownNameError("task", item.get("task"), index)


def _leaf(
    name: str, config: Mapping[str, Any], metadata: Mapping[str, Any], spec: str | Mapping[str, Any]
) -> PlannedTask:
    cls = config.get("class")
    task = None
    if isinstance(cls, type) and issubclass(cls, LongBenchTask):
        task = asked_task(config)
    return PlannedTask(
        name=name,
        task=None if task is None else task.name,
        metadata={**(config.get("metadata") or {}), **metadata},
        repeats=int(config.get("repeats") or (1 if task is None else benchmark_of(task).repeats)),
        spec=spec,
    )


# ---------------------------------------------------------------------- one task


def ask_task(
    run: PlannedRun,
    leaf: PlannedTask,
    backend: Backend,
    manager: TaskManager,
    names: Collection[str] = (),
) -> TaskFacts:
    """Return what there is to know of a task before it is run.

    Whatever stops its construction would stop the run: it becomes `problem`, with what was found
    out before.

    Args:
        run: the arguments.
        leaf: the task.
        backend: where its requests would go.
        manager: the harness's tasks; see `open_tasks`.
        names: of all tasks of the run.
    """
    facts = TaskFacts(leaf.name, str(leaf.task))
    try:
        (task,) = manager.load(_spec(leaf))["tasks"].values()
        facts = _asked(facts, run, task)
        facts = _with_limit(facts, run, task, backend)
        return _with_request(facts, run, task, backend, names)
    except Exception as error:  # the run would end with it, whoever raises it
        kind = (
            "" if type(error).__module__.startswith("lm_eval_longbench") else type(error).__name__
        )
        return replace(facts, problem=f"{kind}: {error}" if kind else str(error))


def _spec(leaf: PlannedTask) -> Any:
    return leaf.spec if isinstance(leaf.spec, str) else dict(leaf.spec)


def _asked(facts: TaskFacts, run: PlannedRun, task: LongBenchTask) -> TaskFacts:
    """Add what the finished task says of itself, the user's generation arguments included."""
    if run.gen_kwargs:
        task.set_config("generation_kwargs", dict(run.gen_kwargs), update=True)
    asking = task.asking
    options, benchmark = asking.options, asking.benchmark
    questions = len(task.eval_docs)
    chosen = (run.samples or {}).get(facts.name)
    limit = sample_size(task, run.limit)
    asked = len(chosen) if chosen is not None else questions
    return replace(
        facts,
        title=benchmark.title,
        questions=questions,
        asked=asked if limit is None else min(limit, asked),
        repeats=options.repeats or facts.repeats,
        official_repeats=benchmark.repeats,
        generation=dict(task.config.generation_kwargs),
        official_generation=benchmark.generation(asking.task),
        one_message=benchmark.one_message,
        sends_raw=not asking.task.chat,
        overlength=options.overlength,
        log_prompts=options.log_prompts,
    )


def _with_limit(
    facts: TaskFacts, run: PlannedRun, task: LongBenchTask, backend: Backend
) -> TaskFacts:
    """Add the limit of prompts and the tokenizer that keeps it."""
    options, metadata = task.asking.options, task.config.metadata
    generation = dict(facts.generation)
    fold_budget(facts.name, generation)
    template = backend.chat_template
    limit = resolve_limit(
        options.truncate_to,
        metadata,
        generation["max_gen_toks"],
        messages_only=bool(run.chat) and template is not None and only_messages(template),
    )
    tokenizer = find_tokenizer(tokenizer_name(options.tokenizer, metadata), metadata)
    return replace(facts, generation=generation, limit=limit, tokenizer=tokenizer)


def _with_request(
    facts: TaskFacts, run: PlannedRun, task: LongBenchTask, backend: Backend, names: Collection[str]
) -> TaskFacts:
    """Add the first prompt, before it is cut and as the backend would get it."""
    chosen = (run.samples or {}).get(facts.name)
    share = {"samples": chosen[:1]} if chosen else {"limit": 1}
    _, doc = next(iter(task.doc_iterator(**share)))
    if task.asking.first_pass and task.asking.first_pass in names:
        task.asking.embed({question_id(doc): REASONING})
    facts = replace(facts, whole=task.doc_to_text(doc))
    template = backend.chat_template if run.chat else None
    if run.chat and template is None and not facts.sends_raw:
        return facts  # why there is no template is said of the backend
    cuts = backend.kind == LOCAL or (facts.limit is not None and facts.limit.tokens is not None)
    if cuts and facts.tokenizer.tokenizer is None:
        return facts  # the same of the tokenizer
    with contextlib.redirect_stderr(io.StringIO()):  # a bar over one document
        task.build_all_requests(
            **share,
            system_instruction=run.system_instruction,
            apply_chat_template=bool(run.chat),
            chat_template=template,
        )
    prompt, generation = task.instances[0].args
    signature = task.config.metadata["longbench_run"]
    raw = signature["chat"] == "raw"
    probe = "?" if raw else sender(template, run.system_instruction)("?")
    return replace(
        facts,
        whole=task.doc_to_text(doc),
        sent=prompt if isinstance(prompt, str) else prompt.prompt,
        as_messages=not isinstance(prompt, str),
        probe=probe if isinstance(probe, str) else probe.prompt,
        sent_generation=dict(generation),
        repeats=signature["repeats"],
        chat=signature["chat"],
    )
