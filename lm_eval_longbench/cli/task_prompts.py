"""How the prompts of a harness task are made, for any benchmark."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

from lm_eval_longbench.catalog import SPLITS
from lm_eval_longbench.catalog_pro import BY_CODE
from lm_eval_longbench.catalog_v2 import DOMAINS
from lm_eval_longbench.errors import UnknownNameError
from lm_eval_longbench.options import Options
from lm_eval_longbench.prompts import longbench_pro, longbench_v1, longbench_v2
from lm_eval_longbench.prompts.truncation import RULE_PRO, RULE_V1, RULE_V2, Rule

if TYPE_CHECKING:
    from lm_eval_longbench.data.documents import Documents


@dataclass(frozen=True)
class TaskPrompts:
    """The way from a task's documents to its prompts.

    Attributes:
        load: opens the documents, given the option `data_dir`.
        render: a document's whole prompt.
        rule: how a long prompt is cut.
    """

    load: Callable[[str | None], Documents]
    render: Callable[[Mapping[str, Any]], str]
    rule: Rule


def _load_v1(split: Any, data_dir: str | None) -> Documents:
    from lm_eval_longbench.data.longbench_v1 import load  # slow to import

    return load(split, data_dir)


def _load_pro(task: Any, data_dir: str | None) -> Documents:
    from lm_eval_longbench.data.longbench_pro import load  # slow to import

    return load(task, data_dir)


def _load_v2(domain: Any, data_dir: str | None) -> Documents:
    from lm_eval_longbench.data.longbench_v2 import load  # slow to import

    return load(domain, data_dir)


def _render_cot_answer(document: Mapping[str, Any]) -> str:
    """Render a document whose field `cot` holds the reasoning, as the golden prompts' do."""
    return longbench_v2.render(document, longbench_v2.COT_ANSWER, document.get("cot"))


def _render_rag(document: Mapping[str, Any]) -> str:
    """Render with the document's own `retrieved_context`, else with chunks retrieved here."""
    from lm_eval_longbench.retrieval.own import retrieve  # slow to import

    top = Options().rag_top_n
    chunks = document.get("retrieved_context") or retrieve(document, top)
    context = longbench_v2.retrieved_document(chunks, top)
    return longbench_v2.render({**document, "context": context}, longbench_v2.RAG)


def _all_v2() -> dict[str, TaskPrompts]:
    zero_shot = partial(longbench_v2.render, template=longbench_v2.ZERO_SHOT)
    modes: dict[str, Callable[[Mapping[str, Any]], str]] = {
        "": zero_shot,
        "_no_context": partial(longbench_v2.render, template=longbench_v2.NO_CONTEXT),
        "_cot": partial(longbench_v2.render, template=longbench_v2.COT),
        "_cot_answer": _render_cot_answer,
        "_rag": _render_rag,
    }
    found = {
        f"longbench_v2{mode}": TaskPrompts(partial(_load_v2, None), render, RULE_V2)
        for mode, render in modes.items()
    }
    for domain in DOMAINS:
        found[f"longbench_v2_{domain}"] = TaskPrompts(partial(_load_v2, domain), zero_shot, RULE_V2)
    return found


def _all() -> dict[str, TaskPrompts]:
    found = {
        split.task: TaskPrompts(
            partial(_load_v1, split),
            partial(longbench_v1.render, split.info.name),
            RULE_V1,
        )
        for split in SPLITS
    }
    for code, task in BY_CODE.items():
        for form, thinking in (("longbench_pro", False), ("longbench_pro_thinking", True)):
            found[f"{form}_{code}"] = TaskPrompts(
                partial(_load_pro, task),
                partial(longbench_pro.render, thinking=thinking),
                RULE_PRO,
            )
    return found | _all_v2()


def prompts_of_task(task: str) -> TaskPrompts:
    """Return how the prompts of a task are made; UnknownNameError if there is no such task."""
    known = _all()
    if task not in known:
        raise UnknownNameError("task", task, known)
    return known[task]
