"""The Task class of all benchmarks: the seam between the harness and this package.

All knowledge of the harness is in this folder. What differs from benchmark to benchmark is said by
`Benchmark` and its `Asking`.
"""

from __future__ import annotations

import copy
import json
import logging
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from itertools import islice
from typing import TYPE_CHECKING, Any

from datasets import Dataset, Features, Value
from lm_eval.api.task import ConfigurableTask
from lm_eval.filters import build_filter_ensemble
from tqdm import tqdm

from lm_eval_longbench.benchmarks.asking import Asking, asking_of, question_values
from lm_eval_longbench.benchmarks.registry import benchmark_of, carried, read_options
from lm_eval_longbench.catalog.model import CAPPED, FAILED
from lm_eval_longbench.catalog.users import KEY as DEFINITION
from lm_eval_longbench.catalog.users import WHOLE
from lm_eval_longbench.catalog.users import notes as changes
from lm_eval_longbench.console import warn_once
from lm_eval_longbench.errors import OptionError
from lm_eval_longbench.harness.backend import (
    Decoding,
    as_text,
    has_own_client,
    model_of_call,
    only_messages,
    takes_seed,
    wrap_payloads,
)
from lm_eval_longbench.harness.definitions import asked, check_filters
from lm_eval_longbench.harness.generation import (
    check_generation,
    check_sampling,
    fold_budget,
    fold_seed,
    kept_apart,
    seeded,
    warn_if_alike,
)
from lm_eval_longbench.harness.headline import gather, judged
from lm_eval_longbench.harness.in_memory import (
    check_tokenizer,
    has_template,
    known_of_call,
    leaves_out_begin,
)
from lm_eval_longbench.harness.prompts import (
    Fitting,
    goes_out_raw,
    resolve_limit,
    sender,
    warn_of,
    warn_without_chat,
)
from lm_eval_longbench.harness.record import (
    COUNTED,
    HeldInstance,
    Signature,
    answered_documents,
    flat,
    hold_prompt,
    known_replies,
    let_go,
    question_id,
)
from lm_eval_longbench.prompts.prepare import Texts, place_as_sent, question_at
from lm_eval_longbench.prompts.render import text_sha256
from lm_eval_longbench.prompts.tokenizer import tokenizer_name
from lm_eval_longbench.prompts.tokens.fast import tokenizer_sha256
from lm_eval_longbench.records.answer import REPLIES
from lm_eval_longbench.secrets import masked
from lm_eval_longbench.signature.ingredients import BEGIN, model_settings
from lm_eval_longbench.signature.signature import package_versions

if TYPE_CHECKING:
    from lm_eval.api.instance import Instance
    from transformers import PreTrainedTokenizerBase

    from lm_eval_longbench.prompts.prepare import Prompt

logger = logging.getLogger(__name__)
# Seconds of building requests before a bar shows it.
_SHOWN_AFTER = 3.0


