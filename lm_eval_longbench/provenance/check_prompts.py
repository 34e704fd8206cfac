"""Render and cut the prompts of a log again, and compare their hashes."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from lm_eval_longbench.catalog import split_of_task
from lm_eval_longbench.errors import LongBenchError
from lm_eval_longbench.prompts import longbench_pro, longbench_v1, longbench_v2
from lm_eval_longbench.prompts.templates import template_sha256
from lm_eval_longbench.prompts.text_hash import text_sha256
from lm_eval_longbench.prompts.truncation import RULE_PRO, RULE_V1, RULE_V2, Rule, truncate
from lm_eval_longbench.provenance.check import NOT_CHECKABLE, Check, all_of
from lm_eval_longbench.provenance.check_signature import our_template
from lm_eval_longbench.provenance.packages import package_versions
from lm_eval_longbench.provenance.read_log import LogRow
from lm_eval_longbench.provenance.read_results import TaskResult
from lm_eval_longbench.provenance.recompute import COT_ANSWER

if TYPE_CHECKING:
    from collections.abc import Callable

    from transformers import PreTrainedTokenizerBase

    from lm_eval_longbench.data.documents import Documents

    Render = Callable[[Mapping[str, Any]], str]
    Texts = Callable[[LogRow], str | None]

KIND, CUT = "prompts", "cut prompts"
# By the start of a task's name.
_RULES = {"longbench_v1": RULE_V1, "longbench_v2": RULE_V2, "longbench_pro": RULE_PRO}
_RAG, _NO_CONTEXT = "longbench_v2_rag", "longbench_v2_no_context"
_V2 = {
    "longbench_v2": longbench_v2.ZERO_SHOT,
    _NO_CONTEXT: longbench_v2.NO_CONTEXT,
    "longbench_v2_cot": longbench_v2.COT,
}
# Prompts without a document: the log has all that they are made of.
_FROM_LOG = (_NO_CONTEXT, COT_ANSWER)
# Prompts that had to make room for a chat template were cut to fewer tokens than the limit.
_FURTHER = 128
_WRONG = "Other prompts were sent than the log, the data and the options say."


def _render_of(task: str) -> Render:
    """Return how a document of a task becomes its prompt; without retrieval."""
    if task.startswith("longbench_v1"):
        return partial(longbench_v1.render, split_of_task(task).info.name)
    if task.startswith("longbench_pro"):
        return partial(longbench_pro.render, thinking=task.startswith("longbench_pro_thinking"))
    return partial(longbench_v2.render, template=_V2[task])


def check_prompts(
    task: TaskResult,
    rows: Sequence[LogRow],
    documents: Documents | str,
    places: Mapping[int, int],
    reasoning: Mapping[str, str] | str,
    tokenizer: Callable[[], PreTrainedTokenizerBase | str],
) -> Iterator[Check]:
    """Yield the check of the whole prompts and, if there are any, of the cut ones.

    Args:
        task: what the results file says.
        rows: of its log.
        documents: its data; a text: why it is not here.
        places: row number in the data by line of the log.
        reasoning: of pass one by question, for chain of thought; a text: why it is not here.
        tokenizer: called if prompts were cut; returns a text for why it is not here.
    """
    name = str(task.run.get("task"))
    problem = ""
    if name == _RAG:
        problem = "They hold retrieved chunks, which the log does not keep."
    elif task.run.get("template_sha256") != template_sha256(*our_template(name)):
        problem = "They are from another version of the template."
    elif name not in _FROM_LOG and isinstance(documents, str):
        problem = documents
    elif name == COT_ANSWER and isinstance(reasoning, str):
        problem = reasoning
    if problem:
        yield Check(KIND, KIND, NOT_CHECKABLE, f"{len(rows)} rows", None, problem)
        return
    whole = [row for row in rows if not row.prompt.get("truncated")]
    cut = [row for row in rows if row.prompt.get("truncated")]
    texts = partial(_text, name, documents, places, reasoning)
    if whole:
        wrong = list(_wrong_whole(whole, texts))
        yield all_of(KIND, len(whole), wrong, "the hash of the rendered prompt", _WRONG)
    if cut:
        found = tokenizer()
        rule = next((rule for start, rule in _RULES.items() if name.startswith(start)), None)
        rule = rule if rule and rule.__name__ == task.run.get("truncation") else None
        limit = task.run.get("limit")
        if isinstance(found, str):
            problem = found
        elif rule is None or not isinstance(limit, int):
            problem = "The signature names no known truncation rule and limit."
        if isinstance(found, str) or rule is None or not isinstance(limit, int):
            yield Check(CUT, CUT, NOT_CHECKABLE, f"{len(cut)} rows", None, problem)
        else:
            yield from _cuts(task, cut, texts, found, limit, rule)


def _cuts(
    task: TaskResult,
    rows: Sequence[LogRow],
    texts: Texts,
    tokenizer: PreTrainedTokenizerBase,
    limit: int,
    rule: Rule,
) -> Iterator[Check]:
    """Yield the checks of cut prompts; their limit is the official one, or the model's."""
    official = str(task.run.get("limit_source")).startswith("truncate_to=")
    further = 0 if official else _FURTHER
    wrong, unlike = _wrong_cuts(rows, texts, tokenizer, limit, rule, further)
    packages = task.run.get("packages")
    recorded = packages.get("tokenizers") if isinstance(packages, Mapping) else None
    ours = package_versions()["tokenizers"]
    excuse = ""
    if recorded != ours:
        excuse = f"They were cut again with tokenizers {ours} instead of {recorded}."
    elif not official:
        excuse = (
            f"They are not cut at the limit nor within {_FURTHER} tokens of it. A long system "
            "instruction or chat template may have taken more room."
        )
    sure = len(rows) - (len(unlike) if excuse else 0)
    if sure:
        differing = wrong + ([] if excuse else unlike)
        yield all_of(CUT, sure, differing, "the hash of the prompt, cut again", _WRONG)
    if unlike and excuse:
        yield Check(CUT, CUT, NOT_CHECKABLE, f"{len(unlike)} rows", None, excuse)


