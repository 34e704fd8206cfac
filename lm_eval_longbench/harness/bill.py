"""What a run asks: requests, tokens and cost, before anything is sent."""

from __future__ import annotations

import contextlib
import json
from argparse import Namespace
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, NoReturn

from lm_eval_longbench.benchmarks.registry import read_options
from lm_eval_longbench.errors import LongBenchError, NothingSent
from lm_eval_longbench.harness.arguments import model_of
from lm_eval_longbench.harness.backend import as_text
from lm_eval_longbench.harness.generation import BUDGETS
from lm_eval_longbench.harness.kept_answers import Wanted
from lm_eval_longbench.harness.prefill import document_of
from lm_eval_longbench.prompts.prepare import common
from lm_eval_longbench.prompts.tokenizer import load_tokenizer, tokenizer_name
from lm_eval_longbench.prompts.truncation import count_tokens
from lm_eval_longbench.records.store import AnswerStore

# Characters a token, about: of a text in ASCII, and of others.
_ASCII, _OTHERS = 4.0, 1.5


@dataclass
class TaskBill:
    """What one task asks.

    Attributes:
        requests: answers that are not there yet.
        prompt: tokens of their prompts as sent.
        shared: of those, tokens that stood at the beginning of an earlier prompt on the same
            document; servers with prefix caching, and `hf` here, read them once.
        answer: tokens of the answers at most.
    """

    requests: int = 0
    prompt: int = 0
    shared: int = 0
    answer: int = 0

    def __add__(self, other: TaskBill) -> TaskBill:
        pairs = zip(vars(self).values(), vars(other).values(), strict=True)
        return TaskBill(*(one + two for one, two in pairs))


@dataclass
class Bill:
    """What a run asks.

    Attributes:
        tasks: by name, in order.
        tokenizer: that counted; None: none is known, tokens are estimated from characters.
    """

    tasks: dict[str, TaskBill] = field(default_factory=dict)
    tokenizer: str | None = None

    @property
    def total(self) -> TaskBill:
        """All tasks together."""
        return sum(self.tasks.values(), TaskBill())


def bill_of(parsed: Namespace, wanted: Sequence[Wanted]) -> Bill:
    """Return what some requests cost.

    Args:
        parsed: arguments of the run, which say what tokenizer counts.
        wanted: requests that are to be asked.
    """
    arguments = dict(model_of(parsed)[1])
    name, tokenizer = tokenizer_name(read_options(parsed.metadata or {}).tokenizer, arguments), None
    with contextlib.suppress(LongBenchError):  # said beside the numbers: they are estimated
        tokenizer = load_tokenizer(name, arguments)
    found = Bill(tokenizer=None if tokenizer is None else name)
    lengths: dict[str, int] = {}
    documents: dict[str, str] = {}
    for one in wanted:
        prompt, generation = one.instance.args
        sent, document = as_text(prompt), document_of(one.instance)
        shared = lengths.get(sent)
        if shared is None:
            lengths[sent] = _tokens(prompt, tokenizer)
            alike = common(documents.get(document or "", ""), sent)
            shared = round(lengths[sent] * alike / max(1, len(sent)))
        if document:
            documents[document] = sent
        budget = int(next((generation[key] for key in BUDGETS if key in generation), 256))
        task = str(one.instance.task_name)
        own = TaskBill(1, lengths[sent], shared, budget)
        found.tasks[task] = found.tasks.get(task, TaskBill()) + own
    return found


def _tokens(prompt: Any, tokenizer: Any) -> int:
    """Return the tokens of a prompt as the server sees it; without a tokenizer an estimate."""
    text = prompt
    if not isinstance(prompt, str):
        messages = json.loads(as_text(prompt))
        if getattr(tokenizer, "chat_template", None):
            text = tokenizer.apply_chat_template(
                messages, tokenize=False, add_generation_prompt=True
            )
            return count_tokens(tokenizer, text, special=False)
        text = "\n".join(str(one.get("content")) for one in messages)
    if tokenizer is not None:
        return count_tokens(tokenizer, text)
    ascii_ones = len(text.encode("ascii", "ignore"))
    return round(ascii_ones / _ASCII + (len(text) - ascii_ones) / _OTHERS)


def dry_run(
    parsed: Namespace, store: AnswerStore, model: Any, wanted: Sequence[Wanted]
) -> NoReturn:
    """Count what a run would ask, in place of asking it: the `instead` of `Beside`."""
    raise NothingSent("Nothing was sent.", bill_of(parsed, wanted))
