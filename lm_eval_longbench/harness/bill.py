"""What a run asks: requests, tokens and cost, before anything is sent."""

from __future__ import annotations

import json
from argparse import Namespace
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, NoReturn

from lm_eval_longbench.benchmarks.registry import read_options
from lm_eval_longbench.errors import LongBenchError, NothingSent
from lm_eval_longbench.harness.arguments import model_of
from lm_eval_longbench.harness.backend import as_text
from lm_eval_longbench.harness.generation import BUDGETS
from lm_eval_longbench.harness.kept_answers import Instead, Wanted
from lm_eval_longbench.harness.prefill import document_of
from lm_eval_longbench.prompts.tokenizer import load_tokenizer, tokenizer_name
from lm_eval_longbench.prompts.truncation import count_tokens
from lm_eval_longbench.records.price import Price
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

    def at_most(self, known: bool) -> str:
        """Return it in print where the prompts are upper bounds; `known`: whether they have one."""
        sent = f"at most {self.prompt:,} tokens" if known else "whole, for no limit is known"
        return (
            f"{self.requests:,} requests; prompts: {sent}; answers: at most {self.answer:,} tokens"
        )

    def add(self, other: TaskBill) -> None:
        """Add what another asks."""
        for name, value in vars(other).items():
            setattr(self, name, getattr(self, name) + value)


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
        found = TaskBill()
        for own in self.tasks.values():
            found.add(own)
        return found


def bill_of(wanted: Sequence[Wanted], tokenizer: Any, name: str | None) -> Bill:
    """Return what some requests cost.

    Args:
        wanted: requests that are to be asked.
        tokenizer: of the model; None: tokens are estimated.
        name: of the tokenizer.
    """
    found = Bill(tokenizer=name if tokenizer is not None else None)
    count = _estimated if tokenizer is None else _counter(tokenizer)
    lengths: dict[str, int] = {}
    documents: dict[str, str] = {}
    for one in wanted:
        sent = as_text(one.instance.args[0])
        generation = one.instance.args[1]
        own = TaskBill(requests=1)
        own.answer = int(next((generation[key] for key in BUDGETS if key in generation), 256))
        document = document_of(one.instance)
        if sent in lengths:
            own.prompt = own.shared = lengths[sent]
        else:
            own.prompt = lengths[sent] = count(sent)
            earlier = documents.get(document or "")
            if document and earlier is not None:
                common = _common(earlier, sent)
                own.shared = round(own.prompt * common / max(1, len(sent)))
        if document:
            documents[document] = sent
        found.tasks.setdefault(str(one.instance.task_name), TaskBill()).add(own)
    return found


def bill_json(bill: Bill, price: Price | None) -> dict[str, Any]:
    """Return the sum of a bill as JSON; of a batch, where no prompt is read once for several."""
    total = bill.total
    cost = None if price is None else price.of(total.prompt, 0, total.answer)
    return {
        "prompt_tokens": total.prompt,
        "answer_tokens_at_most": total.answer,
        "counted_with": bill.tokenizer,
        "cost_at_most": cost,
    }


def _common(one: str, other: str) -> int:
    """Return how many characters two texts begin with alike."""
    low, high = 0, min(len(one), len(other))
    while low < high:
        middle = (low + high + 1) // 2
        if one[:middle] == other[:middle]:
            low = middle
        else:
            high = middle - 1
    return low


def _estimated(sent: str) -> int:
    text = _plain(sent)
    ascii_ones = len(text.encode("ascii", "ignore"))
    return round(ascii_ones / _ASCII + (len(text) - ascii_ones) / _OTHERS)


def _plain(sent: str) -> str:
    messages = _messages(sent)
    return sent if messages is None else "\n".join(str(one.get("content")) for one in messages)


def _messages(sent: str) -> list[dict[str, Any]] | None:
    """Return the chat messages that a prompt is as JSON; None: it is a text."""
    if not sent.startswith("[{"):
        return None
    try:
        found = json.loads(sent)
    except ValueError:
        return None
    return found if all(isinstance(one, dict) and "role" in one for one in found) else None


def _counter(tokenizer: Any) -> Callable[[str], int]:
    """Return what counts the tokens of a prompt as the server sees it."""

    def count(sent: str) -> int:
        messages = _messages(sent)
        if messages is None:
            return count_tokens(tokenizer, sent)
        if getattr(tokenizer, "chat_template", None):
            text = tokenizer.apply_chat_template(
                messages, tokenize=False, add_generation_prompt=True
            )
            return count_tokens(tokenizer, text, special=False)
        return count_tokens(tokenizer, _plain(sent))

    return count


def counting(parsed: Namespace) -> Callable[[Sequence[Wanted]], Bill]:
    """Return what counts the requests of a run, by what its arguments say of the tokenizer."""
    options = read_options(parsed.metadata or {})
    arguments = dict(model_of(parsed)[1])
    name = tokenizer_name(options.tokenizer, arguments)
    try:
        tokenizer = load_tokenizer(name, arguments)
    except LongBenchError:
        tokenizer = None  # said beside the numbers: they are estimated
    return lambda wanted: bill_of(wanted, tokenizer, name)


class DryRun:
    """Counts what a run would ask, in place of asking it.

    Attributes:
        bill: of the last call; None: nothing was to be asked.
    """

    def __init__(self) -> None:
        self.bill: Bill | None = None

    def instead(self, parsed: Namespace, store: AnswerStore) -> Instead:
        """Return the `instead` of `Beside`."""

        def counted(model: Any, wanted: Sequence[Wanted]) -> NoReturn:
            self.bill = counting(parsed)(wanted)
            raise NothingSent("Nothing was sent.")

        return counted