def _text(
    task: str,
    documents: Documents | str,
    places: Mapping[int, int],
    reasoning: Mapping[str, str] | str,
    row: LogRow,
) -> str | None:
    """Return the whole prompt of a row; None: its question is nowhere."""
    document: Mapping[str, Any] = row.doc
    if task == COT_ANSWER:
        if isinstance(reasoning, str) or row.name not in reasoning:
            return None
        return longbench_v2.render(document, longbench_v2.COT_ANSWER, reasoning[row.name])
    if not isinstance(documents, str):
        if row.line not in places:
            return None
        document = documents.rows[places[row.line]]
    return _render_of(task)(document)


def _place(row: LogRow) -> str:
    return f"line {row.line} ({row.name})"


def _wrong_whole(rows: Sequence[LogRow], texts: Texts) -> Iterator[str]:
    """Yield a sentence for each row whose whole prompt is not what its hash says."""
    for row, text, problem in _rendered(rows, texts):
        if problem or text_sha256(text) != row.prompt.get("sha256"):
            yield problem or f"{_place(row)} had another prompt"


def _rendered(rows: Iterable[LogRow], texts: Texts) -> Iterator[tuple[LogRow, str, str]]:
    """Yield each row with its whole prompt, or with why it has none."""
    for row in rows:
        try:
            text = texts(row)
        except LongBenchError as error:
            yield row, "", f"{_place(row)}: {error}"
            continue
        yield row, text or "", "" if text is not None else f"{_place(row)} is not in the data"


def _wrong_cuts(
    rows: Sequence[LogRow],
    texts: Texts,
    tokenizer: PreTrainedTokenizerBase,
    limit: int,
    rule: Rule,
    further: int,
) -> tuple[list[str], list[str]]:
    """Return a sentence for each row without a prompt, and for each with another than its hash.

    Args:
        further: tokens below the limit at which a prompt may have been cut.
    """
    wrong: list[str] = []
    unlike: list[str] = []
    waiting: deque[tuple[LogRow, str]] = deque()

    def known() -> Iterator[str]:
        for row, text, problem in _rendered(rows, texts):
            if problem:
                wrong.append(problem)
            else:
                waiting.append((row, text))
                yield text

    for cut in truncate(known(), tokenizer, limit, rule):
        row, text = waiting.popleft()
        wanted = row.prompt.get("sha256")
        if text_sha256(cut.text) != wanted and not any(
            text_sha256(next(truncate([text], tokenizer, tokens, rule)).text) == wanted
            for tokens in range(limit - 1, max(2, limit - further) - 1, -1)
        ):
            unlike.append(f"{_place(row)} had another prompt")
    return wrong, unlike
