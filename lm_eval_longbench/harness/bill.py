"""What a run asks: requests, tokens and cost, before anything is sent."""

from __future__ import annotations

import contextlib
import json
from argparse import Namespace
from collections import defaultdict
from collections.abc import Sequence
from typing import Any

from lm_eval_longbench.benchmarks.registry import read_options
from lm_eval_longbench.errors import LongBenchError
from lm_eval_longbench.harness.arguments import model_of
from lm_eval_longbench.harness.backend import as_text
from lm_eval_longbench.harness.generation import BUDGETS
from lm_eval_longbench.harness.kept_answers import Wanted
from lm_eval_longbench.harness.prefill import document_of
from lm_eval_longbench.prompts.prepare import common
from lm_eval_longbench.prompts.tokenizer import load_tokenizer, tokenizer_name
from lm_eval_longbench.prompts.truncation import count_tokens
from lm_eval_longbench.records.summary import TaskAnswers

# Characters a token, about: of a text in ASCII, and of others.
_ASCII, _OTHERS = 4.0, 1.5


def bill_of(
    parsed: Namespace, wanted: Sequence[Wanted]
) -> tuple[dict[str, TaskAnswers], str | None]:
    """Return what some requests cost.

    Args:
        parsed: arguments of the run, which say what tokenizer counts.
        wanted: requests that are to be asked.

    Returns:
        By task the answers: tokens of their prompts as sent, and of the answers at most. Cached are
        those at the beginning of an earlier prompt on the same document; servers with prefix
        caching, and `hf` here, read them once. Beside it the tokenizer that counted; None: none is
        known, tokens are estimated from characters.
    """
    arguments = dict(model_of(parsed)[1])
    name, tokenizer = tokenizer_name(read_options(parsed.metadata or {}).tokenizer, arguments), None
    with contextlib.suppress(LongBenchError):  # said beside the numbers: they are estimated
        tokenizer = load_tokenizer(name, arguments)
    found: defaultdict[str, TaskAnswers] = defaultdict(TaskAnswers)
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
        found[str(one.instance.task_name)] += TaskAnswers(
            1, prompt_tokens=lengths[sent], cached_tokens=shared, completion_tokens=budget
        )
    return found, None if tokenizer is None else name


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
