"""The Task class that all benchmarks share: the seam between the harness and this package.

All knowledge of the harness's task interface is in this folder. The class keeps to the methods
that stay from 0.4.13 to 0.5: `__init__(config)`, `download`, `fewshot_docs`, `test_docs`,
`doc_iterator`, `doc_to_text`, `doc_to_target`, `build_all_requests`, `construct_requests`,
`apply_filters` and `process_results`. What differs from benchmark to benchmark is in the subclasses
beside this file.
"""

from __future__ import annotations

import abc
import json
import logging
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import TYPE_CHECKING, Any

from datasets import Dataset, Features, Value
from lm_eval.api.task import ConfigurableTask
from lm_eval.filters import build_filter_ensemble

from lm_eval_longbench.catalog import RAW_PROMPT
from lm_eval_longbench.errors import OptionError, OverlengthError
from lm_eval_longbench.harness.backend import as_text, only_messages, takes_seed
from lm_eval_longbench.harness.budget import fold_budget, kept_apart
from lm_eval_longbench.harness.call_options import check_options_of_call, options_of_call
from lm_eval_longbench.harness.fit import cut_to_room, tokens_over
from lm_eval_longbench.harness.limit import Limit, resolve_limit
from lm_eval_longbench.harness.logged_prompt import LoggedPrompt
from lm_eval_longbench.harness.overrides import check_prompt_is_ours
from lm_eval_longbench.harness.payload import fold_seed, without_null_seed, wrap_payloads
from lm_eval_longbench.harness.repeats import alike, check_sampling, seeded
from lm_eval_longbench.harness.signature import COUNTED, Signature
from lm_eval_longbench.metrics.reasoning import reasoned_share
from lm_eval_longbench.once import warn_once
from lm_eval_longbench.options import KEY, Options
from lm_eval_longbench.prompts.fast_tokenizer import tokenizer_sha256
from lm_eval_longbench.prompts.prepare import Prompt, prepare
from lm_eval_longbench.prompts.text_hash import text_sha256
from lm_eval_longbench.prompts.tokenizer import load_tokenizer, tokenizer_name
from lm_eval_longbench.provenance.lock_tasks import task_versions
from lm_eval_longbench.provenance.packages import package_versions
from lm_eval_longbench.provenance.signature import METRIC_VERSIONS
from lm_eval_longbench.secrets import masked

if TYPE_CHECKING:
    from lm_eval.api.instance import Instance
    from transformers import PreTrainedTokenizerBase

    from lm_eval_longbench.data.documents import Documents
    from lm_eval_longbench.prompts.truncation import Rule
    from lm_eval_longbench.semantic.embedder import Embedder

logger = logging.getLogger(__name__)


@dataclass(frozen=True)
class _Prepared:
    """What is kept of a document's prompt once its request is built."""

    summary: dict[str, Any]
    kept: bool


