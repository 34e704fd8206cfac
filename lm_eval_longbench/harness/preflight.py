"""Build one task of a run as the run itself would, up to its first request, and send nothing."""

from __future__ import annotations

import contextlib
import io
from collections.abc import Collection
from dataclasses import replace
from typing import Any

from lm_eval.evaluator_utils import get_sample_size
from lm_eval.tasks import TaskManager

from lm_eval_longbench.harness.backend import only_messages
from lm_eval_longbench.harness.budget import fold_budget
from lm_eval_longbench.harness.limit import resolve_limit
from lm_eval_longbench.harness.longbench_v2_cot import LongBenchV2CotAnswerTask
from lm_eval_longbench.harness.preflight_facts import LOCAL, Backend, Leaf, Run, TaskFacts
from lm_eval_longbench.harness.preflight_tokenizer import find_tokenizer
from lm_eval_longbench.harness.task import LongBenchTask
from lm_eval_longbench.harness.two_passes import PASS_ONE
from lm_eval_longbench.prompts.tokenizer import tokenizer_name

# What stands in the first prompt of pass two for what pass one will have reasoned.
REASONING = "(the reasoning of pass one)"


def ask_task(
    run: Run, leaf: Leaf, backend: Backend, manager: TaskManager, names: Collection[str] = ()
) -> TaskFacts:
    """Return what there is to know of a task before it is run.

    Whatever stops its construction would stop the run: it becomes `problem`, with what was found
    out before.

    Args:
        run: the arguments.
        leaf: the task.
        backend: where its requests would go.
        manager: the harness's tasks; see `preflight_leaves.open_tasks`.
        names: of all tasks of the run.
    """
    facts = TaskFacts(leaf.name, str(leaf.benchmark))
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


def _spec(leaf: Leaf) -> Any:
    return leaf.spec if isinstance(leaf.spec, str) else dict(leaf.spec)


def _asked(facts: TaskFacts, run: Run, task: LongBenchTask) -> TaskFacts:
    """Add what the finished task says of itself, the user's generation arguments included."""
    if run.gen_kwargs:
        task.set_config("generation_kwargs", dict(run.gen_kwargs), update=True)
    options = task.options
    questions = len(task.eval_docs)
    chosen = (run.samples or {}).get(facts.name)
    limit = get_sample_size(task, run.limit)
    asked = len(chosen) if chosen is not None else questions
    return replace(
        facts,
        title=task.TITLE,
        questions=questions,
        asked=asked if limit is None else min(limit, asked),
        repeats=options.repeats or facts.repeats,
        official_repeats=task.REPEATS,
        generation=dict(task.config.generation_kwargs),
        official_generation=task.official_generation(),
        one_message=task.ONE_MESSAGE,
        sends_raw=task.sends_raw(),
        overlength=options.overlength,
        log_prompts=options.log_prompts,
    )


def _with_limit(facts: TaskFacts, run: Run, task: LongBenchTask, backend: Backend) -> TaskFacts:
    """Add the limit of prompts and the tokenizer that keeps it."""
    options, metadata = task.options, task.config.metadata
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
    facts: TaskFacts, run: Run, task: LongBenchTask, backend: Backend, names: Collection[str]
) -> TaskFacts:
    """Add the first prompt, before it is cut and as the backend would get it."""
    chosen = (run.samples or {}).get(facts.name)
    share = {"samples": chosen[:1]} if chosen else {"limit": 1}
    _, doc = next(iter(task.doc_iterator(**share)))
    if isinstance(task, LongBenchV2CotAnswerTask) and not task.reads_log and PASS_ONE in names:
        task.embed({doc["_id"]: REASONING})
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
    prompt, generation = task.instances[0].arguments
    signature = task.config.metadata["longbench_run"]
    raw = signature["chat"] == "raw"
    probe = "?" if raw else _wrapped("?", template, run.system_instruction)
    return replace(
        facts,
        whole=task.doc_to_text(doc),
        sent=prompt if isinstance(prompt, str) else prompt.prompt,
        as_messages=not isinstance(prompt, str),
        probe=probe,
        sent_generation=dict(generation),
        repeats=signature["repeats"],
        chat=signature["chat"],
    )


def _wrapped(text: str, template: Any, system_instruction: str | None) -> str:
    """Return a text as the backend gets it, messages as JSON."""
    if template is None:
        return (system_instruction or "") + text
    system = [{"role": "system", "content": system_instruction}] if system_instruction else []
    wrapped = template([*system, {"role": "user", "content": text}])
    return wrapped if isinstance(wrapped, str) else wrapped.prompt
