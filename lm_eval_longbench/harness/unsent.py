"""What a run would ask and does not: counted, or written to files for a batch API."""

from __future__ import annotations

import contextlib
import hashlib
import json
from argparse import Namespace
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import datetime, timezone
from pathlib import Path
from typing import Any, NoReturn

from lm_eval_longbench.benchmarks.registry import read_options
from lm_eval_longbench.errors import LongBenchError, NothingSent, OptionError, UnknownNameError
from lm_eval_longbench.harness.api_model import NAME, LongBenchAPI
from lm_eval_longbench.harness.arguments import model_of
from lm_eval_longbench.harness.backend import as_text
from lm_eval_longbench.harness.generation import BUDGETS
from lm_eval_longbench.harness.kept_answers import Instead, KeptAnswers, Wanted
from lm_eval_longbench.harness.prefill import document_of
from lm_eval_longbench.prompts.prepare import common
from lm_eval_longbench.prompts.render import text_sha256
from lm_eval_longbench.prompts.tokenizer import load_tokenizer, tokenizer_name
from lm_eval_longbench.prompts.truncation import count_tokens
from lm_eval_longbench.records.answer import Answer
from lm_eval_longbench.records.identity import shown
from lm_eval_longbench.records.summary import TaskAnswers
from lm_eval_longbench.reporting.cost import Price
from lm_eval_longbench.result_files import written_together
from lm_eval_longbench.server.batch import (
    ANTHROPIC,
    FORMATS,
    MANIFEST,
    Awaited,
    add_awaited,
    files_of_rows,
    request_row,
)
from lm_eval_longbench.version import __version__

# Characters a token, about: of a text in ASCII, and of others.
_ASCII, _OTHERS = 4.0, 1.5


def bill_of(
    parsed: Namespace, wanted: Sequence[Wanted]
) -> tuple[dict[str, TaskAnswers], str | None]:
    """Return what the requests of a run cost, and the tokenizer that its arguments name.

    By task the answers: tokens of their prompts as sent, and of the answers at most. Cached are
    those at the beginning of an earlier prompt on the same document; servers with prefix caching,
    and `hf` here, read them once. None for a tokenizer: tokens are estimated from characters.
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


# ---------------------------------------------------------------------- files for a batch API


def written_requests(folder: Path, form: str, price: Price | None = None) -> Instead:
    """Return what writes the requests of a run: the `instead` of `Beside`.

    Args:
        folder: for the files and their manifest; made if need be.
        form: one of FORMATS.
        price: for the cost in the manifest; None: it has tokens alone.

    Raises:
        UnknownNameError: there is no such form.
        OptionError: the folder has files already.
    """
    if form not in FORMATS:
        raise UnknownNameError("format of request files", form, FORMATS)
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise OptionError(f"--write-requests needs a folder that is new or empty, not {folder}.")

    def write(parsed: Namespace, answers: KeptAnswers, wanted: list[Wanted]) -> NoReturn:
        store, model = answers.store, answers.model
        if not isinstance(model, LongBenchAPI):
            raise OptionError(f"--write-requests is for --model {NAME}.")
        tasks, tokenizer = bill_of(parsed, wanted)  # where it cannot be made, nothing is written
        awaited: list[Awaited] = []

        def rows() -> Iterator[dict[str, Any]]:
            for one in wanted:
                request = model.request_of(one.instance)
                # 50 letters, digits and hyphens or so, for providers take 64. The model counts, so
                # that results of another one are foreign.
                name = f"{text_sha256(f'{store.identity} {one.key}')[:48]}-{one.repeat}"
                stops = request.parameters.get("stop") or ()
                left_out = ("seed",) if form == ANTHROPIC and request.seed is not None else ()
                known = (store.identity, store.path.name, one.kept(Answer("")))
                awaited.append(Awaited(name, *known, stops, left_out))
                yield request_row(form, name, model.server, request)

        files = []
        for number, data in enumerate(files_of_rows(form, rows()), start=1):
            path = folder / f"requests-{number:03}.{'json' if form == ANTHROPIC else 'jsonl'}"
            with written_together([path]) as (file,):
                file.write(data)
            digest = hashlib.sha256(data).hexdigest()
            files.append({"file": path.name, "bytes": len(data), "sha256": digest})
        total = sum(tasks.values(), TaskAnswers())
        manifest = {
            "format": form,
            "made_by": f"lm-eval-longbench {__version__}",
            "created": datetime.now(timezone.utc).isoformat(timespec="seconds"),
            "model": shown(store.identity),
            "answers": str(store.path),
            "requests": total.answered,
            "tasks": {name: own.answered for name, own in tasks.items()},
            "bill": {
                "prompt_tokens": total.prompt_tokens,
                "answer_tokens_at_most": total.completion_tokens,
                "counted_with": tokenizer,
                # In a batch no prompt is read once for several.
                "cost_at_most": price and price.of(replace(total, cached_tokens=0)),
            },
            "files": files,
        }
        add_awaited(store.path, awaited)
        with written_together([folder / MANIFEST]) as (file,):
            file.document(manifest)
        raise NothingSent(
            f"{len(wanted)} requests of {len(tasks)} tasks are in {len(files)} "
            f"{'file' if len(files) == 1 else 'files'} in {folder}, none was sent.\n"
            f"When their results are there: lm-eval-longbench answers import FILE... "
            f"--output_path {store.path.parent}\nThen this command without --write-requests."
        )

    return write