class LongBenchTask(ConfigurableTask, abc.ABC):
    """A LongBench dataset as a harness task.

    Options come in `metadata["longbench"]`, the model's arguments in `metadata` beside it.

    Raises:
        LongBenchError: an option, the data, the tokenizer or a prompt is not as it must be.
    """

    #: The benchmark's name in sentences.
    TITLE: str
    #: The benchmark's truncation rule.
    RULE: Rule
    #: Answers asked for each question unless the option `repeats` says otherwise.
    REPEATS = 1
    #: Whether each prompt is officially sent as one user message.
    ONE_MESSAGE = False
    #: Whether the option `only` selects among its questions.
    SELECTABLE = False

    # ------------------------------------------------------------------ what a benchmark defines

    @abc.abstractmethod
    def identify(self, config: Mapping[str, Any]) -> None:
        """Read from the YAML which dataset this is; called before anything else."""

    @abc.abstractmethod
    def benchmark(self) -> str:
        """Return the benchmark's name, as in `provenance.signature.METRIC_VERSIONS`."""

    @abc.abstractmethod
    def official_name(self) -> str:
        """Return our own name of what is evaluated, whatever a user's YAML calls the task."""

    @abc.abstractmethod
    def official_generation(self) -> dict[str, Any]:
        """Return the official generation arguments."""

    @abc.abstractmethod
    def load(self) -> Documents:
        """Open the documents."""

    @abc.abstractmethod
    def template_sha256(self) -> str:
        """Return the hash of the prompt template."""

    @abc.abstractmethod
    def render(self, row: Mapping[str, Any]) -> str:
        """Return the whole prompt of a document."""

    @abc.abstractmethod
    def answers(self, doc: Mapping[str, Any]) -> list[str]:
        """Return the gold answers of a document."""

    @abc.abstractmethod
    def figures(self, doc: Mapping[str, Any], responses: Sequence[str]) -> dict[str, float | None]:
        """Return every figure of one question from all its responses, under every key always."""

    def chosen_generation(self) -> dict[str, Any]:
        """Return the generation arguments that the options set in place of the official ones."""
        return {}

    def scored_responses(self, doc: Mapping[str, Any], responses: list[str]) -> list[str]:
        """Return what counts as the responses to a question."""
        return responses

    def sends_raw(self) -> bool:
        """Whether the prompt is officially sent without a chat template even in a chat run."""
        return False

    def finish(self, answered: list[tuple[dict[str, Any], list[str]]]) -> None:
        """Do what needs all of this rank's responses at once, before the first is scored."""

    # ------------------------------------------------------------------ construction

    def __init__(self, config: Mapping[str, Any] | None = None, **kwargs: Any) -> None:
        config = {key: value for key, value in (config or {}).items() if key != "class"}
        metadata = config["metadata"] = dict(config.get("metadata") or {})
        metadata.update(options_of_call(metadata))
        if not self.SELECTABLE and isinstance(metadata.get(KEY), Mapping):
            self._refuse_selection(metadata[KEY])
        self._options = Options.from_metadata(metadata)
        # The model's arguments are in it, and the harness writes it into every results file.
        config["metadata"] = metadata = masked(metadata)
        self.identify(config)
        check_prompt_is_ours(config)
        # A user's group may replace a member's whole metadata, its version with it.
        if metadata.get("version") is None:
            metadata["version"] = task_versions()[self.official_name()]
        self._prepared: dict[int, _Prepared] = {}
        self._texts: dict[int, str] = {}
        self._signature = Signature()
        self._withheld = False
        # The option, else the harness's own key in a user's YAML, else the official number.
        self._repeats = self._options.repeats or int(config.get("repeats") or self.REPEATS)
        self._is_server = self._seeds = False
        # A user's YAML may replace the whole mapping; without `until` the harness would stop every
        # answer at the first blank line.
        official = self.official_generation()
        given = dict(config.get("generation_kwargs") or {})
        # Our own YAML repeats official arguments; what differs is the user's.
        own = {name: value for name, value in given.items() if official.get(name) != value}
        config["generation_kwargs"] = official | self.chosen_generation() | own
        # Any value keeps the harness from looking for our metrics in its registry and on the hub.
        config.setdefault("process_results", "lm_eval_longbench")
        super().__init__(config=config, **kwargs)
        if not self._documents.official:
            self.VERSION = f"{self.VERSION} data: {self._documents.label}"

    @property
    def options(self) -> Options:
        """The options in force, with what a preset fills in."""
        return self._options

    def _refuse_selection(self, options: Mapping[str, Any]) -> None:
        """Refuse to select questions by dimensions that this benchmark does not have."""
        if options.get("only"):
            raise OptionError(
                f"Option 'only' selects questions of LongBench Pro; {self.TITLE} has no such "
                "dimensions."
            )

    # ------------------------------------------------------------------ documents

    def download(self, dataset_kwargs: dict[str, Any] | None = None, **kwargs: Any) -> None:
        """Open the documents, memory-mapped; see `lm_eval_longbench.data`."""
        self._documents = self.load()
        rows = self._documents.rows
        # The harness copies documents about and logs them whole: it gets them without their long
        # text, and with the row number that leads back to it.
        # In memory: a column added to a selection of rows would be written into our cache.
        light = rows.remove_columns("context")
        columns = {**light[:], "index": list(range(len(rows)))}
        features = Features({**light.features, "index": Value("int64")})
        self.dataset = {self.config.test_split: Dataset.from_dict(columns, features)}
        self._signature.update(
            benchmark=self.benchmark(),
            task=self.official_name(),
            version=str(self.config.metadata.get("version")),
            data=self._documents.label,
            data_sha256=self._documents.sha256,
            template_sha256=self.template_sha256(),
            truncation=self.RULE.__name__,
            overlength=self._options.overlength,
            repeats=self._repeats,
            reasoning=self._options.reasoning,
            filters=self.config.filter_list,
            metrics=METRIC_VERSIONS[self.benchmark()],
            packages=package_versions(),
        )
        # The harness writes its config, and with it the signature, into every results file.
        self.config.metadata["longbench_run"] = self._signature.run
        # With these a sample log can be scored again by itself.
        self._origin = {"task": self.official_name(), "data": self._documents.label}

    def fewshot_docs(self) -> None:
        """LongBench has no few-shot split; the harness would copy the test documents."""
        return None

    def doc_iterator(
        self, *, rank: int = 0, world_size: int = 1, **kwargs: Any
    ) -> Iterator[tuple[int, dict[str, Any]]]:
        """Yield the documents of this rank with their prompt's summary, less the skipped ones."""
        if self._options.overlength != "skip" or not self._prepared:
            documents = super().doc_iterator(rank=rank, world_size=world_size, **kwargs)
        else:
            # The ranks share out what is left, so that none of them is left without work.
            kept = (
                (doc_id, doc)
                for doc_id, doc in super().doc_iterator(rank=0, world_size=1, **kwargs)
                if self._prepared[doc["index"]].kept
            )
            documents = islice(kept, rank, None, world_size)
        for doc_id, doc in documents:
            prepared = self._prepared.get(doc["index"])
            yield doc_id, {**doc, **self._origin, "prompt": prepared.summary} if prepared else doc

    def doc_to_target(self, doc: Mapping[str, Any], doc_to_target: Any = None) -> list[str]:
        """Return the gold answers."""
        return self.answers(doc)

    def doc_to_text(self, doc: Mapping[str, Any], doc_to_text: Any = None) -> str:
        """Return the finished prompt; before requests are built, the whole one."""
        index = doc["index"]
        return self._texts[index] if index in self._texts else self._render(index)

    def _render(self, index: int) -> str:
        return self.render(self._documents.rows[index])

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
        """Prepare this rank's prompts in batches, then let the harness build its requests."""
        check_options_of_call(self.config.metadata)
        if cache_requests:
            # Its key knows neither the options nor the data: it would serve other runs' prompts.
            warn_once(
                logger,
                "cache_requests",
                "--cache_requests is not used for LongBench tasks: prompts are prepared anew.",
            )
        if self.ONE_MESSAGE and not apply_chat_template:
            warn_once(
                logger,
                f"no chat {self.TITLE}",
                f"{self.TITLE} officially sends each prompt as one user message: add "
                "--apply_chat_template unless this is a base model.",
            )
        fold_budget(self.config.task, self.config.generation_kwargs)
        fold_seed(self.config.task, self.config.generation_kwargs)
        wrap_payloads()
        check_sampling(self.config.task, self._repeats, self.config.generation_kwargs)
        self._is_server = takes_seed(self.config.metadata, chat_template)
        self._ask_repeatedly(self._is_server)
        messages_only = (
            apply_chat_template and chat_template is not None and only_messages(chat_template)
        )
        self._withheld = apply_chat_template and self._goes_out_raw(messages_only)
        if self._withheld:
            apply_chat_template, chat_template, system_instruction = False, None, None
        share = {"limit": limit, "samples": samples, "rank": rank, "world_size": world_size}
        self._prepare(
            share,
            chat_template if apply_chat_template else None,
            system_instruction,
            messages_only=messages_only,
        )
        super().build_all_requests(
            **share,
            system_instruction=system_instruction,
            apply_chat_template=apply_chat_template,
            chat_template=chat_template,
            **kwargs,
        )
        self._texts.clear()

    def _ask_repeatedly(self, seeds: bool) -> None:
        """Set up for several answers: a seeded request each, or the harness's own repeats."""
        self._seeds = seeds and self._repeats > 1
        in_process = self._repeats > 1 and not self._seeds
        self.config.repeats = self._repeats if in_process else 1
        if self.config.filter_list is None:  # a user's own filters stay
            keep = ["take_first_k", {"k": self._repeats}] if in_process else ["take_first", None]
            self._filters = [build_filter_ensemble("none", [keep])]

    def construct_requests(self, doc: dict[str, Any], ctx: Any, **kwargs: Any) -> Any:
        """Build a document's request, or one for each repeat where the server takes seeds."""
        request = super().construct_requests(doc, ctx, **kwargs)
        prompt, generation = request.arguments
        if not self._is_server:
            generation = without_null_seed(generation)
        if self._seeds:
            return [
                replace(request, arguments=(prompt, own), idx=number, resps=[], filtered_resps={})
                for number, own in enumerate(seeded(generation, self._repeats))
            ]
        if self._repeats > 1:
            # The harness's response cache would give all repeats of a resumed run one text.
            generation = {**generation, "do_sample": True}
        if self._withheld and not self.config.metadata.get("base_url"):
            generation = kept_apart(generation)
        request.arguments = (prompt, generation)
        return request

    def _goes_out_raw(self, messages_only: bool) -> bool:
        """Whether this dataset's prompt is withheld from the chat template, as officially."""
        if not self.sends_raw():
            return False
        if messages_only:
            warn_once(
                logger,
                "messages only",
                "This backend takes only chat messages, so the prompts of "
                f"{', '.join(RAW_PROMPT)} are wrapped in one; officially they go out raw. Scores "
                "of these six are not comparable with official ones.",
            )
        return not messages_only

    def _tokenizer(self) -> PreTrainedTokenizerBase:
        metadata = self.config.metadata
        return load_tokenizer(tokenizer_name(self._options.tokenizer, metadata), metadata)

    def _prepare(
        self,
        share: dict[str, Any],
        chat_template: Callable[..., Any] | None,
        system_instruction: str | None,
        *,
        messages_only: bool,
    ) -> None:
        """Render and cut the prompts of this rank's documents."""
        self._prepared.clear()
        self._texts.clear()
        everything = {**share, "rank": 0, "world_size": 1}
        ids = [_id(doc) for _, doc in super().doc_iterator(**everything)]
        # Each rank measures all documents where some may be skipped: all must agree which.
        measured = everything if self._options.overlength == "skip" else share
        indices = [doc["index"] for _, doc in super().doc_iterator(**measured)]
        limit = resolve_limit(
            self._options.truncate_to,
            self.config.metadata,
            self.config.generation_kwargs["max_gen_toks"],
            messages_only=messages_only,
        )
        self._warn_of(limit)
        prompts = prepare(
            map(self._render, indices),
            limit.tokens,
            self._tokenizer,
            self.RULE,
            source=f"{self._documents.sha256}/{self.config.dataset_name}/{self.template_sha256()}",
        )

        def sent(text: str) -> str:
            return self._sent(text, chat_template, system_instruction)

        over = [0] * len(prompts)
        if limit.room is not None and limit.tokens is not None:
            over = tokens_over(prompts, limit.tokens, limit.room, sent, self._tokenizer())
        kept = self._keep(indices, prompts, over, limit, share["world_size"])
        for index, prompt, more, keep in zip(indices, prompts, over, kept, strict=True):
            if keep and more and limit.room is not None and limit.tokens is not None:
                prompt = cut_to_room(
                    self._render(index),
                    more,
                    limit.tokens,
                    limit.room,
                    sent,
                    self._tokenizer(),
                    self.RULE,
                )
            self._texts[index] = prompt.text
            summary = self._summary(prompt)
            # Questions that share a document are known by it where a report resamples them.
            summary["document_sha256"] = self._documents.context_sha256[index]
            self._prepared[index] = _Prepared(summary, keep)
        used = limit.tokens is not None
        name = tokenizer_name(self._options.tokenizer, self.config.metadata) if used else None
        probe = self._sent("?", chat_template, system_instruction)
        self._signature.update(
            limit=limit.tokens,
            limit_source=limit.source,
            tokenizer=name,
            tokenizer_sha256=tokenizer_sha256(self._tokenizer()) if used else None,
            chat="raw" if self._withheld else "off" if chat_template is None else "on",
            chat_sha256=text_sha256(as_text(probe)),
            generation=dict(self.config.generation_kwargs),
            seeds=self._sent_seeds(),
            questions_sha256=text_sha256(json.dumps(ids)),
            asked=len(ids),
            kept=sum(kept) if self._options.overlength == "skip" else len(ids),
        )

    def _sent_seeds(self) -> list[int | None] | None:
        """Return the seed of each repeat, null for none; None where the harness sees to it."""
        if not self._seeds:
            return None
        return [own["seed"] for own in seeded(self.config.generation_kwargs, self._repeats)]

    @staticmethod
    def _warn_of(limit: Limit) -> None:
        """Say once what a user must know of a limit that nobody set."""
        if limit.tokens is None:
            warn_once(
                logger,
                "no limit",
                "The model's length limit is not known: prompts go out whole, and whatever serves "
                "the model may cut or refuse them. To cut them in the middle as officially, add "
                '--metadata \'{"longbench": {"truncate_to": TOKENS}}\' or give max_length=TOKENS '
                "in --model_args.",
            )
        elif limit.assumed:
            warn_once(
                logger,
                "assumed length",
                "No max_length in --model_args: the harness assumes 2048 tokens for this API model "
                "and would cut prompts on the left, so they are cut in the middle to that length. "
                "Give the model's real length with max_length=TOKENS.",
            )

    def _sent(
        self, text: str, chat_template: Callable[..., Any] | None, system_instruction: str | None
    ) -> str:
        """Return a prompt as the backend gets it."""
        if chat_template is None:
            return (system_instruction or "") + text
        system = [{"role": "system", "content": system_instruction}] if system_instruction else []
        return chat_template([*system, {"role": "user", "content": text}])

    def _summary(self, prompt: Prompt) -> dict[str, Any]:
        """What the sample log says of a prompt before any chat template."""
        return {
            "sha256": text_sha256(prompt.text),
            "template_sha256": self.template_sha256(),
            "tokens_before_cut": prompt.tokens,
            "truncated": prompt.truncated,
        }

    def _keep(
        self,
        indices: list[int],
        prompts: list[Prompt],
        over: list[int],
        limit: Limit,
        world_size: int,
    ) -> list[bool]:
        """Decide which documents stay, by the option `overlength`.

        Raises:
            OverlengthError: a request does not fit and may not be cut, or too little is left.
        """
        if limit.official and any(over):
            raise OverlengthError(
                f"{self.config.task}: with {limit.source} a request is {max(over)} tokens longer "
                f"than the {limit.room} that the model takes before its answer, and the harness "
                "would cut it on the left. Lower truncate_to, or give the model's real length with "
                "max_length=TOKENS in --model_args."
            )
        fits = [
            not prompt.truncated and not more for prompt, more in zip(prompts, over, strict=True)
        ]
        if self._options.overlength == "truncate" or all(fits):
            return [True] * len(indices)
        if self._options.overlength == "fail":
            longer = [index for index, fit in zip(indices, fits, strict=True) if not fit]
            shown = ", ".join(map(str, longer[:5])) + (", ..." if len(longer) > 5 else "")
            raise OverlengthError(
                f"{self.config.task}: {len(longer)} of {len(indices)} prompts are longer than "
                f"{limit.tokens} tokens ({limit.source}); documents {shown}. Raise the limit, or "
                'set the option overlength to "truncate" or "skip".'
            )
        logger.warning(
            f"{self.config.task}: kept {sum(fits)} of {len(fits)} documents (overlength: skip, "
            f"limit {limit.tokens} tokens, {limit.source}). The score is not comparable with one "
            "over all documents."
        )
        if sum(fits) < world_size:
            ranks = f", fewer than the {world_size} ranks" if any(fits) else ""
            raise OverlengthError(
                f"{self.config.task}: of {len(fits)} prompts {sum(fits)} are within {limit.tokens} "
                f"tokens ({limit.source}){ranks}: nothing is left to evaluate. Raise the limit."
            )
        return fits

    # ------------------------------------------------------------------ results

    def apply_filters(self) -> list[Instance] | None:
        """Filter the answers, then let go of the long prompts that the sample log would repeat."""
        filtered = super().apply_filters()
        if not self.predicts_only:
            answered = self._answered()
            self._warn_if_alike([responses for _, responses in answered])
            self.finish(answered)
        if self._options.log_prompts == "excerpt":
            logged: dict[str, LoggedPrompt] = {}
            for instance in self._instances or []:
                prompt, *rest = instance.arguments
                text = prompt if isinstance(prompt, str) else getattr(prompt, "prompt", None)
                if isinstance(text, str):
                    short = logged.setdefault(text, LoggedPrompt(text))
                    instance.arguments = (short, *rest)
        return filtered

    def _answered(self) -> list[tuple[dict[str, Any], list[str]]]:
        """Return this rank's documents with all their responses, in order."""
        by_doc: dict[int, tuple[dict[str, Any], list[Instance]]] = {}
        for instance in self._instances or []:
            by_doc.setdefault(instance.doc_id, (instance.doc, []))[1].append(instance)
        return [
            (doc, _responses([_filtered(one) for one in sorted(own, key=_position)]))
            for doc, own in by_doc.values()
        ]

    def _warn_if_alike(self, answers: list[list[str]]) -> None:
        same = alike(answers)
        if same > len(answers) / 2:
            logger.warning(
                f"{self.config.task}: all {self._repeats} answers are identical for {same} of "
                f"{len(answers)} questions. The backend does not seem to sample: best-of-N and "
                "pass@N say nothing beyond the score."
            )

    def aggregation(self) -> dict[str, Callable[..., Any]]:
        """Return how figures are put together; two of them also tell what was answered.

        Only here are the values of all ranks met.
        """
        given = super().aggregation()

        def counted(name: str) -> Callable[[Sequence[float]], float]:
            def aggregate(values: Sequence[float]) -> float:
                self._signature.count(name, values)
                return given[name](values)

            return aggregate

        return {**given, **{name: counted(name) for name in COUNTED if name in given}}

    @property
    def embedder(self) -> Embedder | None:
        """What embeds the summaries of this task; None: it has none, or nothing was chosen."""
        return None

    @property
    def predicts_only(self) -> bool:
        """Whether nothing is scored: the harness's --predict_only."""
        return "bypass" in self._metric_fn_list

    def process_results(self, doc: Mapping[str, Any], results: list[Any]) -> dict[str, Any]:
        """Return every figure of one question, from all its responses."""
        if self.predicts_only:
            return super().process_results(doc, results)
        responses = self.scored_responses(doc, _responses(results))
        return {**self.figures(doc, responses), "reasoned": reasoned_share(responses)}


def _id(doc: Mapping[str, Any]) -> str:
    """Return the id of a question, whatever its benchmark calls it."""
    return str(doc.get("_id", doc.get("id")))


def _position(instance: Instance) -> int:
    return instance.idx


def _filtered(instance: Instance) -> Any:
    """Return what the first filter made of an instance's answers."""
    return next(iter(instance.filtered_resps.values()))


def _responses(results: list[Any]) -> list[str]:
    """Flatten what the harness hands over: of each request a text, or a list of texts."""
    return [text for own in results for text in (own if isinstance(own, list) else [own])]