class LongBenchTask(ConfigurableTask):
    """A task of a benchmark as a harness task; see `definitions.asked`.

    Options come in `metadata["longbench"]`, the model's arguments in `metadata` beside it.

    Attributes:
        asking: how its questions are asked and judged.
        rows: of the sample log, of all ranks, once they are known; see `headline`.
        own_filters: the filters of a user's YAML as they stand there, which stay; None without.

    Raises:
        LongBenchError: an option, the data, the tokenizer or a prompt is not as it must be.
    """

    asking: Asking
    rows: list[dict[str, Any]] | None = None

    # ------------------------------------------------------------------ construction

    def __init__(self, config: Mapping[str, Any] | None = None, **kwargs: Any) -> None:
        given = config or {}
        metadata = dict(given.get("metadata") or {})
        wanted = asked(given)
        task, config, own = wanted.task, wanted.config, wanted.generation
        benchmark = benchmark_of(task)
        options = read_options(metadata)
        # The model's arguments are in it, and the harness writes it into every results file.
        config["metadata"] = metadata = masked(metadata)
        # The option, else the harness's own key in a user's YAML, else the official number.
        repeats = options.repeats or int(given.get("repeats") or benchmark.repeats)
        self.asking = asking_of(benchmark, task, options, repeats)
        # A user's group may replace a member's whole metadata, its version with it.
        if metadata.get("version") is None:
            metadata["version"] = benchmark.task_version
        self._summaries: dict[int, dict[str, Any]] = {}  # what the log says of prompts
        self._left_out: set[int] = set()
        self._texts: dict[int, Prompt] = {}
        self._questions: dict[int, str] = {}
        self._replies: dict[int, list[dict[str, Any]]] = {}
        self._rows: list[dict[str, Any]] = []
        self.signature = Signature()
        self._seen: dict[str, Any] = {}
        # Without `until` the harness would stop every answer at the first blank line.
        config["generation_kwargs"] = benchmark.generation(task) | self.asking.generation | own
        own_keys = {DEFINITION: wanted.definition, WHOLE: carried([benchmark.name])}
        metadata |= {key: value for key, value in own_keys.items() if value}
        self.own_filters = config.get("filter_list")
        # Any value keeps the harness from looking for our metrics in its registry and on the hub.
        config.setdefault("process_results", "lm_eval_longbench")
        super().__init__(config=config, **kwargs)
        notes = [*changes(wanted.definition), *self.asking.version_notes]
        if not self._documents.official:
            notes.append(f"data: {self._documents.label}")
        if notes:
            self.VERSION: Any = " ".join([str(self.VERSION), *notes])

    # ------------------------------------------------------------------ documents

    def download(self, dataset_kwargs: dict[str, Any] | None = None, **kwargs: Any) -> None:
        """Open the documents, memory-mapped; see `lm_eval_longbench.data`."""
        asking, options = self.asking, self.asking.options
        benchmark, task = asking.benchmark, asking.task
        own_metric = self.config.metadata.get(DEFINITION, {}).get("metric")
        self._documents = asking.load(self.config.metadata)  # there may be no model yet
        rows = self._documents.rows
        # The harness copies documents about and logs them whole: it gets them without their long
        # text, and with the row number that leads back to it.
        # In memory: a column added to a selection of rows would be written into our cache.
        light = rows.without("context").select(self._documents.asked)
        columns = {**light.columns(), "index": list(self._documents.asked)}
        features = Features({**Features.from_arrow_schema(light.schema), "index": Value("int64")})
        self.dataset = {self.config.test_split: Dataset.from_dict(columns, features)}
        self.signature.update(
            benchmark=benchmark.name,
            task=task.counted,
            version=str(self.config.metadata.get("version")),
            data=self._documents.label,
            data_sha256=self._documents.sha256,
            template_sha256=task.prompt_sha256,
            truncation=benchmark.rule.__name__,
            overlength=options.overlength,
            repeats=asking.repeats,
            reasoning=options.reasoning,
            filters=self.own_filters,
            metrics=benchmark.metrics,
            metric=own_metric,
            shard=self._documents.shard,
            packages=package_versions(),
        )
        self.signature.update(**asking.ingredients)
        # The harness writes its config, and with it the signature, into every results file.
        self.config.metadata["longbench_run"] = self.signature.run
        # With these a sample log can be scored again by itself.
        self._origin = {"task": task.counted, "data": self._documents.label}
        self._origin |= {} if own_metric is None else {"scored_by": own_metric}

    def fewshot_docs(self) -> None:
        """LongBench has no few-shot split; the harness would copy the test documents."""

    @property
    def eval_docs(self) -> Any:
        """All documents: a dataset, and once they are asked a list, which is read at once."""
        return self._rows or super().eval_docs

    def doc_iterator(
        self, *, rank: int = 0, world_size: int = 1, **kwargs: Any
    ) -> Iterator[tuple[int, dict[str, Any]]]:
        """Yield this rank's documents with what the log has of each, less the skipped ones."""
        if not self._left_out:
            documents = super().doc_iterator(rank=rank, world_size=world_size, **kwargs)
        else:
            # The ranks share out what is left, so that none of them is left without work.
            kept = (
                (doc_id, doc)
                for doc_id, doc in super().doc_iterator(rank=0, world_size=1, **kwargs)
                if doc["index"] not in self._left_out
            )
            documents = islice(kept, rank, None, world_size)
        for doc_id, doc in documents:
            if summary := self._summaries.get(doc["index"]):
                doc = {**doc, **self._origin, "prompt": summary}
            yield doc_id, self.with_replies(doc)

    def with_replies(self, doc: Mapping[str, Any]) -> dict[str, Any]:
        """Return a document with what is known of the answers to its question."""
        replies = self._replies.get(doc["index"])
        return {**doc, REPLIES: replies} if replies else dict(doc)

    def doc_to_target(self, doc: Mapping[str, Any], doc_to_target: Any = None) -> list[str]:
        """Return the gold answers."""
        return self.asking.benchmark.golds(doc)

    def doc_to_text(self, doc: Mapping[str, Any], doc_to_text: Any = None) -> str:
        """Return the finished prompt; before requests are built, the whole one."""
        index = doc["index"]
        return self._texts[index].text if index in self._texts else self._render(index)

    def _render(self, index: int) -> str:
        row = self._documents.rows[index]
        self._questions[index] = self.asking.question(row)
        return self.asking.render(row)

    # ------------------------------------------------------------------ requests

    def build_all_requests(
        self,
        *,
        limit: int | None = None,
        samples: list[int] | None = None,
        rank: int = 0,
        world_size: int = 1,
        cache_requests: bool = False,
        system_instruction: str | None = None,
        apply_chat_template: bool = False,
        chat_template: Callable[..., Any] | None = None,
        **kwargs: Any,
    ) -> None:
        """Prepare this rank's prompts in batches, then build the requests."""
        self.rows = None
        name, generation, model = self.config.task, self.config.generation_kwargs, model_of_call()
        self._look_at(model)
        whole: dict[str, Any] = {"limit": limit, "samples": samples, "rank": 0, "world_size": 1}
        share = {**whole, "rank": rank, "world_size": world_size}
        self._rows = list(self.eval_docs)
        asked = [doc for _, doc in super().doc_iterator(**whole)]
        self.asking.begin(asked, self._documents.label)
        self.signature.update(**self.asking.ingredients)
        if cache_requests:
            # Its key knows neither the options nor the data: it would serve other runs' prompts.
            warn_once(
                logger,
                "cache_requests",
                "cache_requests is not used for LongBench tasks: prompts are prepared anew.",
            )
        if not apply_chat_template and has_template(model):
            warn_without_chat([self.asking.task])
        fold_budget(name, generation)
        fold_seed(name, generation)
        wrap_payloads(model)
        check_generation(name, generation)
        check_sampling(name, self.asking.repeats, generation)
        is_server = takes_seed(self.config.metadata, chat_template)
        self._ask_repeatedly(is_server)
        template = chat_template if apply_chat_template else None
        messages_only = template is not None and only_messages(template)
        raw = bool(apply_chat_template) and goes_out_raw(self.asking.task, messages_only)
        if raw:
            template = system_instruction = None
        sent = sender(template, system_instruction)
        self._prepare(asked, share, sent, uncut=messages_only or has_own_client(model))
        self.signature.update(
            chat="raw" if raw else "off" if template is None else "on",
            chat_sha256=text_sha256(as_text(sent("?"))),
            system_sha256=text_sha256(system_instruction) if system_instruction else None,
        )
        documents = list(self.doc_iterator(**share))
        self._instances = [
            request
            for doc_id, doc in tqdm(
                documents, "prompts", leave=False, delay=_SHOWN_AFTER, disable=bool(rank)
            )
            for request in self._requests(doc_id, doc, sent, is_server=is_server, raw=raw)
        ]
        self._texts.clear()
        if hasattr(model, "check_answers"):  # only stands in, see `models.Unloaded`
            model.check_answers(self._instances)

    def _look_at(self, model: Any) -> None:
        """Take what nobody told of a model that was made before the call, see `known_of_call`."""
        for name in self._seen:  # of the model of an earlier call
            del self.config.metadata[name]
        known, self._own_tokenizer = known_of_call(model, self.config.metadata)
        self._seen = masked(known)
        self.config.metadata.update(self._seen)
        release = self.asking.benchmark.decoded_by
        self._decoding = Decoding.of(model, release, self._own_tokenizer, self.config.metadata)

    def _ask_repeatedly(self, seeds: bool) -> None:
        """Set up for several answers: a seeded request each, or the harness's own repeats."""
        self._seeds: list[dict[str, Any]] | None = None
        if seeds and self.asking.repeats > 1:
            self._seeds = seeded(self.config.generation_kwargs, self.asking.repeats)
        in_process = self.asking.repeats > 1 and self._seeds is None
        self.config.repeats = self.asking.repeats if in_process else 1
        if self.own_filters is not None:
            check_filters(self.config.task, self.own_filters, self.config.repeats)
            return
        step = ["take_first_k", {"k": self.asking.repeats}] if in_process else ["take_first", None]
        self._filters = [build_filter_ensemble("none", [step])]

    def _requests(
        self,
        doc_id: int,
        doc: dict[str, Any],
        sent: Callable[[str], Any],
        *,
        is_server: bool,
        raw: bool,
    ) -> list[Instance]:
        """Return a document's request, or one for each repeat where the server takes seeds."""
        summary, text = self._summaries[doc["index"]], self._texts[doc["index"]].text
        prompt, place = sent(text), summary["question_at"]
        if place is not None:
            messages = not isinstance(prompt, str)
            summary["question_at"] = None if messages else place_as_sent(prompt, text, place)
        generation = dict(self.config.generation_kwargs)
        if not is_server and generation.get("seed") is None:
            generation.pop("seed", None)
        if self.asking.repeats > 1:
            # The harness's response cache would give all repeats of a resumed run one text.
            generation = {**generation, "do_sample": True}
        if raw and not self.config.metadata.get("base_url"):
            generation = kept_apart(generation)
        held = hold_prompt(prompt, self._held)
        known = (self.config.task, doc_id, self.config.repeats)
        return [
            HeldInstance("generate_until", doc, (held, copy.deepcopy(own)), number, known)
            for number, own in enumerate(self._seeds or [generation])
        ]

    def _question_at(self, index: int, prompt: Prompt) -> int | None:
        """Return where the question begins in a finished prompt."""
        question = self._questions.pop(index)
        # Read and rendered once more only where the cut goes through the question.
        whole = prompt.text if prompt.text.endswith(question) else self._render(index)
        return question_at(prompt.text, whole, question)

    def _tokenizer(self) -> PreTrainedTokenizerBase:
        if self._own_tokenizer is not None and self.asking.options.tokenizer is None:
            return self._own_tokenizer
        return self.asking.tokenizer(self.config.metadata)

    def _prepare(
        self,
        asked: Sequence[Mapping[str, Any]],
        share: dict[str, Any],
        sent: Callable[[str], Any],
        *,
        uncut: bool,
    ) -> None:
        """Render and cut the prompts of this rank's documents."""
        for before in (self._summaries, self._texts, self._left_out, self._replies):
            before.clear()
        self._held = Texts()
        task, options, metadata = self.asking.task, self.asking.options, self.config.metadata
        ids = [question_id(doc) for doc in asked]
        all_ids = self._documents.ids_of_all() if len(ids) == len(self._rows) else ids
        indices = [doc["index"] for doc in asked]
        # Each rank measures all documents where some may be skipped: all must agree which.
        if options.overlength != "skip":
            indices = [doc["index"] for _, doc in super().doc_iterator(**share)]
        budget = self.config.generation_kwargs["max_gen_toks"]
        limit = resolve_limit(options.truncate_to, metadata, budget, uncut=uncut)
        cuts = limit.tokens is not None
        if cuts:
            check_tokenizer(options.tokenizer, metadata, self._own_tokenizer)
        warn_of(limit)
        fitting = Fitting(
            self.config.task,
            limit,
            sent,
            self._tokenizer,
            self.asking.benchmark.rule,
            f"{self._documents.sha256}/{task.name}/{task.prompt_sha256}/{options.context}",
            options.overlength,
            share["world_size"],
            self._held.hold,
        )
        prompts, kept = fitting.prompts(indices, self._render)
        for index, prompt, keep in zip(indices, prompts, kept, strict=True):
            self._texts[index] = prompt
            self._summaries[index] = {
                "sha256": text_sha256(prompt.text),
                "template_sha256": task.prompt_sha256,
                "tokens_before_cut": prompt.tokens,
                "truncated": prompt.truncated,
                "question_at": self._question_at(index, prompt),  # before any chat template
                # Questions that share a document are known by it where a report resamples them.
                "document_sha256": self._documents.context_sha256[index],
            }
            if not keep:
                self._left_out.add(index)
        left = sum(kept) if options.overlength == "skip" else len(ids)
        if left < share["world_size"]:  # it would end obscurely
            raise OptionError(
                f"{self.config.task}: {left} questions for {share['world_size']} ranks. Each rank "
                "needs a question: run fewer ranks, or ask for more questions."
            )
        if cuts and leaves_out_begin(model_of_call(), self._tokenizer(), as_text(sent("?"))):
            self._seen[BEGIN] = metadata[BEGIN] = False
        self.signature.update(
            limit=limit.tokens,
            limit_source=limit.source,
            tokenizer=tokenizer_name(options.tokenizer, metadata) if cuts else None,
            tokenizer_sha256=tokenizer_sha256(self._tokenizer()) if cuts else None,
            generation=masked(self.config.generation_kwargs),
            model_settings=model_settings(metadata),
            decoding=self._decoding.ingredient,
            # Of other models the harness sees to them.
            seeds=None if self._seeds is None else [own["seed"] for own in self._seeds],
            questions_sha256=text_sha256(json.dumps(all_ids)),
            asked=len(ids),
            kept=left,
        )

    # ------------------------------------------------------------------ results

    def apply_filters(self) -> list[Instance] | None:
        """Filter the answers, then let go of the long prompts that the sample log would repeat."""
        with self._decoding.applied(self._instances or []):
            filtered = super().apply_filters()
        self._replies = known_replies(self._instances or [])
        self.signature.leave_out(self._replies.values())
        if not self.predicts_only:
            answered = answered_documents(self._instances or [])
            warn_if_alike(self.config.task, [responses for _, responses in answered])
            self.asking.finish(answered)
        let_go(self._instances or [], excerpt=self.asking.options.log_prompts == "excerpt")
        return filtered

    def aggregation(self) -> dict[str, Callable[..., Any]]:
        """Return how figures are put together: only there the values of all ranks are met."""
        return {
            name: partial(self._count, name, own) if name in COUNTED else own
            for name, own in super().aggregation().items()
        }

    def _count(self, name: str, aggregate: Callable[..., float], values: Sequence[Any]) -> float:
        """Put into the signature what a figure of all questions tells of the answers."""
        self.signature.count(name, values)
        if name == FAILED.name and self.rows is None:  # of several filters of a user the first
            gather(self, values)
        return aggregate(values)

    @property
    def predicts_only(self) -> bool:
        """Whether nothing is scored: the harness's --predict_only."""
        return "bypass" in self._metric_fn_list

    def dump_config(self) -> dict[str, Any]:
        """Return the task's config without keys."""
        return dict(masked(super().dump_config()))

    def process_results(self, doc: Mapping[str, Any], results: list[Any]) -> dict[str, Any]:
        """Return every figure of one question, from all its responses."""
        if self.predicts_only:
            return super().process_results(doc, results)
        asking, doc = self.asking, self.with_replies(doc)
        responses = asking.responses(doc, flat(results))
        figures = question_values(
            asking.benchmark,
            asking.task,
            doc,
            responses,
            asking.options.reasoning,
            complete=asking.complete,
        )
        figures[FAILED.name] = judged(figures[FAILED.name] or 0.0, doc, results)
        # If a user's YAML leaves it out, the harness's own mean would stop at a None.
        if CAPPED.name not in self.aggregation():
            del figures[CAPPED.name]
        return figures
